//! The forms of the benchmark on the host: operators on L-vectors.

use super::oracle::{Inputs, Numbers};
use super::record::record;
use super::{SimplexCase, SimplexForm, SimplexMesh};
use crate::compare::finite;
use crate::record::Outcome;
use crate::{BenchError, Record, Sampling, time_apply};
use femto::operator::{Auxiliary, Operator, OperatorError, OperatorParams};
use femto::{Host, Number};
use femto_fem::space::Space;
use femto_kernel::roofline::Ceilings;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use serde_json::json;

/// Measures: 1. operator, 2. output, compared with the oracle, 3. time, 4. record.
///
/// Inputs are u in [-1, 1) and κ in [0.5, 1.5), random; `ceilings` are those of `host`.
///
/// # Errors
/// Not enough memory, or an output that is not finite.
pub fn measure_on_host(
    host: &Host,
    case: &SimplexCase,
    mesh: &SimplexMesh,
    sampling: &Sampling,
    ceilings: &Ceilings,
) -> Result<Record, BenchError> {
    let measure = match case.precision {
        Precision::Fp64 => measure::<f64>,
        Precision::Fp32 => measure::<f32>,
    };
    measure(host, case, mesh, sampling, ceilings)
}

fn measure<T: Number>(
    host: &Host,
    case: &SimplexCase,
    mesh: &SimplexMesh,
    sampling: &Sampling,
    ceilings: &Ceilings,
) -> Result<Record, BenchError> {
    let space = mesh.space(case.components())?;
    let numbers = Numbers::random::<T>(mesh, case.components());
    let operator = operator::<T>(host, case, mesh, (&space, &numbers.kappa))?;
    let outcome = Outcome {
        precision: case.precision,
        device: host.info(),
        error: Some(largest_error(&operator, case, mesh, &numbers)?),
        timing: time_apply(&operator, sampling)?,
        work: operator.work(),
        ceilings: *ceilings,
    };
    let mut record = record(case, mesh, true, outcome);
    record.setting.extend([
        ("data_level", json!(operator.data_level().name())),
        ("simd", json!(record.device.simd)),
        ("threads", json!(record.device.threads)),
    ]);
    Ok(record)
}

fn operator<T: Number>(
    host: &Host,
    case: &SimplexCase,
    mesh: &SimplexMesh,
    (space, kappa): (&Space, &[f64]),
) -> Result<Operator<T, Host>, OperatorError> {
    let geometry = mesh.geometry();
    let mut params = OperatorParams::default();
    if case.form == SimplexForm::Poisson {
        params.auxiliary = vec![Auxiliary::Nodal(kappa.to_vec())];
    }
    Operator::of_form(host, space, geometry, &*case.any_form(), params)
}

/// The largest difference from the oracle at some nodes; all of the output must be finite.
fn largest_error<T: Number>(
    operator: &Operator<T, Host>,
    case: &SimplexCase,
    mesh: &SimplexMesh,
    numbers: &Numbers,
) -> Result<f64, BenchError> {
    let oracle = Inputs {
        case: *case,
        element: &case.element()?,
        mesh,
        positions: &numbers.positions,
        u: &numbers.u,
        kappa: &numbers.kappa,
    }
    .oracle();
    let host = operator.device();
    let u: Vec<T> = numbers.u.iter().map(|&x| T::from_f64(x)).collect();
    let mut v = host.upload(&vec![T::from_f64(f64::NAN); u.len()])?;
    operator.apply(&host.upload(&u)?, &mut v)?;
    finite(case, &v)?;
    Ok(oracle.nodal_difference(&v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{CEILINGS, SAMPLING};

    #[test]
    fn operators_agree_with_the_oracle_and_rows_count_the_assembled_matrix() {
        let host = Host::with_threads(1).unwrap();
        let meshes = [2, 3].map(|dim| SimplexMesh::new(dim, 400).unwrap());
        let cases = SimplexCase::all(SimplexForm::ALL, &[Precision::Fp64, Precision::Fp32]);
        assert_eq!(cases.len(), 12);
        for case in cases {
            let mesh = &meshes[case.dim - 2];
            let row = measure_on_host(&host, &case, mesh, &SAMPLING, &CEILINGS).unwrap();
            let limit = match case.precision {
                Precision::Fp64 => 1e-13,
                Precision::Fp32 => 1e-5,
            };
            let error = row.error.unwrap();
            assert!(error < limit, "{case}: {error}");
            let components = match case.form {
                SimplexForm::Elasticity => case.dim,
                SimplexForm::Poisson | SimplexForm::Laplacian => 1,
            };
            let dofs = components * mesh.nodes();
            assert_eq!(row.get("dofs"), json!(dofs));
            let nonzeros = components.pow(2) * mesh.couplings();
            assert_eq!(row.get("csr_nonzeros"), json!(nonzeros));
            // Values and columns, ends of rows; the two vectors overlap as in a copy.
            let (numbers, dofs) = (case.precision.bytes() as f64, dofs as f64);
            let lists = nonzeros as f64 * (numbers + 4.0) + dofs * 4.0;
            let wanted = lists / CEILINGS.read + 2.0 * dofs * numbers / CEILINGS.copy;
            assert!(
                (row.bound_seconds("csr").unwrap() / wanted - 1.0).abs() < 1e-12,
                "{case}"
            );
        }
    }
}
