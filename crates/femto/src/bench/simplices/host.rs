//! The forms of the benchmark on the host: operators on L-vectors.

use super::case::KAPPA;
use super::oracle::{Inputs, Numbers, error};
use super::row::csr;
use super::{SimplexCase, SimplexForm, SimplexMesh};
use crate::bench::{BenchError, Sampling, Timing, time_apply};
use crate::operator::{Auxiliary, Operator, OperatorError, OperatorParams};
use crate::{Host, Number};
use femto_fem::geometry::Geometry;
use femto_fem::space::Space;
use femto_kernel::form::{Poisson, SymmetricGradient};
use femto_kernel::roofline::{Ceilings, Precision, Work, bound};
use femto_platform::device::{Device, DeviceInfo};
use serde::Serialize;
use std::fmt;

/// A form that the host is measured on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostForm {
    /// ∫ ∇φ · κ ∇u, κ in the solution's space.
    Poisson,
    /// ∫ ∇φ · ∇u.
    Laplacian,
    /// ∫ ∇φ : ½(∇u + ∇uᵀ).
    Elasticity,
}

impl HostForm {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Laplacian => "laplacian",
            Self::Elasticity => "elasticity",
        }
    }
}

/// A form at degree 1, on triangles or tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCase {
    /// The form.
    pub form: HostForm,
    /// 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
}

impl HostCase {
    /// All forms in both dimensions, in these precisions.
    pub fn all(precisions: &[Precision]) -> Vec<Self> {
        let mut all = Vec::new();
        for form in [HostForm::Poisson, HostForm::Laplacian, HostForm::Elasticity] {
            for dim in [2, 3] {
                all.extend(precisions.iter().map(|&precision| Self {
                    form,
                    dim,
                    precision,
                }));
            }
        }
        all
    }

    /// The case of accelerators whose oracle is this one's: the Laplacian is Poisson with κ = 1.
    fn on_accelerators(&self) -> SimplexCase {
        SimplexCase {
            form: match self.form {
                HostForm::Poisson | HostForm::Laplacian => SimplexForm::Poisson,
                HostForm::Elasticity => SimplexForm::Elasticity,
            },
            dim: self.dim,
            precision: self.precision,
        }
    }

    fn operator<T: Number>(
        &self,
        host: &Host,
        (space, geometry): (&Space, &Geometry),
        kappa: &[f64],
    ) -> Result<Operator<T, Host>, OperatorError> {
        let mut params = OperatorParams::default();
        if self.form == HostForm::Poisson {
            params.auxiliary = vec![Auxiliary::Nodal(kappa.to_vec())];
        }
        match (self.form, self.dim) {
            (HostForm::Poisson, 2) => Operator::planar(host, space, geometry, &KAPPA, params),
            (HostForm::Poisson, _) => Operator::new(host, space, geometry, &KAPPA, params),
            (HostForm::Laplacian, 2) => Operator::planar(host, space, geometry, &Poisson, params),
            (HostForm::Laplacian, _) => Operator::new(host, space, geometry, &Poisson, params),
            (HostForm::Elasticity, 2) => {
                Operator::planar(host, space, geometry, &SymmetricGradient, params)
            }
            (HostForm::Elasticity, _) => {
                Operator::new(host, space, geometry, &SymmetricGradient, params)
            }
        }
    }
}

impl fmt::Display for HostCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}-D {}", self.form.name(), self.dim, self.precision)
    }
}

/// The result of a measurement on the host: a flat record, one line of a CSV file.
///
/// Seconds, bytes, flops and everything per second are plain numbers without prefixes.
#[derive(Clone, Debug, Serialize)]
pub struct HostRow {
    /// The form: `poisson`, `laplacian` or `elasticity`.
    pub form: &'static str,
    /// 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// How much of the geometry is stored.
    pub data_level: &'static str,
    /// Number of cells.
    pub cells: usize,
    /// Number of nodes.
    pub nodes: usize,
    /// Length of the L-vector.
    pub dofs: usize,
    /// The device: `host`.
    pub device: String,
    /// The processor.
    pub device_name: String,
    /// The instruction set.
    pub simd: String,
    /// Number of threads.
    pub threads: usize,

