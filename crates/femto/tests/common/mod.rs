//! Meshes, forms and random numbers shared by tests.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(unreachable_pub, reason = "a module of several tests")]
#![allow(clippy::print_stdout, reason = "the seed belongs to a failure")]

#[path = "../../../femto-fem/tests/cut_common/mod.rs"]
mod cut_common;
pub mod forms;
pub mod oracle;

pub(crate) use cut_common::cut_quadrilaterals;

use femto::Quadrature;
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{BoxMesh, RectangleMesh};
use femto::fem::space::{Block, SpaceParams};
use femto_element::Cell;
use femto_element::tables::TensorTables;

use femto::kernel::form::{Form, Point};
use femto::kernel::scalar::Scalar;

/// A small generator, seeded from the clock once per test; the seed is printed so that failures can be
/// reproduced.
pub struct Random(u64);

impl Random {
    #[expect(clippy::disallowed_methods, reason = "fresh inputs need a fresh seed")]
    pub fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let seed = now.map_or(1, |time| time.as_nanos() as u64) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    /// Uniform in [-1, 1).
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }
}

/// The kinds of map a test runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    Affine,
    Trilinear,
    Curved,
}

pub const SHAPES: [Shape; 3] = [Shape::Affine, Shape::Trilinear, Shape::Curved];

/// A box of hexahedra, sheared, or bent at its vertices, or truly curved.
pub fn mesh(shape: Shape, cells: [usize; 3]) -> Mesh {
    let geometry_degree = if shape == Shape::Curved { 2 } else { 1 };
    let generator = BoxMesh {
        cells,
        geometry_degree,
        ..BoxMesh::unit_cube(1)
    };
    generator
        .build(|[x, y, z]| match shape {
            Shape::Affine => [x + 0.2 * y, y - 0.1 * z, 0.9 * z + 0.1 * x],
            Shape::Trilinear | Shape::Curved => {
                // A twist as well, so that even a single cell does not have a simpler kind of map.
                let bent = bend([x, y, z]);
                let twist = [0.05 * y * z, -0.07 * x * z, 0.06 * x * y];
                [0, 1, 2].map(|d| bent[d] + twist[d])
            }
        })
        .expect("the deformation keeps Jacobians positive")
}

/// The square cut into triangles and quadrilaterals with maps of the given degree: of `n` cells along each
/// axis, random ones are split into pairs of triangles. All sides but xmin are bent.
pub fn mixed(n: usize, geometry_degree: usize) -> Mesh {
    let generator = RectangleMesh {
        geometry_degree,
        ..RectangleMesh::unit_square(n)
    };
    let mesh = generator.build(|[x, y]| {
        let bump = 0.1 * (std::f64::consts::PI * x).sin();
        [x + bump * y, y + 0.1 * (2.0 * x).sin()]
    });
    let mut random = Random::new();
    let pattern: Vec<bool> = (0..n * n).map(|_| random.next() > 0.0).collect();
    // At least one of each.
    let is_cut = |cell: usize| cell == 0 || cell != n && pattern[cell];
    let mesh = mesh.expect("the deformation keeps Jacobians positive");
    cut_quadrilaterals(&mesh, is_cut)
}

/// The blocks of a space on a mesh.
pub fn blocks(mesh: &Mesh, params: SpaceParams) -> Vec<Block> {
    let geometries = Geometry::of_shapes(mesh).expect("legal");
    Block::all(mesh, geometries, params).expect("legal")
}

/// A smooth deformation of the unit cube.
pub fn bend([x, y, z]: [f64; 3]) -> [f64; 3] {
    let pi = std::f64::consts::PI;
    [
        x + 0.06 * (pi * y).sin() * (pi * z).sin() + 0.03 * y,
        y + 0.05 * (pi * x).sin() * (2.0 * pi * z).sin(),
        z + 0.04 * (2.0 * pi * x).sin() * (pi * y).sin() + 0.1 * x,
    ]
}

/// The tables of a quadrature rule.
pub fn basis(quadrature: Quadrature, degree: usize) -> TensorTables {
    quadrature.tables(Cell::Hexahedron, degree).expect("legal")
}

/// max |a − b| / max |b|; NaN if there is any.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let scale = b.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    worst.fold(0.0, |m: f64, d| {
        if m.is_nan() || d.is_nan() {
            f64::NAN
        } else {
            m.max(d)
        }
    }) / scale
}

/// Reaction, diffusion and transport that depend on every input of a form; nonlinear.
#[derive(Clone, Copy, Debug)]
pub struct Everything;

impl<const C: usize> Form<3, C> for Everything {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3, C>) -> [S; C] {
        let mut f = p.u;
        for (c, f) in f.iter_mut().enumerate() {
            let next = p.u[(c + 1) % C];
            *f = *f * next * p.a[0] + p.grad_u[c][0] * p.x[1].sin() + p.time;
        }
        f
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 3, C>) -> [[S; 3]; C] {
        let mut f = p.grad_u;
        for (c, f) in f.iter_mut().enumerate() {
            let kappa = (p.u[c] * p.u[c] + 1.0).sqrt() * p.parameters[0] + p.x[0] * p.a[0];
            let next = p.grad_u[(c + 1) % C][2] * 0.3;
            *f = f.map(|f| f * kappa + next);
        }
        f
    }
}
