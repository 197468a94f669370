//! Running a case: each operator against the oracle, and derivatives against differences.

use crate::case::{Case, Plain};
use crate::random::Random;
use crate::setup::{Setup, by_oracle};
use femto::kernel::form::TracedForm;
use femto::operator::{AnyForm, Auxiliary, Backend};
use femto::platform::device::Device;
use femto::platform::device::accelerator::Accelerator;
use femto::platform::device::host::Host;
use femto::problem::ProblemForm;
use femto::vector::VectorOps;
use femto::{Number, Operator, OperatorParams};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Numbers of comparisons done, and of those that were not possible.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) operators: usize,
    pub(crate) derivatives: usize,
    pub(crate) differences: usize,
    /// Too ill-conditioned for the precision, or not smooth enough for differences.
    pub(crate) unsure: usize,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.operators += other.operators;
        self.derivatives += other.derivatives;
        self.differences += other.differences;
        self.unsure += other.unsure;
    }
}

/// The devices on which cases are run.
pub(crate) struct Devices {
    pub(crate) host: Host,
    /// Beside the host, if FEMTO_ACCELERATOR names one.
    pub(crate) accelerator: Option<Accelerator>,
}

/// Runs a case on all devices; the error describes the difference, or the panic.
pub(crate) fn run(case: &Case, devices: &Devices) -> Result<Counts, String> {
    let run = || {
        let bench = Bench::new(case)?;
        match case.single {
            true => bench.everywhere::<f32>(devices),
            false => bench.everywhere::<f64>(devices),
        }
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panics: {}", text.unwrap_or("without a message")))
    })
}

/// A case, in double precision with its derivative, in single without.
struct Bench {
    case: Case,
    setup: Setup,
    /// As `femto solve` makes it from texts.
    form: ProblemForm,
    trees: Plain,
}

/// The relative perturbation of a case's numbers that measures its condition.
const MOVED: f64 = 1e-6;

impl Bench {
    fn new(case: &Case) -> Result<Self, String> {
        let (dim, components) = (case.cell.dim(), case.components());
        let traced = TracedForm::parse(&case.expressions(), dim, components);
        Ok(Self {
            case: case.clone(),
            setup: Setup::new(case),
            form: ProblemForm::traced(&traced.map_err(|e| e.to_string())?)
                .map_err(|e| e.to_string())?,
            trees: Plain(case.trees().ok_or("a text is none of a tree")?),
        })
    }

    fn everywhere<T: Number>(&self, devices: &Devices) -> Result<Counts, String> {
        let mut counts = self.on::<T, _>(&devices.host)?;
        if let Some(accelerator) = &devices.accelerator {
            counts += self.on::<T, _>(accelerator)?;
        }
        Ok(counts)
    }

    fn random(&self) -> Random {
        Random::new(self.case.seed ^ 0xda7a)
    }

