//! Properties of a form, read off its graph.
//!
//! They decide which stages of the evaluation are needed, which data are loaded, which solver fits, and
//! whether the form is "λu, κ∇u", whose coefficients can be folded into stored factors.

use super::{Form, TracedForm, trace};
use crate::expr::{Binary, Handle, Input, Node, Ops, Program, Unary};

/// Maximum number of auxiliary fields, and of parameters, of a form.
pub const MAX_FIELDS: usize = 8;

/// The result of [`inspect`].
#[derive(Clone, Debug)]
pub struct Inspection {
    /// Number of components.
    pub components: usize,
    /// Operations of f0 and f1 at one point, with common subexpressions counted once.
    pub ops: Ops,
    /// Whether f0 or f1 reads values of the solution.
    pub reads_values: bool,
    /// Whether f0 or f1 reads the gradient of the solution.
    pub reads_gradients: bool,
    /// Whether f0 is not identically zero.
    pub writes_values: bool,
    /// Whether f1 is not identically zero.
    pub writes_gradients: bool,
    /// Whether the position is read.
    pub reads_position: bool,
    /// Whether the time is read.
    pub reads_time: bool,
    /// Number of auxiliary fields that must be given.
    pub auxiliary: usize,
    /// Bit i: whether the gradient of auxiliary field i is read.
    field_gradients: u8,
    /// Number of parameters that must be given.
    pub parameters: usize,
    /// Whether the form is linear in the solution.
    pub linear: bool,
    /// Whether its derivative does not depend on the solution: a linear form plus a constant.
    pub affine: bool,
    /// Whether the derivative with respect to the solution is symmetric, so that the operator of a linear
    /// form, or the Jacobian of a nonlinear one, is.
    pub symmetric: bool,
    /// The least number of consecutive components that are coupled: groups of so many read no other's components, and the form is
    /// the same in all of them. 1 if it is that of each component, [`components`](Self::components) if there is one group.
    pub coupled: usize,
    /// Whether the form is linear with coefficients that depend only on auxiliary fields.
    pub field_coefficients: bool,
    /// The coefficients, if the form is λ u, κ ∇u.
    pub coefficients: Option<Coefficients>,
}

/// A form λ u, κ ∇u, the same for each component. The coefficients depend only on auxiliary fields; if
/// these are constant in each element, so are the coefficients.
#[derive(Clone, Debug)]
pub struct Coefficients {
    /// λ.
    pub mass: CoefficientKind,
    /// κ.
    pub stiffness: CoefficientKind,
    program: Program,
}

/// Whether a coefficient of a form λ u, κ ∇u is absent, constant or varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoefficientKind {
    /// The term is absent.
    Zero,
    /// A constant.
    Constant(f64),
    /// A function of the auxiliary fields.
    OfFields,
}

impl Inspection {
    /// Whether the form uses gradients.
    pub fn gradients(&self) -> bool {
        self.reads_gradients || self.writes_gradients
    }

    /// Whether the form uses values. Also true for a form that is identically zero, so that there is always
    /// something to evaluate.
    pub fn values(&self) -> bool {
        self.reads_values || self.writes_values || !self.gradients()
    }

    /// Flops at one point; a division or a function counts as one, a change of sign as none.
    pub fn flops(&self) -> u64 {
        (self.ops.total() - self.ops.sign) as u64
    }

    /// Whether the gradient of an auxiliary field is read.
    pub fn reads_field_gradient(&self, field: usize) -> bool {
        field < MAX_FIELDS && self.field_gradients >> field & 1 == 1
    }
}

impl CoefficientKind {
    /// The value, if it is constant.
    pub fn constant(self) -> Option<f64> {
        match self {
            Self::Zero => Some(0.0),
            Self::Constant(value) => Some(value),
            Self::OfFields => None,
        }
    }
}

impl Coefficients {
    /// λ and κ for auxiliary fields `a`; missing fields read as NaN.
    pub fn at(&self, a: &[f64]) -> (f64, f64) {
        let mut registers = self.program.registers::<f64, 1>(0.0);
        let mut found = [0.0; 2];
        let input = |i: usize, lane: &mut [f64; 1]| {
            lane[0] = match self.program.inputs()[i] {
                Input::Field(field) => a.get(usize::from(field)).copied().unwrap_or(f64::NAN),
                _ => f64::NAN,
            };
        };
        self.program
            .run(&mut registers, input, |i, lane| found[i] = lane[0]);
        (found[0], found[1])
    }
}

