//! Maps and spaces on quadrilaterals.
#![allow(clippy::unwrap_used)]

mod space_common;

use femto_element::MapKind;
use femto_element::quadrature::{gauss, rule};
use femto_element::{Cell, CellType};
use femto_fem::geometry::{Geometry, GeometryAtPoints, GeometryError, Points};
use femto_fem::mesh::Mesh;
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::space::{Constraints, SpaceParams};
use space_common::{Random, position_error, space};

/// A bent rectangle whose cells are rotated at random.
fn bent(random: &mut Random, geometry_degree: usize) -> Mesh {
    let rectangle = AnyBox {
        cells: vec![5, 4],
        lower: vec![0.0, -1.0],
        upper: vec![2.0, 1.0],
        geometry_degree,
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let mut mesh = rectangle
        .build(|[x, y, z]| [x + 0.1 * y * y, y + 0.05 * (3.0 * x).sin(), z])
        .unwrap();
    let per_cell = mesh.blocks[0].cell_type.nodes();
    for cell in mesh.blocks[0].nodes.to_mut().chunks_exact_mut(per_cell) {
        // Gmsh's vertices and edge nodes go round the cell.
        let turns = random.below(4);
        for ring in cell.chunks_mut(4).filter(|ring| ring.len() == 4) {
            ring.rotate_left(turns);
        }
    }
    mesh
}

fn area(geometry: &Geometry, degree: usize) -> f64 {
    let rule = rule(Cell::Quadrilateral, degree).unwrap();
    let points = Points::List(rule.points);
    let mut at = GeometryAtPoints::default();
    let of_cell = |cell| {
        geometry.at_points(cell, &points, &mut at);
        let pairs = at.determinant.iter().zip(&rule.weights);
        pairs.map(|(d, w)| d * w).sum::<f64>()
    };
    (0..geometry.len()).map(of_cell).sum()
}

/// x moves by a function of y and then y by one of x, which preserves the area; quadratic cells represent
/// the parabola.
#[test]
fn areas_are_exact() {
    let parabola = |[x, y, z]: [f64; 3]| [x + 0.3 * y * y, y, z];
    for (geometry_degree, kind) in [(1, MapKind::Multilinear), (2, MapKind::Curved)] {
        let mesh = AnyBox {
            geometry_degree,
            ..AnyBox::unit(Cell::Quadrilateral, 3)
        };
        let straight = mesh.build(|[x, y, z]| [2.0 * x + y, y - 0.2 * x, z]);
        let straight = Geometry::new(&straight.unwrap()).unwrap();
        assert!(straight.kinds().iter().all(|&kind| kind == MapKind::Affine));
        assert!((area(&straight, 1) - 2.2).abs() < 1e-14);
        let twisted = mesh.build(|[x, y, z]| [x + 0.2 * x * y, y, z]).unwrap();
        let twisted = Geometry::new(&twisted).unwrap();
        assert!(
            twisted
                .kinds()
                .iter()
                .all(|&kind| kind == MapKind::Multilinear)
        );
        assert!((area(&twisted, 3) - 1.1).abs() < 1e-14);
        let bent = Geometry::new(&mesh.build(parabola).unwrap()).unwrap();
        if kind == MapKind::Curved {
            assert!(bent.kinds().iter().all(|&found| found == kind));
        }
        assert!((area(&bent, 5) - 1.0).abs() < 1e-14);
    }
}

/// A quad8's map uses the serendipity functions of order 2, which have no ξ²η².
#[test]
fn quad8_maps_are_the_serendipity_ones() {
    let mesh = AnyBox {
        geometry_degree: 2,
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    let mut mesh = mesh
        .build(|[x, y, z]| [x + 0.1 * y * (1.0 - y), y - 0.15 * x * (1.0 - x) * y, z])
        .unwrap();
    let block = &mut mesh.blocks[0];
    block.cell_type = CellType::QUAD8;
    block.nodes.to_mut().truncate(8);
    let nodes = block.nodes.clone();
    let geometry = Geometry::new(&mesh).unwrap();
    for [s, t] in [[0.0, 0.0], [0.3, -0.7], [-0.9, 0.4], [1.0, 0.2]] {
        let mut expected = [0.0; 2];
        for (node, [i, j, _]) in nodes.all().zip(CellType::QUAD8.node_lattice()) {
            // Zienkiewicz & Taylor, The Finite Element Method, vol. 1, "Serendipity family".
            let [a, b] = [i, j].map(|m| m as f64 - 1.0);
            let phi = match (a == 0.0, b == 0.0) {
                (true, _) => 0.5 * (1.0 - s * s) * (1.0 + b * t),
                (_, true) => 0.5 * (1.0 - t * t) * (1.0 + a * s),
                _ => 0.25 * (1.0 + a * s) * (1.0 + b * t) * (a * s + b * t - 1.0),
            };
            let x = mesh.coordinates.at(node as usize);
            (0..2).for_each(|d| expected[d] += phi * x[d]);
        }
        let found = geometry.map(0, [s, t, f64::NAN]);
        assert!(
            (0..2).all(|d| (found[d] - expected[d]).abs() < 1e-15),
            "{found:?}"
        );
        assert_eq!(found[2], 0.0);
    }
}

#[test]
fn facets_point_outwards_and_close_every_cell() {
    let mut random = Random::new();
    for geometry_degree in [1, 2] {
        let geometry = Geometry::new(&bent(&mut random, geometry_degree)).unwrap();
        let rule = rule(Cell::Line, 7).unwrap();
        for cell in 0..geometry.len() {
            let mut sum = [0.0; 3];
            for facet in 0..4 {
                for (point, weight) in geometry
                    .facet_at_points(cell, facet, &rule.points)
                    .iter()
                    .zip(&rule.weights)
                {
                    let centre = geometry.centroid(cell);
                    let out: f64 = (0..3)
                        .map(|a| (point.position[a] - centre[a]) * point.area_normal[a])
                        .sum();
                    assert!(out > 0.0, "{cell} {facet}");
                    (0..3).for_each(|a| sum[a] += weight * point.area_normal[a]);
                }
            }
            assert!(sum.iter().all(|s| s.abs() < 1e-14), "{cell}: {sum:?}");
        }
    }
}

#[test]
fn every_element_puts_its_nodes_where_the_space_does() {
    let mut random = Random::new();
    for geometry_degree in [1, 2] {
        let mesh = bent(&mut random, geometry_degree);
        for degree in [1, 2, 3, 7, 15] {
            let params = SpaceParams {
                degree: degree.into(),
                chunk_nodes: 60,
                ..SpaceParams::default()
            };
            let (space, geometry) = space(&mesh, params);
            assert_eq!(space.cell(), Cell::Quadrilateral);
            assert_eq!(space.nodes(), (5 * degree + 1) * (4 * degree + 1));
            let constraints = Constraints::of_all_components(&space, &["xmin", "ymax"]).unwrap();
            assert_eq!(constraints.len(), 4 * degree + 1 + 5 * degree);
            assert!(position_error(&space, &geometry) < 1e-13);
        }
    }
}

#[test]
fn meshes_outside_the_plane_are_errors() {
    let good = AnyBox::unit(Cell::Quadrilateral, 2).build(|x| x).unwrap();
    let mut lifted = good.clone();
    lifted.coordinates.to_mut()[8][2] = 1e-11;
    Geometry::new(&lifted).unwrap();
    lifted.blocks[0].nodes.to_mut()[..4].reverse();
    assert_eq!(lifted.turn_left_handed(), 1);
    lifted.blocks[0].nodes.clone_from(&good.blocks[0].nodes);
    lifted.coordinates.to_mut()[8][2] = 0.1;
    let error = Geometry::new(&lifted).unwrap_err();
    assert!(
        matches!(error, GeometryError::OffPlane { cell: 3, .. }),
        "{error}"
    );
    let mut inverted = good.clone();
    inverted.blocks[0].nodes.to_mut()[..4].reverse();
    let error = Geometry::new(&inverted).unwrap().check(&gauss(2).points);
    let error = error.unwrap_err();
    assert!(
        matches!(error, GeometryError::NotInvertible { cell: 0, .. }),
        "{error}"
    );
    let mut cubic = good;
    cubic.blocks[0].cell_type = CellType::from_gmsh(36).unwrap();
    cubic.blocks[0].tags.truncate(1);
    let error = Geometry::new(&cubic).unwrap_err().to_string();
    assert!(error.contains("1 cells of type quad16"), "{error}");
    let odd = AnyBox {
        geometry_degree: 3,
        ..AnyBox::unit(Cell::Quadrilateral, 1)
    };
    assert!(odd.build(|x| x).unwrap_err().to_string().contains("1 to 2"));
}
