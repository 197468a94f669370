//! Volumes and areas of hexahedra, against closed forms.
//!
//! A quadratic cell follows a circle by the parabola through the ends and the middle of each arc; see
//! [`sector`] for its area. With half-angle α, s = sin α, c = 1 - cos α its length is
//! `R ∫ √(s² + 4c²t²) dt` instead of `2 R α`: relative error -α⁴/60 + O(α⁶).
//!
//! So the meshes are compared with these to rounding, and with the circle to that error.

use femto_element::MapKind;
use std::f64::consts::PI;
use std::path::Path;

use femto_element::quadrature::gauss;
use femto_fem::geometry::jacobian::dot;
use femto_fem::geometry::{FacetPoint, Geometry};

use crate::geometry_common::{assert_near, face_at_points};
use crate::paths::{own, shared};
use crate::{read, sector, space_common};

fn geometry(path: &Path) -> Geometry {
    let geometry = Geometry::new(&read(path)).unwrap();
    let checked = geometry.check(&gauss(4).points);
    assert_eq!(checked, Ok(vec![]), "{}", path.display());
    geometry
}

/// The determinant of a triquadratic map has degree 5 in each direction.
fn volume(geometry: &Geometry) -> f64 {
    crate::geometry_common::volume(geometry, 3)
}

