//! The oracle for hexahedra: one element in double precision, every sum written out.
//!
//! Slow on purpose (each point sums over all nodes); it is the definition that every other
//! evaluation is compared with.

use crate::family::EvalContext;
use crate::family::fields::FieldKind;
use crate::form::{Form, MAX_FIELDS, Point};
use femto_element::tables::TensorTables;

pub use crate::family::fields::CellFields;

/// An element's geometry at its points, lexicographic.
#[derive(Clone, Copy, Debug)]
pub struct OracleGeometry<'a> {
    /// ∂x/∂ξ at each point, `[point][physical][reference]`.
    pub jacobian: &'a [[[f64; 3]; 3]],
    /// Position of each point.
    pub position: &'a [[f64; 3]],
}

/// Value and gradient of a basis function at a point.
type Shape = (f64, [f64; 3]);

/// Σ values × functions: value and gradient.
fn combine(shapes: &[Shape], values: &[f64]) -> Shape {
    let sum = |term: &dyn Fn(&Shape) -> f64| -> f64 {
        let pairs = shapes.iter().zip(values);
        pairs.map(|(shape, value)| term(shape) * value).sum()
    };
    (
        sum(&|shape| shape.0),
        [0, 1, 2].map(|d| sum(&|shape| shape.1[d])),
    )
}

/// The auxiliary fields at point `p` of `points`, `[field]`, and their gradients; zeros where none is given.
fn auxiliary(fields: &CellFields, shapes: &[Shape], p: usize, points: usize) -> Vec<Shape> {
    let mut a = vec![(0.0, [0.0; 3]); MAX_FIELDS];
    for (n, field) in fields.fields.of(FieldKind::Cell).enumerate() {
        a[field].0 = fields.cell[n];
    }
    for (n, field) in fields.fields.of(FieldKind::Nodal).enumerate() {
        a[field] = combine(shapes, &fields.nodal[n * shapes.len()..]);
    }
    for (n, field) in fields.fields.of(FieldKind::Points).enumerate() {
        a[field].0 = fields.points[n * points + p];
    }
    a
}

/// v = A u for one element: `u`, `v` are `[component][node]`.
pub fn apply<F: Form<3, C>, const C: usize>(
    form: &F,
    basis: &TensorTables,
    geometry: OracleGeometry,
    (fields, context): (&CellFields, &EvalContext),
    u: &[f64],
) -> Vec<f64> {
    let (n, np) = (basis.points_1d, basis.nodes());
    let mut v = vec![0.0; C * np];
    let functions = BasisFunctions {
        basis,
        grad_1d: basis.grad_1d.clone(),
    };
    let parameters = context.all_parameters();
    for (p, (jacobian, x)) in geometry.jacobian.iter().zip(geometry.position).enumerate() {
        let (inverse, determinant) = invert(jacobian);
        let weight = basis.weights[p % n] * basis.weights[p / n % n] * basis.weights[p / (n * n)];
        // ∇φ = J⁻ᵀ ∂φ/∂ξ for every node, then u and ∇u.
        let shapes: Vec<Shape> = (0..np)
            .map(|node| {
                let (value, reference) = functions.at(p, node);
                let gradient =
                    [0, 1, 2].map(|d| (0..3).map(|r| inverse[r][d] * reference[r]).sum());
                (value, gradient)
            })
            .collect();
        let u = |c: usize| combine(&shapes, &u[c * np..]);
        let auxiliary = auxiliary(fields, &shapes, p, basis.points());
        let (a, grad_a): (Vec<_>, Vec<_>) = auxiliary.into_iter().unzip();
        let point = Point {
            u: core::array::from_fn(|c| u(c).0),
            grad_u: core::array::from_fn(|c| u(c).1),
            a: &a,
            grad_a: &grad_a,
            x: *x,
            time: context.time,
            parameters: &parameters,
        };
        let (f0, f1) = (form.f0(&point), form.f1(&point));
        for c in 0..C {
            for (out, (value, gradient)) in v[c * np..].iter_mut().zip(&shapes) {
                let flux: f64 = (0..3).map(|d| gradient[d] * f1[c][d]).sum();
                *out += weight * determinant * (value * f0[c] + flux);
            }
        }
    }
    v
}

/// The diagonal of a linear form's element matrix, `[component][node]`: one application per column.
pub fn diagonal<F: Form<3, C>, const C: usize>(
    form: &F,
    basis: &TensorTables,
    geometry: OracleGeometry,
    environment: (&CellFields, &EvalContext),
) -> Vec<f64> {
    let len = C * basis.nodes();
    (0..len)
        .map(|column| {
            let mut unit = vec![0.0; len];
            unit[column] = 1.0;
            apply(form, basis, geometry, environment, &unit)[column]
        })
        .collect()
}

/// Values and reference gradients of the basis functions.
struct BasisFunctions<'a> {
    basis: &'a TensorTables,
    grad_1d: Vec<f64>,
}

impl BasisFunctions<'_> {
    fn at(&self, point: usize, node: usize) -> (f64, [f64; 3]) {
        let (g, q) = (self.basis.points_1d, self.basis.nodes_1d);
        let points = [point % g, point / g % g, point / (g * g)];
        let nodes = [node % q, node / q % q, node / (q * q)];
        let interp = [0, 1, 2].map(|d| self.basis.interp_1d[points[d] * q + nodes[d]]);
        let grad = [0, 1, 2].map(|d| self.grad_1d[points[d] * q + nodes[d]]);
        let value = interp[0] * interp[1] * interp[2];
        let gradient = [
            grad[0] * interp[1] * interp[2],
            interp[0] * grad[1] * interp[2],
            interp[0] * interp[1] * grad[2],
        ];
        (value, gradient)
    }
}

/// J⁻¹ `[reference][physical]` and det J.
fn invert(j: &[[f64; 3]; 3]) -> ([[f64; 3]; 3], f64) {
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        j[r1][c1] * j[r2][c2] - j[r1][c2] * j[r2][c1]
    };
    let determinant = (0..3).map(|c| j[0][c] * minor(0, c)).sum::<f64>();
    let inverse = [0, 1, 2].map(|r| [0, 1, 2].map(|c| minor(c, r) / determinant));
    (inverse, determinant)
}
