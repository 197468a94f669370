//! All cases in the repository are valid.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use femto_cli::case::{Case, Document, Form, MeshSource, Solver};
use std::path::Path;

#[test]
fn every_committed_case_is_read() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cases"));
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("case.toml");
        let case = common::read(&path).unwrap_or_else(|error| panic!("{error}"));
        if let MeshSource::File(mesh) = &case.mesh {
            assert!(mesh.is_file(), "{}", mesh.display());
        }
        assert_eq!(case.output.vtu, None, "only --output makes it write");
        read += 1;
    }
    assert!(read > 0);
}

/// The example of the documentation, as it is and with a mesh file instead of a box.
#[test]
fn the_documented_case_is_a_case() {
    let text = include_str!("../../../docs/case.md");
    let example = text.split("```toml\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let parse = |text: &str| {
        let document = Document::new(Path::new("docs/case.md"), text.to_owned());
        Case::parse(document).unwrap_or_else(|error| panic!("{error}"))
    };
    let mut solver = parse(example).solver;
    let tolerance = solver.params.relative_tolerance.take();
    assert_eq!((tolerance, solver), (Some(1e-8), Solver::default()));
    let forms = text.split("```toml\n").nth(2).unwrap();
    let forms = forms.split("```").next().unwrap();
    let head = "[mesh]\nfile = 'a.msh'\n[space]\ndegree = 1\n";
    assert!(matches!(
        parse(&format!("{head}{forms}")).form,
        Form::Text(_)
    ));
    let (start, end) = (
        example.find("[mesh.box]").unwrap(),
        example.find("[space]").unwrap(),
    );
    let with_file = example.replace(&example[start..end], "");
    let with_file = parse(&with_file.replace("# file", "file"));
    assert!(matches!(with_file.mesh, MeshSource::File(_)));
}
