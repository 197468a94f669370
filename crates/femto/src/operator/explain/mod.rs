//! Explanations of operators: family, storage, work, bound and measured time.

mod alternative;

pub use alternative::Alternative;

use super::facets::FacetTerm;
use super::plan::{KindPlan, Plan};
use super::{Backend, Bound as _, BoundShape, ChosenLevel, DataLevel, FactorPrecision, Operator};
use crate::Number;
use crate::vector::VectorOps;
use alternative::Candidate;
use femto_element::Degree;
use femto_kernel::roofline::{Ceilings, Wavefronts, Work, bound};
use femto_kernel::scalar::Precision;
use serde::Serialize;
use std::fmt::{self, Display};

/// The explanation of an operator.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The families that evaluate the elements, one for each shape.
    pub family: String,
    /// The amount of stored geometry, for each shape if they differ.
    pub data_level: String,
    /// Why that level was chosen.
    pub data_level_reason: String,
    /// The largest relative change of a stored factor when rounded to single precision.
    pub perturbation: Option<f64>,
    /// The schedule: contents of a batch and stored data, per kind of map.
    pub schedule: Vec<String>,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
    /// Degree of the space.
    pub degree: Degree,
    /// Quadrature points per element; the maximum if there are several shapes.
    pub points: usize,
    /// The form, in words: the values it reads and any special structure recognised.
    pub form: String,
    /// Number of elements.
    pub elements: usize,
    /// Length of an L-vector.
    pub dofs: usize,
    /// Bytes read by one application.
    pub bytes_read: u64,
    /// Bytes written by one application.
    pub bytes_written: u64,
    /// Flops of one application as scheduled.
    pub flops: u64,
    /// Flops of one application as the literature counts them.
    pub nominal_flops: u64,
    /// Use of the L1 data path, if it was counted: [`Operator::count_wavefronts`].
    pub wavefronts: Option<Wavefronts>,
    /// The shortest time that the ceilings allow, in seconds; `None` without measured ceilings.
    pub bound_seconds: Option<f64>,
    /// The limiting resource, such as "memory" or "L1 wavefronts".
    pub limit: Option<String>,
    /// The measured time of one application in seconds.
    pub measured_seconds: Option<f64>,
    /// bound / measured, never clamped.
    pub fraction: Option<f64>,
    /// What assembling element matrices takes, and after how many applications it pays, in words.
    pub assembly: Option<String>,
    /// The other data levels, and why they were not taken.
    pub alternatives: Vec<Alternative>,
    /// Wrong kernels that were dropped.
    pub warnings: Vec<String>,
}

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// Explains one [`Operator::apply`]. The device's `ceilings` give the bound; with the `measured`
    /// seconds, the fraction of it that was reached.
    pub fn explain(&self, ceilings: Option<&Ceilings>, measured: Option<f64>) -> Explanation {
        let plans = || self.shapes.iter().map(|shape| &shape.plan);
        let planned: Work = plans().map(|plan| plan.work(T::PRECISION)).sum();
        let own = self.work();
        let facets = self.facets.iter().map(FacetTerm::work);
        let of_shapes = self.work_of_shapes() + facets.sum();
        // Levels are compared by what is known of all of them.
        let uncounted = Work {
            wavefronts: Wavefronts::default(),
            ..own
        };
        let candidate = |level| {
            // The device's own count, adjusted by the plan's difference between the two levels.
            let other: Work = plans()
                .map(|plan| plan.at_level(level).work(T::PRECISION))
                .sum();
            let change = |own: u64, from: u64, to: u64| (own + to).saturating_sub(from);
            let work = Work {
                bytes_read: change(of_shapes.bytes_read, planned.bytes_read, other.bytes_read),
                flops: change(of_shapes.flops, planned.flops, other.flops),
                wavefronts: Wavefronts::default(),
                ..of_shapes
            };
            let bound = ceilings.map(|rates| bound(&work, rates, T::PRECISION));
            Candidate { level, work, bound }
        };
        let found = ceilings.map(|rates| bound(&own, rates, T::PRECISION));
        let chosen = Candidate {
            level: self.data_level(),
            work: uncounted,
            bound: ceilings.map(|rates| bound(&uncounted, rates, T::PRECISION)),
        };
        let level = self.data_level();
        let why = match &self.sparse {
            Some(_) => ChosenLevel::asked(level).why(),
            None => distinct(plans().map(|plan| plan.level.why()), "; "),
        };
        let others = [DataLevel::OnTheFly, DataLevel::Partial].into_iter();
        let alternatives = others.filter(|&other| {
            level == DataLevel::Sparse || plans().any(|plan| plan.level.level != other)
        });
        // How matrices are assembled, from an operator at which data level, and the work.
        let assembling = |shape: &BoundShape<T, D>| -> Option<(String, DataLevel, Work)> {
            let plan = &shape.plan;
            let (base, columns) = match (&self.sparse, plan.base.as_deref()) {
                (Some(matrix), _) => (plan, plan.element_dofs() / matrix.components() as u64),
                (None, base) => (base?, plan.columns() as u64),
            };
            let level = base.level.level;
            if shape.bound.assembles_at_once() {
                let words = "at once, as sums of those of the reference cell";
                let work = Work {
                    bytes_written: plan.matrices_bytes(T::PRECISION),
                    ..Work::default()
                };
                return Some((words.to_owned(), level, work));
            }
            let words = format!("by {columns} products with unit inputs, {}", level.name());
            Some((words, level, base.element_work(T::PRECISION) * columns))
        };
        let assembled: Vec<_> = self.shapes.iter().filter_map(assembling).collect();
        let assembly = assembled.first().map(|(words, level, _)| {
            let rates = ceilings.zip(chosen.bound);
            let bounds = rates.map(|(rates, own)| {
                let work: Work = assembled.iter().map(|(_, _, work)| *work).sum();
                let once = bound(&work, rates, T::PRECISION);
                let other = candidate(*level).bound;
                [
                    once.seconds,
                    other.map_or(0.0, |it| it.seconds),
                    own.seconds,
                ]
            });
            assembly_words(words, *level, bounds)
        });
        let is_perturbed = plans().any(|plan| plan.is_perturbed(T::PRECISION));
        Explanation {
            family: distinct(
                plans()
                    .flat_map(|plan| &plan.kinds)
                    .map(|kind| kind.family.name().to_owned()),
                " and ",
            ),
            data_level: match level {
                DataLevel::Sparse => level.name().to_owned(),
                _ => distinct(
                    plans().map(|plan| plan.level.level.name().to_owned()),
                    " and ",
                ),
            },
            perturbation: is_perturbed.then_some(FactorPrecision::SINGLE_CHANGE),
            schedule: self.schedules(),
            precision: T::PRECISION,
            degree: self.plan().degree,
            points: plans().map(Plan::points).max().unwrap_or(0),
            form: form_words(self.plan()),
            elements: plans().map(|plan| plan.elements).sum(),
            dofs: self.dofs(),
            bytes_read: own.bytes_read,
            bytes_written: own.bytes_written,
            flops: own.flops,
            nominal_flops: self.nominal_flops(),
            wavefronts: own.wavefronts.counted(),
            bound_seconds: found.map(|bound| bound.seconds),
            limit: found.map(|bound| bound.limit.to_string()),
            measured_seconds: measured,
            fraction: found
                .zip(measured)
                .map(|(bound, seconds)| bound.fraction(seconds)),
            assembly,
            alternatives: alternatives
                .map(|other| Alternative::new((&chosen, &why), &candidate(other)))
                .collect(),
            warnings: self.warnings(),
            data_level_reason: why,
        }
    }

    /// Storage per kind of map, and the kernel's schedule where there is a choice.
    fn schedules(&self) -> Vec<String> {
        let of_shape = |shape: &BoundShape<T, D>| -> Vec<String> {
            let mut chosen = shape.bound.schedules().into_iter();
            let kinds = shape.plan.kinds.iter();
            let line = |kind| {
                let stored = schedule(kind, &shape.plan, T::PRECISION);
                match chosen.next() {
                    Some(words) => format!("{stored}; {words}"),
                    None => stored,
                }
            };
            kinds.map(line).collect()
        };
        let matrix = self.sparse.iter().map(|matrix| {
            let bytes = matrix.bytes() as f64;
            format!("a sparse matrix, {:.4} GB", bytes * 1e-9)
        });
        let lines = matrix.chain(self.shapes.iter().flat_map(of_shape));
        let facets = self.facets.iter();
        let facets = facets.flat_map(|term| term.operator.schedules());
        lines.chain(facets).collect()
    }
}

