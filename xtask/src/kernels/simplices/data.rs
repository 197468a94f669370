//! Cells that share nodes, and everything that a kernel reads of them.

use anyhow::{Result, ensure};
use femto_element::tables::DenseTables;
use femto_kernel::family::EvalContext;
use femto_kernel::family::batch::{Batch, Nodes, Vertices};
use femto_kernel::family::cell_quadrature::blocks::BlockLists;
use femto_kernel::family::cell_quadrature::fans::Fans;
use femto_kernel::family::cell_quadrature::host::HostPlan;
use femto_kernel::family::cell_quadrature::source::{Interleave, place, places};
use femto_kernel::family::cell_quadrature::{
    CellGeometry, FieldKind, Shape, Storage, at_points, pack,
};
use femto_kernel::family::oracle::{self, CellFields, OracleGeometry};
use femto_kernel::form::Form;
use femto_kernel::scalar::SimdLevel;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Cells of a check: several blocks, the last one not full.
pub(super) const CELLS: usize = 151;

/// So many cells have the same nodes, in turned order.
const SHARING: usize = 3;

pub(super) const CONTEXT: EvalContext = EvalContext {
    time: 0.75,
    parameters: &[1.25, -0.5],
};

/// What sets of nodes, and of vertices, there are.
pub(super) fn groups() -> usize {
    CELLS.div_ceil(SHARING)
}

/// Numbers of `own` nodes of each cell, `[cell][node]`: cells of a group have the same ones.
pub(super) fn table(own: usize) -> Vec<u32> {
    let total = groups() * own;
    let entry = |n: usize| {
        let (cell, node) = (n / own, n % own);
        let node = cell / SHARING * own + (node + cell % SHARING) % own;
        // Not in their order: 7 divides no number of nodes.
        (node * 7 % total) as u32
    };
    (0..CELLS * own).map(entry).collect()
}

/// Everything about some cells, in double precision.
pub(super) struct Data {
    pub(super) element: DenseTables,
    pub(super) shape: Shape,
    /// `[cell][node]`
    pub(super) nodes: Vec<u32>,
    /// Number of nodes.
    pub(super) total: usize,
    /// `[cell][vertex]`; the nodes where the basis is linear.
    pub(super) vertices: Vec<u32>,
    /// `[vertex]`
    pub(super) coordinates: Vec<[f64; 3]>,
    /// At the points of each cell.
    jacobian: Vec<[[f64; 3]; 3]>,
    position: Vec<[f64; 3]>,
    /// `[cell][field]`, `[field][node]`, `[cell][field][point]`.
    pub(super) cell_fields: Vec<f64>,
    pub(super) nodal_fields: Vec<f64>,
    pub(super) point_fields: Vec<f64>,
    /// `[component][node]`
    pub(super) u: Vec<f64>,
    pub(super) seed: u64,
}

