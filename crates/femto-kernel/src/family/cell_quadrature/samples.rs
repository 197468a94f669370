//! Random elements, cells and forms for tests, and a mesh.

use super::{FieldKind, Fields, Shape, Storage, at_points};
use crate::family::{CellMap, oracle};
use crate::form::{Form, Inspection, Point, inspect};
use crate::scalar::Scalar;
use femto_element::tables::DenseTables;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A generator that prints its seed if the thread panics.
pub(super) struct Random(pub(super) StdRng, u64);

impl Random {
    pub(super) fn new() -> Self {
        let seed = rand::random();
        Self(StdRng::seed_from_u64(seed), seed)
    }

    pub(super) fn number(&mut self) -> f64 {
        // Exact in single precision too.
        f64::from(self.0.random_range(-1.0_f32..1.0))
    }

    pub(super) fn numbers(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.number()).collect()
    }
}

impl Drop for Random {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed was {}", self.1);
        }
    }
}

/// A simplex of degree 1 to 3 with random points and weights. At degree 1 it has the real basis; at other
/// degrees the tables are random, which evaluations must handle.
pub(super) fn element(
    random: &mut Random,
    dim: usize,
    degree: usize,
    points: usize,
) -> DenseTables {
    let nodes = match dim {
        2 => (degree + 1) * (degree + 2) / 2,
        _ => (degree + 1) * (degree + 2) * (degree + 3) / 6,
    };
    let weights = (0..points)
        .map(|_| 0.3 + 0.1 * random.number())
        .collect::<Vec<_>>();
    let positions: Vec<f64> = (0..points * dim)
        .map(|_| 0.25 + 0.05 * random.number())
        .collect();
    let (interp, grad) = if degree == 1 {
        let row = |q: usize| {
            let xi = positions[q * dim..][..dim].iter();
            core::iter::once(1.0 - xi.clone().sum::<f64>()).chain(xi.copied())
        };
        let interp = (0..points).flat_map(row).collect();
        let entry = |n: usize| match (n / dim % nodes, n % dim) {
            (0, _) => -1.0,
            (node, axis) => f64::from(u8::from(node == axis + 1)),
        };
        (interp, (0..points * nodes * dim).map(entry).collect())
    } else {
        (
            random.numbers(points * nodes),
            random.numbers(points * nodes * dim),
        )
    };
    DenseTables {
        cell: match dim {
            2 => femto_element::Cell::Triangle,
            _ => femto_element::Cell::Tetrahedron,
        },
        // Not that of the numbers, which are random.
        degree: 1.into(),
        dim,
        nodes,
        points,
        weights,
        positions,
        interp,
        grad,
    }
}

/// One cell with all inputs of a form.
pub(super) struct Cell {
    pub(super) vertices: Vec<[f64; 3]>,
    pub(super) jacobian: Vec<[[f64; 3]; 3]>,
    pub(super) position: Vec<[f64; 3]>,
    /// Fields of each kind, `[field]`, `[field][node]`, `[field][point]`.
    pub(super) cell: Vec<f64>,
    pub(super) nodal: Vec<f64>,
    pub(super) points: Vec<f64>,
    /// `[component][node]`
    pub(super) u: Vec<f64>,
}

impl Cell {
    /// A cell that is not too thin; curved if its storage is for curved cells.
    pub(super) fn new(random: &mut Random, element: &DenseTables, shape: &Shape) -> Self {
        let dim = element.dim;
        let vertices: Vec<[f64; 3]> = (0..=dim)
            .map(|v| {
                let corner = |d: usize| f64::from(u8::from(v == d + 1));
                core::array::from_fn(|d| {
                    corner(d) + 0.125 * (16.0 * random.number()).round() / 16.0
                })
            })
            .collect();
        let (mut jacobian, mut position) = at_points(element, &vertices);
        if shape.storage == Storage::Jacobians {
            for entry in jacobian.iter_mut().flatten().flatten() {
                *entry += 0.1 * random.number();
            }
            for entry in position.iter_mut().flatten() {
                *entry += 0.1 * random.number();
            }
        }
        let count = |kind| shape.fields_of(kind);
        Self {
            vertices,
            jacobian,
            position,
            cell: random.numbers(count(FieldKind::Cell)),
            nodal: random.numbers(count(FieldKind::Nodal) * element.nodes),
            points: random.numbers(count(FieldKind::Points) * element.points),
            u: random.numbers(shape.unknowns()),
        }
    }