    /// The operator, then that of its derivative.
    fn on<T: Number, V: Backend + VectorOps<T>>(&self, device: &V) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let random = &mut self.random();
        let operator = self.operator(device, self.form.form(), self.setup.params.clone())?;
        let u = random.vector(self.setup.space.dofs());
        let found = apply(&operator, &u)?;
        let compared = self.compare::<T>("A u", false, (&self.setup.params, &u), &found)?;
        *if compared {
            &mut counts.operators
        } else {
            &mut counts.unsure
        } += 1;
        // Single-precision rounding is too close to the differences.
        if T::BYTES == 8 {
            counts += self.derivative(device, &operator, random)?;
        }
        Ok(counts)
    }

    fn operator<T: Number, V: Backend + VectorOps<T>>(
        &self,
        device: &V,
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<Operator<T, V>, String> {
        let (space, geometry) = (&self.setup.space, &self.setup.geometry);
        match Operator::of_form(device, space, geometry, form, params) {
            Err(error) => Err(format!("cannot be bound: {error}")),
            Ok(operator) => match operator.warnings().first() {
                Some(warning) => Err(format!("warns: {warning}")),
                None => Ok(operator),
            },
        }
    }

    fn derivative<T: Number, V: Backend + VectorOps<T>>(
        &self,
        device: &V,
        residual: &Operator<T, V>,
        random: &mut Random,
    ) -> Result<Counts, String> {
        let mut counts = Counts::default();
        let len = self.setup.space.dofs();
        let (state, w) = (random.vector(len), random.vector(len));
        let params = self.setup.linearised(&state);
        // The state is set later, as in Newton's method. The initial one differs, but is not NaN, because
        // accelerators test their kernels on it.
        let other = self.setup.linearised(&random.vector(len));
        let form = self.form.jacobian().map_err(|e| e.to_string())?;
        let mut jacobian = self.operator(device, &*form, other)?;
        jacobian
            .set_nodal(0, &upload(device, &state)?)
            .map_err(|e| e.to_string())?;
        let found = apply(&jacobian, &w)?;
        let compared = self.compare::<T>("J(u) w", true, (&params, &w), &found)?;
        *if compared {
            &mut counts.derivatives
        } else {
            &mut counts.unsure
        } += 1;
        let compared = compared && self.differ(residual, (&state, &w), &found)?;
        *if compared {
            &mut counts.differences
        } else {
            &mut counts.unsure
        } += 1;
        Ok(counts)
    }

    /// Compares `found` with the oracle. False if the case is so ill-conditioned that rounding may change
    /// it by more than a hundredth.
    fn compare<T: Number>(
        &self,
        what: &str,
        derivative: bool,
        (params, u): (&OperatorParams, &[f64]),
        found: &[f64],
    ) -> Result<bool, String> {
        let form = (&self.trees, derivative);
        let oracle = |params: &OperatorParams, u: &[f64]| by_oracle(&self.setup, form, params, u);
        let wanted = oracle(params, u);
        let mut random = Random::new(self.case.seed ^ 0x60ed);
        let mut moved = |values: &mut [f64]| {
            values
                .iter_mut()
                .for_each(|value| *value *= 1.0 + MOVED * random.number());
        };
        let (mut params, mut u) = (params.clone(), u.to_vec());
        moved(&mut u);
        moved(&mut params.parameters);
        moved(std::slice::from_mut(&mut params.time));
        for field in &mut params.auxiliary {
            let (Auxiliary::PerCell(values)
            | Auxiliary::Nodal(values)
            | Auxiliary::AtPoints(values)) = field;
            moved(values);
        }
        let change = largest_difference(&oracle(&params, &u), &wanted);
        let scale = wanted
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        let tolerance = T::EPSILON * (1e4 * scale + 100.0 * change / MOVED);
        let error = largest_difference(found, &wanted);
        if error <= tolerance {
            return Ok(true);
        }
        if tolerance > 0.01 * scale {
            return Ok(false);
        }
        Err(format!(
            "{what} is off by {error:e}, of {scale:e}; {tolerance:e} is allowed"
        ))
    }

    /// Compares J(u) w with differences of the residual. False if these depend on the step, that is near
    /// kinks.
    fn differ<T: Number, V: Backend + VectorOps<T>>(
        &self,
        residual: &Operator<T, V>,
        (state, w): (&[f64], &[f64]),
        found: &[f64],
    ) -> Result<bool, String> {
        let difference = |step: f64| -> Result<Vec<f64>, String> {
            let at = |by: f64| {
                let moved: Vec<f64> = state.iter().zip(w).map(|(u, w)| u + by * w).collect();
                apply(residual, &moved)
            };
            let pairs = at(step)?.into_iter().zip(at(-step)?);
            Ok(pairs
                .map(|(above, below)| (above - below) / (2.0 * step))
                .collect())
        };
        let (coarse, fine) = (difference(2e-5)?, difference(1e-5)?);
        let scale = fine
            .iter()
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        if largest_difference(&coarse, &fine) > 1e-6 * scale {
            return Ok(false);
        }
        let error = largest_difference(found, &fine);
        // The error of differences of rounded numbers.
        if error <= 1e-5 * scale || error <= 1e-9 {
            return Ok(true);
        }
        // If the kink is closer than either step, both differences give the mean of its slopes; a step that
        // does not reach it gives another.
        if largest_difference(&difference(1e-7)?, &fine) > 1e-6 * scale {
            return Ok(false);
        }
        Err(format!(
            "J(u) w is off by {error:e} from differences of {scale:e}"
        ))
    }
}

fn upload<T: Number, V: Device>(device: &V, values: &[f64]) -> Result<V::Buffer<T>, String> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    device.upload(&values).map_err(|error| error.to_string())
}

/// A u, with the output initially NaN.
fn apply<T: Number, V: Backend + VectorOps<T>>(
    operator: &Operator<T, V>,
    u: &[f64],
) -> Result<Vec<f64>, String> {
    let device = operator.device();
    let mut v = upload::<T, V>(device, &vec![f64::NAN; u.len()])?;
    operator
        .apply(&upload(device, u)?, &mut v)
        .map_err(|e| e.to_string())?;
    let mut found = vec![T::default(); u.len()];
    device.read(&v, &mut found).map_err(|e| e.to_string())?;
    Ok(found
        .into_iter()
        .map(femto::kernel::scalar::Real::to_f64)
        .collect())
}

/// max |a − b|; infinite if a value is NaN.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |most, difference| match difference.is_nan() {
        true => f64::INFINITY,
        false => most.max(difference),
    })
}
