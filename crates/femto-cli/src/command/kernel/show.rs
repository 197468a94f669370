//! `femto kernel show`

use super::catalog::CatalogEntry;
use super::text::{DATA_LEVELS, Request, VectorKind};
use crate::command::bench::options::{named, one_of, precision};
use crate::console::Console;
use crate::failure::Failure;
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use femto::DataLevel;
use femto::element::basis::MAX_DEGREE;
use femto::kernel::dialect::Language;
use femto::kernel::family::{Knobs, Limits};
use femto::kernel::scalar::Precision;
use femto_bench::MeshShape;
use serde_json::json;

/// Print the exact translation unit of a kernel, as passed to the compiler.
#[derive(Debug, Args)]
pub(in crate::command) struct Show {
    /// The kernel, such as `bk5/layers/7`, `operators/bp5`; `femto kernel list` shows all.
    name: CatalogEntry,
    /// Degree.
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u8).range(1..=MAX_DEGREE as i64))]
    degree: u8,
    /// Precision of the numbers.
    #[arg(long, default_value = "fp64", value_parser = precision())]
    precision: Precision,
    /// Language of the compiler.
    #[arg(long, default_value = "cuda", value_parser = language())]
    language: Language,
    /// The mesh of an operator: affine (box), trilinear (sine) or curved hexahedra; affine tetrahedra; prisms in columns
    /// between hills (columns) or in flat layers (layers). Ladders have their own.
    #[arg(long, default_value = "sine", value_parser = named(&MeshShape::ALL, MeshShape::name))]
    mesh: MeshShape,
    /// The vectors that an operator reads and writes: element vectors; or nodal vectors, with atomic
    /// additions or with contributions that are summed later. Ladders use element vectors.
    #[arg(
        long, default_value = "element",
        value_parser = named(&VectorKind::ALL, VectorKind::name)
    )]
    vectors: VectorKind,
    /// What an operator stores: coefficients of maps, factors at points, or a matrix per element. Ladders use factors at
    /// points.
    #[arg(long, default_value = "automatic", value_parser = named(&DATA_LEVELS, DataLevel::name))]
    data_level: DataLevel,
    /// Knobs of an operator's kernel that replace the measured defaults, such as `blocks=3+staged=1`; `best` for the
    /// defaults.
    #[arg(long, default_value = "best")]
    knobs: Knobs,
}

impl Show {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let request = Request {
            kernel: self.name,
            degree: self.degree.into(),
            precision: self.precision,
            mesh: self.mesh,
            vectors: self.vectors,
            data_level: self.data_level,
            knobs: self.knobs,
        };
        // The limits of a large GPU; the text does not depend on them.
        let limits = Limits {
            shared_bytes: 227 << 10,
            matrix_units: self.language == Language::Cuda,
            ..Limits::default()
        };
        let text = request.text(self.language, &limits)?;
        let of_mesh = |word: &'static str| self.name.is_of_mesh().then_some(word);
        console.report(&text.text, || {
            json!({
                "kernel": self.name.to_string(),
                "degree": self.name.has_degree().then_some(self.degree),
                "precision": self.precision,
                "language": self.language.name(),
                "mesh": of_mesh(self.mesh.name()),
                "vectors": of_mesh(self.vectors.name()),
                "data_level": of_mesh(self.data_level.name()),
                "schedule": text.schedule,
                "entries": text.entries,
                "threads": text.block.threads,
                "shared_bytes": text.shared_bytes,
                "text": text.text,
            })
        })
    }
}

fn language() -> impl TypedValueParser<Value = Language> {
    const ALL: [Language; 2] = [Language::Cuda, Language::OpenCl];
    one_of(&ALL, name_of_language, |it| {
        PossibleValue::new(name_of_language(it)).help(it.name())
    })
}

fn name_of_language(language: Language) -> &'static str {
    match language {
        Language::Cuda => "cuda",
        Language::OpenCl => "opencl",
    }
}
