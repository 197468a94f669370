//! Meshes and random numbers for the tests of spaces.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

pub(crate) mod layout;

use femto_element::CellType;
use std::hash::{BuildHasher, RandomState};

use femto_element::basis::nodes;
use femto_fem::geometry::{Geometry, Points};
use femto_fem::mesh::boxes::BoxMesh;
use femto_fem::mesh::{CellBlock, Mesh};
use femto_fem::space::{Space, SpaceParams};

/// Random numbers (xorshift64*, Vigna 2016), with another seed in every run. It is printed, and shown if a
/// test fails.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new() -> Self {
        let seed = RandomState::new().hash_one(1) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Uniform in [-1, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.bits() >> 16) as usize % end
    }

    pub(crate) fn vector(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.uniform()).collect()
    }
}

/// A box whose nodes are displaced smoothly.
pub(crate) fn bent_box(cells: [usize; 3], geometry_degree: usize) -> Mesh {
    let bent = BoxMesh {
        cells,
        lower: [0.0; 3],
        upper: [2.0, 1.0, 1.5],
        geometry_degree,
    };
    let wave = |x: [f64; 3]| {
        let bump = 0.05 * (2.0 * x[0]).sin() * (3.0 * x[1]).sin() * (x[2] + 1.0);
        [x[0] + bump, x[1] - 0.5 * bump, x[2] + 0.3 * bump]
    };
    bent.build(wave).unwrap()
}

/// A mesh of hex8 cells without tags.
pub(crate) fn hexahedra(coordinates: Vec<[f64; 3]>, cells: &[[u32; 8]]) -> Mesh {
    Mesh {
        coordinates: coordinates.into(),
        blocks: vec![CellBlock {
            cell_type: CellType::HEX8,
            nodes: cells.concat().into(),
            tags: vec![0; cells.len()],
        }],
        ..Mesh::default()
    }
}

/// Two unit cubes side by side, as hex8 cells.
pub(crate) fn two_cubes() -> (Vec<[f64; 3]>, [[u32; 8]; 2]) {
    let x = |node: usize| [0, 1, 2].map(|a| [node / 4, node % 2, node / 2 % 2][a] as f64);
    let vertices = |i: u32| [0, 4, 5, 1, 2, 6, 7, 3].map(|v| v + 4 * i);
    ((0..12).map(x).collect(), [vertices(0), vertices(1)])
}

pub(crate) fn space(mesh: &Mesh, params: SpaceParams) -> (Space, Geometry) {
    let geometry = Geometry::new(mesh).unwrap();
    (Space::new(mesh, &geometry, params).unwrap(), geometry)
}

/// The largest distance between the space's position of a node and its position in the elements that
/// contain it.
pub(crate) fn position_error(space: &Space, geometry: &Geometry) -> f64 {
    let positions = space.node_positions(geometry);
    let reference = Points::List(nodes::positions(space.cell(), space.degree()));
    let mut at = Vec::new();
    let mut error = 0.0f64;
    for (element, &cell) in space.cells().iter().enumerate() {
        geometry.positions(cell as usize, &reference, &mut at);
        for (&node, x) in space.element_nodes(element).iter().zip(&at) {
            for a in 0..3 {
                error = error.max((positions[node as usize][a] - x[a]).abs());
            }
        }
    }
    error
}
