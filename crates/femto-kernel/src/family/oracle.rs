//! The oracle of all families: one cell in double precision, every sum written out.
//!
//! Slow on purpose (each point sums over all nodes): it is the definition that all other evaluations are
//! compared with.

use super::EvalContext;
use super::fields::FieldKind;
use crate::form::{Form, MAX_FIELDS, Point};
use femto_element::tables::BasisAtPoints;

pub use super::fields::CellFields;

/// A cell's geometry at its points; entries beyond its dimension are not read.
#[derive(Clone, Copy, Debug)]
pub struct OracleGeometry<'a> {
    /// ∂x/∂ξ at each point, `[point][physical][reference]`.
    pub jacobian: &'a [[[f64; 3]; 3]],
    /// Position of each point.
    pub position: &'a [[f64; 3]],
}

/// Value and gradient of a basis function or field at a point.
type Jet<const D: usize> = (f64, [f64; D]);

/// Values and gradients of the basis functions at a point, `[node]`: ∇φ = J⁻ᵀ ∂φ/∂ξ.
fn basis<const D: usize>(
    element: &dyn BasisAtPoints,
    q: usize,
    inverse: &[[f64; D]; D],
) -> Vec<Jet<D>> {
    let mut jets = vec![(0.0, [0.0; D]); element.nodes()];
    for (node, (value, gradient)) in jets.iter_mut().enumerate() {
        let (at, reference) = element.at(q, node);
        *value = at;
        for (derivative, row) in reference.iter().zip(inverse) {
            for (sum, j) in gradient.iter_mut().zip(row) {
                *sum += derivative * j;
            }
        }
    }
    jets
}

/// Σ values × basis functions.
fn combine<const D: usize>(basis: &[Jet<D>], values: &[f64]) -> Jet<D> {
    let (mut sum, mut gradient_sum) = (0.0, [0.0; D]);
    for ((value, gradient), u) in basis.iter().zip(values) {
        sum += value * u;
        for (sum, derivative) in gradient_sum.iter_mut().zip(gradient) {
            *sum += derivative * u;
        }
    }
    (sum, gradient_sum)
}

/// The auxiliary fields at point `q` of `points`, `[field]`; gradients of fields that are not nodal are
/// zero, and so are missing values.
fn auxiliary<const D: usize>(
    fields: &CellFields,
    (q, points): (usize, usize),
    basis: &[Jet<D>],
) -> (Vec<f64>, Vec<[f64; D]>) {
    let mut a = vec![(0.0, [0.0; D]); MAX_FIELDS];
    for (n, field) in fields.fields.of(FieldKind::Cell).enumerate() {
        a[field].0 = fields.cell[n];
    }
    for (n, field) in fields.fields.of(FieldKind::Nodal).enumerate() {
        a[field] = combine(basis, &fields.nodal[n * basis.len()..]);
    }
    for (n, field) in fields.fields.of(FieldKind::Points).enumerate() {
        a[field].0 = fields.points[n * points + q];
    }
    a.into_iter().unzip()
}

/// v = A u for one cell: `u`, `v` are `[component][node]`.
pub fn apply<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    element: &dyn BasisAtPoints,
    geometry: OracleGeometry,
    (fields, context): (&CellFields, &EvalContext),
    u: &[f64],
) -> Vec<f64> {
    let (nodes, points) = (element.nodes(), element.points());
    let mut v = vec![0.0; C * nodes];
    let parameters = context.all_parameters();
    for (q, (jacobian, x)) in geometry.jacobian.iter().zip(geometry.position).enumerate() {
        let (inverse, determinant) = invert::<D>(jacobian);
        let basis = basis(element, q, &inverse);
        let at: [Jet<D>; C] = core::array::from_fn(|c| combine(&basis, &u[c * nodes..]));
        let (a, grad_a) = auxiliary(fields, (q, points), &basis);
        let point = Point {
            u: at.map(|(value, _)| value),
            grad_u: at.map(|(_, gradient)| gradient),
            a: &a,
            grad_a: &grad_a,
            x: core::array::from_fn(|d| x[d]),
            time: context.time,
            parameters: &parameters,
        };
        let (f0, f1) = (form.f0(&point), form.f1(&point));
        let scale = element.weight(q) * determinant;
        for c in 0..C {
            for (out, (value, gradient)) in v[c * nodes..].iter_mut().zip(&basis) {
                let mut density = value * f0[c];
                for (derivative, flux) in gradient.iter().zip(&f1[c]) {
                    density += derivative * flux;
                }
                *out += scale * density;
            }
        }
    }
    v
}

/// The diagonal of a linear form's element matrix, `[component][node]`: one application per column.
pub fn diagonal<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    element: &dyn BasisAtPoints,
    geometry: OracleGeometry,
    environment: (&CellFields, &EvalContext),
) -> Vec<f64> {
    let len = C * element.nodes();
    let column = |column: usize| {
        let mut unit = vec![0.0; len];
        unit[column] = 1.0;
        apply(form, element, geometry, environment, &unit)[column]
    };
    (0..len).map(column).collect()
}

/// J⁻¹ `[reference][physical]` and det J of the leading D × D part, by cofactors.
fn invert<const D: usize>(j: &[[f64; 3]; 3]) -> ([[f64; D]; D], f64) {
    let cofactor = |row: usize, column: usize| {
        let [r1, r2] = [1, 2].map(|n| (row + n) % 3);
        let [c1, c2] = [1, 2].map(|n| (column + n) % 3);
        match D {
            2 => {
                let sign = if row == column { 1.0 } else { -1.0 };
                sign * j[1 - row][1 - column]
            }
            _ => j[r1][c1] * j[r2][c2] - j[r1][c2] * j[r2][c1],
        }
    };
    let determinant = (0..D).map(|c| j[0][c] * cofactor(0, c)).sum::<f64>();
    let entry = |r, c| cofactor(c, r) / determinant;
    let inverse = core::array::from_fn(|r| core::array::from_fn(|c| entry(r, c)));
    (inverse, determinant)
}