/// How matrices are assembled; with the bounds of that, of an application at the data level of their operator and of one
/// with the matrices, in seconds, after how many applications it pays.
fn assembly_words(how: &str, level: DataLevel, bounds: Option<[f64; 3]>) -> String {
    let level = level.name();
    let words = format!("the matrices are assembled {how}");
    match bounds {
        None => words,
        Some([once, other, own]) if own < other => {
            let count = (once / (other - own)).ceil();
            format!("{words}; by the bounds that pays after {count} applications")
        }
        Some(_) => format!("{words}; by the bounds that never pays, as {level} is not slower"),
    }
}

/// The shapes' texts without duplicates, joined by `between`.
fn distinct(words: impl Iterator<Item = String>, between: &str) -> String {
    let mut all: Vec<String> = Vec::new();
    for word in words {
        if !all.contains(&word) {
            all.push(word);
        }
    }
    all.join(between)
}

/// Properties of the form, and their consequences.
fn form_words(plan: &Plan) -> String {
    let found = &plan.operator.inspection;
    let kind = match (found.linear, found.symmetric) {
        (true, true) => "linear, symmetric",
        (true, false) => "linear, not symmetric",
        (false, true) => "not linear, with a symmetric Jacobian",
        (false, false) => "not linear, with a Jacobian that is not symmetric",
    };
    let mut reads = Vec::new();
    let mut note = |is_read: bool, name: &str| {
        if is_read {
            reads.push(name.to_owned());
        }
    };
    note(found.reads_values, "u");
    note(found.reads_gradients, "grad u");
    note(found.reads_position, "x");
    note(found.reads_time, "t");
    note(found.auxiliary > 0, &format!("{} fields", found.auxiliary));
    note(
        found.parameters > 0,
        &format!("{} parameters", found.parameters),
    );
    let route = match (&plan.operator.coefficients, &found.coefficients) {
        (Some(_), _) => "it is λ u, κ ∇u, so its coefficients go with the geometry",
        (None, Some(_)) if plan.kinds.iter().any(|kind| !kind.block.is_as_written()) => {
            "it is λ u, κ ∇u, whose coefficients are taken once a cell"
        }
        (None, Some(_)) => "it is λ u, κ ∇u, evaluated as written",
        (None, None) => "evaluated as written",
    };
    format!(
        "{kind}; reads {}; {} flops a point; {route}",
        reads.join(", "),
        found.flops()
    )
}

