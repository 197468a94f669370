//! Helpers of the geometry tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use femto_element::quadrature::gauss;
use femto_fem::geometry::{FacetPoint, Geometry, GeometryAtPoints, Points};
use femto_fem::mesh::{Mesh, boxes::BoxMesh};

pub(crate) type Point = [f64; 3];

/// A 3×2×2 box [-1, 2] × [0, 1] × [0.5, 2.5] with its nodes moved by `deformation`.
pub(crate) fn deformed_box(
    geometry_degree: usize,
    deformation: impl Fn(Point) -> Point + Sync,
) -> Mesh {
    let mesh = BoxMesh {
        cells: [3, 2, 2],
        lower: [-1.0, 0.0, 0.5],
        upper: [2.0, 1.0, 2.5],
        geometry_degree,
    };
    mesh.build(deformation).expect("a valid box")
}

pub(crate) fn geometry(mesh: &Mesh) -> Geometry {
    Geometry::new(mesh).expect("a valid mesh")
}

pub(crate) fn wave([x, y, z]: Point) -> Point {
    [
        x + 0.1 * (2.0 * y).sin() * z,
        y + 0.05 * (x + z).cos(),
        z + 0.1 * (x * y).sin(),
    ]
}

pub(crate) fn shear([x, y, z]: Point) -> Point {
    [x + 0.3 * y - 0.1 * z, y + 0.2 * z, z + 0.1 * x]
}

pub(crate) fn volume(geometry: &Geometry, points_1d: usize) -> f64 {
    let rule = gauss(points_1d);
    let points = Points::Grid(rule.points);
    let mut at = GeometryAtPoints::default();
    let w = |q: usize| {
        let n = points_1d;
        rule.weights[q % n] * rule.weights[q / n % n] * rule.weights[q / n / n]
    };
    let mut of_cell = |cell| -> f64 {
        geometry.at_points(cell, &points, &mut at);
        at.determinant
            .iter()
            .enumerate()
            .map(|(q, det)| w(q) * det)
            .sum()
    };
    (0..geometry.len()).map(&mut of_cell).sum()
}

/// A face of a hexahedron at the tensor grid of `points_1d` along its own axes, the lower axis fastest.
pub(crate) fn face_at_points(
    geometry: &Geometry,
    (cell, face): (usize, usize),
    points_1d: &[f64],
) -> Vec<FacetPoint> {
    let rows = points_1d.iter();
    let grid = rows.flat_map(|&t| points_1d.iter().map(move |&s| [s, t, 0.0]));
    geometry.facet_at_points(cell, face, &grid.collect::<Vec<_>>())
}

pub(crate) fn assert_near(found: Point, expected: Point, tolerance: f64) {
    for d in 0..3 {
        assert!(
            (found[d] - expected[d]).abs() < tolerance,
            "{found:?} {expected:?}"
        );
    }
}
