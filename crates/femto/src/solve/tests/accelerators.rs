//! Solvers on accelerators match those on the host.

mod cubic;

use super::*;
use crate::accelerator::language;
use Preconditioning::Identity;
use cubic::newton_does_the_same;
use femto_kernel::dialect::{BlockShape, SourceBuilder};
use femto_platform::cache::KernelCache;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};
use femto_platform::device::conformance;

const BLOCK: BlockShape = BlockShape::row(64);

const TEXT: &str = "
KERNEL(tridiagonal)(uint len, const GLOBAL real *g_d, const GLOBAL real *g_u, GLOBAL real *g_v)
{
    const uint i = BLOCK * BLOCK_X + THREAD_X;
    if (i < len)
        g_v[i] = g_d[i] * g_u[i] - (i > 0 ? g_u[i - 1] : 0) - (i + 1 < len ? g_u[i + 1] : 0);
}
";

/// A tridiagonal matrix with a given diagonal and -1 beside it.
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
            diagonal: upload(device, diagonal),
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

#[derive(Clone, Copy)]
enum Kind {
    Identity,
    Jacobi,
    /// z = -r, which is not a valid preconditioner.
    Minus,
}

/// A tridiagonal system, and how to solve it from zero.
#[derive(Clone)]
struct Case {
    diagonal: Vec<f64>,
    b: Vec<f64>,
    preconditioner: Kind,
    params: KrylovParams,
    /// The step after which the monitor stops the solver.
    last: usize,
}

impl Case {
    /// The second differences of a parabola.
    fn poisson(size: usize) -> Self {
        Self {
            diagonal: vec![2.0; size],
            b: vec![1.0; size],
            preconditioner: Kind::Identity,
            params: CG.into(),
            last: usize::MAX,
        }
    }

    /// A right-hand side and a diagonal without symmetry.
    fn scattered(size: usize) -> Self {
        let scattered = |factor: f64| (0..size).map(move |i| (i as f64 * factor).sin());
        Self {
            diagonal: scattered(1.3).map(|d| 3.5 + d).collect(),
            b: scattered(0.7).collect(),
            ..Self::poisson(size)
        }
    }

    fn on_host<T: Number>(&self) -> Outcome<T> {
        let entry = |i: usize, j: usize| match i.abs_diff(j) {
            0 => self.diagonal[i],
            1 => -1.0,
            _ => 0.0,
        };
        let operator = Dense::new(self.b.len(), entry);
        self.solve::<T, _>(&Host::with_threads(1).unwrap(), &operator)
    }

    fn on_device<T: Number>(&self, device: &Accelerator) -> Outcome<T> {
        self.solve::<T, _>(device, &Tridiagonal::<T>::new(device, &self.diagonal))
    }

    fn solve<T: Number, D: VectorOps<T>>(
        &self,
        device: &D,
        operator: &dyn LinearOperator<T, D>,
    ) -> Outcome<T> {
        let jacobi = Jacobi::new(device, &upload(device, &self.diagonal));
        let minus = Multiple {
            device: device.clone(),
            size: self.b.len(),
            factor: -1.0,
        };
        let system = System {
            device,
            operator,
            preconditioning: match self.preconditioner {
                Kind::Identity => Identity,
                Kind::Jacobi => Preconditioning::Jacobi(jacobi.as_ref().unwrap()),
                Kind::Minus => Preconditioning::any(device, &minus).unwrap(),
            },
        };
        let b: Vec<T> = self.b.iter().map(|&b| T::from_f64(b)).collect();
        let mut notes = Notes::until(|iteration| iteration.number == self.last);
        let start = vec![T::default(); b.len()];
        run(system, &b, &start, self.params, &mut notes)
    }
}

/// Solves on both; the outcomes agree to about the precision. Returns the device's.
fn same<T: Number>(device: &Accelerator, case: &Case) -> Outcome<T> {
    let (here, there) = (case.on_host::<T>(), case.on_device::<T>(device));
    match (&here.result, &there.result) {
        (Ok(here), Ok(there)) => {
            assert_eq!(here.reason, there.reason);
            assert!(
                here.iterations().abs_diff(there.iterations()) <= 1,
                "{here:?} {there:?}"
            );
        }
        (Err(here), Err(there)) => {
            let kind = |error: &SolveError| std::mem::discriminant(&error.reason);
            assert_eq!(kind(here), kind(there), "{here} {there}");
        }
        (here, there) => panic!("{here:?} on the host, {there:?}"),
    }
    let tolerance = if T::BYTES == 8 { 1e-7 } else { 1e-3 };
    let scale = (here.x.iter()).fold(0.0, |most: f64, x| most.max(x.to_f64().abs()));
    assert_close(&here.x, &there.x, tolerance * scale);
    there
}

fn systems_are_solved(device: &Accelerator) {
    let info = same::<f64>(device, &Case::poisson(300)).result.unwrap();
    assert_eq!(info.iterations(), 150);
    let mut case = Case::scattered(1000);
    for kind in [Kind::Identity, Kind::Jacobi] {
        case.preconditioner = kind;
        let info = same::<f64>(device, &case).result.unwrap();
        assert!(info.iterations() > 5);
        assert_eq!(info.history.residuals.len(), info.iterations() + 1);
    }
    case.params.stop.relative_tolerance = 1e-5;
    same::<f32>(device, &case).result.unwrap();
    case.b.fill(0.0);
    let outcome = same::<f64>(device, &case);
    assert_eq!(
        outcome.result.unwrap().reason,
        StopReason::ZeroRightHandSide
    );
    Case::poisson(0).on_device::<f64>(device).result.unwrap();
}

