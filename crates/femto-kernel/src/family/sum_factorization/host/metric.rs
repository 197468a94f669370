//! The Jacobian of the map from the reference cell, along rows of points.
//!
//! A metric gives, at each point, the adjugate and the determinant of J = ∂x/∂ξ = [a b c]:
//! adj J has the rows b×c, c×a, a×b, J⁻¹ = adj J / det J, det J = a·(b×c).

use crate::scalar::Lanes;

/// Adjugate `[reference axis][physical axis]` and determinant of the Jacobian at a point.
#[derive(Clone, Copy)]
pub(crate) struct Jacobian<L, const D: usize> {
    pub(crate) adjugate: [[L; D]; D],
    pub(crate) determinant: L,
}

/// The stored geometry of a batch of elements, and the Jacobian from it.
///
/// Positions come last, and only if they are read. Quantities common to all points of a layer (ζ fixed), or
/// of a row (η and ζ fixed), are computed once. A quadrilateral has one layer, and ζ has no meaning.
pub(crate) trait Metric<L: Lanes, const D: usize>: Send + Sync + 'static {
    /// Whether it is for rows of few points.
    const FEW_POINTS: bool = false;
    /// Data common to the points of a layer.
    type Layer;
    /// Data common to the points of a row.
    type Row;

    /// Prepares the layer at reference coordinate `zeta`; with `position`, also for positions if they are
    /// stored.
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer;
    /// Prepares the row at reference coordinate `eta`, whose first point is `first`.
    fn row(layer: &Self::Layer, first: usize, eta: L) -> Self::Row;
    /// The Jacobian at point `i` of the row, at reference coordinate `xi`.
    fn at(
        row: &Self::Row,
        token: L::Token,
        geometry: &[L::Real],
        i: usize,
        xi: L,
    ) -> Jacobian<L, D>;
    /// The position of that point, point `i` at `xi`.
    fn position(row: &Self::Row, token: L::Token, geometry: &[L::Real], i: usize, xi: L) -> [L; D];
}

/// `[f(0), f(1), ...]`. The standard library's array methods are not forced to inline, and an arithmetic
/// closure that is not inlined loses its caller's instruction set.
#[inline(always)]
pub(crate) fn each<X: Copy, const D: usize>(f: impl Fn(usize) -> X) -> [X; D] {
    let mut all = [f(0); D];
    for (d, x) in all.iter_mut().enumerate().skip(1) {
        *x = f(d);
    }
    all
}

#[inline(always)]
pub(crate) fn load<L: Lanes>(token: L::Token, geometry: &[L::Real], index: usize) -> L {
    L::load(token, &geometry[index * L::WIDTH..(index + 1) * L::WIDTH])
}

/// Vector number `index`.
#[inline(always)]
fn load_vector<L: Lanes, const D: usize>(
    token: L::Token,
    geometry: &[L::Real],
    index: usize,
) -> [L; D] {
    each(
        #[inline(always)]
        |d| load(token, geometry, D * index + d),
    )
}

#[inline(always)]
fn cross<L: Lanes, const D: usize>(a: [L; D], b: [L; D]) -> [L; D] {
    each(
        #[inline(always)]
        |d| {
            let (i, j) = ((d + 1) % 3, (d + 2) % 3);
            a[i].mul_add(b[j], -(a[j] * b[i]))
        },
    )
}

#[inline(always)]
pub(crate) fn dot<L: Lanes, const D: usize>(a: [L; D], b: [L; D]) -> L {
    let mut sum = a[0] * b[0];
    for d in 1..D {
        sum = a[d].mul_add(b[d], sum);
    }
    sum
}

/// `a x + b`, by component.
#[inline(always)]
pub(super) fn axpy<L: Lanes, const D: usize>(a: [L; D], x: L, b: [L; D]) -> [L; D] {
    each(
        #[inline(always)]
        |d| a[d].mul_add(x, b[d]),
    )
}