impl Data {
    pub(super) fn new(element: &DenseTables, shape: &Shape) -> Self {
        let seed = rand::random();
        let mut random = StdRng::seed_from_u64(seed);
        // Single precision holds them exactly.
        let mut number = || f64::from(random.random_range(-1.0_f32..1.0));
        let corners = shape.dim + 1;
        let nodes = table(shape.nodes);
        let vertices = if shape.degree_one {
            nodes.clone()
        } else {
            table(corners)
        };
        let mut coordinates = vec![[0.0; 3]; groups() * corners];
        for cell in vertices.chunks(corners).step_by(SHARING) {
            for (corner, &vertex) in cell.iter().enumerate() {
                let x = &mut coordinates[vertex as usize][..shape.dim];
                for (d, x) in x.iter_mut().enumerate() {
                    let corner = f64::from(u8::from(corner == d + 1));
                    *x = corner + (8.0 * number()).round() / 64.0;
                }
            }
        }
        let (mut jacobian, mut position) = (Vec::new(), Vec::new());
        for cell in vertices.chunks(corners) {
            let own: Vec<_> = cell.iter().map(|&v| coordinates[v as usize]).collect();
            let (j, x) = at_points(element, &own);
            jacobian.extend(j);
            position.extend(x);
        }
        if shape.storage == Storage::Jacobians {
            let bend = |entry: &mut f64| *entry = f64::from((*entry + 0.05 * number()) as f32);
            let entries = jacobian.iter_mut().flatten().flatten();
            entries.chain(position.iter_mut().flatten()).for_each(bend);
        }
        let total = groups() * shape.nodes;
        let count = |kind| shape.fields_of(kind);
        let mut numbers = |len: usize| (0..len).map(|_| number()).collect::<Vec<f64>>();
        Self {
            element: element.clone(),
            shape: *shape,
            nodes,
            total,
            vertices,
            coordinates,
            jacobian,
            position,
            cell_fields: numbers(CELLS * count(FieldKind::Cell)),
            nodal_fields: numbers(total * count(FieldKind::Nodal)),
            point_fields: numbers(CELLS * count(FieldKind::Points) * shape.points),
            u: numbers(total * shape.components),
            seed,
        }
    }

    /// Values of a cell's nodes, `[row][node]`, of rows of all nodes.
    fn gather(&self, cell: usize, rows: &[f64]) -> Vec<f64> {
        let nodes = &self.nodes[cell * self.shape.nodes..][..self.shape.nodes];
        let rows = rows.chunks(self.total);
        rows.flat_map(|row| nodes.iter().map(move |&node| row[node as usize]))
            .collect()
    }

    /// A cell's unknowns, `[component][node]`.
    pub(super) fn unknowns(&self, cell: usize) -> Vec<f64> {
        self.gather(cell, &self.u)
    }

    /// A cell's values of nodal fields, `[field][node]`.
    pub(super) fn nodal(&self, cell: usize) -> Vec<f64> {
        self.gather(cell, &self.nodal_fields)
    }

