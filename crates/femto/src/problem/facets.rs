//! The facets of a reference cell: which nodes lie on them, a quadrature rule, the basis at its points.

use crate::Quadrature;
use crate::operator::OperatorError;
use femto_fem::quadrature::simplex_rule;
use femto_fem::reference::cell::{HEX_FACE_AXES, hex_face_axis_side};
use femto_fem::reference::simplex::Simplex;
use femto_fem::space::Space;

/// A basis function below this everywhere on a facet vanishes there.
const ZERO: f64 = 1e-10;

/// One rule for all facets, and for each its nodes and their basis functions.
pub(super) struct Facets {
    /// Points in the facet's own reference cell, `[point][3]`.
    pub(super) points: Vec<[f64; 3]>,
    /// `[point]`
    pub(super) weights: Vec<f64>,
    /// Which of the element's nodes lie on each facet, equally many, `[facet][node]`.
    nodes: Vec<Vec<usize>>,
    /// Their basis functions at the points, `[facet][node][point]`.
    pub(super) basis: Vec<f64>,
}

impl Facets {
    /// The facets of the elements of a space. On simplices the rule is the cells' own degree of
    /// exactness.
    pub(super) fn new(space: &Space, quadrature: Quadrature) -> Result<Self, OperatorError> {
        if space.cell_shape().is_simplex() {
            Self::of_simplices(space, quadrature)
        } else {
            Self::of_hexahedra(space, quadrature)
        }
    }

    /// The nodes of a facet, given by its number in the cell.
    pub(super) fn nodes(&self, facet: usize) -> &[usize] {
        &self.nodes[facet]
    }

    /// The row of the basis table of a facet's first node; those of the others follow.
    pub(super) fn first_row(&self, facet: usize) -> usize {
        facet * self.nodes[facet].len()
    }

    fn of_simplices(space: &Space, quadrature: Quadrature) -> Result<Self, OperatorError> {
        let Quadrature::Exact(degree) = quadrature else {
            return Err(OperatorError::QuadratureOnSimplices);
        };
        let shape = space.cell_shape();
        let rule = simplex_rule(space.dim() - 1, degree.max(space.degree()))?;
        let element = Simplex::new(space.dim(), space.degree())?;
        let (mut all, mut basis) = (Vec::new(), Vec::new());
        for number in 0..shape.facets() {
            let inside = |&point: &[f64; 3]| shape.facet_point(number, point);
            let points: Vec<[f64; 3]> = rule.points.iter().map(inside).collect();
            let interp = element.tables(&points).interp;
            let at_points =
                |node: usize| interp.iter().skip(node).step_by(space.nodes_per_element());
            let on_facet = |&node: &usize| at_points(node).any(|value| value.abs() > ZERO);
            let nodes: Vec<usize> = (0..space.nodes_per_element()).filter(on_facet).collect();
            basis.extend(nodes.iter().flat_map(|&node| at_points(node)));
            all.push(nodes);
        }
        Ok(Self {
            nodes: all,
            basis,
            points: rule.points,
            weights: rule.weights,
        })
    }

    fn of_hexahedra(space: &Space, quadrature: Quadrature) -> Result<Self, OperatorError> {
        let line = quadrature.basis(space.degree())?;
        let (n, count) = (line.nodes_1d, line.points_1d);
        // The lower axis is the fastest, of points and of nodes.
        let pairs = |len: usize| (0..len * len).map(move |i| (i % len, i / len));
        let value = |p: usize, node: usize| line.interp_1d[p * n + node];
        let basis: Vec<f64> = pairs(n)
            .flat_map(|(u, v)| pairs(count).map(move |(s, t)| (s, t, u, v)))
            .map(|(s, t, u, v)| value(s, u) * value(t, v))
            .collect();
        let nodes = |number: usize| {
            let strides = [1, n, n * n];
            let (axis, side) = hex_face_axis_side(number);
            let [along_u, along_v] = HEX_FACE_AXES[number].map(|axis| strides[axis]);
            let first = side * (n - 1) * strides[axis];
            pairs(n)
                .map(|(u, v)| first + u * along_u + v * along_v)
                .collect()
        };
        Ok(Self {
            points: pairs(count)
                .map(|(s, t)| [line.points[s], line.points[t], 0.0])
                .collect(),
            weights: pairs(count)
                .map(|(s, t)| line.weights[s] * line.weights[t])
                .collect(),
            nodes: (0..HEX_FACE_AXES.len()).map(nodes).collect(),
            basis: basis.repeat(HEX_FACE_AXES.len()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_fem::geometry::Geometry;
    use femto_fem::mesh::Mesh;
    use femto_fem::mesh::box_mesh::BoxMesh;
    use femto_fem::mesh::simplex_box::SimplexBox;
    use femto_fem::space::SpaceParams;

    /// On every facet the basis sums to one, and there are as many nodes as a facet's element has.
    #[test]
    fn facets_have_their_own_elements() {
        let triangles = SimplexBox::<2>::unit_square(1).build(|x| x).expect("legal");
        let tetrahedra = SimplexBox::<3>::unit_cube(1).build(|x| x).expect("legal");
        let hexahedra = BoxMesh::unit_cube(1).build(|x| x).expect("legal");
        type Measured = (Mesh, fn(usize) -> usize, f64);
        let meshes: [Measured; 3] = [
            (triangles, |n| n, 1.0),
            (tetrahedra, |n| n * (n + 1) / 2, 0.5),
            (hexahedra, |n| n * n, 4.0),
        ];
        for (mesh, nodes, area) in meshes {
            let geometry = Geometry::new(&mesh).expect("legal");
            for degree in 1..=3 {
                let params = SpaceParams {
                    degree,
                    ..SpaceParams::default()
                };
                let space = Space::new(&mesh, &geometry, params).expect("legal");
                let facets = Facets::new(&space, Quadrature::Exact(2 * degree)).expect("legal");
                assert!((facets.weights.iter().sum::<f64>() - area).abs() < 1e-14);
                let points = facets.points.len();
                for number in 0..space.cell_shape().facets() {
                    let on = facets.nodes(number).len();
                    assert_eq!(on, nodes(degree + 1));
                    let basis = &facets.basis[facets.first_row(number) * points..][..on * points];
                    for p in 0..points {
                        let sum: f64 = basis.iter().skip(p).step_by(points).sum();
                        assert!((sum - 1.0).abs() < 1e-13);
                    }
                }
                let rows = space.cell_shape().facets() * nodes(degree + 1);
                assert_eq!(facets.basis.len(), rows * points);
            }
        }
    }
}
