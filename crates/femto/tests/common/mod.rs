//! Meshes, forms, devices, oracles and random numbers shared by tests.
#![allow(dead_code, reason = "each test uses a part")]
#![allow(unreachable_pub, reason = "a module of several tests")]
#![allow(clippy::print_stdout, reason = "the seed belongs to a failure")]

#[path = "../../../femto-fem/tests/cut_common/mod.rs"]
mod cut_common;

pub mod bound;
pub mod forms;
pub mod meshes;
pub mod oracle;

#[allow(unused_imports, reason = "each test uses a part")]
pub(crate) use cut_common::cut_quadrilaterals;
#[allow(unused_imports, reason = "each test uses a part")]
pub use meshes::{blocks, hexahedra, mixed, mixed_like, random_cuts};

use femto::Quadrature;
use femto::fem::mesh::Mesh;
use femto::kernel::form::Form;
use femto::problem::{Problem, ProblemForm};
use femto_element::tables::TensorTables;
use femto_element::{Cell, Degree};

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

    /// Numbers that are exact in both precisions.
    pub fn single(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| f64::from(self.next() as f32)).collect()
    }

    /// An index below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.next() + 1.0) / 2.0 * end as f64) as usize
    }
}

/// A problem whose form the host interprets: compiled loops of each form take long to build.
pub fn interpreted<F, const D: usize, const C: usize>(
    mesh: &Mesh,
    degree: impl Into<Degree>,
    form: F,
) -> Problem<'_>
where
    F: Form<D, C>,
{
    let form = ProblemForm::interpreted(&form).expect("of usual dimensions");
    Problem::of_form(mesh, degree, form)
}

/// The tables of a quadrature rule.
pub fn basis(quadrature: Quadrature, degree: usize) -> TensorTables {
    quadrature.tables(Cell::Hexahedron, degree).expect("legal")
}

/// max |a − b| / max |b|; NaN if there is any.
pub fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    largest(worst) / largest(b.iter().map(|b| b.abs()))
}

/// The largest of some magnitudes; NaN if there is any.
pub fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let larger = |m: f64, x: f64| {
        if m.is_nan() || x.is_nan() {
            f64::NAN
        } else {
            m.max(x)
        }
    };
    values.into_iter().fold(0.0, larger)
}
