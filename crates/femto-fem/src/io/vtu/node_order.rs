//! The order of nodes in VTK's Lagrange cells.

use crate::reference::simplex::{lattice, ordered};

/// Vertices of the edges of VTK's tetrahedron; the first three are its triangle's.
const SIMPLEX_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]];
/// Vertices of the faces of VTK's tetrahedron.
const TETRAHEDRON_FACES: [[usize; 3]; 4] = [[0, 1, 3], [1, 2, 3], [2, 0, 3], [0, 2, 1]];

/// For every node of VTK's Lagrange triangle (`dim` 2) or tetrahedron (3) in its order, where it is
/// in femto's; right up to degree 3, beyond which VTK orders the nodes inside faces recursively.
///
/// Source: `vtkHigherOrderTriangle` and `vtkHigherOrderTetra` of VTK 9.
pub(super) fn vtk_to_simplex(dim: usize, degree: usize) -> Vec<usize> {
    let vtk = match dim {
        2 => ordered(2, degree, &SIMPLEX_EDGES[..3], &[[0, 1, 2]]),
        _ => ordered(3, degree, &SIMPLEX_EDGES, &TETRAHEDRON_FACES),
    };
    let ours = lattice(dim, degree);
    let place = |node: &[usize; 4]| ours.iter().position(|other| other == node).unwrap_or(0);
    vtk.iter().map(place).collect()
}

/// For every node in VTK's order, its lexicographic index `i + n (j + n k)`, `n = degree + 1`.
///
/// VTK's order: 8 vertices, 12 edges, 6 faces (ξ=-1, ξ=+1, η=-1, η=+1, ζ=-1, ζ=+1, each with the
/// lower axis fastest), interior. Vertices and edges as numbered at degree 2:
///
/// ```text
///       7─────14─────6
///      /│           /│
///    15 │         13 │
///    /  19        /  18
///   4─────12─────5   │
///   │   │        │   │
///   │   3─────10─│───2     ζ  η
///  16  /        17  /      │ /
///   │ 11         │ 9       │/
///   │/           │/        └── ξ
///   0──────8─────1
/// ```
///
/// Files older than version 2.2 swap the edges of 18 and 19.
///
/// Source: `vtkHigherOrderHexahedron::PointIndexFromIJK` of VTK 9, file version 2.2.
pub(super) fn vtk_to_lexicographic(degree: usize) -> Vec<usize> {
    let n = degree + 1;
    let index = |i: usize, j: usize, k: usize| i + n * (j + n * k);
    let last = degree;
    let inner = 1..degree;

    let mut order = Vec::with_capacity(n * n * n);
    let corners = [(0, 0), (last, 0), (last, last), (0, last)];
    for k in [0, last] {
        order.extend(corners.map(|(i, j)| index(i, j, k)));
    }
    for k in [0, last] {
        order.extend(inner.clone().map(|i| index(i, 0, k)));
        order.extend(inner.clone().map(|j| index(last, j, k)));
        order.extend(inner.clone().map(|i| index(i, last, k)));
        order.extend(inner.clone().map(|j| index(0, j, k)));
    }
    for (i, j) in corners {
        order.extend(inner.clone().map(|k| index(i, j, k)));
    }
    let square = || {
        let fast = inner.clone();
        inner
            .clone()
            .flat_map(move |slow| fast.clone().map(move |f| (f, slow)))
    };
    for i in [0, last] {
        order.extend(square().map(|(j, k)| index(i, j, k)));
    }
    for j in [0, last] {
        order.extend(square().map(|(i, k)| index(i, j, k)));
    }
    for k in [0, last] {
        order.extend(square().map(|(i, j)| index(i, j, k)));
    }
    for k in inner.clone() {
        order.extend(square().map(|(i, j)| index(i, j, k)));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_permutation_at_every_degree() {
        for degree in 1..=15 {
            let mut order = vtk_to_lexicographic(degree);
            order.sort_unstable();
            assert!(
                order.into_iter().eq(0..(degree + 1).pow(3)),
                "degree {degree}"
            );
        }
    }

    #[test]
    fn simplices_are_permuted_as_vtk_does() {
        assert_eq!(vtk_to_simplex(2, 1), [0, 1, 2]);
        assert_eq!(vtk_to_simplex(2, 2), [0, 1, 2, 3, 5, 4]);
        // VTK goes round the triangle, so edge 2-0 backwards.
        assert_eq!(vtk_to_simplex(2, 3), [0, 1, 2, 3, 4, 7, 8, 6, 5, 9]);
        assert_eq!(vtk_to_simplex(3, 2), [0, 1, 2, 3, 4, 6, 5, 7, 8, 9]);
        let mut cubic = vtk_to_simplex(3, 3);
        assert_eq!(cubic[16..], [17, 19, 18, 16]);
        cubic.sort_unstable();
        assert!(cubic.into_iter().eq(0..20));
    }

    #[test]
    fn trilinear_order_is_the_classic_hexahedron() {
        assert_eq!(vtk_to_lexicographic(1), [0, 1, 3, 2, 4, 5, 7, 6]);
    }
}
