//! Some candidates on OpenCL, and all as texts.

use super::*;
use crate::tests::{CEILINGS, SAMPLING};
use crate::{BenchError, Record};
use femto::Number;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::{Accelerator, Features};
use femto_platform::device::conformance::with;
use serde_json::json;

fn rows<T: Number>(
    device: &Accelerator,
    case: SimplexCase,
    (mesh, selection): (&SimplexMesh, Selection),
) -> Vec<Record> {
    let mut data = SimplexData::<T>::new(device, case, mesh).unwrap();
    let mut rows = Vec::new();
    for candidate in candidates(&case, selection, mesh) {
        match data.measure(&candidate, &SAMPLING, &CEILINGS) {
            Ok(row) => rows.push(row),
            Err(BenchError::Illegal(_)) => {}
            Err(error) => panic!("{case}, {}: {error}", candidate.schedule),
        }
    }
    mark_best(&mut rows);
    for row in &rows {
        let limit = if T::BYTES == 8 { 1e-12 } else { 2e-5 };
        let (error, schedule) = (row.error.unwrap(), &row.schedule);
        assert!(error < limit, "{case}, {schedule}: {error}");
    }
    rows
}

#[test]
fn candidates_are_right_and_one_of_each_kind_is_the_best() {
    with(Accelerator::opencl(0), |device| {
        let mesh = SimplexMesh::new(3, 700).unwrap();
        let case = SimplexCase {
            form: SimplexForm::Elasticity,
            dim: 3,
            precision: Precision::Fp64,
        };
        let selected = candidates(&case, Selection::Best, &mesh).into_iter();
        let selected: Vec<_> = selected.map(|it| (case, it)).collect();
        compile_all(device, &selected);
        let rows = rows::<f64>(device, case, (&mesh, Selection::Best));
        for vectors in ["element", "nodal"] {
            let of = rows.iter().filter(|row| row.text("vectors") == vectors);
            assert!(of.clone().count() >= 4, "{vectors}");
            assert_eq!(
                of.filter(|row| row.text("best") == "true").count(),
                1,
                "{vectors}"
            );
        }
    });
}

#[test]
fn rows_hold_the_published_model_and_ours() {
    with(Accelerator::opencl(0), |device| {
        let mesh = SimplexMesh::new(2, 100).unwrap();
        let (n, cells) = (8, 2 * 8 * 8);
        assert_eq!((mesh.cells(), mesh.nodes()), (cells, (n + 1) * (n + 1)));
        // Edges of a grid of squares with diagonals.
        let edges = 2 * n * (n + 1) + n * n;
        assert_eq!(mesh.couplings(), 2 * edges + mesh.nodes());
        let [case, ..] = SimplexCase::all(SimplexForm::PUBLISHED, &[Precision::Fp32])[..] else {
            panic!("no case");
        };
        let rows = rows::<f32>(device, case, (&mesh, Selection::Best));
        let row = rows
            .iter()
            .find(|row| row.text("batches_per_chunk") == "8")
            .unwrap();
        // Equations 6 to 9: 82 flops and 44 bytes per cell.
        let cells = cells as u64;
        assert_eq!(
            (row.get("knepley_flops"), row.get("knepley_bytes")),
            (json!(82 * cells), json!(44 * cells))
        );
        // The map, u and κ are read, v is written.
        assert_eq!(
            (row.work.bytes_read, row.work.bytes_written),
            ((5 + 6) * 4 * cells, 12 * cells)
        );
        let nodal = rows
            .iter()
            .find(|row| row.text("vectors") == "nodal")
            .unwrap();
        let nonzeros = mesh.couplings() as u64;
        assert_eq!(nodal.get("csr_nonzeros"), json!(nonzeros));
        let dofs = mesh.nodes() as u64;
        let read = nonzeros * 8 + dofs * 8 - dofs * 4;
        let seconds = dofs as f64 * 8.0 / CEILINGS.copy + read as f64 / CEILINGS.read;
        let csr = nodal.bound_seconds("csr").unwrap();
        assert!((csr / seconds - 1.0).abs() < 1e-12, "{csr} {seconds}");
    });
}

#[test]
fn candidates_are_legal_texts() {
    with(Accelerator::opencl(0), |device| {
        let features = Features {
            max_threads: 1024,
            max_threads_xyz: [1024, 1024, 64],
            shared_bytes: 227 << 10,
            ..device.features().clone()
        };
        let meshes = [2, 3].map(|dim| SimplexMesh::new(dim, 700).unwrap());
        for case in SimplexCase::all(SimplexForm::PUBLISHED, &[Precision::Fp64, Precision::Fp32]) {
            let mesh = &meshes[case.dim - 2];
            let table2 = candidates(&case, Selection::Table2, mesh);
            assert_eq!(table2.len(), 24);
            let all = candidates(&case, Selection::All, mesh);
            for candidate in &all {
                let text = case.kernel(candidate, &features);
                text.unwrap_or_else(|error| panic!("{case}, {}: {error}", candidate.schedule));
            }
            let best = candidates(&case, Selection::Best, mesh);
            for candidate in table2.iter().chain(&best) {
                assert!(all.contains(candidate), "{case}, {}", candidate.schedule);
            }
        }
    });
}
