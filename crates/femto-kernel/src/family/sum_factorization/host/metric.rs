//! The Jacobian of the map from the reference cube, along rows of points.
//!
//! A metric gives, at each point, the adjugate and the determinant of J = ∂x/∂ξ = [a b c]:
//! adj J has the rows b×c, c×a, a×b, J⁻¹ = adj J / det J, det J = a·(b×c).

use crate::scalar::{Lanes, Real};

/// Adjugate `[reference axis][physical axis]` and determinant of the Jacobian at a point.
#[derive(Clone, Copy)]
pub(crate) struct Jacobian<L> {
    pub(crate) adjugate: [[L; 3]; 3],
    pub(crate) determinant: L,
}

/// The stored geometry of a batch of elements, and the Jacobian from it.
///
/// Positions come last, and only where they are read. What is the same for all points of a layer (ζ fixed), or of a row (η and ζ fixed), is formed once.
pub(crate) trait Metric<L: Lanes>: Send + Sync + 'static {
    /// Numbers that the points of a layer share.
    type Layer;
    /// Numbers that the points of a row share.
    type Row;

    /// Prepares the layer at reference coordinate `zeta`, and for positions if they are stored.
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer;
    /// Prepares the row at reference coordinate `eta`, whose first point is `first`.
    fn row(layer: &Self::Layer, first: usize, eta: L) -> Self::Row;
    /// The Jacobian at point `i` of the row, at reference coordinate `xi`.
    fn at(row: &Self::Row, token: L::Token, geometry: &[L::Real], i: usize, xi: L) -> Jacobian<L>;
    /// The position of that point.
    fn position(row: &Self::Row, token: L::Token, geometry: &[L::Real], i: usize, xi: L) -> [L; 3];
}

/// `[f(0), f(1), f(2)]`. The array methods of the standard library are not forced to inline, and an
/// arithmetic closure that does not inline loses the instruction set of its caller.
#[inline(always)]
pub(crate) fn each3<X>(f: impl Fn(usize) -> X) -> [X; 3] {
    [f(0), f(1), f(2)]
}

#[inline(always)]
pub(crate) fn load<L: Lanes>(token: L::Token, geometry: &[L::Real], index: usize) -> L {
    L::load(token, &geometry[index * L::WIDTH..(index + 1) * L::WIDTH])
}

#[inline(always)]
fn load3<L: Lanes>(token: L::Token, geometry: &[L::Real], index: usize) -> [L; 3] {
    each3(
        #[inline(always)]
        |d| load(token, geometry, 3 * index + d),
    )
}

#[inline(always)]
fn cross<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    each3(
        #[inline(always)]
        |d| {
            let (i, j) = ((d + 1) % 3, (d + 2) % 3);
            a[i].mul_add(b[j], -(a[j] * b[i]))
        },
    )
}

#[inline(always)]
pub(crate) fn dot<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

/// `a x + b`, by component.
#[inline(always)]
fn axpy<L: Lanes>(a: [L; 3], x: L, b: [L; 3]) -> [L; 3] {
    each3(
        #[inline(always)]
        |d| a[d].mul_add(x, b[d]),
    )
}

#[inline(always)]
fn plus<L: Lanes>(a: [L; 3], b: [L; 3]) -> [L; 3] {
    each3(
        #[inline(always)]
        |d| a[d] + b[d],
    )
}

/// Parallelepipeds: `x = c1 ξ + c2 η + c4 ζ + c0`, stored in this order, `[4][3]`.
pub(crate) struct Affine;

#[derive(Clone, Copy)]
pub(crate) struct AffineLayer<L> {
    jacobian: Jacobian<L>,
    origin: [L; 3],
    a: [L; 3],
    b: [L; 3],
}

impl<L: Lanes> Metric<L> for Affine {
    type Layer = AffineLayer<L>;
    /// The same, with the row's origin.
    type Row = AffineLayer<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer {
        let [a, b, c] = each3(
            #[inline(always)]
            |m| load3::<L>(token, geometry, m),
        );
        let origin = if position {
            load3(token, geometry, 3)
        } else {
            a
        };
        let bc = cross(b, c);
        let jacobian = Jacobian {
            adjugate: [bc, cross(c, a), cross(a, b)],
            determinant: dot(a, bc),
        };
        AffineLayer {
            jacobian,
            origin: axpy(c, zeta, origin),
            a,
            b,
        }
    }

    #[inline(always)]
    fn row(layer: &Self::Layer, _first: usize, eta: L) -> Self::Row {
        AffineLayer {
            origin: axpy(layer.b, eta, layer.origin),
            ..*layer
        }
    }

    #[inline(always)]
    fn at(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, _xi: L) -> Jacobian<L> {
        row.jacobian
    }

