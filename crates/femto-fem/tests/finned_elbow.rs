//! The committed mesh of cases/finned-elbow against the dimensions in its .geo file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod geometry_common;

use femto_element::CellType;
use femto_element::MapKind;
use std::f64::consts::PI;

use femto_element::quadrature::gauss;
use femto_fem::geometry::{Geometry, jacobian::dot};
use femto_fem::mesh::Mesh;
use femto_fem::space::{Space, SpaceParams};
use geometry_common::{face_at_points, volume};

// The lengths of finned-elbow.geo, in millimetres.
const BORE: f64 = 10.0;
const WALL: f64 = 13.0;
const FIN: f64 = 22.0;
const FLANGE: f64 = 36.0;
const BOLT_HOLE: f64 = 3.2;
const BEND: f64 = 50.0;
const FLANGE_THICKNESS: f64 = 5.0;
const FIN_THICKNESS: f64 = 2.0;
const GAP: f64 = 4.0;
const FINS_STRAIGHT: f64 = 4.0;
const FINS: f64 = 2.0 * FINS_STRAIGHT + 7.0;

/// Quadratic arcs of 15° and holes of eight arcs miss the exact circles by this much.
const ROUNDNESS: f64 = 3e-5;

fn ring(inner: f64, outer: f64) -> f64 {
    PI * (outer * outer - inner * inner)
}

/// Length of the pipe's axis. By Pappus's theorem it gives volumes and areas in the bend too.
fn length() -> f64 {
    let straight = FLANGE_THICKNESS + FINS_STRAIGHT * (FIN_THICKNESS + GAP) + GAP;
    2.0 * straight + BEND * PI / 2.0
}

fn holes() -> f64 {
    4.0 * PI * BOLT_HOLE * BOLT_HOLE
}

fn elbow() -> (Mesh, Geometry) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../cases/finned-elbow/finned-elbow.msh"
    );
    let mesh = Mesh::read(path).unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    (mesh, geometry)
}

fn assert_close(what: &str, found: f64, exact: f64) {
    assert!(
        (found / exact - 1.0).abs() < ROUNDNESS,
        "{what}: {found}, exactly {exact}"
    );
}

#[test]
fn every_cell_is_curved_and_valid() {
    let (mesh, geometry) = elbow();
    let types: Vec<_> = mesh.blocks.iter().map(|block| block.cell_type).collect();
    assert_eq!(types, [CellType::QUAD9, CellType::HEX27]);
    assert_eq!(geometry.len(), 1784);
    let curved = geometry
        .kinds()
        .iter()
        .filter(|&&kind| kind == MapKind::Curved);
    assert!(curved.count() > 1700);
    assert!(geometry.check(&gauss(5).points).unwrap().is_empty());
}

#[test]
fn volume_is_that_of_the_drawing() {
    let (_, geometry) = elbow();
    let flanges = 2.0 * FLANGE_THICKNESS * (ring(WALL, FLANGE) - holes());
    let fins = FINS * FIN_THICKNESS * ring(WALL, FIN);
    let exact = ring(BORE, WALL) * length() + fins + flanges;
    assert_close("volume", volume(&geometry, 4), exact);
}

#[test]
fn areas_are_those_of_the_drawing() {
    let (mesh, geometry) = elbow();
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).unwrap();
    let rule = gauss(5);
    let area = |tag: &str| -> f64 {
        let facets = space.boundary().tagged(tag).unwrap();
        let of_face = |cell: usize, face: usize| -> f64 {
            let points = face_at_points(&geometry, (cell, face), &rule.points);
            let weight = |q: usize| rule.weights[q % 5] * rule.weights[q / 5];
            let term = |(q, normal): (usize, [f64; 3])| weight(q) * dot(normal, normal).sqrt();
            points
                .iter()
                .map(|p| p.area_normal)
                .enumerate()
                .map(term)
                .sum()
        };
        facets
            .iter()
            .map(|f| of_face(f.cell as usize, usize::from(f.number)))
            .sum()
    };
    assert_close("bore", area("bore"), 2.0 * PI * BORE * length());
    let face = ring(BORE, FLANGE) - holes();
    assert_close("inlet", area("inlet"), face);
    assert_close("outlet", area("outlet"), face);

    let bare = length() - 2.0 * FLANGE_THICKNESS - FINS * FIN_THICKNESS;
    let fins = FINS * (2.0 * PI * FIN * FIN_THICKNESS + 2.0 * ring(WALL, FIN));
    let flanges = 2.0 * (ring(WALL, FLANGE) - holes()) + 2.0 * 2.0 * PI * FLANGE * FLANGE_THICKNESS;
    assert_close(
        "cooled",
        area("cooled"),
        2.0 * PI * WALL * bare + fins + flanges,
    );
}
