//! Triangles and tetrahedra that share nodes and vertices, and their lists for kernels.

use femto_element::tables::DenseTables;
use femto_kernel::family::CellMap;
use femto_kernel::family::batch::{Batch, Nodes, Source, Target, Vertices};
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::fans::Fans;
use femto_kernel::family::cell_quadrature::host::HostPlan;
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::source::Interleave;
use femto_kernel::family::cell_quadrature::{Shape, Storage, pack};
use femto_kernel::family::oracle::OracleGeometry;
use femto_kernel::family::{EvalContext, Operand, Scatter, Vectors};
use femto_kernel::form::Form;
use femto_kernel::scalar::SimdLevel;
use std::sync::Arc;

use super::super::elements::{Elements, Map, Random, Recipe};
use super::super::runner::{Value, rows};

/// Cells of a check: several blocks, the last one not full.
pub(super) const CELLS: usize = 151;

/// Number of cells with the same nodes, in rotated order.
const SHARING: usize = 3;

/// Number of sets of nodes, and of vertices.
const GROUPS: usize = CELLS.div_ceil(SHARING);

/// Numbers of the `own` nodes of each cell, `[cell][node]`; cells of a group share them.
fn table(own: usize) -> Vec<u32> {
    let entry = |n: usize| {
        let (cell, node) = (n / own, n % own);
        let node = cell / SHARING * own + (node + cell % SHARING) % own;
        // Out of order: 7 divides no number of nodes.
        (node * 7 % (GROUPS * own)) as u32
    };
    (0..CELLS * own).map(entry).collect()
}

/// The node lists of blocks of `fans_per_block` fans, and the cells in their order.
pub(super) fn lists(nodes: usize, (fans_per_block, cells): (u32, u32)) -> (BlockLists, Vec<u32>) {
    let per_block = fans_per_block as usize;
    let fans = Fans::new(&table(nodes), nodes, cells as usize, per_block);
    (
        BlockLists::new(&fans, per_block, |_| false),
        fans.order(per_block),
    )
}

/// The lists of a schedule, if it uses them.
fn block_lists(schedule: &Schedule, nodes: usize) -> Option<(BlockLists, Vec<u32>)> {
    match *schedule {
        Schedule::BlockLocal(it) => Some(lists(nodes, (it.fans_per_block, it.fan_cells))),
        _ => None,
    }
}