fn schedule(kind: &KindPlan, plan: &Plan, precision: Precision) -> String {
    let stored = kind.block.stored();
    let entries = kind.block.matrices().map_or(0, |it| it.entries());
    let bytes = (kind.elements * entries * precision.bytes()) as f64;
    let memory = match entries {
        0 => String::new(),
        _ => format!(", {:.4} GB in all", bytes * 1e-9),
    };
    let is_same = kind.block.stored_precision(plan.factors, precision) == precision;
    let single = if is_same { "" } else { ", in single precision" };
    let cells = plan.operator.cell.plural();
    let (count, name) = (kind.elements, format!("{:?}", kind.kind).to_lowercase());
    let several = plan.kinds.iter().any(|other| other.family != kind.family);
    let family = if several { kind.family.name() } else { "" };
    let between = if several { ", " } else { "" };
    let reasons: String = (kind.reasons.iter())
        .map(|reason| format!("; {reason}"))
        .collect();
    format!("{count} {name} {cells}: {family}{between}{stored}{memory}{single}{reasons}")
}

impl Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let giga = |number: u64| number as f64 * 1e-9;
        writeln!(
            f,
            "{} {}, degree {}, {} points an element, {}: {} elements, {} unknowns",
            self.family,
            self.data_level,
            self.degree,
            self.points,
            self.precision,
            self.elements,
            self.dofs
        )?;
        writeln!(f, "  form: {}", self.form)?;
        for line in &self.schedule {
            writeln!(f, "  {line}")?;
        }
        writeln!(f, "  {}", self.data_level_reason)?;
        if let Some(change) = self.perturbation {
            writeln!(
                f,
                "  the operator is perturbed: each stored factor by up to {change:.0e} of itself"
            )?;
        }
        writeln!(
            f,
            "  one application reads {:.4} GB, writes {:.4} GB, does {:.4} GFLOP ({:.4} as the \
             literature counts)",
            giga(self.bytes_read),
            giga(self.bytes_written),
            giga(self.flops),
            giga(self.nominal_flops)
        )?;
        if let Some(wavefronts) = self.wavefronts {
            let all = wavefronts.total() as f64;
            let percent = |part: u64| 100.0 * part as f64 / all;
            writeln!(
                f,
                "  its accesses take {:.4} million wavefronts of L1: {:.0} % of shared memory, {:.0} % of global memory, \
                 {:.0} % of reductions",
                all * 1e-6,
                percent(wavefronts.shared),
                percent(wavefronts.global),
                percent(wavefronts.reductions)
            )?;
        }
        if let (Some(seconds), Some(limit)) = (self.bound_seconds, &self.limit) {
            writeln!(f, "  bound {:.3} ms, set by {limit}", seconds * 1e3)?;
        }
        if let (Some(seconds), Some(fraction)) = (self.measured_seconds, self.fraction) {
            writeln!(
                f,
                "  measured {:.3} ms: {:.1} MDOF/s, {:.0} % of the bound",
                seconds * 1e3,
                self.dofs as f64 / seconds * 1e-6,
                fraction * 100.0
            )?;
        }
        if let Some(words) = &self.assembly {
            writeln!(f, "  {words}")?;
        }
        for other in &self.alternatives {
            writeln!(f, "  {other}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "  warning: {warning}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_pay_after_what_they_save() {
        let words = |bounds| assembly_words("at once", DataLevel::OnTheFly, bounds);
        assert!(words(None).ends_with("are assembled at once"));
        assert!(words(Some([8.0, 3.0, 1.0])).ends_with("after 4 applications"));
        assert!(words(Some([8.0, 1.0, 1.0])).contains("never pays"));
    }
}
