//! Conjugate gradients on accelerators do what they do on the host.

use super::systems::Dense;
use super::*;
use crate::accelerator::language;
use crate::solve::{Identity, Jacobi, LinearOperator, OperatorError, Preconditioner, Product};
use femto_kernel::dialect::{BlockShape, SourceBuilder};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::conformance;
use femto_platform::device::host::Host;

const BLOCK: BlockShape = BlockShape::row(64);

const TEXT: &str = "
KERNEL(tridiagonal)(uint len, const GLOBAL real *g_d, const GLOBAL real *g_u, GLOBAL real *g_v)
{
    const uint i = BLOCK * BLOCK_X + THREAD_X;
    if (i < len)
        g_v[i] = g_d[i] * g_u[i] - (i > 0 ? g_u[i - 1] : 0) - (i + 1 < len ? g_u[i + 1] : 0);
}
";

/// A matrix with a diagonal of its own and -1 beside it.
struct Tridiagonal<T: Number> {
    device: Accelerator,
    kernel: Kernel,
    diagonal: AcceleratorBuffer<T>,
}

impl<T: Number> Tridiagonal<T> {
    fn new(device: &Accelerator, diagonal: &[f64]) -> Self {
        let language = language(device.features());
        let mut source = SourceBuilder::new(language, T::PRECISION, BLOCK);
        source.code("tridiagonal.c", TEXT);
        let text = source.finish();
        let text = KernelText::new("tridiagonal", &text);
        let module = device.compile(&text, &KernelCache::none()).unwrap();
        Self {
            device: device.clone(),
            kernel: module.kernel("tridiagonal").unwrap(),
            diagonal: device.upload(&numbers::<T>(diagonal)).unwrap(),
        }
    }
}

impl<T: Number> LinearOperator<T, Accelerator> for Tridiagonal<T> {
    fn size(&self) -> usize {
        self.diagonal.len()
    }
    fn apply(
        &self,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), OperatorError> {
        let size = self.size() as u32;
        let launch = Launch {
            blocks: size.div_ceil(BLOCK.threads()).max(1),
            threads: BLOCK.threads,
            shared_bytes: BLOCK.shared_bytes(T::PRECISION),
        };
        let arguments = [
            Argument::U32(size),
            Argument::input(&self.diagonal),
            Argument::input(u),
            Argument::output(v),
        ];
        Ok(self.device.launch(&self.kernel, &launch, &arguments)?)
    }
}

fn numbers<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

/// z = -r, which is no preconditioner.
struct Minus;

impl<T: Number, D: VectorOps<T>> Preconditioner<T, D> for Minus {
    fn apply(
        &self,
        device: &D,
        r: &D::Buffer<T>,
        z: &mut D::Buffer<T>,
        Product { sums, slot }: Product<'_, D>,
    ) -> Result<(), OperatorError> {
        device.fill(0.0, z)?;
        device.axpy(-1.0, r, z)?;
        Ok(device.dot_into(r, z, sums, slot)?)
    }
}

#[derive(Clone, Copy)]
enum Kind {
    None,
    Jacobi,
    Minus,
}

/// A tridiagonal system, and how to solve it from a start of zeros.
#[derive(Clone)]
struct Case {
    diagonal: Vec<f64>,
    b: Vec<f64>,
    preconditioner: Kind,
    params: CgParams,
    /// After which step the observer ends it.
    last: usize,
}

/// What became of it.
struct Outcome {
    result: Result<CgInfo, CgError>,
    x: Vec<f64>,
}

impl Case {
    /// The second differences of a parabola.
    fn poisson(size: usize) -> Self {
        Self {
            diagonal: vec![2.0; size],
            b: vec![1.0; size],
            preconditioner: Kind::None,
            params: CgParams::default(),
            last: usize::MAX,
        }
    }

    /// A right-hand side and a diagonal without any symmetry.
    fn scattered(size: usize) -> Self {
        let scattered = |factor: f64| (0..size).map(move |i| (i as f64 * factor).sin());
        Self {
            diagonal: scattered(1.3).map(|d| 3.5 + d).collect(),
            b: scattered(0.7).collect(),
            ..Self::poisson(size)
        }
    }

    fn on_host<T: Number>(&self) -> Outcome {
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => self.diagonal[i],
            1 => -1.0,
            _ => 0.0,
        };
        let operator = Dense::new(self.b.len(), entry);
        self.solve::<T, _>(&Host::with_threads(1).unwrap(), &operator)
    }

    fn on_device<T: Number>(&self, device: &Accelerator) -> Outcome {
        self.solve::<T, _>(device, &Tridiagonal::<T>::new(device, &self.diagonal))
    }

    fn solve<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        operator: &dyn LinearOperator<T, D>,
    ) -> Outcome {
        let upload = |values: &[f64]| device.upload(&numbers::<T>(values)).unwrap();
        let jacobi;
        let system = System {
            device,
            operator,
            preconditioner: match self.preconditioner {
                Kind::None => &Identity,
                Kind::Minus => &Minus,
                Kind::Jacobi => {
                    jacobi = Jacobi::new(device, &upload(&self.diagonal)).unwrap();
                    &jacobi
                }
            },
        };
        let mut workspace = CgWorkspace::new(device, self.b.len()).unwrap();
        // Nothing of the workspace is read before it is written.
        let poison = vec![f64::NAN; self.b.len()];
        for vector in [
            &mut workspace.r,
            &mut workspace.z,
            &mut workspace.p,
            &mut workspace.ap,
        ] {
            device.write(&numbers::<T>(&poison), vector).unwrap();
        }
        let mut x = device.zeros::<T>(self.b.len()).unwrap();
        let b = upload(&self.b);
        let mut observer = |iteration: Iteration| match iteration.number == self.last {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let params = &self.params;
        let result = solve(&system, &b, &mut x, &mut workspace, params, &mut observer);
        let mut values = vec![T::from_f64(f64::NAN); self.b.len()];
        device.read(&x, &mut values).unwrap();
        let x = values.into_iter().map(|x| x.to_f64()).collect();
        Outcome { result, x }
    }
}

