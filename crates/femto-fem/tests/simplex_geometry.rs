//! The maps of triangles and tetrahedra.
#![allow(clippy::unwrap_used)]

mod simplex_common;
mod space_common;

use femto_element::CellType;
use femto_element::quadrature::{gauss, rule};
use femto_element::{Cell, MapKind};
use femto_fem::geometry::jacobian::dot;
use femto_fem::geometry::{Geometry, GeometryAtPoints, GeometryError, Points};
use femto_fem::mesh::boxes::SimplexBox;
use femto_fem::mesh::{CellBlock, Mesh};
use simplex_common::volume;
use space_common::Random;

/// Meshes of both shapes, all orders, structured and irregular, with each node `x` moved to `map(x)`.
fn boxes(map: impl Fn([f64; 3]) -> [f64; 3] + Sync) -> Vec<(Mesh, usize, usize)> {
    let mut random = Random::new();
    let mut meshes = Vec::new();
    for order in 1..=3 {
        for irregular in [None, Some(random.bits())] {
            let square = SimplexBox::<2> {
                cells: [4, 3],
                lower: [-1.0, 0.0],
                upper: [1.0, 1.5],
                geometry_degree: order,
                irregular,
            };
            let flat = |[x, y]: [f64; 2]| {
                let [x, y, _] = map([x, y, 0.0]);
                [x, y]
            };
            meshes.push((square.build(flat).unwrap(), 2, order));
            let cube = SimplexBox::<3> {
                cells: [3, 2, 4],
                lower: [-1.0, 0.0, 0.0],
                upper: [1.0, 1.5, 1.0],
                geometry_degree: order,
                irregular,
            };
            meshes.push((cube.build(&map).unwrap(), 3, order));
        }
    }
    meshes
}

#[test]
fn boxes_are_affine_and_fill_their_volume() {
    for (mesh, dim, order) in boxes(|x| x) {
        let geometry = Geometry::new(&mesh).unwrap();
        let shape = [Cell::Triangle, Cell::Tetrahedron][dim - 2];
        assert_eq!(geometry.cell(), shape);
        assert_eq!(geometry.len(), [0, 0, 2 * 12, 6 * 24][dim]);
        assert!(geometry.kinds().iter().all(|&kind| kind == MapKind::Affine));
        assert_eq!(
            geometry.check(&gauss(3).points),
            Ok(vec![]),
            "{dim} {order}"
        );
        assert!((volume(&geometry, 1) - 3.0).abs() < 1e-13);
    }
}

/// A cubic deformation, with its terms scaled down to the order.
fn bend(order: usize, [x, y, z]: [f64; 3]) -> [f64; 3] {
    let quadratic = if order >= 2 { 1.0 } else { 0.0 };
    let cubic = if order >= 3 { 1.0 } else { 0.0 };
    [
        x + 0.05 * quadratic * y * y + 0.02 * cubic * x * y * (1.0 + z),
        y + 0.04 * quadratic * x * y - 0.02 * cubic * x * x * x,
        z + 0.03 * quadratic * x * z + 0.02 * cubic * x * y * z,
    ]
}

#[test]
fn curved_cells_follow_polynomials_of_their_order() {
    let points = [[0.2, 0.3, 0.1], [0.0, 0.9, 0.05], [0.6, 0.1, 0.2]];
    for order in 2..=3 {
        let cube = SimplexBox::<3> {
            geometry_degree: order,
            irregular: Some(Random::new().bits()),
            ..SimplexBox::unit_cube(3)
        };
        let square = SimplexBox::<2> {
            geometry_degree: order,
            irregular: cube.irregular,
            ..SimplexBox::unit_square(4)
        };
        let flat = |[x, y]: [f64; 2]| {
            let [x, y, _] = bend(order, [x, y, 0.0]);
            [x, y]
        };
        let meshes = [
            (square.build(|x| x), square.build(flat)),
            (cube.build(|x| x), cube.build(|x| bend(order, x))),
        ];
        for (straight, bent) in meshes {
            let straight = Geometry::new(&straight.unwrap()).unwrap();
            let bent = Geometry::new(&bent.unwrap()).unwrap();
            assert!(bent.kinds().iter().all(|&kind| kind == MapKind::Curved));
            let listed = Points::List(points.to_vec());
            let mut at = GeometryAtPoints::default();
            for cell in 0..bent.len() {
                bent.at_points(cell, &listed, &mut at);
                for (q, &xi) in points.iter().enumerate() {
                    let expected = bend(order, straight.map(cell, xi));
                    let pairs = at.position[q].iter().zip(expected);
                    for (found, expected) in pairs.take(bent.cell().dim()) {
                        let error = found - expected;
                        assert!(error.abs() < 1e-14, "{order} {cell}: {error:e}");
                    }
                    assert_eq!(at.position[q], bent.map(cell, xi));
                    assert_eq!(at.jacobian[q], bent.jacobian(cell, xi));
                }
            }
        }
    }
}

