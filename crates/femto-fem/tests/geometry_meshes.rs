//! Volumes and areas of meshes that nobody here made (../shared/meshes), against closed forms.
//!
//! A quadratic cell follows a circle by the parabola through the ends and the middle of each arc.
//! With half-angle α, s = sin α, c = 1 - cos α the parabola is `((1 - c t²) R, s t R)`, |t| ≤ 1:
//!
//! - its sector has area `R² s (1 + c/3)` instead of `R² α`: relative error -α⁴/30 + O(α⁶);
//! - its length is `R ∫ √(s² + 4c²t²) dt` instead of `2 R α`: relative error -α⁴/60 + O(α⁶).
//!
//! So the meshes are compared with these to rounding, and with the circle to that error.

use femto_fem::geometry::factors::dot;
use femto_fem::geometry::{FacePoint, Geometry, GeometryAtPoints, GeometryKind};
use femto_fem::mesh::Mesh;
use femto_fem::quadrature::gauss;
use std::f64::consts::PI;

fn geometry(file: &str) -> Geometry {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/meshes");
    let mesh = Mesh::read(format!("{folder}/{file}")).expect("a readable mesh");
    let geometry = Geometry::new(&mesh).expect("a mesh of hexahedra");
    assert_eq!(geometry.check(&gauss(4).points), Ok(vec![]), "{file}");
    geometry
}

fn volume(geometry: &Geometry) -> f64 {
    // The determinant of a triquadratic map has degree 5 in each direction.
    let rule = gauss(3);
    let mut at = GeometryAtPoints::default();
    let mut sum = 0.0;
    for cell in 0..geometry.len() {
        geometry.at_points(cell, &rule.points, &mut at);
        for (q, det) in at.determinant.iter().enumerate() {
            sum += rule.weights[q % 3] * rule.weights[q / 3 % 3] * rule.weights[q / 9] * det;
        }
    }
    sum
}

/// ∫ f over one face of a cell, f of position and area normal.
fn face_integral(points: &[FacePoint], weights: &[f64], f: impl Fn(&FacePoint) -> f64) -> f64 {
    let n = weights.len();
    let weight = |q: usize| weights[q % n] * weights[q / n];
    points
        .iter()
        .enumerate()
        .map(|(q, p)| weight(q) * f(p))
        .sum()
}

fn radius(x: [f64; 3]) -> f64 {
    x[0].hypot(x[1])
}

/// Area of the parabola's sector with half-angle α, radius 1.
fn sector(alpha: f64) -> f64 {
    alpha.sin() * (1.0 + (1.0 - alpha.cos()) / 3.0)
}

/// Length of the parabola with half-angle α, radius 1: ∫ √(s² + b²t²) dt with b = 2c.
fn arc(alpha: f64) -> f64 {
    let (s, b) = (alpha.sin(), 2.0 * (1.0 - alpha.cos()));
    (s * s + b * b).sqrt() + s * s / b * (b / s).asinh()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    let error = found / expected - 1.0;
    assert!(
        error.abs() < relative,
        "{found} is not {expected}: relative error {error:e}"
    );
}

#[test]
fn volume_and_lateral_area_of_the_cylinder() {
    let (r, height, arcs) = (2.74, 5.48, 8.0);
    let alpha = PI / arcs;
    let cylinder = geometry("palace-cylinder-hex.msh");
    assert_eq!(cylinder.len(), 80);
    let curved = cylinder
        .kinds()
        .iter()
        .filter(|&&kind| kind == GeometryKind::Curved);
    assert_eq!(curved.count(), 32);

    let found = volume(&cylinder);
    assert_close(found, arcs * sector(alpha) * r * r * height, 1e-12);
    let error = found / (PI * r * r * height) - 1.0;
    assert!(
        (error / (-alpha.powi(4) / 30.0) - 1.0).abs() < 0.1,
        "{error:e}"
    );

    let rule = gauss(8);
    let (mut area, mut faces) = (0.0, 0);
    for cell in 0..cylinder.len() {
        for face in 0..6 {
            let nodes = cylinder.face_at_points(cell, face, &[-1.0, 0.0, 1.0]);
            if nodes.iter().any(|p| (radius(p.position) - r).abs() > 1e-9) {
                continue;
            }
            let points = cylinder.face_at_points(cell, face, &rule.points);
            let outward = |p: &FacePoint| {
                let [x, y, _] = p.position;
                dot(p.area_normal, [x, y, 0.0]) > 0.0 && p.area_normal[2].abs() < 1e-12
            };
            assert!(points.iter().all(outward));
            let length = |p: &FacePoint| dot(p.area_normal, p.area_normal).sqrt();
            area += face_integral(&points, &rule.weights, length);
            faces += 1;
        }
    }
    assert_eq!(faces, 32);
    assert_close(area, arcs * arc(alpha) * r * height, 1e-10);
    let error = area / (2.0 * PI * r * height) - 1.0;
    assert!(
        (error / (-alpha.powi(4) / 60.0) - 1.0).abs() < 0.1,
        "{error:e}"
    );
}

#[test]
fn volume_of_the_coaxial_cable() {
    let (outer, inner, length, arcs) = (2.7305f64, 0.81915f64, 40.0, 16.0);
    let cable = geometry("palace-coaxial.msh");
    assert_eq!(cable.len(), 256);
    let section = arcs * (outer * outer - inner * inner) * sector(PI / arcs);
    assert_close(volume(&cable), section * length, 1e-12);
}

/// A sixth of a ring, radii 1 and 2, height 1/2: 2 arcs of hex20 cells.
#[test]
fn volume_of_the_ring_of_hex20() {
    let ring = geometry("petsc-gmsh-hex-20node.msh");
    assert_eq!(ring.kinds(), [GeometryKind::Curved; 4]);
    let section = 2.0 * (4.0 - 1.0) * sector(PI / 12.0);
    assert_close(volume(&ring), section * 0.5, 1e-12);
    assert_close(volume(&ring), PI / 4.0, 1.1 * (PI / 12.0).powi(4) / 30.0);
}

#[test]
fn volume_of_the_cube() {
    let cube = geometry("paranumal-cubeHex.msh");
    assert_eq!(cube.kinds(), [GeometryKind::Affine; 216]);
    assert_close(volume(&cube), 8.0, 1e-12);
}

/// Neighbours see a shared face from both sides, in any relative orientation: what they say about
/// it cancels, and what is left is the surface.
#[test]
fn inner_faces_of_the_ball_cancel() {
    let ball = geometry("dealii-sphere_r6.msh");
    assert_eq!(ball.len(), 4625);
    let rule = gauss(3);
    let (mut normal, mut three_volumes) = ([0.0; 3], 0.0);
    for cell in 0..ball.len() {
        for face in 0..6 {
            let points = ball.face_at_points(cell, face, &rule.points);
            let integral = |f: &dyn Fn(&FacePoint) -> f64| face_integral(&points, &rule.weights, f);
            for (d, sum) in normal.iter_mut().enumerate() {
                *sum += integral(&|p| p.area_normal[d]);
            }
            three_volumes += integral(&|p| dot(p.position, p.area_normal));
        }
    }
    assert!(normal.iter().all(|x| x.abs() < 1e-10), "{normal:?}");
    assert_close(three_volumes, 3.0 * volume(&ball), 1e-12);
}

/// Cells of other shapes are left to other families.
#[test]
fn hexahedra_of_a_mixed_mesh() {
    assert_eq!(geometry("petsc-hybrid_hexwedge.msh").len(), 84);
}