/// Solves on both; the same happens, to about the precision. Returns what did.
fn same<T: Number>(device: &Accelerator, case: &Case) -> Outcome {
    let (here, there) = (case.on_host::<T>(), case.on_device::<T>(device));
    match (&here.result, &there.result) {
        (Ok(here), Ok(there)) => {
            assert_eq!(here.reason, there.reason);
            assert!(
                here.iterations.abs_diff(there.iterations) <= 1,
                "{here:?} {there:?}"
            );
        }
        (Err(here), Err(there)) => {
            let kind = |error: &CgError| std::mem::discriminant(&error.failure);
            assert_eq!(kind(here), kind(there), "{here} {there}");
        }
        (here, there) => panic!("{here:?} on the host, {there:?}"),
    }
    let tolerance = if T::BYTES == 8 { 1e-7 } else { 1e-3 };
    let scale = here.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for (i, (here, there)) in here.x.iter().zip(&there.x).enumerate() {
        let close = (here - there).abs() <= tolerance * scale;
        assert!(close, "entry {i}: {here} on the host, {there}");
    }
    there
}

fn systems_are_solved(device: &Accelerator) {
    let info = same::<f64>(device, &Case::poisson(300)).result.unwrap();
    assert_eq!(info.iterations, 150);
    let mut case = Case::scattered(1000);
    for kind in [Kind::None, Kind::Jacobi] {
        case.preconditioner = kind;
        let info = same::<f64>(device, &case).result.unwrap();
        assert!(info.iterations > 5);
        assert_eq!(info.residual_history.len(), info.iterations + 1);
    }
    case.params.relative_tolerance = 1e-5;
    same::<f32>(device, &case).result.unwrap();
    case.b.fill(0.0);
    let outcome = same::<f64>(device, &case);
    assert_eq!(outcome.result.unwrap().reason, Reason::ZeroRightHandSide);
    Case::poisson(0).on_device::<f64>(device).result.unwrap();
}

fn runs_are_repeatable(device: &Accelerator) {
    let case = Case::scattered(5000);
    let [first, second] = [(); 2].map(|()| case.on_device::<f64>(device));
    assert_eq!(first.x, second.x);
    assert_eq!(first.result.unwrap(), second.result.unwrap());
}

fn an_end_before_the_solution_leaves_the_last_iterate(device: &Accelerator) {
    let mut case = Case::scattered(200);
    case.params.max_iterations = 7;
    let error = same::<f64>(device, &case).result.unwrap_err();
    assert!(matches!(error.failure, CgFailure::NotConverged { .. }));
    assert_eq!(error.iterations(), 7);
    case.last = 5;
    let error = same::<f64>(device, &case).result.unwrap_err();
    assert!(matches!(error.failure, CgFailure::Interrupted));
    assert_eq!(error.iterations(), 5);
}

/// Where the host finds out after the step, the device did not take it.
fn a_breakdown_leaves_the_last_iterate(device: &Accelerator) {
    let mut case = Case::scattered(200);
    case.preconditioner = Kind::Minus;
    let outcome = same::<f64>(device, &case);
    assert_eq!(outcome.x, [0.0; 200]);

    let mut case = Case::scattered(200);
    case.diagonal[100] = -20.0;
    case.b[100] = 0.0;
    let outcome = same::<f64>(device, &case);
    let error = outcome.result.unwrap_err();
    assert!(
        matches!(error.failure, CgFailure::NotPositiveDefinite { curvature } if curvature < 0.0)
    );
    assert!(error.iterations() >= 1 && outcome.x[0] != 0.0, "{error}");

    case.diagonal[100] = f64::NAN;
    let outcome = case.on_device::<f64>(device);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.failure, CgFailure::Breakdown { value, .. } if value.is_nan()));
    assert_eq!(outcome.x, [0.0; 200]);
}

fn more_than_single_precision_is_an_error(device: &Accelerator) {
    let mut case = Case::scattered(300);
    case.params.relative_tolerance = 1e-12;
    let error = same::<f32>(device, &case).result.unwrap_err();
    assert!(
        matches!(error.failure, CgFailure::Stagnated { .. }),
        "{error}"
    );
}

/// Tests of an accelerator; `$open` gives a `Result<Accelerator, DeviceError>`.
macro_rules! accelerator {
    ($name:ident, $open:expr, $($test:ident),*) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $test() {
                    conformance::with($open, |device| super::$test(device));
                }
            )*
        }
    };
    ($name:ident, $open:expr) => {
        accelerator!(
            $name,
            $open,
            systems_are_solved,
            runs_are_repeatable,
            an_end_before_the_solution_leaves_the_last_iterate,
            a_breakdown_leaves_the_last_iterate,
            more_than_single_precision_is_an_error
        );
    };
}

accelerator!(opencl, Accelerator::opencl(0));
accelerator!(cuda, Accelerator::cuda(0));
