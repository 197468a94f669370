//! Positions of the nodes of the Lagrange bases.

use crate::Degree;
use crate::cell::Cell;
use crate::quadrature::gauss_lobatto;

/// The Gauss–Lobatto–Legendre nodes of this degree on `[-1, 1]`, `[degree + 1]`, ascending and exactly
/// symmetric. Degree 0 has the midpoint as its only node.
pub fn gll(degree: usize) -> Vec<f64> {
    gauss_lobatto(degree + 1).map_or_else(|_| vec![0.0], |rule| rule.points)
}

/// The positions of equispaced nodes, `[nodes][3]`, in femto's order; Gmsh's and VTK's cells have these
/// nodes.
pub fn equispaced(cell: Cell, degree: impl Into<Degree>) -> Vec<[f64; 3]> {
    let degree = degree.into();
    let all = cell.lattice(degree).into_iter();
    all.map(|steps| cell.position(degree, steps)).collect()
}

/// The positions of femto's nodes, `[nodes][3]`, in femto's order: Gauss–Lobatto points on every edge, so that
/// traces of neighbours of any shape match.
///
/// On tensor products they are those of [`gll`] along each axis, on prisms those of the triangle times these. On
/// simplices see T. Isaac, "Recursive,
/// parameter-free, explicitly defined interpolation nodes for simplices", SIAM J. Sci. Comput. 42 (2020):
/// nodes on faces and inside are means of those on the boundary. At degrees 1 and 2 they are equispaced, at
/// degree 3 equal to the "warp & blend" nodes (T. Warburton, J. Engrg. Math. 56, 2006), by symmetry. Pyramids,
/// whose bases end at degree 2, have equispaced nodes.
///
/// Conditioning: the Lebesgue constants, the largest sums of absolute values of the basis in a cell, to 2 %:
///
/// | degree | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
/// |---|---|---|---|---|---|---|---|---|
/// | triangle | 1 | 1.67 | 2.11 | 2.66 | 3.41 | 3.90 | 4.43 | 5.08 |
/// | tetrahedron | 1 | 2 | 2.93 | 4.09 | 5.54 | 7.17 | 9.12 | 11.67 |
pub fn positions(cell: Cell, degree: impl Into<Degree>) -> Vec<[f64; 3]> {
    let (degree, dim) = (degree.into(), cell.dim());
    let lines = cell.steps(degree).map(gll);
    if cell.is_tensor_product() {
        let axis = |a: usize, m: usize| if a < dim { lines[a][m] } else { 0.0 };
        let at = |steps: [usize; 3]| [0, 1, 2].map(|a| axis(a, steps[a]));
        return cell.lattice(degree).into_iter().map(at).collect();
    }
    if cell == Cell::Prism {
        let triangle = positions(Cell::Triangle, degree.horizontal);
        let place = Cell::Triangle.lattice_places(degree.horizontal);
        let at = |[i, j, k]: [usize; 3]| {
            // The prism's lattice is the triangle's times the line's.
            let [x, y, _] = place([i, j, 0]).map_or([0.0; 3], |node| triangle[node]);
            [x, y, lines[2][k]]
        };
        return cell.lattice(degree).into_iter().map(at).collect();
    }
    if cell == Cell::Pyramid {
        return equispaced(cell, degree);
    }
    let degree = degree.horizontal;
    // Gauss–Lobatto points on [0, 1] of each degree.
    let lines: Vec<Vec<f64>> = (0..=degree)
        .map(|n| gll(n).into_iter().map(|x| 0.5 * (1.0 + x)).collect())
        .collect();
    let at = |steps: [usize; 3]| {
        let mut index = vec![degree - steps.iter().sum::<usize>()];
        index.extend(&steps[..dim]);
        let barycentric = recursive(&lines, &index);
        [1, 2, 3].map(|a| barycentric.get(a).copied().unwrap_or(0.0))
    };
    cell.lattice(degree).into_iter().map(at).collect()
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
        let drawn = [
            [0, 0, 0],
            [3, 0, 0],
            [0, 3, 0],
            [1, 0, 0],
            [2, 0, 0],
            [0, 1, 0],
            [0, 2, 0],
            [2, 1, 0],
            [1, 2, 0],
            [1, 1, 0],
        ];
        assert_eq!(Cell::Triangle.lattice(3), drawn);
    }

    /// Every order contains each node of a cell once, as many as there are polynomials.
    #[test]
    fn all_orders_have_every_node_once() {
        for n in 1..=8 {
            let m = n + 1;
            for (cell, count) in [
                (Cell::Point, 1),
                (Cell::Line, m),
                (Cell::Triangle, m * (m + 1) / 2),
                (Cell::Quadrilateral, m * m),
                (Cell::Tetrahedron, m * (m + 1) * (m + 2) / 6),
                (Cell::Hexahedron, m * m * m),
                (Cell::Prism, m * m * (m + 1) / 2),
                (Cell::Pyramid, m * (m + 1) * (2 * m + 1) / 6),
            ] {
                let orders = [
                    cell.lattice(n),
                    cell.lattice_in(n, cell.gmsh_order()),
                    match cell {
                        // VTK's pyramids have no nodes inside facets.
                        Cell::Pyramid => cell.lattice(n),
                        _ => cell.lattice_in(n, cell.vtk_order()),
                    },
                ];
                for mut nodes in orders {
                    assert_eq!(nodes.len(), count, "{cell:?} {n}");
                    nodes.sort_unstable();
                    nodes.dedup();
                    assert_eq!(nodes.len(), count, "{cell:?} {n}");
                }
            }
        }
    }

    #[test]
    fn low_degrees_are_equispaced() {
        for cell in [Cell::Triangle, Cell::Tetrahedron, Cell::Quadrilateral] {
            for degree in 1..=2 {
                assert_eq!(positions(cell, degree), equispaced(cell, degree));
            }
        }
        let middle = positions(Cell::Triangle, 3)[9];
        assert!((middle[0] - 1.0 / 3.0).abs() < 1e-15 && (middle[1] - middle[0]).abs() < 1e-15);
    }

    /// Nodes inside edges are Gauss–Lobatto points from the first vertex to the second, on any cell.
    #[test]
    fn traces_on_edges_are_the_same_on_all_cells() {
        let cells = [
            Cell::Triangle,
            Cell::Quadrilateral,
            Cell::Tetrahedron,
            Cell::Hexahedron,
        ];
        for cell in cells {
            for degree in 1..=7 {
                let (line, all) = (gll(degree), positions(cell, degree));
                let lattice = cell.lattice(degree);
                for &ends in cell.edges() {
                    let [start, end] = ends.map(|vertex| cell.vertex(vertex));
                    for (m, steps) in (1..).zip(cell.inside_edge(degree, ends)) {
                        let node = lattice.iter().position(|other| *other == steps).unwrap();
                        for a in 0..3 {
                            let t = 0.5 * (1.0 + line[m]);
                            let x = start[a] + t * (end[a] - start[a]);
                            assert!((all[node][a] - x).abs() < 1e-15, "{cell:?} {degree}");
                        }
                    }
                }
            }
        }
    }
}
