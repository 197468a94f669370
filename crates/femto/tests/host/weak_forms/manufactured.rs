//! Right-hand sides for manufactured solutions, derived from the form itself.

use femto::kernel::expr::{Handle, Input};
use femto::kernel::form::TracedForm;
use femto::kernel::scalar::Traced;
use femto::problem::{Expression, Function};
use std::cell::RefCell;

/// A manufactured solution with its data.
pub(crate) struct Manufactured {
    /// `[component]`
    pub(crate) exact: Vec<Expression>,
    /// `[component][axis]`
    pub(crate) gradient: Vec<[Expression; 3]>,
    /// f0 - ∇·f1, `[component]`.
    pub(crate) source: Vec<Expression>,
    /// f1 along x, the flux where the normal is x, `[component]`.
    pub(crate) flux: Vec<Expression>,
}

impl Manufactured {
    /// The data of a form without fields and parameters.
    pub(crate) fn new(form: &TracedForm, exact: &[&str]) -> Self {
        let exact: Vec<Expression> = exact
            .iter()
            .map(|text| Expression::parse(text).expect("a function of position"))
            .collect();
        let gradient: Vec<[Expression; 3]> = exact.iter().map(Expression::gradient).collect();
        let graph = RefCell::new(form.graph.clone());
        let import = |function: &Expression| {
            let like = Traced::input(&graph, Input::Time);
            let mut value = like;
            let input = |input| Traced::input(&graph, input);
            let program = function.program();
            program.run_point(like, input, |_, found| value = found);
            value.handle()
        };
        let u: Vec<Handle> = exact.iter().map(import).collect();
        let grad_u: Vec<[Handle; 3]> = gradient.iter().map(|g| g.each_ref().map(import)).collect();
        let mut graph = graph.into_inner();
        let replaced = graph.substitute(&form.outputs(), |input| match input {
            Input::Value(component) => Some(u[usize::from(component)]),
            Input::Gradient { component, axis } => {
                Some(grad_u[usize::from(component)][usize::from(axis)])
            }
            _ => None,
        });
        let (f0, f1) = replaced.split_at(form.f0.len());
        let mut source = Vec::new();
        for (&f0, f1) in f0.iter().zip(f1.chunks(form.dim)) {
            let mut sum = f0;
            for (axis, &f1) in f1.iter().enumerate() {
                let slope = graph.differentiate(&[f1], Input::Position(axis as u8))[0];
                sum = graph.sub(sum, slope);
            }
            source.push(sum);
        }
        let flux = f1.iter().step_by(form.dim);
        let function = |handle| Expression::new(&graph, handle).expect("a function of position");
        Self {
            source: source.into_iter().map(function).collect(),
            flux: flux.copied().map(function).collect(),
            exact,
            gradient,
        }
    }
}

/// Functions as a problem takes them.
pub(crate) fn functions(of: &[Expression]) -> Vec<&dyn Function> {
    of.iter()
        .map(|function| function as &dyn Function)
        .collect()
}
