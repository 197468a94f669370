//! Helpers of the tests of simplices.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test file uses a part of it"
)]

use std::collections::BTreeSet;

use femto_element::Cell;
use femto_element::quadrature::simplex_rule;
use femto_fem::geometry::{Geometry, GeometryAtPoints, Points};
use femto_fem::mesh::Mesh;

/// The sum of the determinants, by a rule of this degree.
pub(crate) fn volume(geometry: &Geometry, degree: usize) -> f64 {
    let rule = simplex_rule(geometry.cell().dim(), degree).unwrap();
    let points = Points::List(rule.points);
    let mut at = GeometryAtPoints::default();
    let mut sum = 0.0;
    for cell in 0..geometry.len() {
        geometry.at_points(cell, &points, &mut at);
        let terms = rule.weights.iter().zip(&at.determinant);
        sum += terms.map(|(w, det)| w * det).sum::<f64>();
    }
    sum
}

/// The number of vertices, edges, faces and cells, counted naively.
pub(crate) fn count(mesh: &Mesh, shape: Cell) -> [usize; 4] {
    let mut sets = [const { BTreeSet::new() }; 4];
    let vertices = shape.vertices();
    let block = mesh
        .blocks
        .iter()
        .find(|b| b.cell_type.dimension() == shape.dim());
    let block = block.unwrap();
    for cell in 0..block.len() {
        let nodes = &block.cell(cell)[..vertices];
        for subset in 1..1usize << vertices {
            let chosen = (0..vertices).filter(|v| subset >> v & 1 == 1);
            let mut entity: Vec<u32> = chosen.map(|v| nodes[v]).collect();
            entity.sort_unstable();
            sets[entity.len() - 1].insert(entity);
        }
    }
    sets.map(|set| set.len())
}

/// Nodes inside an entity of each dimension.
pub(crate) fn inside(degree: usize) -> [usize; 4] {
    let n = degree - 1;
    [
        1,
        n,
        n * n.saturating_sub(1) / 2,
        n * n.saturating_sub(1) * n.saturating_sub(2) / 6,
    ]
}
