//! The record of a case: rates of cells, and the bound of an assembled matrix.

use super::{SimplexCase, SimplexMesh};
use crate::Record;
use crate::record::Outcome;
use femto_kernel::roofline::{Work, bound};
use femto_kernel::scalar::Precision;
use serde_json::json;

/// The record of a case; for an operator on L-vectors if `nodal`, compared with a product with the
/// assembled matrix.
pub(super) fn record(
    case: &SimplexCase,
    mesh: &SimplexMesh,
    nodal: bool,
    outcome: Outcome,
) -> Record {
    let (cells, nodes, components) = (mesh.cells(), mesh.nodes(), case.components());
    let dofs = nodes * components;
    let nonzeros = (mesh.couplings() * components.pow(2)) as u64;
    let csr = bound(
        &csr(nonzeros, dofs as u64, case.precision),
        &outcome.ceilings,
        case.precision,
    );
    let mut record = Record::new("simplices", outcome);
    record.set_bound("csr", nodal.then_some(csr.seconds));
    record.setting = vec![
        ("form", json!(case.form.name())),
        ("dim", json!(case.dim)),
        ("cells", json!(cells)),
        ("nodes", json!(nodes)),
        ("dofs", json!(dofs)),
    ];
    record.counts = vec![
        ("cell_rate", Some(cells)),
        ("dof_rate", nodal.then_some(dofs)),
    ];
    record.extras = vec![("csr_nonzeros", json!(nodal.then_some(nonzeros)))];
    record
}

/// The work of a product with an assembled matrix in rows (CSR, 32-bit columns): values and columns, row
/// ends, two vectors.
fn csr(nonzeros: u64, dofs: u64, precision: Precision) -> Work {
    let numbers = precision.bytes() as u64;
    Work {
        bytes_read: nonzeros * (numbers + 4) + dofs * (numbers + 4),
        bytes_written: dofs * numbers,
        ..Work::default()
    }
}

/// Marks only the fastest record of each case and kind of vectors, the first of several.
pub fn mark_best(records: &mut [Record]) {
    let group = |it: &Record| ["form", "dim", "precision", "vectors"].map(|name| it.text(name));
    let all: Vec<_> = records.iter().map(|it| (group(it), it.seconds())).collect();
    for (index, (record, (own, seconds))) in records.iter_mut().zip(&all).enumerate() {
        let is_better = |(at, (other, less)): (usize, &([String; 4], f64))| {
            other == own && (less < seconds || (less == seconds && at < index))
        };
        record.set("best", json!(!all.iter().enumerate().any(is_better)));
    }
}