#[inline(always)]
fn minus<L: Lanes, const D: usize>(a: [L; D]) -> [L; D] {
    each(
        #[inline(always)]
        |d| -a[d],
    )
}

#[inline(always)]
fn plus<L: Lanes, const D: usize>(a: [L; D], b: [L; D]) -> [L; D] {
    each(
        #[inline(always)]
        |d| a[d] + b[d],
    )
}

/// (b_y, −b_x): b × e_z in the plane.
#[inline(always)]
fn turned<L: Lanes, const D: usize>(b: [L; D]) -> [L; D] {
    let mut turned = b;
    (turned[0], turned[1]) = (b[1], -b[0]);
    turned
}

/// From the columns of J. In the plane adj J has the rows (b_y, −b_x) and (−a_y, a_x), as if there were a
/// column c = e_z.
#[inline(always)]
pub(crate) fn jacobian<L: Lanes, const D: usize>(columns: [[L; D]; D]) -> Jacobian<L, D> {
    let (a, b) = (columns[0], columns[1]);
    let mut adjugate = columns;
    if D == 2 {
        adjugate[0] = turned(b);
        adjugate[1] = minus(turned(a));
    } else {
        let c = columns[2];
        adjugate[0] = cross(b, c);
        adjugate[1] = cross(c, a);
        adjugate[2] = cross(a, b);
    }
    Jacobian {
        adjugate,
        determinant: dot(a, adjugate[0]),
    }
}

/// Parallelepipeds and parallelograms: `x = c1 ξ + c2 η + c4 ζ + c0`, stored in this order, `[4][3]` or `[3][2]`.
pub(crate) struct Affine;

#[derive(Clone, Copy)]
pub(crate) struct AffineLayer<L, const D: usize> {
    jacobian: Jacobian<L, D>,
    origin: [L; D],
    a: [L; D],
    b: [L; D],
}