#[test]
fn jacobians_are_the_derivatives_of_positions() {
    let h = 1e-5;
    for (mesh, dim, order) in boxes(|x| bend(3, x)) {
        let geometry = Geometry::new(&mesh).unwrap();
        for cell in (0..geometry.len()).step_by(7) {
            let xi = [0.2, 0.3, 0.1];
            let jacobian = geometry.jacobian(cell, xi);
            for a in 0..dim {
                let (mut low, mut high) = (xi, xi);
                (low[a], high[a]) = (xi[a] - h, xi[a] + h);
                let (low, high) = (geometry.map(cell, low), geometry.map(cell, high));
                for c in 0..3 {
                    let slope = (high[c] - low[c]) / (2.0 * h);
                    let error = slope - jacobian[c][a];
                    assert!(error.abs() < 1e-8, "{dim} {order} {c} {a}: {error:e}");
                }
            }
            if dim == 2 {
                assert_eq!(jacobian[2], [0.0, 0.0, 1.0]);
                assert_eq!((jacobian[0][2], jacobian[1][2]), (0.0, 0.0));
            }
        }
    }
}

#[test]
fn facets_point_outwards_and_close_every_cell() {
    for (mesh, dim, order) in boxes(|x| bend(3, x)) {
        let geometry = Geometry::new(&mesh).unwrap();
        let facet = geometry.cell().facets()[0].cell;
        let rule = rule(facet, 3 * order).unwrap();
        let mut flux_of_all = 0.0;
        for cell in 0..geometry.len() {
            let (mut sum, mut flux) = ([0.0; 3], 0.0);
            for facet in 0..geometry.cell().facets().len() {
                let at = geometry.facet_at_points(cell, facet, &rule.points);
                for (point, weight) in at.iter().zip(&rule.weights) {
                    (0..3).for_each(|c| sum[c] += weight * point.area_normal[c]);
                    flux += weight * dot(point.position, point.area_normal);
                    let centre = geometry.centroid(cell);
                    let out = [0, 1, 2].map(|c| point.position[c] - centre[c]);
                    assert!(dot(out, point.area_normal) > 0.0, "{dim} {cell} {facet}");
                }
                let own = geometry.cell().facets()[facet];
                let ends = [own.cell.vertex(0), own.cell.vertex(1)];
                let corners = geometry.facet_at_points(cell, facet, &ends);
                let places = own.vertices;
                for (corner, &place) in corners.iter().zip(places) {
                    let node = geometry.vertex_nodes(cell)[place];
                    let expected = mesh.coordinates.at(node as usize);
                    let error = (0..3).map(|c| (corner.position[c] - expected[c]).abs());
                    assert!(error.fold(0.0, f64::max) < 1e-14);
                }
            }
            assert!(
                sum.iter().all(|s| s.abs() < 1e-14),
                "{dim} {order} {cell}: {sum:?}"
            );
            flux_of_all += flux / dim as f64;
        }
        let volume = volume(&geometry, 3 * order);
        assert!((flux_of_all / volume - 1.0).abs() < 1e-13, "{dim} {order}");
    }
}

#[test]
fn the_vertices_make_the_affine_map() {
    for (mesh, dim, _) in boxes(|x| x) {
        let geometry = Geometry::new(&mesh).unwrap();
        for cell in 0..geometry.len() {
            let [origin, ends @ ..] = geometry.simplex_vertices(cell);
            let jacobian = geometry.jacobian(cell, [0.1; 3]);
            for a in 0..3 {
                for c in 0..3 {
                    assert_eq!(jacobian[c][a], ends[a][c] - origin[c]);
                }
            }
            let coefficients = geometry.trilinear_coefficients(cell);
            assert_eq!(coefficients[0], origin);
            assert_eq!(
                coefficients[2].map(f64::to_bits),
                [0, 1, 2].map(|c| jacobian[c][1]).map(f64::to_bits)
            );
            assert_eq!(geometry.vertex_nodes(cell).len(), dim + 1);
        }
    }
}

fn triangles(coordinates: Vec<[f64; 3]>, cell_type: CellType, nodes: Vec<u32>) -> Mesh {
    let cells = nodes.len() / cell_type.nodes();
    Mesh {
        coordinates: coordinates.into(),
        blocks: vec![CellBlock {
            cell_type,
            nodes: nodes.into(),
            tags: vec![0; cells],
        }],
        ..Mesh::default()
    }
}

