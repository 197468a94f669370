//! `femto kernel list`

use super::catalog::CatalogEntry;
use super::text;
use crate::console::Console;
use crate::failure::Failure;
use clap::Args;
use femto::element::basis::MAX_DEGREE;
use serde_json::{Value, json};

/// List the kernels: steps of the published ladders, and femto's own.
#[derive(Debug, Args)]
pub(in crate::command) struct List {}

impl List {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let all: Vec<_> = CatalogEntry::all()
            .into_iter()
            .map(|kernel| (kernel, degrees(kernel)))
            .collect();
        let lines = all.iter().map(|&(kernel, most)| describe(kernel, most));
        let title = format!("{:<25}{:<9}", "kernel", "degrees");
        let lines: Vec<String> = [title + "what it is, or changes on the step before"]
            .into_iter()
            .chain(lines)
            .collect();
        console.report(lines.join("\n"), || {
            let entries = all.iter().map(|&(kernel, most)| to_json(kernel, most));
            entries.collect()
        })
    }
}

/// The highest degree at which the kernel is legal in fp64 on any CUDA device; `None` if the text does not
/// depend on the degree.
fn degrees(kernel: CatalogEntry) -> Option<usize> {
    let legal = |&degree: &usize| match kernel {
        CatalogEntry::Step(step) => text::legal_anywhere(&step, degree),
        _ => kernel.has_degree(),
    };
    (1..=MAX_DEGREE).take_while(legal).last()
}

fn describe(kernel: CatalogEntry, most: Option<usize>) -> String {
    let name = kernel.to_string();
    let degrees = most.map_or_else(|| "-".to_owned(), |most| format!("1..{most}"));
    format!("{name:<25}{degrees:<9}{}", kernel.description())
}

fn to_json(kernel: CatalogEntry, most: Option<usize>) -> Value {
    json!({
        "name": kernel.to_string(),
        "degrees": most.map(|most| (1..=most).collect::<Vec<_>>()),
        "description": kernel.description(),
    })
}
