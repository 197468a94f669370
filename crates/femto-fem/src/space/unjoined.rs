//! Places on the boundary where cells touch without being joined.

use std::collections::{HashMap, HashSet};

use rayon::slice::ParallelSliceMut;

use super::topology::NONE;
use crate::mesh::PeriodicSides;
use crate::mesh::ordering::{bounding_box, rounding};
use crate::parallel;

/// Mesh nodes where cells touch, but have no node or facet in common: in a crack, where parts were not merged, or where
/// the cells of one side are smaller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unjoined {
    /// Pairs of vertices on the boundary that are at the same place.
    pub coincident: Vec<[u32; 2]>,
    /// Vertices on the boundary in the middle of an edge or a face of a cell that does not have them.
    pub hanging: Vec<u32>,
}

/// Distances below this fraction of the mesh's extent are rounding.
const SAME: f64 = 1e-9;

/// Where the places begin that distances are rounded to: short decimal and binary fractions are then far from their
/// ends, so that coordinates which differ by rounding have the same place.
const OFFSET: f64 = 0.381_966_011_250_105;

impl Unjoined {
    /// Compares the vertices of facets that belong to one cell and are not on periodic sides, given where they are. Facets
    /// are the mesh nodes at their vertices, going round; [`NONE`] beyond their number. Nodes on `periodic` sides are joined
    /// to others, perhaps at the same place.
    pub(super) fn new(
        at: impl Fn(u32) -> [f64; 3] + Sync,
        facets: &[[u32; 4]],
        periodic: &[PeriodicSides],
    ) -> Self {
        let mut vertices = facets.concat();
        vertices.par_sort_unstable();
        vertices.dedup();
        vertices.retain(|&node| node != NONE);
        let positions: Vec<[f64; 3]> = vertices.iter().map(|&node| at(node)).collect();
        let bounds = bounding_box(&positions);
        let (low, step) = (bounds.0, rounding(bounds, SAME));
        let place =
            |x: [f64; 3]| [0, 1, 2].map(|a| ((x[a] - low[a]) / step + OFFSET).floor() as i64);
        let sides = periodic.iter().flat_map(|sides| sides.nodes.concat());
        let on_sides: HashSet<u32> = sides.collect();
        let mut found = Self::default();
        let mut known = HashMap::with_capacity(vertices.len());
        for &node in &vertices {
            if let Some(other) = known.insert(place(at(node)), node)
                && !(on_sides.contains(&other) && on_sides.contains(&node))
            {
                found.coincident.push([other, node]);
            }
        }
        let in_middle = |facet: &[u32; 4], corners: &[usize]| {
            let mut middle = [0.0; 3];
            for &corner in corners {
                let x = at(facet[corner]);
                (0..3).for_each(|a| middle[a] += x[a] / corners.len() as f64);
            }
            let node = *known.get(&place(middle))?;
            (!facet.contains(&node)).then_some(node)
        };
        found.hanging = parallel::gather(facets.len(), |number, hanging| {
            let facet = &facets[number];
            let count = facet.iter().filter(|&&node| node != NONE).count();
            let edges = (0..count).filter_map(|i| in_middle(facet, &[i, (i + 1) % count]));
            hanging.extend(edges);
            if count == 4 {
                hanging.extend(in_middle(facet, &[0, 1, 2, 3]));
            }
        });
        found.hanging.par_sort_unstable();
        found.hanging.dedup();
        found
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.coincident.is_empty() && self.hanging.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use crate::geometry::Geometry;
    use crate::mesh::boxes::AnyBox;
    use crate::mesh::{CellBlock, Mesh};
    use crate::space::{Block, SpaceParams};
    use femto_element::{Cell, CellType};

    fn unjoined(mesh: &Mesh) -> super::Unjoined {
        let geometries = Geometry::of_shapes(mesh).unwrap();
        let blocks = Block::all(mesh, geometries, SpaceParams::default()).unwrap();
        blocks[0].space.unjoined().clone()
    }

    #[test]
    fn boxes_are_joined() {
        for cell in AnyBox::CELLS {
            // Far from the origin too, and with periodic sides.
            for origin in [0.0, 5e6] {
                let moved = |x: [f64; 3]| x.map(|x| origin + 1e-2 * x);
                let mut mesh = AnyBox::unit(cell, 3).build(moved).unwrap();
                assert_eq!(unjoined(&mesh), super::Unjoined::default(), "{cell:?}");
                if origin == 0.0 {
                    mesh.join_sides("xmin", "xmax").unwrap();
                    assert_eq!(unjoined(&mesh), super::Unjoined::default(), "{cell:?}");
                }
            }
        }
    }

    /// A square beside two halves of one, with the vertices between them once or twice.
    fn squares(is_merged: bool) -> Mesh {
        let quadrilateral = CellType::complete(Cell::Quadrilateral, 1).unwrap();
        let [low, high] = if is_merged { [1, 2] } else { [9, 10] };
        Mesh {
            coordinates: vec![
                [0.0, 0.0, 0.0],
                [1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0],
                [0.0, 1.0, 0.0],
                [1.0, 0.5, 0.0],
                [2.0, 0.0, 0.0],
                [2.0, 0.5, 0.0],
                [2.0, 1.0, 0.0],
                [9.0, 9.0, 0.0],
                [1.0, 0.0, 0.0],
                [1.0, 1.0, 0.0],
            ]
            .into(),
            blocks: vec![CellBlock {
                cell_type: quadrilateral,
                nodes: vec![0, 1, 2, 3, low, 5, 6, 4, 4, 6, 7, high].into(),
                tags: vec![0; 3],
            }],
            ..Mesh::default()
        }
    }

    /// Short fractions lie halfway between multiples of the rounding.
    #[test]
    fn places_that_differ_by_rounding_are_the_same() {
        for x in [341.0 / 1024.0, 0.25, 0.1, 0.123_456_789_5] {
            let mut mesh = squares(false);
            let scale = x / 2.0;
            for position in mesh.coordinates.to_mut() {
                *position = position.map(|along: f64| scale * along);
            }
            for node in [9, 10] {
                let x = &mut mesh.coordinates.to_mut()[node][0];
                *x = f64::next_down(*x);
            }
            assert_eq!(unjoined(&mesh).coincident, [[1, 9], [2, 10]], "{x}");
        }
    }

    #[test]
    fn touching_cells_are_found() {
        let merged = unjoined(&squares(true));
        assert_eq!((merged.coincident, merged.hanging), (vec![], vec![4]));
        let apart = unjoined(&squares(false));
        let pairs = vec![[1, 9], [2, 10]];
        assert_eq!((apart.coincident, apart.hanging), (pairs, vec![4]));
    }
}