    #[inline(always)]
    fn position(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> [L; 3] {
        axpy(row.a, xi, row.origin)
    }
}

/// Trilinear hexahedra: eight coefficient vectors, `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`,
/// stored for m = 1..7, 0, `[8][3]`.
///
/// Along a row a = ∂x/∂ξ is constant while b = b0 + ξ b1 and c = c0 + ξ c1, so the rows of the
/// adjugate and the determinant are polynomials in ξ of degree 1 and 2 whose coefficients are
/// formed once per row: 14 fused operations a point in place of 56 stored bytes.
pub(crate) struct Trilinear;

/// Vectors at ζ, as polynomials in η: the position and a on ξ⁰, b (independent of η), and c.
#[derive(Clone, Copy)]
pub(crate) struct TrilinearLayer<L> {
    origin: [L; 3],
    a: [L; 3],
    b: [[L; 3]; 2],
    c: [[[L; 3]; 2]; 2],
}

#[derive(Clone, Copy)]
pub(crate) struct TrilinearRow<L> {
    bc: [[L; 3]; 3],
    ca: [[L; 3]; 2],
    ab: [[L; 3]; 2],
    determinant: [L; 3],
    origin: [L; 3],
    a: [L; 3],
}

impl<L: Lanes> Metric<L> for Trilinear {
    type Layer = TrilinearLayer<L>;
    type Row = TrilinearRow<L>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer {
        let mut c = [[zeta; 3]; 8];
        for (m, c) in c[1..].iter_mut().enumerate() {
            *c = load3(token, geometry, m);
        }
        if position {
            c[0] = load3(token, geometry, 7);
        }
        TrilinearLayer {
            origin: axpy(c[4], zeta, c[0]),
            a: axpy(c[5], zeta, c[1]),
            b: [axpy(c[6], zeta, c[2]), axpy(c[7], zeta, c[3])],
            c: [[c[4], c[6]], [c[5], c[7]]],
        }
    }

    #[inline(always)]
    fn row(layer: &Self::Layer, _first: usize, eta: L) -> Self::Row {
        let TrilinearLayer {
            b: [b0, b1],
            c: [c0, c1],
            ..
        } = *layer;
        let (c0, c1) = (axpy(c0[1], eta, c0[0]), axpy(c1[1], eta, c1[0]));
        let a = axpy(b1, eta, layer.a);
        let ab = [cross(a, b0), cross(a, b1)];
        TrilinearRow {
            bc: [
                cross(b0, c0),
                plus(cross(b0, c1), cross(b1, c0)),
                cross(b1, c1),
            ],
            ca: [cross(c0, a), cross(c1, a)],
            // det J = c·(a × b)
            determinant: [
                dot(c0, ab[0]),
                dot(c0, ab[1]) + dot(c1, ab[0]),
                dot(c1, ab[1]),
            ],
            ab,
            origin: axpy(b0, eta, layer.origin),
            a,
        }
    }

    #[inline(always)]
    fn at(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> Jacobian<L> {
        let det = &row.determinant;
        Jacobian {
            adjugate: [
                axpy(axpy(row.bc[2], xi, row.bc[1]), xi, row.bc[0]),
                axpy(row.ca[1], xi, row.ca[0]),
                axpy(row.ab[1], xi, row.ab[0]),
            ],
            determinant: det[2].mul_add(xi, det[1]).mul_add(xi, det[0]),
        }
    }

    #[inline(always)]
    fn position(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> [L; 3] {
        axpy(row.a, xi, row.origin)
    }
}

/// Any map: Jacobians, `[point][3][3]` (columns a, b, c), then positions, `[point][3]`.
pub(crate) struct Stored;

impl<L: Lanes> Metric<L> for Stored {
    type Layer = ();
    /// Index of the row's first point.
    type Row = usize;

    #[inline(always)]
    fn layer(_: L::Token, _: &[L::Real], _: L, _: bool) {}

    #[inline(always)]
    fn row(_: &(), first: usize, _: L) -> usize {
        first
    }

    #[inline(always)]
    fn at(&row: &usize, token: L::Token, geometry: &[L::Real], i: usize, _xi: L) -> Jacobian<L> {
        let [a, b, c] = each3(
            #[inline(always)]
            |m| load3::<L>(token, geometry, 3 * (row + i) + m),
        );
        let bc = cross(b, c);
        Jacobian {
            adjugate: [bc, cross(c, a), cross(a, b)],
            determinant: dot(a, bc),
        }
    }

    #[inline(always)]
    fn position(&row: &usize, token: L::Token, geometry: &[L::Real], i: usize, _: L) -> [L; 3] {
        let points = geometry.len() / (12 * L::WIDTH);
        load3(token, geometry, 3 * points + row + i)
    }
}

/// Rounds `values` into lane `lane` of the packed lanes that start at `first`.
pub(crate) fn pack<T: Real>(
    out: &mut [T],
    width: usize,
    lane: usize,
    first: usize,
    values: impl IntoIterator<Item = f64>,
) {
    for (n, value) in values.into_iter().enumerate() {
        out[(first + n) * width + lane] = T::from_f64(value);
    }
}