impl<L: Lanes, const D: usize> Metric<L, D> for Affine {
    type Layer = AffineLayer<L, D>;
    /// [`AffineLayer`] with the row's origin.
    type Row = AffineLayer<L, D>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer {
        let columns: [[L; D]; D] = each(
            #[inline(always)]
            |m| load_vector(token, geometry, m),
        );
        let (a, b) = (columns[0], columns[1]);
        let mut origin = a;
        if position {
            origin = load_vector(token, geometry, D);
        }
        if D == 3 {
            origin = axpy(columns[2], zeta, origin);
        }
        AffineLayer {
            jacobian: jacobian(columns),
            origin,
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
    fn at(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, _xi: L) -> Jacobian<L, D> {
        row.jacobian
    }

    #[inline(always)]
    fn position(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> [L; D] {
        axpy(row.a, xi, row.origin)
    }
}

/// Multilinear hexahedra: eight coefficient vectors, `x = Σ c_m ξ^a η^b ζ^c`, `m = a + 2b + 4c`,
/// stored for m = 1..7, 0, `[8][3]`; bilinear quadrilaterals: four, `[4][2]`.
///
/// Along a row a = ∂x/∂ξ is constant while b = b0 + ξ b1 and c = c0 + ξ c1, so the rows of the adjugate and
/// the determinant are polynomials in ξ of degree 1 and 2, whose coefficients are computed once per row: 14
/// fused operations per point instead of 56 stored bytes. In the plane b × c also has degree 1, c × a is
/// constant, and there is no third row.
pub(crate) struct Multilinear;

/// Vectors at ζ, as polynomials in η: the position and a on ξ⁰, b (independent of η), and c.
#[derive(Clone, Copy)]
pub(crate) struct MultilinearLayer<L, const D: usize> {
    pub(super) origin: [L; D],
    pub(super) a: [L; D],
    pub(super) b: [[L; D]; 2],
    pub(super) c: [[[L; D]; 2]; 2],
}

#[derive(Clone, Copy)]
pub(crate) struct MultilinearRow<L, const D: usize> {
    bc: [[L; D]; 3],
    ca: [[L; D]; 2],
    ab: [[L; D]; 2],
    determinant: [L; 3],
    origin: [L; D],
    a: [L; D],
}

impl<L: Lanes, const D: usize> Metric<L, D> for Multilinear {
    type Layer = MultilinearLayer<L, D>;
    type Row = MultilinearRow<L, D>;

    #[inline(always)]
    fn layer(token: L::Token, geometry: &[L::Real], zeta: L, position: bool) -> Self::Layer {
        let mut c = [[zeta; D]; 8];
        let last = (1 << D) - 1;
        for (m, c) in c[1..=last].iter_mut().enumerate() {
            *c = load_vector(token, geometry, m);
        }
        if position {
            c[0] = load_vector(token, geometry, last);
        }
        if D == 2 {
            return MultilinearLayer {
                origin: c[0],
                a: c[1],
                b: [c[2], c[3]],
                c: [[c[0]; 2]; 2],
            };
        }
        MultilinearLayer {
            origin: axpy(c[4], zeta, c[0]),
            a: axpy(c[5], zeta, c[1]),
            b: [axpy(c[6], zeta, c[2]), axpy(c[7], zeta, c[3])],
            c: [[c[4], c[6]], [c[5], c[7]]],
        }
    }

    #[inline(always)]
    fn row(layer: &Self::Layer, _first: usize, eta: L) -> Self::Row {
        let MultilinearLayer {
            b: [b0, b1],
            c: [c0, c1],
            ..
        } = *layer;
        let a = axpy(b1, eta, layer.a);
        let origin = axpy(b0, eta, layer.origin);
        if D == 2 {
            let bc = [turned(b0), turned(b1)];
            let determinant = [dot(a, bc[0]), dot(a, bc[1])];
            return MultilinearRow {
                bc: [bc[0], bc[1], bc[1]],
                ca: [minus(turned(a)); 2],
                ab: [a; 2],
                determinant: [determinant[0], determinant[1], determinant[1]],
                origin,
                a,
            };
        }
        let (c0, c1) = (axpy(c0[1], eta, c0[0]), axpy(c1[1], eta, c1[0]));
        let ab = [cross(a, b0), cross(a, b1)];
        MultilinearRow {
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
            origin,
            a,
        }
    }

    #[inline(always)]
    fn at(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> Jacobian<L, D> {
        let det = &row.determinant;
        let mut adjugate = [row.ca[0]; D];
        if D == 2 {
            adjugate[0] = axpy(row.bc[1], xi, row.bc[0]);
            return Jacobian {
                adjugate,
                determinant: det[1].mul_add(xi, det[0]),
            };
        }
        adjugate[0] = axpy(axpy(row.bc[2], xi, row.bc[1]), xi, row.bc[0]);
        adjugate[1] = axpy(row.ca[1], xi, row.ca[0]);
        adjugate[2] = axpy(row.ab[1], xi, row.ab[0]);
        Jacobian {
            adjugate,
            determinant: det[2].mul_add(xi, det[1]).mul_add(xi, det[0]),
        }
    }

    #[inline(always)]
    fn position(row: &Self::Row, _: L::Token, _: &[L::Real], _i: usize, xi: L) -> [L; D] {
        axpy(row.a, xi, row.origin)
    }
}

/// Any map: Jacobians, `[point][D][D]` (columns a, b, c), then positions, `[point][D]`.
pub(crate) struct Stored;

impl<L: Lanes, const D: usize> Metric<L, D> for Stored {
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
    fn at(&row: &usize, token: L::Token, geometry: &[L::Real], i: usize, _xi: L) -> Jacobian<L, D> {
        jacobian(each(
            #[inline(always)]
            |m| load_vector(token, geometry, D * (row + i) + m),
        ))
    }

    #[inline(always)]
    fn position(&row: &usize, token: L::Token, geometry: &[L::Real], i: usize, _: L) -> [L; D] {
        let points = geometry.len() / (D * (D + 1) * L::WIDTH);
        load_vector(token, geometry, D * points + row + i)
    }
}
