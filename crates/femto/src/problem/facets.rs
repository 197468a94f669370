//! Nodes, quadrature rule and basis of the facets of a reference cell.

use crate::Quadrature;
use crate::operator::OperatorError;
use femto_element::basis::Nodal;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_fem::space::Space;

/// One rule for all facets, and for each its nodes.
pub(super) struct Facets {
    /// Points in the facet's own reference cell, `[point][3]`.
    pub(super) points: Vec<[f64; 3]>,
    /// `[point]`
    pub(super) weights: Vec<f64>,
    /// Which of the element's nodes lie on each facet, in the order of the facet's own, `[facet][node]`.
    nodes: Vec<Vec<usize>>,
    /// Basis functions of the facet's own nodes at the points, `[node][point]`: traces of the element's.
    pub(super) basis: Vec<f64>,
}

impl Facets {
    /// The facets of the elements of a space, which have one shape. On simplices the rule is the cells' own degree of
    /// exactness.
    pub(super) fn new(space: &Space, quadrature: Quadrature) -> Result<Self, OperatorError> {
        let (cell, degree) = (space.cell(), space.degree());
        let facet = cell.facets()[0].cell;
        let rule = match (cell.is_tensor_product(), quadrature) {
            (true, _) => quadrature.tables(facet, degree)?.rule(),
            (false, Quadrature::Exact(exact)) => rule(facet, exact.max(degree))?,
            _ => return Err(OperatorError::QuadratureOnSimplices),
        };
        let tables = DenseTables::new(&Nodal::new(facet, degree)?, &rule);
        let of_node = |node: usize| (0..tables.points).map(move |point| (point, node));
        let pairs = (0..tables.nodes).flat_map(of_node);
        let basis = pairs
            .map(|(point, node)| tables.value(point, node))
            .collect();
        let nodes = |number| cell.facet_nodes(degree, number);
        Ok(Self {
            nodes: (0..cell.facets().len()).map(nodes).collect(),
            basis,
            points: rule.points,
            weights: rule.weights,
        })
    }

    /// The nodes of a facet, given by its number in the cell.
    pub(super) fn nodes(&self, facet: usize) -> &[usize] {
        &self.nodes[facet]
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
            (triangles, |n| n, 2.0),
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
                assert_eq!(facets.basis.len(), nodes(degree + 1) * points);
                for p in 0..points {
                    let sum: f64 = facets.basis.iter().skip(p).step_by(points).sum();
                    assert!((sum - 1.0).abs() < 1e-13);
                }
                for number in 0..space.cell().facets().len() {
                    assert_eq!(facets.nodes(number).len(), nodes(degree + 1));
                }
            }
        }
    }
}