    /// Number of samples.
    pub samples: usize,
    /// Applications per sample.
    pub repeats: usize,
    /// Seconds of one application: the median of the samples.
    pub seconds: f64,
    /// The fastest sample.
    pub seconds_min: f64,
    /// The slowest sample.
    pub seconds_max: f64,
    /// Cells per second.
    pub cell_rate: f64,
    /// Entries of the L-vector per second.
    pub dof_rate: f64,
    /// The largest difference from the oracle at some nodes, relative to the largest entry of it there.
    pub error: f64,

    /// Bytes that one application must read.
    pub bytes_read: u64,
    /// Bytes that it must write.
    pub bytes_written: u64,
    /// Flops as scheduled.
    pub flops: u64,
    /// Flops per second.
    pub flop_rate: f64,
    /// Bytes read and written per second.
    pub byte_rate: f64,
    /// The shortest time that the ceilings allow.
    pub bound_seconds: f64,
    /// What sets it: "memory" or "arithmetic".
    pub limit: String,
    /// `bound_seconds / seconds`, never clamped.
    pub fraction: f64,

    /// Nonzeros of the assembled matrix.
    pub csr_nonzeros: u64,
    /// The shortest time of a product with it in rows (CSR, 32-bit columns) that the ceilings allow.
    pub csr_seconds: f64,
    /// `csr_seconds / seconds`: how many times faster than that.
    pub csr_ratio: f64,

    /// The ceiling of a copy in bytes per second.
    pub ceiling_copy: f64,
    /// The ceiling of reads in bytes per second.
    pub ceiling_read: f64,
    /// The ceiling of writes in bytes per second.
    pub ceiling_write: f64,
    /// The ceiling of fused multiply-adds in this precision, in flops per second.
    pub ceiling_fma: f64,
}

/// Measures: 1. operator, 2. output, compared with the oracle, 3. time, 4. row.
///
/// Inputs are u in [-1, 1) and κ in [0.5, 1.5), random; `ceilings` are those of `host`.
///
/// # Errors
/// No memory, an output that is not finite.
pub fn measure_on_host(
    host: &Host,
    case: &HostCase,
    mesh: &SimplexMesh,
    sampling: &Sampling,
    ceilings: &Ceilings,
) -> Result<HostRow, BenchError> {
    match case.precision {
        Precision::Fp64 => measure::<f64>(host, case, mesh, (sampling, ceilings)),
        Precision::Fp32 => measure::<f32>(host, case, mesh, (sampling, ceilings)),
    }
}

fn measure<T: Number>(
    host: &Host,
    case: &HostCase,
    mesh: &SimplexMesh,
    (sampling, ceilings): (&Sampling, &Ceilings),
) -> Result<HostRow, BenchError> {
    let components = case.on_accelerators().components();
    let space = mesh.space(components)?;
    let mut numbers = Numbers::random::<T>(mesh, components);
    if case.form == HostForm::Laplacian {
        numbers.kappa.fill(1.0);
    }
    let operator = case.operator::<T>(host, (&space, mesh.geometry()), &numbers.kappa)?;
    let outcome = Outcome {
        device: host.info(),
        error: largest_error(&operator, case, mesh, &numbers)?,
        timing: time_apply(&operator, sampling)?,
        work: operator.work(),
        data_level: operator.data_level().name(),
        dofs: operator.dofs(),
        csr_nonzeros: (mesh.couplings() * components.pow(2)) as u64,
    };
    Ok(HostRow::new(case, mesh, &outcome, ceilings))
}

