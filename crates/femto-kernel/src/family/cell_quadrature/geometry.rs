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

/// Calls `put(n, number)` for each number stored for a cell, [`Shape::geometry_numbers`] of them, given its vertices or,
/// for [`Storage::Jacobians`], its map at the points.
pub fn pack(shape: &Shape, geometry: CellMap, mut put: impl FnMut(usize, f64)) {
    let d = shape.dim;
    match (shape.storage, geometry) {
        (Storage::Vertices, _) => {}
        (Storage::Affine, CellMap::Vertices(vertices)) => {
            let (inverse, determinant) = invert(&edges(vertices, d), d);
            for n in 0..d * d {
                put(n, inverse[n / d][n % d]);
            }
            put(d * d, determinant);
            for n in (0..d).filter(|_| shape.position) {
                put(d * d + 1 + n, vertices[0][n]);
            }
        }
        (Storage::Jacobians, CellMap::Points { jacobian, position }) => {
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
        (storage, _) => unreachable!("{storage:?} of another map than `map_input` asks for"),
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
