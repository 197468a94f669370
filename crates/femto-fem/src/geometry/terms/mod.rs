//! The maps of simplices, prisms and pyramids: x(ξ) = Σ c_m ξ^a η^b ζ^c (1 - ζ)^-d, d = 0 but on pyramids.
//!
//! Terms of such low degree on the reference cell are as accurate as a Lagrange basis, and show at once whether a
//! cell is affine. See [`Cell::terms`] for their order.

mod build;

use super::jacobian::{Matrix3, dot};
use super::polynomial::Tensor;
use crate::mesh::{CellNodes, Coordinates, NodesOfCell};
use femto_element::{Cell, MapKind};

/// The cells of a mesh of one shape, in mesh cell order.
#[derive(Clone, Debug)]
pub(super) struct TermMaps {
    cell: Cell,
    /// The ends of the axes that start in vertex 0.
    ends: [usize; 3],
    /// Mesh nodes at the vertices of each cell.
    vertices: CellNodes,
    /// Indices of the curved cells in `curved`, `[cells]`, meaningless for affine ones; empty if all are
    /// affine.
    curved_index: Vec<u32>,
    /// Coefficients of the curved cells, `[curved cells][terms][3]`.
    curved: Vec<[f64; 3]>,
    /// Exponents of the terms of the highest order in the mesh.
    terms: Vec<[usize; 4]>,
}

impl TermMaps {
    /// Allocates for cells of orders up to `order`, which is at most [`Cell::max_map_order`].
    pub(super) fn new(cell: Cell, order: usize) -> Self {
        Self {
            cell,
            ends: [0, 1, 2].map(|axis| cell.end_of_axis(axis)),
            vertices: CellNodes::default(),
            curved_index: Vec::new(),
            curved: Vec::new(),
            terms: cell.terms(order),
        }
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.vertices.bytes() + size_of_val(&self.curved_index[..]) + size_of_val(&self.curved[..])
    }

    /// Mesh nodes at the vertices of all cells.
    pub(super) fn vertices(&self) -> &CellNodes {
        &self.vertices
    }

    /// Mesh nodes at the vertices of a cell.
    #[inline(always)]
    pub(super) fn vertex_nodes(&self, cell: usize) -> NodesOfCell<'_> {
        self.vertices.cell(cell, self.cell.vertices())
    }

    /// Positions of vertex 0 of a cell and of its neighbours along the axes; in the plane the third lies above
    /// vertex 0, at z = 1.
    #[inline(always)]
    pub(super) fn simplex_vertices(&self, cell: usize, coordinates: &Coordinates) -> [[f64; 3]; 4] {
        let nodes = self.vertex_nodes(cell);
        let at = |vertex: usize| coordinates.at(nodes[vertex] as usize);
        let end = |axis: usize| at(self.ends[axis]);
        if self.cell.dim() == 3 {
            return [at(0), end(0), end(1), end(2)];
        }
        let [a, b, c] = [at(0), end(0), end(1)].map(|[x, y, _]| [x, y, 0.0]);
        [a, b, c, [a[0], a[1], 1.0]]
    }

    /// The affine map through [`Self::simplex_vertices`].
    #[inline(always)]
    fn affine_map(&self, cell: usize, coordinates: &Coordinates) -> TermMap<'_> {
        let [start, ends @ ..] = self.simplex_vertices(cell, coordinates);
        let lower = self.cell.vertex(0);
        let entry = |c: usize| [0, 1, 2].map(|a| (ends[a][c] - start[c]) / (1.0 - lower[a]));
        let jacobian = [entry(0), entry(1), entry(2)];
        TermMap::Affine {
            origin: [0, 1, 2].map(|c| start[c] - dot(jacobian[c], lower)),
            jacobian,
        }
    }

    /// Coefficients of an extruded map; otherwise of the affine map through vertex 0 and its neighbours.
    pub(super) fn multilinear(
        &self,
        cell: usize,
        kind: MapKind,
        coordinates: &Coordinates,
    ) -> Tensor<2> {
        let zero = [0.0; 3];
        if kind == MapKind::Extruded {
            let [o, r, s, t, rt, st] = self.extruded(cell, coordinates);
            return [[[o, r], [s, zero]], [[t, rt], [st, zero]]];
        }
        let (origin, jacobian) = self.affine_map(cell, coordinates).at(zero);
        let [r, s, t] = super::jacobian::tangents(&jacobian);
        [[[origin, r], [s, zero]], [[t, zero], [zero, zero]]]
    }

    /// Coefficients of the map of a prism through its vertices, in the order of its terms of degree 1.
    #[inline(always)]
    fn extruded(&self, cell: usize, coordinates: &Coordinates) -> [[f64; 3]; 6] {
        let nodes = self.vertex_nodes(cell);
        let at = |vertex: usize| coordinates.at(nodes[vertex] as usize);
        // Of the mean and half the difference of the triangles.
        let parts = |vertex: usize| {
            let (low, high) = (at(vertex), at(vertex + 3));
            let mean = [0, 1, 2].map(|c| 0.5 * (low[c] + high[c]));
            (mean, [0, 1, 2].map(|c| 0.5 * (high[c] - low[c])))
        };
        let less = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|c| a[c] - b[c]);
        let [(o, o_up), (r, r_up), (s, s_up)] = [0, 1, 2].map(parts);
        [
            o,
            less(r, o),
            less(s, o),
            o_up,
            less(r_up, o_up),
            less(s_up, o_up),
        ]
    }

    /// The map of a cell of this kind.
    #[inline(always)]
    pub(super) fn map(&self, cell: usize, kind: MapKind, coordinates: &Coordinates) -> TermMap<'_> {
        match kind {
            MapKind::Curved => {}
            MapKind::Extruded => return TermMap::Extruded(self.extruded(cell, coordinates)),
            MapKind::Affine | MapKind::Multilinear => return self.affine_map(cell, coordinates),
        }
        let count = self.terms.len();
        let first = self.curved_index[cell] as usize * count;
        TermMap::Curved {
            dim: self.cell.dim(),
            terms: &self.terms,
            coefficients: &self.curved[first..][..count],
        }
    }
}

