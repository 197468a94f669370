//! The nodes of a simplex: which there are, in which order, and where.

use crate::reference::cell::{
    GMSH_SIMPLEX_EDGES, GMSH_TETRAHEDRON_FACES, TETRAHEDRON_EDGES, TETRAHEDRON_FACES,
    TRIANGLE_EDGES,
};
use crate::reference::nodes::gll;

/// The multi-indices of the nodes of a simplex, `[nodes][4]`, in the order of
/// [`crate::reference::cell`]: entry a counts steps towards vertex a, all together `degree`.
/// Entries beyond the `dim + 1` vertices are zero.
///
/// Of equispaced nodes, multi-index over degree is the barycentric position.
pub fn lattice(dim: usize, degree: usize) -> Vec<[usize; 4]> {
    let (edges, faces): (&[[usize; 2]], &[[usize; 3]]) = match dim {
        0 => (&[], &[]),
        1 => (&TRIANGLE_EDGES[..1], &[]),
        2 => (&TRIANGLE_EDGES, &TETRAHEDRON_FACES[..1]),
        _ => (&TETRAHEDRON_EDGES, &TETRAHEDRON_FACES),
    };
    ordered(dim, degree, edges, faces)
}

/// The multi-indices with these edges and faces, in the order of entities.
pub(crate) fn ordered(
    dim: usize,
    degree: usize,
    edges: &[[usize; 2]],
    faces: &[[usize; 3]],
) -> Vec<[usize; 4]> {
    let mut nodes = Vec::new();
    (0..=dim).for_each(|vertex| inside(degree, &[vertex], &mut nodes));
    edges
        .iter()
        .for_each(|edge| inside(degree, edge, &mut nodes));
    faces
        .iter()
        .for_each(|face| inside(degree, face, &mut nodes));
    if dim == 3 {
        inside(degree, &[0, 1, 2, 3], &mut nodes);
    }
    nodes
}

/// The multi-indices of the nodes of Gmsh's complete simplices, `[nodes][4]`, in its order; right up
/// to degree 3, beyond which it turns the nodes inside faces.
pub fn gmsh_lattice(dim: usize, degree: usize) -> Vec<[usize; 4]> {
    let (edges, faces): (&[[usize; 2]], &[[usize; 3]]) = match dim {
        0 => (&[], &[]),
        1 => (&GMSH_SIMPLEX_EDGES[..1], &[]),
        2 => (&GMSH_SIMPLEX_EDGES[..3], &[[0, 1, 2]]),
        _ => (&GMSH_SIMPLEX_EDGES, &GMSH_TETRAHEDRON_FACES),
    };
    ordered(dim, degree, edges, faces)
}

/// Appends the multi-indices inside the simplex with these vertices, the second fastest.
fn inside(degree: usize, vertices: &[usize], nodes: &mut Vec<[usize; 4]>) {
    let steps = |axis: usize| match vertices.len() > axis {
        true => 1..degree,
        false => 0..1,
    };
    for third in steps(3) {
        for second in steps(2) {
            for first in steps(1) {
                let taken = first + second + third;
                if taken >= degree {
                    continue;
                }
                let mut node = [0; 4];
                for (&vertex, count) in vertices.iter().zip([degree - taken, first, second, third])
                {
                    node[vertex] = count;
                }
                nodes.push(node);
            }
        }
    }
}

/// The positions of equispaced nodes, `[nodes][3]`, in the order of [`lattice`]: those of Gmsh's
/// and VTK's cells.
pub fn equispaced(dim: usize, degree: usize) -> Vec<[f64; 3]> {
    let position = |node: [usize; 4]| [1, 2, 3].map(|a| node[a] as f64 / degree as f64);
    lattice(dim, degree).into_iter().map(position).collect()
}

/// The positions of femto's nodes, `[nodes][3]`, in the order of [`lattice`].
///
/// T. Isaac, "Recursive, parameter-free, explicitly defined interpolation nodes for simplices",
/// SIAM J. Sci. Comput. 42 (2020): on edges Gauss–Lobatto points, on faces and inside a mean of
/// what is on the boundary. At degrees 1 and 2 they are equispaced, at degree 3 the same as the
/// "warp & blend" nodes (T. Warburton, J. Engrg. Math. 56, 2006), by symmetry.
pub(super) fn nodes(dim: usize, degree: usize) -> Vec<[f64; 3]> {
    // Gauss–Lobatto points on [0, 1] of each degree.
    let lines: Vec<Vec<f64>> = (0..=degree)
        .map(|n| gll(n).into_iter().map(|x| 0.5 * (1.0 + x)).collect())
        .collect();
    let position = |node: [usize; 4]| {
        let barycentric = recursive(&lines, &node[..=dim]);
        [1, 2, 3].map(|a| barycentric.get(a).copied().unwrap_or(0.0))
    };
    lattice(dim, degree).into_iter().map(position).collect()
}

/// Barycentric position of a multi-index (ibid., eq. 5): the mean over vertices i of the positions
/// of the multi-index without entry i, weighted by the 1-D node with index n - α_i.
fn recursive(lines: &[Vec<f64>], index: &[usize]) -> Vec<f64> {
    let degree: usize = index.iter().sum();
    match index {
        [_] => return vec![1.0],
        [a, b] => return vec![lines[degree][*a], lines[degree][*b]],
        _ => {}
    }
    let mut position = vec![0.0; index.len()];
    let mut total = 0.0;
    for vertex in 0..index.len() {
        let weight = lines[degree][degree - index[vertex]];
        let others: Vec<usize> = (0..index.len()).filter(|&i| i != vertex).collect();
        let rest: Vec<usize> = others.iter().map(|&i| index[i]).collect();
        for (&i, part) in others.iter().zip(recursive(lines, &rest)) {
            position[i] += weight * part;
        }
        total += weight;
    }
    position.iter().map(|x| x / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_triangle_is_numbered_as_drawn() {
        let nodes = lattice(2, 3);
        let places: Vec<[usize; 2]> = nodes.iter().map(|n| [n[1], n[2]]).collect();
        let drawn = [
            [0, 0],
            [3, 0],
            [0, 3],
            [1, 0],
            [2, 0],
            [0, 1],
            [0, 2],
            [2, 1],
            [1, 2],
            [1, 1],
        ];
        assert_eq!(places, drawn);
    }

    #[test]
    fn nodes_are_as_many_as_the_polynomials() {
        for degree in 1..=8 {
            let n = degree + 1;
            assert_eq!(lattice(1, degree).len(), n);
            assert_eq!(lattice(2, degree).len(), n * (n + 1) / 2);
            let mut nodes = lattice(3, degree);
            assert_eq!(nodes.len(), n * (n + 1) * (n + 2) / 6);
            assert!(
                nodes
                    .iter()
                    .all(|node| node.iter().sum::<usize>() == degree)
            );
            nodes.sort_unstable();
            nodes.dedup();
            assert_eq!(nodes.len(), n * (n + 1) * (n + 2) / 6);
        }
    }

    #[test]
    fn low_degrees_are_equispaced() {
        for dim in 1..=3 {
            for degree in 1..=2 {
                assert_eq!(nodes(dim, degree), equispaced(dim, degree));
            }
        }
        let middle = nodes(2, 3)[9];
        assert!((middle[0] - 1.0 / 3.0).abs() < 1e-15 && (middle[1] - middle[0]).abs() < 1e-15);
    }
}