    fn points(&self, cell: usize) -> OracleGeometry<'_> {
        let points = self.shape.points;
        OracleGeometry {
            jacobian: &self.jacobian[cell * points..][..points],
            position: &self.position[cell * points..][..points],
        }
    }

    /// What is stored of a cell's geometry.
    pub(super) fn geometry(&self, cell: usize) -> Vec<f64> {
        let mut numbers = vec![f64::NAN; self.shape.geometry_numbers()];
        let corners = self.shape.dim + 1;
        let own = self.vertices[cell * corners..][..corners].iter();
        let own: Vec<_> = own.map(|&v| self.coordinates[v as usize]).collect();
        let OracleGeometry { jacobian, position } = self.points(cell);
        let geometry = match self.shape.storage {
            Storage::Jacobians => CellGeometry::Points { jacobian, position },
            _ => CellGeometry::Vertices(&own),
        };
        pack(&self.shape, &self.element, geometry, |n, value| {
            numbers[n] = value;
        });
        numbers
    }

    /// What the oracle makes of each cell, `[component][node]`.
    pub(super) fn expected<F, const D: usize, const C: usize>(&self, form: &F) -> Vec<Vec<f64>>
    where
        F: Form<D, C>,
    {
        let row = |all: &[f64], cell: usize| {
            let len = all.len() / CELLS;
            all[cell * len..][..len].to_vec()
        };
        let cell = |cell: usize| {
            let (own, points) = (row(&self.cell_fields, cell), row(&self.point_fields, cell));
            let fields = CellFields {
                fields: self.shape.fields,
                cell: &own,
                nodal: &self.nodal(cell),
                points: &points,
            };
            let environment = (&fields, &CONTEXT);
            let (geometry, u) = (self.points(cell), self.unknowns(cell));
            oracle::apply::<F, D, C>(form, &self.element, geometry, environment, &u)
        };
        (0..CELLS).map(cell).collect()
    }

    /// What the host's kernel makes of the cells from `first` on, `[cell][component][node]`.
    pub(super) fn by_host<F, const D: usize, const C: usize>(
        &self,
        form: &F,
        first: usize,
    ) -> Vec<f64>
    where
        F: Form<D, C> + Clone + 'static,
    {
        let plan = HostPlan {
            element: &self.element,
            shape: self.shape,
            level: SimdLevel::detect(),
        };
        let kernel = plan.build::<f64, F, D, C>(form);
        let (width, unknowns) = (kernel.lanes(), self.shape.unknowns());
        let mut workspace = kernel.workspace();
        let mut out = vec![f64::NAN; (CELLS - first) * unknowns];
        for (batch, out) in out.chunks_mut(width * unknowns).enumerate() {
            let start = first + batch * width;
            let cells = || start..start + out.len() / unknowns;
            let lanes = |numbers: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> {
                let rows: Vec<Vec<f64>> = cells().map(numbers).collect();
                let entry = |n: usize| rows.get(n % width).map_or(0.0, |row| row[n / width]);
                (0..rows[0].len() * width).map(entry).collect()
            };
            let own = |all: &[f64], cell: usize| {
                let len = all.len() / CELLS;
                all[cell * len..][..len].to_vec()
            };
            let u: Vec<f64> = cells().flat_map(|cell| self.unknowns(cell)).collect();
            let nodal: Vec<f64> = cells().flat_map(|cell| self.nodal(cell)).collect();
            let batch = Batch {
                elements: cells().len(),
                nodes: Nodes::Element,
                vertices: Vertices::NONE,
                geometry: &lanes(&|cell| self.geometry(cell)),
                auxiliary: &lanes(&|cell| own(&self.cell_fields, cell)),
                nodal: &nodal,
                points: &lanes(&|cell| own(&self.point_fields, cell)),
                context: &CONTEXT,
            };
            kernel.apply(&batch, &u, out, &mut workspace);
        }
        out
    }

    /// The sum of what cells give, `[component][node]`.
    pub(super) fn sum(&self, cells: &[Vec<f64>]) -> Vec<f64> {
        let mut sum = vec![0.0; self.u.len()];
        for (cell, values) in cells.iter().enumerate() {
            for (n, value) in values.iter().enumerate() {
                let (component, node) = (n / self.shape.nodes, n % self.shape.nodes);
                let node = self.nodes[cell * self.shape.nodes + node] as usize;
                sum[component * self.total + node] += value;
            }
        }
        sum
    }
}

/// An array over cells, from the numbers of each.
pub(super) fn over_cells<T: Copy>(
    together: usize,
    poison: T,
    numbers: impl Fn(usize) -> Vec<T>,
) -> Vec<T> {
    let count = numbers(0).len();
    let mut array = vec![poison; places(together, CELLS, count)];
    for cell in 0..CELLS {
        for (n, value) in numbers(cell).into_iter().enumerate() {
            array[place(together, cell, (n, count))] = value;
        }
    }
    array
}

/// The lists of nodes of blocks of so many fans, and the cells in their order.
pub(super) fn lists(nodes: usize, (fans_per_block, cells): (u32, u32)) -> (BlockLists, Vec<u32>) {
    let per_block = fans_per_block as usize;
    let fans = Fans::new(&table(nodes), nodes, cells as usize, per_block);
    (
        BlockLists::new(&fans, per_block, |_| false),
        fans.order(per_block),
    )
}

/// Holds numbers against expected ones, relative to the largest of these.
pub(super) fn close(found: &[f64], expected: &[f64], tolerance: f64) -> Result<()> {
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    ensure!(found.len() == expected.len(), "lengths differ");
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Not for NaN.
        let close = (found - expected).abs() <= tolerance * largest;
        ensure!(close, "entry {n} is {found}, not {expected}");
    }
    Ok(())
}

/// Rows of numbers of cells.
pub(super) const fn interleave(together: usize) -> Interleave {
    Interleave {
        data: together,
        vectors: together,
    }
}