/// The map of one cell.
pub(super) enum TermMap<'a> {
    Affine {
        origin: [f64; 3],
        jacobian: Matrix3,
    },
    /// By 1, ξ, η, ζ, ξ ζ, η ζ.
    Extruded([[f64; 3]; 6]),
    Curved {
        dim: usize,
        terms: &'a [[usize; 4]],
        /// `[terms][3]`
        coefficients: &'a [[f64; 3]],
    },
}

impl TermMap<'_> {
    /// Position and Jacobian at a reference point. In the plane the third coordinate is ignored.
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
            Self::Extruded(c) => {
                let [x, y, z] = xi;
                let slopes = |k: usize| {
                    [
                        c[1][k] + z * c[4][k],
                        c[2][k] + z * c[5][k],
                        c[3][k] + x * c[4][k] + y * c[5][k],
                    ]
                };
                let position = |k: usize| {
                    c[0][k] + x * c[1][k] + y * c[2][k] + z * (c[3][k] + x * c[4][k] + y * c[5][k])
                };
                ([0, 1, 2].map(position), [0, 1, 2].map(slopes))
            }
            Self::Curved {
                dim,
                terms,
                coefficients,
            } => evaluate(*dim, terms, coefficients, xi),
        }
    }
}

/// Values and derivatives of ζ^c (1 - ζ)^-d at a point, `[d][c]`. At the apex of a pyramid terms with quotients have
/// bounded derivatives without limits: they count as zero, as they are on the axis above vertex 0.
struct Upwards {
    values: [[f64; 4]; 3],
    slopes: [[f64; 4]; 3],
}

impl Upwards {
    #[inline(always)]
    fn new(z: f64) -> Self {
        let (powers, slopes) = powers(z);
        let inverse = if z == 1.0 { 0.0 } else { 1.0 / (1.0 - z) };
        let mut all = Self {
            values: [powers; 3],
            slopes: [slopes; 3],
        };
        for d in 1..3 {
            for c in 0..4 {
                all.values[d][c] = all.values[d - 1][c] * inverse;
                // (f / (1 - ζ))' = (f' + f / (1 - ζ)) / (1 - ζ)
                all.slopes[d][c] = (all.slopes[d - 1][c] + all.values[d][c]) * inverse;
            }
        }
        all
    }
}

/// Powers 0 to 3 and their derivatives.
#[inline(always)]
fn powers(x: f64) -> ([f64; 4], [f64; 4]) {
    ([1.0, x, x * x, x * x * x], [0.0, 1.0, 2.0 * x, 3.0 * x * x])
}

fn evaluate(
    dim: usize,
    terms: &[[usize; 4]],
    coefficients: &[[f64; 3]],
    xi: [f64; 3],
) -> ([f64; 3], Matrix3) {
    let ((in_x, slopes_x), (in_y, slopes_y)) = (powers(xi[0]), powers(xi[1]));
    let upwards = Upwards::new(xi[2]);
    let mut position = [0.0; 3];
    let mut jacobian = [[0.0; 3]; 3];
    for (&[a, b, c, d], coefficient) in terms.iter().zip(coefficients) {
        let [x, y, z] = [in_x[a], in_y[b], upwards.values[d][c]];
        let value = x * y * z;
        let gradient = [
            slopes_x[a] * y * z,
            x * slopes_y[b] * z,
            x * y * upwards.slopes[d][c],
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