/// Finds the properties of `form`.
pub fn inspect<F: Form<D, C>, const D: usize, const C: usize>(form: &F) -> Inspection {
    trace::<F, D, C>(form).inspect()
}

impl TracedForm {
    /// Finds the properties of the form.
    pub fn inspect(&self) -> Inspection {
        let inputs = self.inputs();
        let any = |wanted: fn(&Input) -> bool| inputs.iter().any(wanted);
        let zero = |handle: &Handle| self.graph.constant_value(*handle) == Some(0.0);
        let count = |index: fn(Input) -> Option<usize>| {
            let last = inputs.iter().filter_map(|&input| index(input)).max();
            last.map_or(0, |last| last + 1)
        };
        let gradient_of = |field: u8| {
            let is = |input: &Input| matches!(input, Input::FieldGradient { field: f, .. } if *f == field);
            u8::from(inputs.iter().any(is)) << field
        };
        let mut differentiated = self.clone();
        let matrix = Matrix {
            entries: differentiated.derivatives(),
            form: &differentiated,
        };
        let affine = matrix.is_constant_in_solution() && !self.jumps_with_solution();
        let linear = affine && self.vanishes_at_zero();
        Inspection {
            components: self.components(),
            ops: self.ops(),
            reads_values: any(|input| matches!(input, Input::Value(_))),
            reads_gradients: any(|input| matches!(input, Input::Gradient { .. })),
            writes_values: !self.f0.iter().all(zero),
            writes_gradients: !self.f1.iter().all(zero),
            reads_position: any(|input| matches!(input, Input::Position(_))),
            reads_time: any(|input| *input == Input::Time),
            auxiliary: count(|input| match input {
                Input::Field(field) | Input::FieldGradient { field, .. } => Some(field.into()),
                _ => None,
            }),
            field_gradients: (0..MAX_FIELDS as u8).map(gradient_of).sum(),
            parameters: count(|input| match input {
                Input::Parameter(index) => Some(index.into()),
                _ => None,
            }),
            linear,
            affine,
            symmetric: matrix.is_symmetric(),
            coupled: matrix.coupled(),
            field_coefficients: linear && matrix.depends_on_fields_alone(),
            coefficients: linear.then(|| matrix.coefficients()).flatten(),
        }
    }

    /// Whether the solution or its gradient decides a case: derivatives do not have the jump between cases.
    fn jumps_with_solution(&self) -> bool {
        let nodes = self.graph.needed_by(&self.outputs()).into_iter();
        let masks = nodes.filter_map(|handle| match self.graph.node(handle) {
            Node::Select(mask, ..) => Some([mask.lesser, mask.greater]),
            _ => None,
        });
        let inputs = self.graph.inputs_of(&masks.flatten().collect::<Vec<_>>());
        inputs.iter().any(|input| input.is_solution())
    }

    /// Whether f0 and f1 vanish if the solution and its gradient do.
    fn vanishes_at_zero(&self) -> bool {
        let mut at_zero = self.graph.clone();
        let zero = at_zero.constant(0.0);
        let outputs =
            at_zero.substitute(&self.outputs(), |input| input.is_solution().then_some(zero));
        outputs.iter().all(|&output| output == zero)
    }
}

/// The derivatives of f0 and f1 with respect to u and ∇u, `[output][unknown]`.
struct Matrix<'a> {
    form: &'a TracedForm,
    entries: Vec<Vec<Handle>>,
}

