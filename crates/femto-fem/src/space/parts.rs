//! The parts of a mesh that have no vertices in common.

use super::Block;
use super::element_nodes::ElementNodes;
use crate::parallel;
use rayon::slice::ParallelSliceMut;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The parts of a mesh: elements are of the same part if vertices join them, directly or through others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// Number of parts.
    pub count: usize,
    /// The part of each element, `[block][element]`.
    pub of_elements: Vec<Vec<u32>>,
}

/// Vertices that point to smaller ones of their part, or to themselves (Anderson and Woll, Wait-free parallel algorithms for
/// the union-find problem, STOC 1991).
struct Links(Vec<AtomicU32>);

impl Links {
    fn root(&self, mut vertex: u32) -> u32 {
        loop {
            let next = self.0[vertex as usize].load(Relaxed);
            let after = self.0[next as usize].load(Relaxed);
            if next == after {
                return next;
            }
            // A shorter way for others. Where it fails, one was found already.
            let _ = self.0[vertex as usize].compare_exchange(next, after, Relaxed, Relaxed);
            vertex = next;
        }
    }

    fn join(&self, a: u32, b: u32) {
        loop {
            let (a, b) = (self.root(a), self.root(b));
            let (low, high) = (a.min(b), a.max(b));
            let link = &self.0[high as usize];
            if low == high || link.compare_exchange(high, low, Relaxed, Relaxed).is_ok() {
                return;
            }
        }
    }
}

impl Block {
    /// The parts of the mesh of these blocks, all those of a mesh, in the order of their smallest vertices.
    pub fn parts(blocks: &[Self]) -> Parts {
        let nodes = blocks.first().map_or(0, |block| block.space.nodes()) as u32;
        let links = Links(parallel::unset(nodes as usize));
        parallel::for_each(nodes as usize, |node| {
            links.0[node].store(node as u32, Relaxed)
        });
        let of_block = |Self { space, .. }: &Self| -> Vec<u32> {
            let restriction = space.restriction();
            let entities = ElementNodes::new(space.cell(), space.degree());
            parallel::gather(restriction.chunks.len(), |number, firsts| {
                let chunk = &restriction.chunks[number];
                firsts.extend(chunk.elements.clone().map(|element| {
                    let vertex = |&at: &u32| {
                        let local = restriction.shell_at(element, at as usize);
                        restriction.node(chunk, local) as u32
                    };
                    let mut vertices = entities.vertices().iter().map(vertex);
                    let first = vertices.next().unwrap_or_default();
                    vertices.for_each(|other| links.join(first, other));
                    first
                }));
            })
        };
        let mut of_elements: Vec<Vec<u32>> = blocks.iter().map(of_block).collect();
        for block in &mut of_elements {
            parallel::each(block, |_, vertex| *vertex = links.root(*vertex));
        }
        let least = of_elements
            .iter()
            .map(|roots| parallel::reduce(roots.len(), u32::MAX, |place| roots[place], u32::min));
        let least = least.min();
        let others = of_elements.iter().flat_map(|roots| {
            parallel::gather(roots.len(), |place, others| {
                others.extend(Some(roots[place]).filter(|&root| Some(root) != least));
            })
        });
        let mut others: Vec<u32> = others.collect();
        others.par_sort_unstable();
        others.dedup();
        // The least one has number 0.
        let number = |root: u32| others.partition_point(|&other| other <= root) as u32;
        for block in &mut of_elements {
            parallel::each(block, |_, root| *root = number(*root));
        }
        Parts {
            count: others.len() + usize::from(nodes > 0),
            of_elements,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Geometry;
    use crate::mesh::boxes::AnyBox;
    use crate::space::{Block, SpaceParams};

    /// Boxes side by side, of which every other one is left out.
    #[test]
    fn boxes_apart_are_parts() {
        for cell in AnyBox::CELLS {
            let unit = AnyBox::unit(cell, 1);
            let long = AnyBox {
                cells: (0..cell.dim()).map(|axis| [5, 1, 1][axis]).collect(),
                ..unit
            };
            let mut mesh = long.build(|x| x).expect("legal");
            let coordinates = mesh.coordinates.clone();
            for block in &mut mesh.blocks {
                let is_kept = |cell: &usize| {
                    let nodes = block.cell(*cell).each();
                    let x = nodes.map(|node| coordinates.at(node as usize)[0]);
                    let middle = x.sum::<f64>() / block.cell_type.nodes() as f64;
                    ((5.0 * middle) as usize).min(4).is_multiple_of(2)
                };
                let kept: Vec<usize> = (0..block.len()).filter(is_kept).collect();
                let nodes = kept.iter().flat_map(|&cell| block.cell(cell).each());
                let tags = kept.iter().map(|&cell| block.tags[cell]);
                (block.nodes, block.tags) = (nodes.collect(), tags.collect());
            }
            for degree in [1, 2] {
                let geometries = Geometry::of_shapes(&mesh).expect("cells");
                let params = SpaceParams {
                    degree: degree.into(),
                    ..SpaceParams::default()
                };
                let blocks = Block::all(&mesh, geometries, params).expect("spaces");
                let parts = Block::parts(&blocks);
                assert_eq!(parts.count, 3, "{cell:?}");
                for (block, of_elements) in blocks.iter().zip(&parts.of_elements) {
                    let space = &block.space;
                    for a in 0..space.elements() {
                        for b in space.elements_with(space.element_nodes(a)[0] as usize) {
                            assert_eq!(of_elements[a], of_elements[b]);
                        }
                    }
                }
            }
        }
    }
}
