//! The order of nodes in VTK's Lagrange hexahedra.

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
    fn trilinear_order_is_the_classic_hexahedron() {
        assert_eq!(vtk_to_lexicographic(1), [0, 1, 3, 2, 4, 5, 7, 6]);
    }
}
