//! An irregular mesh of the unit square or cube, as used by a space of degree 1.

use super::candidate::{FANS, Fans};
use crate::BenchError;
use femto_element::Cell;
use femto_fem::geometry::Geometry;
use femto_fem::mesh::Mesh;
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::parallel;
use femto_fem::space::{Space, SpaceParams};
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::fans;
use rayon::slice::ParallelSliceMut;
use std::sync::OnceLock;

/// The same meshes every time.
const SEED: u64 = 4;

/// Cells and nodes in the order of a space along a Hilbert curve.
#[derive(Debug)]
pub struct SimplexMesh {
    dim: usize,
    mesh: Mesh,
    geometry: Geometry,
    /// Nodes, which are the vertices, `[cell][dim + 1]`.
    table: Vec<u32>,
    /// Positions, `[node]`.
    positions: Vec<[f64; 3]>,
    couplings: usize,
    /// For each of [`FANS`]; made when first used by a device.
    lists: OnceLock<Vec<BlockLists>>,
}

impl SimplexMesh {
    /// A mesh with at least `cells` cells.
    ///
    /// # Errors
    /// From the mesh generator, the geometry, the space.
    pub fn new(dim: usize, cells: usize) -> Result<Self, BenchError> {
        let cell = [Cell::Triangle, Cell::Tetrahedron][dim - 2];
        let boxes = cells as f64 / cell.per_box() as f64;
        let along = (boxes.powf(1.0 / dim as f64) - 1e-9).ceil().max(1.0);
        let mesh = AnyBox {
            irregular: Some(SEED),
            ..AnyBox::unit(cell, along as usize)
        };
        let mesh = mesh.build(|x| x).map_err(Box::new)?;
        let geometry = Geometry::new(&mesh)?;
        let space = Space::new(&mesh, &geometry, SpaceParams::default()).map_err(Box::new)?;
        let mut table = vec![0; space.elements() * space.nodes_per_element()];
        parallel::chunks(&mut table, space.nodes_per_element(), |cell, row| {
            row.copy_from_slice(&space.element_nodes(cell));
        });
        Ok(Self {
            dim,
            positions: space.node_positions(&geometry),
            couplings: couplings(&table, dim + 1),
            lists: OnceLock::new(),
            table,
            mesh,
            geometry,
        })
    }

    /// The maps of its cells.
    pub(super) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// A space at degree 1 with cells and nodes in the same order.
    pub(super) fn space(&self, components: usize) -> Result<Space, BenchError> {
        let params = SpaceParams {
            components,
            ..SpaceParams::default()
        };
        Ok(Space::new(&self.mesh, &self.geometry, params).map_err(Box::new)?)
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.table.len() / (self.dim + 1)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.positions.len()
    }

    /// Ordered pairs of nodes with a common cell, including each node with itself: the nonzeros of a matrix
    /// with one component.
    pub fn couplings(&self) -> usize {
        self.couplings
    }

    /// Nodes of a cell.
    pub(crate) fn cell(&self, cell: usize) -> &[u32] {
        &self.table[cell * (self.dim + 1)..][..self.dim + 1]
    }

    /// Position of a node.
    pub(crate) fn position(&self, node: u32) -> [f64; 3] {
        self.positions[node as usize]
    }

    /// The lists for blocks of such fans.
    pub(super) fn lists(&self, fans: Fans) -> Option<&BlockLists> {
        let lists = self.lists.get_or_init(|| {
            parallel::gather(FANS.len(), |place, lists| {
                let (per_block, cells) = FANS[place];
                let per_block = per_block as usize;
                let fans = fans::Fans::new(&self.table, self.dim + 1, cells as usize, per_block);
                lists.push(BlockLists::new(&fans, per_block, |_| false));
            })
        });
        let place = FANS.iter().position(|known| *known == fans)?;
        lists.get(place)
    }

    /// Maximum number of nodes of a block of such fans; zero, which is illegal, without lists.
    pub(super) fn block_nodes(&self, fans: Fans) -> u32 {
        self.lists(fans).map_or(0, |lists| lists.most_nodes as u32)
    }

    /// All cells that contain one of these nodes.
    pub(super) fn cells_around(&self, nodes: &[u32]) -> Vec<usize> {
        let mut wanted = vec![false; self.nodes()];
        for &node in nodes {
            wanted[node as usize] = true;
        }
        parallel::filter(self.cells(), |cell| {
            self.cell(cell).iter().any(|&node| wanted[node as usize])
        })
    }
}

/// See [`SimplexMesh::couplings`].
fn couplings(table: &[u32], nodes: usize) -> usize {
    let most = table.iter().copied().max();
    let mut edges = parallel::gather(table.len() / nodes, |cell, edges| {
        let cell = &table[cell * nodes..][..nodes];
        let pairs = (0..nodes).flat_map(|a| (0..a).map(move |b| (a, b)));
        edges.extend(pairs.map(|(a, b)| (cell[a].min(cell[b]), cell[a].max(cell[b]))));
    });
    edges.par_sort_unstable();
    edges.dedup();
    2 * edges.len() + most.map_or(0, |most| most as usize + 1)
}