/// A sector of a disc of radius 1 and angle 2α, cut into `cells` triangles: the area between a
/// parabola and its centre is `s (1 + c/3)` with s = sin α, c = 1 - cos α; see geometry_meshes.rs.
#[test]
fn the_area_of_a_sector_of_tri6_is_that_under_parabolas() {
    let cells = 5;
    let alpha = 0.11;
    let at = |angle: f64, radius: f64| [radius * angle.cos(), radius * angle.sin(), 0.0];
    let mut coordinates = vec![[0.0; 3]];
    // Per ray: the end and the middle; per cell: the middle of the arc.
    for ray in 0..=cells {
        let angle = 2.0 * alpha * ray as f64;
        coordinates.extend([at(angle, 1.0), at(angle, 0.5)]);
    }
    let first_arc = coordinates.len() as u32;
    coordinates.extend((0..cells).map(|cell| at(alpha * (2 * cell + 1) as f64, 1.0)));
    let nodes = (0..cells as u32).flat_map(|cell| {
        let (a, b) = (1 + 2 * cell, 3 + 2 * cell);
        [0, a, b, a + 1, first_arc + cell, b + 1]
    });
    let mesh = triangles(coordinates, CellType::TRI6, nodes.collect());
    let geometry = Geometry::new(&mesh).unwrap();
    assert_eq!(geometry.check(&gauss(3).points), Ok(vec![]));
    let exact = cells as f64 * alpha.sin() * (1.0 + (1.0 - alpha.cos()) / 3.0);
    let area = volume(&geometry, 2);
    assert!((area / exact - 1.0).abs() < 1e-14, "{area} {exact}");
    // The circle, to the error of the parabola, -α⁴/30.
    let relative = area / (cells as f64 * alpha) - 1.0;
    assert!(
        (relative / (-alpha.powi(4) / 30.0) - 1.0).abs() < 0.02,
        "{relative:e}"
    );
}

#[test]
fn bad_triangles_and_tetrahedra_are_named() {
    let corners = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]];
    // The second is clockwise.
    let mesh = triangles(corners.clone(), CellType::TRI3, vec![0, 1, 2, 1, 2, 3]);
    let error = Geometry::new(&mesh)
        .unwrap()
        .check(&gauss(2).points)
        .unwrap_err();
    let GeometryError::NotInvertible {
        cell,
        determinant,
        bad_cells,
        cells,
        ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*cell, *bad_cells, *cells, *determinant), (1, 1, 2, -1.0));
    assert!(error.to_string().contains("counter-clockwise"), "{error}");

    // A flat one.
    let mesh = triangles(
        vec![[0.1; 3].map(|x| x - 0.1), [0.1, 0.3, 0.0], [0.2, 0.6, 0.0]],
        CellType::TRI3,
        vec![0, 1, 2],
    );
    assert!(
        Geometry::new(&mesh)
            .unwrap()
            .check(&gauss(2).points)
            .is_err()
    );

    let mut lifted = corners;
    lifted[3][2] = 1e-3;
    let mesh = triangles(lifted, CellType::TRI3, vec![0, 1, 2, 1, 3, 2]);
    let error = Geometry::new(&mesh).unwrap_err();
    assert_eq!(
        error,
        GeometryError::OffPlane {
            cell: 1,
            position: [1.0, 1.0, 1e-3]
        }
    );

    let mut mesh = SimplexBox::unit_cube(2).build(|x| x).unwrap();
    mesh.blocks[0].nodes.to_mut().swap(4 * 17, 4 * 17 + 1);
    let error = Geometry::new(&mesh)
        .unwrap()
        .check(&gauss(2).points)
        .unwrap_err();
    assert!(
        matches!(error, GeometryError::NotInvertible { cell: 17, .. }),
        "{error}"
    );
    mesh.blocks[0].nodes.to_mut()[4 * 5 + 2] = 999;
    let error = Geometry::new(&mesh).unwrap_err();
    assert_eq!(
        error,
        GeometryError::MissingNode {
            cell: 5,
            node: 999,
            nodes: 27
        }
    );

    // The serendipity triangle of order 3.
    let mesh = triangles(
        vec![[0.0; 3]; 9],
        CellType::from_gmsh(20).unwrap(),
        (0..9).collect(),
    );
    let error = Geometry::new(&mesh).unwrap_err();
    assert_eq!(
        error,
        GeometryError::UnsupportedOrder {
            found: "tri9",
            count: 1
        }
    );
}

#[test]
fn a_curved_cell_that_folds_is_found() {
    let edge = |middle: [f64; 3]| {
        let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let middles = [middle, [0.5, 0.5, 0.0], [0.0, 0.5, 0.0]];
        let mesh = triangles(
            [corners, middles].concat(),
            CellType::TRI6,
            (0..6).collect(),
        );
        Geometry::new(&mesh).unwrap().check(&gauss(3).points)
    };
    assert_eq!(edge([0.5, -0.1, 0.0]), Ok(vec![]));
    // The middle of edge 0 within a quarter of its end: singular there, not at inner points.
    let warnings = edge([0.8, 0.0, 0.0]).unwrap();
    assert_eq!(
        (warnings.len(), warnings[0].cell, warnings[0].corner),
        (1, 0, 1)
    );
    assert!(matches!(
        edge([0.5, 0.6, 0.0]),
        Err(GeometryError::NotInvertible { cell: 0, .. })
    ));
}

#[test]
fn straight_simplices_cost_little_memory() {
    let mesh = SimplexBox::unit_cube(10).build(|x| x).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    assert_eq!(geometry.bytes(), 6000 * (4 * 4 + 1));
}