/// The largest difference from the oracle at some nodes; all of the output must be finite.
fn largest_error<T: Number>(
    operator: &Operator<T, Host>,
    case: &HostCase,
    mesh: &SimplexMesh,
    numbers: &Numbers,
) -> Result<f64, BenchError> {
    let (step, case) = (case.to_string(), case.on_accelerators());
    let oracle = Inputs {
        case,
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
    if let Some(index) = v.iter().position(|x| !x.to_f64().is_finite()) {
        let (length, value) = (v.len(), v[index].to_f64());
        return Err(BenchError::StepNotFinite {
            step,
            index,
            length,
            value,
        });
    }
    let components = case.components();
    let pairs = oracle.nodes.iter().flat_map(|(node, wanted)| {
        let own = &v[*node as usize * components..];
        own.iter().map(|x| x.to_f64()).zip(wanted.iter().copied())
    });
    Ok(error(pairs))
}

/// What a row is made from, besides its case.
struct Outcome {
    device: DeviceInfo,
    error: f64,
    timing: Timing,
    work: Work,
    data_level: &'static str,
    dofs: usize,
    csr_nonzeros: u64,
}

impl HostRow {
    fn new(case: &HostCase, mesh: &SimplexMesh, outcome: &Outcome, ceilings: &Ceilings) -> Self {
        let Outcome {
            device,
            timing,
            work,
            dofs,
            csr_nonzeros,
            ..
        } = outcome;
        let (precision, seconds) = (case.precision, timing.median);
        let own = bound(work, ceilings, precision);
        let csr = csr(*csr_nonzeros, *dofs as u64, precision);
        let csr_seconds = bound(&csr, ceilings, precision).seconds;
        Self {
            form: case.form.name(),
            dim: case.dim,
            precision,
            data_level: outcome.data_level,
            cells: mesh.cells(),
            nodes: mesh.nodes(),
            dofs: *dofs,
            device: device.id().to_string(),
            device_name: device.name.clone(),
            simd: device.simd.to_string(),
            threads: device.threads,
            samples: timing.samples,
            repeats: timing.repeats,
            seconds,
            seconds_min: timing.min,
            seconds_max: timing.max,
            cell_rate: mesh.cells() as f64 / seconds,
            dof_rate: *dofs as f64 / seconds,
            error: outcome.error,
            bytes_read: work.bytes_read,
            bytes_written: work.bytes_written,
            flops: work.flops,
            flop_rate: work.flops as f64 / seconds,
            byte_rate: work.bytes() as f64 / seconds,
            bound_seconds: own.seconds,
            limit: own.limit.to_string(),
            fraction: own.fraction(seconds),
            csr_nonzeros: *csr_nonzeros,
            csr_seconds,
            csr_ratio: csr_seconds / seconds,
            ceiling_copy: ceilings.copy,
            ceiling_read: ceilings.read,
            ceiling_write: ceilings.write,
            ceiling_fma: ceilings.fma(precision),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CEILINGS: Ceilings = Ceilings {
        copy: 1e10,
        read: 2e10,
        write: 3e10,
        fma_fp64: 1e11,
        fma_fp32: 2e11,
        shared: None,
    };

    #[test]
    fn operators_agree_with_the_plain_twin_and_rows_count_the_assembled_matrix() {
        let host = Host::with_threads(1).unwrap();
        let meshes = [2, 3].map(|dim| SimplexMesh::new(dim, 400).unwrap());
        let sampling = Sampling {
            samples: 1,
            seconds: 0.0,
        };
        let cases = HostCase::all(&[Precision::Fp64, Precision::Fp32]);
        assert_eq!(cases.len(), 12);
        for case in cases {
            let mesh = &meshes[case.dim - 2];
            let row = measure_on_host(&host, &case, mesh, &sampling, &CEILINGS).unwrap();
            let limit = match case.precision {
                Precision::Fp64 => 1e-13,
                Precision::Fp32 => 1e-5,
            };
            assert!(row.error < limit, "{case}: {}", row.error);
            let components = match case.form {
                HostForm::Elasticity => case.dim,
                HostForm::Poisson | HostForm::Laplacian => 1,
            };
            assert_eq!(row.dofs, components * mesh.nodes());
            assert_eq!(
                row.csr_nonzeros,
                (components.pow(2) * mesh.couplings()) as u64
            );
            // Values and columns, ends of rows; the two vectors overlap as in a copy.
            let (numbers, dofs) = (case.precision.bytes() as f64, row.dofs as f64);
            let lists = row.csr_nonzeros as f64 * (numbers + 4.0) + dofs * 4.0;
            let wanted = lists / CEILINGS.read + 2.0 * dofs * numbers / CEILINGS.copy;
            assert!((row.csr_seconds / wanted - 1.0).abs() < 1e-12, "{case}");
        }
    }
}