fn runs_are_deterministic(device: &Accelerator) {
    let case = Case::scattered(5000);
    let [first, second] = [(); 2].map(|()| case.on_device::<f64>(device));
    assert_eq!(first.x, second.x);
    assert_eq!(first.result.unwrap(), second.result.unwrap());
}

fn an_end_before_the_solution_leaves_the_last_iterate(device: &Accelerator) {
    let mut case = Case::scattered(200);
    case.params.stop.max_iterations = 7;
    let error = same::<f64>(device, &case).result.unwrap_err();
    assert!(matches!(error.reason, StopReason::NotConverged { .. }));
    assert_eq!(error.iterations(), 7);
    case.last = 5;
    let error = same::<f64>(device, &case).result.unwrap_err();
    assert!(matches!(error.reason, StopReason::Interrupted));
    assert_eq!(error.iterations(), 5);
}

/// The host sees a breakdown only after the step; the device must not have applied it.
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
        matches!(error.reason, StopReason::NotPositiveDefinite { curvature } if curvature < 0.0)
    );
    assert!(error.iterations() >= 1 && outcome.x[0] != 0.0, "{error}");

    case.diagonal[100] = f64::NAN;
    let outcome = case.on_device::<f64>(device);
    let error = outcome.result.unwrap_err();
    assert!(matches!(error.reason, StopReason::Breakdown { value, .. } if value.is_nan()));
    assert_eq!(outcome.x, [0.0; 200]);
}

fn more_than_single_precision_is_an_error(device: &Accelerator) {
    let mut case = Case::scattered(300);
    case.params.stop.relative_tolerance = 1e-12;
    let error = same::<f32>(device, &case).result.unwrap_err();
    assert!(
        matches!(error.reason, StopReason::Stagnated { .. }),
        "{error}"
    );
}

/// A = diag(d) + p qᵀ, on any device.
struct RankOne<T: Number, D: Device> {
    device: D,
    d: D::Buffer<T>,
    p: D::Buffer<T>,
    q: D::Buffer<T>,
}

impl<T: Number, D: VectorOps<T>> LinearOperator<T, D> for RankOne<T, D> {
    fn size(&self) -> usize {
        self.d.len()
    }
    fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.device.copy(u, v)?;
        self.device.multiply(&self.d, v)?;
        let product = self.device.dot(&self.q, u)?;
        Ok(self.device.axpy(product, &self.p, v)?)
    }
}

/// The entries of a vector as a function of position.
type Entries = fn(f64) -> f64;

fn vector<T: Number, D: Device>(device: &D, size: u32, entries: Entries) -> D::Buffer<T> {
    upload(
        device,
        &(0..size).map(f64::from).map(entries).collect::<Vec<_>>(),
    )
}

impl<T: Number, D: VectorOps<T>> RankOne<T, D> {
    fn new(device: &D, size: u32, entries: [Entries; 3]) -> Self {
        let [d, p, q] = entries.map(|entries| vector(device, size, entries));
        let device = device.clone();
        Self { device, d, p, q }
    }
}

fn rank_one<T: Number, D: VectorOps<T>>(device: &D, jacobi: bool) -> Outcome<T> {
    let entries: [Entries; 3] = [
        |i| 2.0 + i.sin(),
        |i| (0.7 * i).sin() / 10.0,
        |i| (1.3 * i).cos() / 10.0,
    ];
    let operator = RankOne::new(device, 700, entries);
    let inverse = Jacobi::new(device, &operator.d).unwrap();
    let system = System {
        device,
        operator: &operator,
        preconditioning: Preconditioning::from(jacobi.then_some(&inverse)),
    };
    let b: Vec<T> = download(device, &vector(device, 700, |i| (0.3 * i).sin()));
    let tolerance = if T::BYTES == 8 { 1e-9 } else { 1e-5 };
    let params = relative(restart(6), tolerance);
    run(system, &b, &vec![T::default(); b.len()], params, &mut ())
}

/// Device and host agree to about the precision, and repeated runs are bitwise the same.
fn gmres_agrees<T: Number>(device: &Accelerator) {
    let host = Host::with_threads(2).unwrap();
    for jacobi in [false, true] {
        let here = rank_one::<T, _>(&host, jacobi);
        let [there, again] = [(); 2].map(|()| rank_one::<T, _>(device, jacobi));
        assert_eq!(there.x, again.x);
        let tolerance = if T::BYTES == 8 { 1e-7 } else { 1e-3 };
        assert_close(&here.x, &there.x, tolerance);
        let [here, there] = [here, there].map(|outcome| outcome.iterations());
        assert!(here.abs_diff(there) <= 1, "{here} on the host, {there}");
        // Divided by the diagonal, A is the identity except in one direction.
        assert_eq!(there <= 3, jacobi, "{there}");
    }
}

#[test]
fn gmres_has_the_same_bits_for_any_number_of_threads() {
    let outcomes = [1, 2, 3].map(|threads| {
        let host = Host::with_threads(threads).unwrap();
        rank_one::<f64, _>(&host, true).x
    });
    assert!(outcomes[0] == outcomes[1] && outcomes[0] == outcomes[2]);
}

fn gmres_does_the_same(device: &Accelerator) {
    gmres_agrees::<f64>(device);
    gmres_agrees::<f32>(device);
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
            runs_are_deterministic,
            an_end_before_the_solution_leaves_the_last_iterate,
            a_breakdown_leaves_the_last_iterate,
            more_than_single_precision_is_an_error,
            gmres_does_the_same,
            newton_does_the_same
        );
    };
}

accelerator!(opencl, Accelerator::opencl(0));
accelerator!(cuda, Accelerator::cuda(0));