    pub(super) fn geometry(&self, storage: Storage) -> CellMap<'_> {
        match storage {
            Storage::Jacobians => CellMap::Points {
                jacobian: &self.jacobian,
                position: &self.position,
            },
            _ => CellMap::Vertices(&self.vertices),
        }
    }

    pub(super) fn at_points(&self) -> oracle::OracleGeometry<'_> {
        oracle::OracleGeometry {
            jacobian: &self.jacobian,
            position: &self.position,
        }
    }

    pub(super) fn fields(&self, fields: Fields) -> oracle::CellFields<'_> {
        oracle::CellFields {
            fields,
            cell: &self.cell,
            nodal: &self.nodal,
            points: &self.points,
        }
    }
}

/// Fields of every kind, deliberately not sorted by kind.
pub(super) const KINDS: [FieldKind; 4] = [
    FieldKind::Points,
    FieldKind::Nodal,
    FieldKind::Cell,
    FieldKind::Nodal,
];

/// Reads and couples all inputs, linearly in the solution.
#[derive(Clone, Copy)]
pub(super) struct Everything;

impl<const D: usize, const C: usize> Form<D, C> for Everything {
    fn f0<S: Scalar>(&self, p: &Point<S, D, C>) -> [S; C] {
        let mut f0 = p.u;
        for (c, f0) in f0.iter_mut().enumerate() {
            let other = (c + 1) % C;
            *f0 = p.u[c] * p.a[0] + p.u[other] * p.grad_a[1][D - 1] * p.time
                - p.grad_u[other][0] * p.parameters[0];
        }
        f0
    }

    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        let mut f1 = p.grad_u;
        for (c, f1) in f1.iter_mut().enumerate() {
            let other = (c + 1) % C;
            for (d, f1) in f1.iter_mut().enumerate() {
                *f1 = p.grad_u[other][d] * (p.x[d] + p.a[2] + 3.0)
                    + p.grad_u[c][(d + 1) % D] * p.a[3]
                    + p.u[other] * p.grad_a[3][d];
            }
        }
        f1
    }
}

/// κ(u, ∇u): nonlinear, without a source.
#[derive(Clone, Copy)]
pub(super) struct Nonlinear;

impl<const D: usize, const C: usize> Form<D, C> for Nonlinear {
    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        let mut norm = p.constant(1.0);
        for c in 0..C {
            norm = norm + p.u[c] * p.u[c];
            for d in 0..D {
                norm = norm + p.grad_u[c][d] * p.grad_u[c][d];
            }
        }
        let kappa = norm.sqrt();
        p.grad_u.map(|gradient| gradient.map(|g| g * kappa))
    }
}

/// The coefficient is given at the points; gradients only.
#[derive(Clone, Copy)]
pub(super) struct Variable;

impl<const D: usize, const C: usize> Form<D, C> for Variable {
    fn f1<S: Scalar>(&self, p: &Point<S, D, C>) -> [[S; D]; C] {
        p.grad_u.map(|gradient| gradient.map(|g| g * p.a[0]))
    }
}

/// Shape of a form with these kinds of fields.
pub(super) fn shape<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    element: &DenseTables,
    kinds: &[FieldKind],
    storage: Storage,
) -> (Shape, Inspection) {
    let inspection = inspect::<F, D, C>(form);
    let shape = Shape::new(element, &inspection, Fields::new(kinds), storage);
    (shape, inspection)
}

/// The triangles of a grid of `side` squares each way, each cut in two; nodes row by row.
pub(super) fn cut_squares(side: u32) -> Vec<[u32; 3]> {
    let of_square = |n: u32| {
        let at = |i, j| (n / side + j) * (side + 1) + n % side + i;
        let (first, last) = (at(0, 0), at(1, 1));
        [[first, at(1, 0), last], [last, at(0, 1), first]]
    };
    (0..side * side).flat_map(of_square).collect()
}