/// Cells with their vertices.
pub(super) struct Cells<'a> {
    element: &'a DenseTables,
    shape: &'a Shape,
    pub(super) elements: Elements,
    /// `[cell][vertex]`; the nodes where the basis is linear.
    vertices: Vec<u32>,
    /// `[vertex]`
    coordinates: Vec<[f64; 3]>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(element: &'a DenseTables, shape: &'a Shape) -> Self {
        let mut random = Random::new();
        let corners = shape.dim + 1;
        let vertices = table(corners);
        let mut coordinates = vec![[0.0; 3]; GROUPS * corners];
        for cell in vertices.chunks(corners).step_by(SHARING) {
            for (corner, &vertex) in cell.iter().enumerate() {
                let x = &mut coordinates[vertex as usize][..shape.dim];
                for (d, x) in x.iter_mut().enumerate() {
                    let corner = f64::from(u8::from(corner == d + 1));
                    *x = corner + random.near(0.0, 8.0).round() / 64.0;
                }
            }
        }
        let map = |cell: &[u32]| {
            let mut map = Map::default();
            map[0] = coordinates[cell[0] as usize];
            for (axis, &vertex) in cell[1..].iter().enumerate() {
                let x = coordinates[vertex as usize];
                map[1 << axis] = [0, 1, 2].map(|d| x[d] - map[0][d]);
            }
            map
        };
        let recipe = Recipe {
            maps: vertices.chunks(corners).map(map).collect(),
            curved: shape.storage == Storage::Jacobians,
            nodes: table(shape.nodes),
            points: element.positions_3d(),
            components: shape.components,
            fields: shape.fields,
            amplitude: 1.0,
        };
        Self {
            elements: Elements::new(random, recipe),
            element,
            shape,
            vertices,
            coordinates,
        }
    }

    /// The stored geometry of a cell.
    fn geometry(&self, cell: usize) -> Vec<f64> {
        let mut numbers = vec![f64::NAN; self.shape.geometry_numbers()];
        let own = self.elements.part(&self.vertices, cell).iter();
        let own: Vec<_> = own.map(|&v| self.coordinates[v as usize]).collect();
        let OracleGeometry { jacobian, position } = self.elements.geometry(cell);
        let geometry = match self.shape.storage {
            Storage::Jacobians => CellMap::Points { jacobian, position },
            Storage::Vertices | Storage::Affine => CellMap::Vertices(&own),
        };
        pack(self.shape, geometry, |n, value| {
            numbers[n] = value;
        });
        numbers
    }

    /// Geometry, vertices and lists of blocks, and the number of places for cells.
    pub(super) fn arrays(
        &self,
        schedule: &Schedule,
        interleave: Interleave,
    ) -> (Vec<(Operand, Value)>, usize) {
        let geometry: Vec<f64> = (0..CELLS).flat_map(|cell| self.geometry(cell)).collect();
        let coordinates = self.coordinates.iter().flat_map(|x| &x[..self.shape.dim]);
        let sizes = (CELLS, interleave.data);
        let vertices = rows(&self.vertices, sizes, None, 0);
        let reals = |all, order| Value::Reals(rows(all, sizes, order, f64::NAN));
        let coordinates = Value::Reals(coordinates.copied().collect());
        let mut arrays = vec![
            (Operand::Geometry, reals(&geometry, None)),
            (Operand::Coordinates, coordinates),
            (Operand::Vertices, Value::U32(vertices)),
        ];
        let Some((lists, order)) = block_lists(schedule, self.shape.nodes) else {
            return (arrays, CELLS);
        };
        let cell_fields = reals(&self.elements.cell_fields, Some(&order));
        let sums = lists.sums.arrays();
        arrays.extend(sums.map(|(of, array)| (of, array.into())));
        arrays.extend([
            (Operand::BlockLocal, Value::U16(lists.local)),
            (Operand::BlockCellFields, cell_fields),
        ]);
        (arrays, order.len())
    }

    /// The nodes that a block writes to the output, since no other block has them.
    pub(super) fn written(&self, schedule: &Schedule, vectors: Vectors) -> Vec<bool> {
        let lists = block_lists(schedule, self.shape.nodes);
        let atomic = vectors.scatter() == Some(Scatter::Atomic);
        let mut written = vec![atomic && lists.is_some(); self.elements.total];
        for node in lists.map_or(Vec::new(), |(lists, _)| lists.shared_nodes()) {
            written[node as usize] = false;
        }
        written
    }

    /// The result of the host's kernel for a form without fields on the cells from `first` on,
    /// `[cell][component][node]`.
    pub(super) fn by_host<F, const D: usize, const C: usize>(
        &self,
        form: &F,
        first: usize,
    ) -> Vec<f64>
    where
        F: Form<D, C> + Clone + 'static,
    {
        let plan = HostPlan {
            element: &Arc::new(self.element.clone()),
            shape: *self.shape,
            level: SimdLevel::detect(),
        };
        let kernel = plan.build::<f64, F, D, C>(form);
        let (width, mut workspace) = (kernel.lanes(), kernel.workspace());
        let of_batch = |start: usize| {
            let cells = || start..CELLS.min(start + width);
            let geometry: Vec<f64> = cells().flat_map(|cell| self.geometry(cell)).collect();
            let u = |cell| self.elements.gather(cell, &self.elements.u);
            let u: Vec<f64> = cells().flat_map(u).collect();
            let batch = Batch {
                elements: cells().len(),
                nodes: Nodes::Element,
                vertices: Vertices::NONE,
                geometry: &rows(&geometry, (cells().len(), width), None, 0.0),
                auxiliary: &[],
                nodal: Source::of(&[]),
                points: &[],
                context: &EvalContext::default(),
            };
            let mut out = vec![f64::NAN; u.len()];
            kernel.apply(&batch, Source::of(&u), Target::of(&mut out), &mut workspace);
            out
        };
        (first..CELLS).step_by(width).flat_map(of_batch).collect()
    }
}
