//! The Jacobian of a trilinear map from its columns, for rows of few points.

use super::metric::{Jacobian, Metric, Multilinear, MultilinearLayer, axpy, jacobian};
use crate::scalar::Lanes;

/// Trilinear hexahedra as in [`Multilinear`], with three cross products at each point in place of polynomials on the
/// row: fewer operations if rows have few points.
pub(crate) struct Columns;

/// The columns a, b and c of the Jacobian on a row, b and c as polynomials in ξ.
#[derive(Clone, Copy)]
pub(crate) struct ColumnsRow<L> {
    a: [L; 3],
    b: [[L; 3]; 2],
    c: [[L; 3]; 2],
    origin: [L; 3],
}

impl<L: Lanes> Metric<L, 3> for Columns {
    const FEW_POINTS: bool = true;
    type Layer = MultilinearLayer<L, 3>;
    type Row = ColumnsRow<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer {
        <Multilinear as Metric<L, 3>>::layer(token, geometry, zeta, position)
    }

    #[inline(always)]
    fn row(layer: &Self::Layer, _first: usize, eta: L) -> Self::Row {
        let MultilinearLayer {
            origin,
            a,
            b,
            c: [c0, c1],
        } = *layer;
        ColumnsRow {
            a: axpy(b[1], eta, a),
            b,
            c: [axpy(c0[1], eta, c0[0]), axpy(c1[1], eta, c1[0])],
            origin: axpy(b[0], eta, origin),
        }
    }

    #[inline(always)]
    fn at(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> Jacobian<L, 3> {
        let (b, c) = (row.b, row.c);
        jacobian([row.a, axpy(b[1], xi, b[0]), axpy(c[1], xi, c[0])])
    }

    #[inline(always)]
    fn position(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> [L; 3] {
        axpy(row.a, xi, row.origin)
    }
}