/// ∫ f over one face of a cell, f of position and area normal.
fn face_integral(points: &[FacetPoint], weights: &[f64], f: impl Fn(&FacetPoint) -> f64) -> f64 {
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

/// A cylinder of hex27 cells with eight arcs around.
struct Cylinder {
    radius: f64,
    height: f64,
    cells: usize,
    /// Number of cells with an arc, and of those with one on the outside.
    curved: [usize; 2],
}

impl Cylinder {
    const ARCS: f64 = 8.0;

    fn check(&self, path: &Path) {
        let alpha = PI / Self::ARCS;
        let &Self {
            radius: r, height, ..
        } = self;
        let cylinder = geometry(path);
        assert_eq!(cylinder.len(), self.cells);
        let kinds = cylinder.kinds().iter();
        let curved = kinds.filter(|&&kind| kind == MapKind::Curved);
        assert_eq!(curved.count(), self.curved[0]);

        let found = volume(&cylinder);
        let expected = Self::ARCS * sector(2, alpha) * r * r * height;
        assert_close(found, expected, 1e-12);
        let error = found / (PI * r * r * height) - 1.0;
        let roundness = error / (-alpha.powi(4) / 30.0);
        assert!((roundness - 1.0).abs() < 0.1, "{error:e}");

        let (area, faces) = lateral_area(&cylinder, r);
        assert_eq!(faces, self.curved[1]);
        assert_close(area, Self::ARCS * arc(alpha) * r * height, 1e-10);
        let error = area / (2.0 * PI * r * height) - 1.0;
        let roundness = error / (-alpha.powi(4) / 60.0);
        assert!((roundness - 1.0).abs() < 0.1, "{error:e}");
    }
}

/// Area and number of the faces on a cylinder around the z axis.
fn lateral_area(cylinder: &Geometry, r: f64) -> (f64, usize) {
    let rule = gauss(8);
    let (mut area, mut faces) = (0.0, 0);
    for cell in 0..cylinder.len() {
        for face in 0..6 {
            let nodes = face_at_points(cylinder, (cell, face), &[-1.0, 0.0, 1.0]);
            if nodes.iter().any(|p| (radius(p.position) - r).abs() > 1e-9) {
                continue;
            }
            let points = face_at_points(cylinder, (cell, face), &rule.points);
            let outward = |p: &FacetPoint| {
                let [x, y, _] = p.position;
                dot(p.area_normal, [x, y, 0.0]) > 0.0 && p.area_normal[2].abs() < 1e-12
            };
            assert!(points.iter().all(outward));
            let length = |p: &FacetPoint| dot(p.area_normal, p.area_normal).sqrt();
            area += face_integral(&points, &rule.weights, length);
            faces += 1;
        }
    }
    (area, faces)
}

#[test]
fn volume_and_lateral_area_of_cylinders() {
    Cylinder {
        radius: 1.5,
        height: 2.0,
        cells: 24,
        curved: [16, 16],
    }
    .check(&own("cylinder-hex27.msh"));
    if let Some(path) = shared("palace-cylinder-hex.msh") {
        Cylinder {
            radius: 2.74,
            height: 5.48,
            cells: 80,
            curved: [32, 32],
        }
        .check(&path);
    }
}

#[test]
fn volume_of_the_coaxial_cable() {
    let Some(path) = shared("palace-coaxial.msh") else {
        return;
    };
    let (outer, inner, length, arcs) = (2.7305f64, 0.81915f64, 40.0, 16.0);
    let cable = geometry(&path);
    assert_eq!(cable.len(), 256);
    let section = arcs * (outer * outer - inner * inner) * sector(2, PI / arcs);
    assert_close(volume(&cable), section * length, 1e-12);
}

/// A part of a ring, radii 1 and 2, height 1/2: 2 arcs of hex20 cells.
fn check_ring(path: &Path, alpha: f64) {
    let ring = geometry(path);
    assert_eq!(ring.kinds(), [MapKind::Curved; 4]);
    let section = 2.0 * (4.0 - 1.0) * sector(2, alpha);
    assert_close(volume(&ring), section * 0.5, 1e-12);
    assert_close(volume(&ring), 3.0 * alpha, 1.1 * alpha.powi(4) / 30.0);
}

#[test]
fn volumes_of_rings_of_hex20() {
    check_ring(&own("ring-hex20.msh"), PI / 8.0);
    if let Some(path) = shared("petsc-gmsh-hex-20node.msh") {
        check_ring(&path, PI / 12.0);
    }
}

#[test]
fn volume_of_the_cube() {
    let Some(path) = shared("paranumal-cubeHex.msh") else {
        return;
    };
    let cube = geometry(&path);
    assert_eq!(cube.kinds(), [MapKind::Affine; 216]);
    assert_close(volume(&cube), 8.0, 1e-12);
}

/// The unit cube, unchanged and moved to (x + y²/2, y + z²/3, z), which hex27 cells can represent: volumes
/// do not change, and the sum of the area normals of the side of largest x, y or z is the mean of a row of
/// the inverse of
///
/// ```text
/// 1  y  0
/// 0  1  2z/3
/// 0  0  1
/// ```
///
/// and its opposite on the other side.
#[test]
fn volume_and_sides_of_unstructured_cubes() {
    let straight = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let sheared = [
        [1.0, -0.5, 1.0 / 6.0],
        [0.0, 1.0, -1.0 / 3.0],
        [0.0, 0.0, 1.0],
    ];
    for (name, normals) in [("cube-hex8.msh", straight), ("sheared-hex27.msh", sheared)] {
        let mesh = read(&own(name));
        let (space, geometry) = space_common::space(&mesh, Default::default());
        assert_eq!(geometry.check(&gauss(4).points), Ok(vec![]), "{name}");
        assert_eq!(geometry.len(), 96);
        assert_close(volume(&geometry), 1.0, 1e-12);
        let rule = gauss(3);
        let sides = [["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]];
        for (sides, normal) in sides.iter().zip(normals) {
            for (side, sign) in sides.iter().zip([-1.0, 1.0]) {
                let mut sum = [0.0; 3];
                for facet in space.boundary().tagged(side).unwrap() {
                    let (cell, face) = (facet.cell as usize, facet.number.into());
                    let points = face_at_points(&geometry, (cell, face), &rule.points);
                    for (d, sum) in sum.iter_mut().enumerate() {
                        *sum += face_integral(&points, &rule.weights, |p| p.area_normal[d]);
                    }
                }
                assert_near(sum, normal.map(|x| sign * x), 1e-12);
            }
        }
    }
}

/// Neighbours see a shared face from both sides, in any relative orientation: their integrals cancel, and
/// the surface's remain.
fn check_inner_faces(path: &Path, cells: usize) {
    let solid = geometry(path);
    assert_eq!(solid.len(), cells);
    let rule = gauss(3);
    let (mut normal, mut three_volumes) = ([0.0; 3], 0.0);
    for cell in 0..solid.len() {
        for face in 0..6 {
            let points = face_at_points(&solid, (cell, face), &rule.points);
            let integral =
                |f: &dyn Fn(&FacetPoint) -> f64| face_integral(&points, &rule.weights, f);
            for (d, sum) in normal.iter_mut().enumerate() {
                *sum += integral(&|p| p.area_normal[d]);
            }
            three_volumes += integral(&|p| dot(p.position, p.area_normal));
        }
    }
    assert!(normal.iter().all(|x| x.abs() < 1e-10), "{normal:?}");
    assert_close(three_volumes, 3.0 * volume(&solid), 1e-12);
}

#[test]
fn inner_faces_cancel() {
    check_inner_faces(&own("sheared-hex27.msh"), 96);
    if let Some(ball) = shared("dealii-sphere_r6.msh") {
        check_inner_faces(&ball, 4625);
    }
}

/// Cells of other shapes are left to other geometries.
#[test]
fn hexahedra_of_a_mixed_mesh() {
    assert_eq!(geometry(&own("hybrid.msh")).len(), 8);
    if let Some(path) = shared("petsc-hybrid_hexwedge.msh") {
        assert_eq!(geometry(&path).len(), 84);
    }
}
