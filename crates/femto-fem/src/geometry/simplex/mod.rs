//! The maps of triangles and tetrahedra: x(ξ) = Σ c_m ξ^a η^b ζ^c of degree 1 to 3.
//!
//! Monomials of such low degree on the unit simplex are as accurate as a Lagrange basis, and show at once
//! whether a cell is affine. They are ordered by degree, so that the terms of a lower degree are a prefix
//! of those of a higher one.

mod build;

use super::jacobian::Matrix3;
use super::polynomial::Tensor;
use femto_element::MapKind;

/// Exponents of the monomials on the triangle, by degree: 1, 3, 6 and 10 up to degree 0, 1, 2, 3.
const TRIANGLE_TERMS: [[u8; 3]; 10] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [2, 0, 0],
    [1, 1, 0],
    [0, 2, 0],
    [3, 0, 0],
    [2, 1, 0],
    [1, 2, 0],
    [0, 3, 0],
];

/// Exponents of the monomials on the tetrahedron, by degree: 1, 4, 10 and 20 up to degree 0, 1, 2, 3.
const TETRAHEDRON_TERMS: [[u8; 3]; 20] = [
    [0, 0, 0],
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
    [2, 0, 0],
    [1, 1, 0],
    [1, 0, 1],
    [0, 2, 0],
    [0, 1, 1],
    [0, 0, 2],
    [3, 0, 0],
    [2, 1, 0],
    [2, 0, 1],
    [1, 2, 0],
    [1, 1, 1],
    [1, 0, 2],
    [0, 3, 0],
    [0, 2, 1],
    [0, 1, 2],
    [0, 0, 3],
];

/// The triangles or tetrahedra of a mesh, in mesh cell order.
#[derive(Clone, Debug)]
pub(super) struct Simplices {
    dim: usize,
    /// Mesh nodes at the vertices of each cell, `[cells][dim + 1]`.
    vertices: Vec<u32>,
    /// Indices of the curved cells in `curved`, `[cells]`, meaningless for affine ones; empty if all are
    /// affine.
    curved_index: Vec<u32>,
    /// Monomial coefficients of the curved cells, `[curved cells][terms][3]`.
    curved: Vec<[f64; 3]>,
    /// Exponents of the monomials of the highest order in the mesh.
    terms: &'static [[u8; 3]],
}

impl Simplices {
    /// Allocates for cells of this dimension and of orders up to `order`, which is at most 3.
    pub(super) fn new(dim: usize, order: usize) -> Self {
        let all: &'static [[u8; 3]] = match dim {
            2 => &TRIANGLE_TERMS,
            _ => &TETRAHEDRON_TERMS,
        };
        Self {
            dim,
            vertices: Vec::new(),
            curved_index: Vec::new(),
            curved: Vec::new(),
            terms: &all[..terms_of(dim, order).min(all.len())],
        }
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.vertices[..])
            + size_of_val(&self.curved_index[..])
            + size_of_val(&self.curved[..])
    }

    /// Mesh nodes at the vertices of a cell, `[dim + 1]`.
    pub(super) fn vertex_nodes(&self, cell: usize) -> &[u32] {
        let vertices = self.dim + 1;
        &self.vertices[cell * vertices..][..vertices]
    }

    /// Positions of the vertices of a cell; a triangle's fourth one lies above its first, at z = 1.
    #[inline(always)]
    pub(super) fn positions(&self, cell: usize, coordinates: &[[f64; 3]]) -> [[f64; 3]; 4] {
        let nodes = self.vertex_nodes(cell);
        let at = |vertex: usize| coordinates[nodes[vertex] as usize];
        if self.dim == 3 {
            return [at(0), at(1), at(2), at(3)];
        }
        let [a, b, c] = [at(0), at(1), at(2)].map(|[x, y, _]| [x, y, 0.0]);
        [a, b, c, [a[0], a[1], 1.0]]
    }

    /// Coefficients of the affine map through the vertices.
    pub(super) fn affine(&self, cell: usize, coordinates: &[[f64; 3]]) -> Tensor<2> {
        let [origin, ends @ ..] = self.positions(cell, coordinates);
        let [r, s, t] = ends.map(|end| [0, 1, 2].map(|c| end[c] - origin[c]));
        let zero = [0.0; 3];
        [[[origin, r], [s, zero]], [[t, zero], [zero, zero]]]
    }

    /// The map of a cell of this kind.
    #[inline(always)]
    pub(super) fn map(
        &self,
        cell: usize,
        kind: MapKind,
        coordinates: &[[f64; 3]],
    ) -> SimplexMap<'_> {
        if kind == MapKind::Curved {
            let count = self.terms.len();
            let first = self.curved_index[cell] as usize * count;
            return SimplexMap::Curved {
                dim: self.dim,
                terms: self.terms,
                coefficients: &self.curved[first..][..count],
            };
        }
        let [origin, ends @ ..] = self.positions(cell, coordinates);
        let entry = |c: usize| [0, 1, 2].map(|a| ends[a][c] - origin[c]);
        SimplexMap::Affine {
            origin,
            jacobian: [entry(0), entry(1), entry(2)],
        }
    }
}

/// Number of monomials of a degree at most `order`.
fn terms_of(dim: usize, order: usize) -> usize {
    let n = order + 1;
    match dim {
        2 => n * (n + 1) / 2,
        _ => n * (n + 1) * (n + 2) / 6,
    }
}

/// The map of one simplex.
pub(super) enum SimplexMap<'a> {
    Affine {
        origin: [f64; 3],
        jacobian: Matrix3,
    },
    Curved {
        dim: usize,
        terms: &'static [[u8; 3]],
        /// `[terms][3]`
        coefficients: &'a [[f64; 3]],
    },
}

impl SimplexMap<'_> {
    /// Position and Jacobian at a reference point. For a triangle the third coordinate is ignored.
    #[inline(always)]
    pub(super) fn at(&self, xi: [f64; 3]) -> ([f64; 3], Matrix3) {
        match self {
            Self::Affine { origin, jacobian } => {
                let position = |c: usize| {
                    let [r, s, t] = jacobian[c];
                    origin[c] + (r * xi[0] + s * xi[1] + t * xi[2])
                };
                ([0, 1, 2].map(position), *jacobian)
            }
            Self::Curved {
                dim,
                terms,
                coefficients,
            } => evaluate(*dim, terms, coefficients, xi),
        }
    }
}

fn evaluate(
    dim: usize,
    terms: &[[u8; 3]],
    coefficients: &[[f64; 3]],
    xi: [f64; 3],
) -> ([f64; 3], Matrix3) {
    // Powers 0 to 3 of each coordinate and their derivatives.
    let powers = xi.map(|x| [1.0, x, x * x, x * x * x]);
    let slopes = xi.map(|x| [0.0, 1.0, 2.0 * x, 3.0 * x * x]);
    let mut position = [0.0; 3];
    let mut jacobian = [[0.0; 3]; 3];
    for (exponents, coefficient) in terms.iter().zip(coefficients) {
        let [a, b, c] = exponents.map(usize::from);
        let [x, y, z] = [powers[0][a], powers[1][b], powers[2][c]];
        let value = x * y * z;
        let gradient = [
            slopes[0][a] * y * z,
            x * slopes[1][b] * z,
            x * y * slopes[2][c],
        ];
        for component in 0..3 {
            position[component] += value * coefficient[component];
            for axis in 0..3 {
                jacobian[component][axis] += gradient[axis] * coefficient[component];
            }
        }
    }
    if dim == 2 {
        jacobian[2] = [0.0, 0.0, 1.0];
    }
    (position, jacobian)
}
