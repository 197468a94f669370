//! Stored geometry of a cell: kinds of storage, and packing.

use super::Shape;
use crate::family::CellMap;
use femto_element::tables::DenseTables;

/// The storage of a cell's geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// Only the indices of its vertices; the Jacobian is recomputed from their coordinates.
    Vertices,
    /// As in Knepley et al.: inverse Jacobian `[reference][physical]` and determinant, dim² + 1 numbers per
    /// cell; then vertex 0 if positions are read, which follow from the map.
    Affine,
    /// At each point the Jacobian `[physical][reference]`, then the position if it is read: for curved
    /// cells.
    Jacobians,
}

/// A mistake of the caller: blocks ask for vertices or points.
const TENSOR_MAP: &str = "the map of a tensor product";

/// Calls `put(n, number)` for each number stored for a cell, [`Shape::geometry_numbers`] of them.
///
/// An affine cell can be stored like a curved one; a cell given at its points is stored as an affine one
/// with the Jacobian of its first point.
pub fn pack(
    shape: &Shape,
    element: &DenseTables,
    geometry: CellMap,
    mut put: impl FnMut(usize, f64),
) {
    let d = shape.dim;
    match shape.storage {
        Storage::Vertices => {}
        Storage::Affine => {
            let (jacobian, origin) = match geometry {
                CellMap::Vertices(vertices) => (edges(vertices, d), vertices[0]),
                CellMap::Points { jacobian, position } => {
                    let origin = match position.first() {
                        Some(x) => origin(d, &jacobian[0], x, element.position(0)),
                        None => [f64::NAN; 3],
                    };
                    (jacobian[0], origin)
                }
                CellMap::Map(_) => unreachable!("{TENSOR_MAP}"),
            };
            let (inverse, determinant) = invert(&jacobian, d);
            for n in 0..d * d {
                put(n, inverse[n / d][n % d]);
            }
            put(d * d, determinant);
            for (n, &x) in origin[..d].iter().enumerate().filter(|_| shape.position) {
                put(d * d + 1 + n, x);
            }
        }
        Storage::Jacobians => {
            let affine;
            let (jacobian, position) = match geometry {
                CellMap::Vertices(vertices) => {
                    affine = at_points(element, vertices);
                    (&affine.0[..], &affine.1[..])
                }
                CellMap::Points { jacobian, position } => (jacobian, position),
                CellMap::Map(_) => unreachable!("{TENSOR_MAP}"),
            };
            let numbers = shape.map_numbers();
            for (q, jacobian) in jacobian.iter().enumerate() {
                for n in 0..d * d {
                    put(q * numbers + n, jacobian[n / d][n % d]);
                }
                for n in (0..d).filter(|_| shape.position) {
                    put(q * numbers + d * d + n, position[q][n]);
                }
            }
        }
    }
}

/// Jacobians and positions of an affine cell at the points.
pub fn at_points(
    element: &DenseTables,
    vertices: &[[f64; 3]],
) -> (Vec<[[f64; 3]; 3]>, Vec<[f64; 3]>) {
    let d = element.dim;
    let jacobian = edges(vertices, d);
    let position = |q: usize| {
        let along = element.position(q);
        core::array::from_fn(|row| {
            let edges = along.iter().zip(&jacobian[row]);
            vertices[0][row] + edges.map(|(xi, edge)| xi * edge).sum::<f64>()
        })
    };
    let points = 0..element.points;
    (
        vec![jacobian; element.points],
        points.map(position).collect(),
    )
}

/// The Jacobian of an affine cell, `[physical][reference]`.
fn edges(vertices: &[[f64; 3]], dim: usize) -> [[f64; 3]; 3] {
    let mut jacobian = [[0.0; 3]; 3];
    for row in 0..dim {
        for column in 0..dim {
            jacobian[row][column] = vertices[column + 1][row] - vertices[0][row];
        }
    }
    jacobian
}

/// Vertex 0 of an affine cell whose point `xi` lies at `x`.
fn origin(dim: usize, jacobian: &[[f64; 3]; 3], x: &[f64; 3], xi: &[f64]) -> [f64; 3] {
    let mut origin = *x;
    for row in 0..dim {
        for (column, xi) in xi.iter().enumerate() {
            origin[row] -= jacobian[row][column] * xi;
        }
    }
    origin
}

/// J⁻¹ `[reference][physical]` and det J of the leading `dim` × `dim` part.
pub(super) fn invert(j: &[[f64; 3]; 3], dim: usize) -> ([[f64; 3]; 3], f64) {
    if dim == 2 {
        let determinant = j[0][0] * j[1][1] - j[0][1] * j[1][0];
        let inverse = [
            [j[1][1] / determinant, -j[0][1] / determinant, 0.0],
            [-j[1][0] / determinant, j[0][0] / determinant, 0.0],
            [0.0; 3],
        ];
        return (inverse, determinant);
    }
    let minor = |r: usize, c: usize| {
        let (r1, r2, c1, c2) = ((r + 1) % 3, (r + 2) % 3, (c + 1) % 3, (c + 2) % 3);
        j[r1][c1] * j[r2][c2] - j[r1][c2] * j[r2][c1]
    };
    let determinant = (0..3).map(|c| j[0][c] * minor(0, c)).sum::<f64>();
    let inverse = [0, 1, 2].map(|r| [0, 1, 2].map(|c| minor(c, r) / determinant));
    (inverse, determinant)
}
