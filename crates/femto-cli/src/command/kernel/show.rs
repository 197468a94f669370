//! `femto kernel show`

use super::catalog::CatalogEntry;
use super::text::{Request, Stored, VectorKind};
use crate::command::bench::options::{named, one_of, precision};
use crate::console::Console;
use crate::failure::Failure;
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use femto::element::basis::MAX_DEGREE;
use femto::kernel::dialect::Language;
use femto::kernel::family::Limits;
use femto::kernel::scalar::Precision;
use serde_json::json;

/// Print the exact translation unit of a kernel, as passed to the compiler.
#[derive(Debug, Args)]
pub(in crate::command) struct Show {
    /// The kernel, such as `bk5/layers/7`, `pencils/bk5`; `femto kernel list` shows all.
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
    /// The vectors that the kernel reads and writes: element vectors; or nodal vectors, with atomic
    /// additions or with contributions that are summed later. Ladders use element vectors.
    #[arg(
        long, default_value = "element",
        value_parser = named(&VectorKind::ALL, VectorKind::name)
    )]
    vectors: VectorKind,
    /// The stored geometry: factors at points or per element, the multilinear map, or `entries` of matrices, at degree 1
    /// and not of printed forms. Ladders use factors at points.
    #[arg(long, default_value = "points", value_parser = named(&Stored::ALL, Stored::name))]
    storage: Stored,
}

impl Show {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let request = Request {
            kernel: self.name,
            degree: self.degree.into(),
            precision: self.precision,
            vectors: self.vectors,
            stored: self.storage,
        };
        // The limits of a large GPU; the text does not depend on them.
        let limits = Limits {
            shared_bytes: 227 << 10,
            matrix_units: self.language == Language::Cuda,
            ..Limits::default()
        };
        let text = request.text(self.language, &limits)?;
        console.report(&text.text, || {
            json!({
                "kernel": self.name.to_string(),
                "degree": self.name.has_degree().then_some(self.degree),
                "precision": self.precision,
                "language": self.language.name(),
                "vectors": self.name.has_data().then_some(self.vectors.name()),
                "storage": self.name.has_data().then_some(self.storage.name()),
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