impl Matrix<'_> {
    fn all(&self) -> Vec<Handle> {
        self.entries.concat()
    }

    fn is_constant_in_solution(&self) -> bool {
        let inputs = self.form.graph.inputs_of(&self.all());
        !inputs.iter().any(|input| input.is_solution())
    }

    fn depends_on_fields_alone(&self) -> bool {
        let inputs = self.form.graph.inputs_of(&self.all());
        inputs.iter().all(|input| matches!(input, Input::Field(_)))
    }

    /// The least size of groups of components that no entry joins, and whose entries are the same.
    fn coupled(&self) -> usize {
        let components = self.form.components();
        let sizes = (1..components).filter(|size| components.is_multiple_of(*size));
        let mut right = sizes.filter(|&size| self.has_groups(size));
        right.next().unwrap_or(components)
    }

    /// Whether no entry joins two groups of `size` components, nor differs between groups.
    fn has_groups(&self, size: usize) -> bool {
        let components = self.form.components();
        let numbers = self.entries.len();
        let axes = numbers / components - 1;
        // Group, and the same place in the first.
        let place = |i: usize| match i.checked_sub(components) {
            None => (i / size, i % size),
            Some(i) => (i / (size * axes), components + i % (size * axes)),
        };
        let is_right = |i: usize, j: usize| {
            let ((own, m), (other, n)) = (place(i), place(j));
            let entry = self.entries[i][j];
            match own == other {
                true => entry == self.entries[m][n],
                false => self.form.graph.constant_value(entry) == Some(0.0),
            }
        };
        (0..numbers).all(|i| (0..numbers).all(|j| is_right(i, j)))
    }

    /// Whether opposite nodes are equal or, if the same number is written in two ways without a case distinction, equal
    /// at some points. Numbers that depend on a distinction may differ elsewhere and count as different.
    fn is_symmetric(&self) -> bool {
        let (n, graph) = (self.entries.len(), &self.form.graph);
        let pairs = || (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let different: Vec<Handle> = pairs()
            .map(|(i, j)| [self.entries[i][j], self.entries[j][i]])
            .filter(|[a, b]| a != b)
            .flatten()
            .collect();
        let distinguishes = |handle| {
            matches!(
                graph.node(handle),
                Node::Unary(Unary::Abs, _)
                    | Node::Binary(Binary::Min | Binary::Max, ..)
                    | Node::Select(..)
            )
        };
        if graph.needed_by(&different).into_iter().any(distinguishes) {
            return false;
        }
        let program = Program::new(graph, &different);
        let mut registers = program.registers::<f64, 1>(0.0);
        let mut has_values = different.is_empty();
        let agree = (1..=SAMPLES + FAR).all(|sample| {
            let mut values = vec![0.0; different.len()];
            let input = |i: usize, lane: &mut [f64; 1]| {
                lane[0] = match program.inputs()[i].is_solution() || sample <= SAMPLES {
                    true => number(sample, i),
                    false => far(sample, i),
                };
            };
            program.run(&mut registers, input, |i, lane| values[i] = lane[0]);
            if values.iter().any(|value| !value.is_finite()) {
                // Coefficients may have no values there.
                return true;
            }
            has_values = true;
            let rounding = 1e-14 * values.iter().fold(0.0_f64, |scale, v| scale.max(v.abs()));
            (values.chunks_exact(2)).all(|pair| {
                let scale = pair[0].abs().max(pair[1].abs());
                (pair[0] - pair[1]).abs() <= 1e-10 * scale + rounding
            })
        });
        agree && has_values
    }

    /// λ and κ, if u enters only f0 and ∇u only f1, equally for all components and axes, with factors that
    /// depend only on auxiliary fields.
    fn coefficients(&self) -> Option<Coefficients> {
        let components = self.form.components();
        let (mass, stiffness) = (
            self.entries[0][0],
            *self.entries.get(components)?.get(components)?,
        );
        let graph = &self.form.graph;
        for (i, row) in self.entries.iter().enumerate() {
            for (j, &entry) in row.iter().enumerate() {
                let is_right = match (i == j, i < components) {
                    (true, true) => entry == mass,
                    (true, false) => entry == stiffness,
                    (false, _) => graph.constant_value(entry) == Some(0.0),
                };
                if !is_right {
                    return None;
                }
            }
        }
        if !self.depends_on_fields_alone() {
            return None;
        }
        let classify = |handle| match graph.constant_value(handle) {
            Some(0.0) => CoefficientKind::Zero,
            Some(value) => CoefficientKind::Constant(value),
            None => CoefficientKind::OfFields,
        };
        Some(Coefficients {
            mass: classify(mass),
            stiffness: classify(stiffness),
            program: Program::new(graph, &[mass, stiffness]),
        })
    }
}

/// Number of points near rest at which values are compared.
const SAMPLES: usize = 3;

/// Number of points with positions, times, fields and parameters of both signs and several sizes.
const FAR: usize = 8;

/// A value of either sign, up to 20, for input `i` of a sample.
fn far(sample: usize, i: usize) -> f64 {
    let size = [0.5, 2.0, 20.0][sample % 3];
    size * (10.0 * number(sample, 3 * i) - 1.25)
}

/// A small value for input `i` of a sample: a state near rest, valid for material laws.
fn number(sample: usize, i: usize) -> f64 {
    let fraction = (0.618_033_988_749_895 * (7 * sample + i + 1) as f64).fract();
    0.05 + 0.15 * fraction
}

#[cfg(test)]
mod tests;
