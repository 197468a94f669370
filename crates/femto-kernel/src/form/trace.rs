//! Tracing: running a form once on numbers that record a graph.

use super::{Form, MAX_FIELDS, Point};
use crate::dialect::Language;
use crate::expr::{CStyle, Graph, GraphError, Handle, Input, Ops};
use crate::scalar::{Precision, Traced};
use core::cell::RefCell;
use femto_element::Cell;

/// The graph of a form.
#[derive(Clone, Debug)]
pub struct TracedForm {
    /// The nodes.
    pub graph: Graph,
    /// Dimension of the cells.
    pub dim: usize,
    /// f0, `[component]`.
    pub f0: Vec<Handle>,
    /// f1, `[component][axis]`.
    pub f1: Vec<Handle>,
}

/// Fields and parameters that a form may read when it is traced: more than [`MAX_FIELDS`], so that inspection can tell.
const TRACED_FIELDS: usize = 4 * MAX_FIELDS;

/// Runs `form` once on symbols.
pub fn trace<F: Form<D, C>, const D: usize, const C: usize>(form: &F) -> TracedForm {
    let graph = RefCell::new(Graph::new());
    let input = |input| Traced::input(&graph, input);
    let a: [Traced; TRACED_FIELDS] = core::array::from_fn(|i| input(Input::Field(i as u8)));
    let grad_a: [[Traced; D]; TRACED_FIELDS] = core::array::from_fn(|field| {
        core::array::from_fn(|axis| {
            input(Input::FieldGradient {
                field: field as u8,
                axis: axis as u8,
            })
        })
    });
    let parameters: [Traced; TRACED_FIELDS] =
        core::array::from_fn(|i| input(Input::Parameter(i as u16)));
    let point = Point {
        u: core::array::from_fn(|c| input(Input::Value(c as u8))),
        grad_u: core::array::from_fn(|component| {
            core::array::from_fn(|axis| {
                input(Input::Gradient {
                    component: component as u8,
                    axis: axis as u8,
                })
            })
        }),
        a: &a,
        grad_a: &grad_a,
        x: core::array::from_fn(|axis| input(Input::Position(axis as u8))),
        time: input(Input::Time),
        parameters: &parameters,
    };
    let f0 = form.f0(&point).map(Traced::handle).to_vec();
    let f1 = form
        .f1(&point)
        .iter()
        .flatten()
        .map(|f| f.handle())
        .collect();
    TracedForm {
        graph: graph.into_inner(),
        dim: D,
        f0,
        f1,
    }
}

impl TracedForm {
    /// Number of components.
    pub fn components(&self) -> usize {
        self.f0.len()
    }

    /// f0, then f1.
    pub fn outputs(&self) -> Vec<Handle> {
        self.f0.iter().chain(&self.f1).copied().collect()
    }

    /// The inputs of f0 and f1, sorted.
    pub fn inputs(&self) -> Vec<Input> {
        self.graph.inputs_of(&self.outputs())
    }

    /// The values and derivatives of the solution, in the order of [`TracedForm::outputs`].
    pub fn unknowns(&self) -> Vec<Input> {
        let (components, dim) = (self.components() as u8, self.dim as u8);
        let values = (0..components).map(Input::Value);
        let gradients = (0..components)
            .flat_map(|component| (0..dim).map(move |axis| Input::Gradient { component, axis }));
        values.chain(gradients).collect()
    }

    /// Operations at one point, with common subexpressions counted once.
    pub fn ops(&self) -> Ops {
        self.graph.count(&self.outputs())
    }

    /// The derivative of every output with respect to every unknown,
    /// `[output][unknown]` in the order of [`TracedForm::outputs`].
    pub fn derivatives(&mut self) -> Vec<Vec<Handle>> {
        let outputs = self.outputs();
        let unknowns = self.unknowns().into_iter();
        let columns = unknowns.map(|unknown| self.graph.differentiate(&outputs, unknown));
        let columns: Vec<Vec<Handle>> = columns.collect();
        let row = |output| columns.iter().map(|column| column[output]).collect();
        (0..outputs.len()).map(row).collect()
    }

    /// Degree to which a quadrature rule should be exact on affine cells, if the basis and auxiliary fields
    /// in its space have degree `degree`, and `is_constant(field)` marks fields that are constant in each
    /// cell: that of the integrand, estimated by [`Graph::degree`], but at most `2 degree + 2`. Only on simplices
    /// have gradients a lower degree than values.
    pub fn quadrature_degree(
        &self,
        cell: Cell,
        degree: usize,
        is_constant: impl Fn(usize) -> bool,
    ) -> usize {
        let of_gradients = degree - usize::from(cell.is_simplex());
        let of = |input| match input {
            Input::Value(_) => degree,
            Input::Gradient { .. } => of_gradients,
            Input::Field(field) if is_constant(field.into()) => 0,
            Input::Field(_) => degree,
            Input::FieldGradient { .. } => of_gradients,
            Input::Position(_) => 1,
            Input::Time | Input::Parameter(_) => 0,
        };
        let tests = |outputs: &[Handle], test: usize| {
            let outputs = outputs.iter();
            let outputs = outputs.filter(|&&f| self.graph.constant_value(f) != Some(0.0));
            outputs
                .map(|&f| self.graph.degree(f, of).saturating_add(test))
                .max()
                .unwrap_or(0)
        };
        let integrand = tests(&self.f0, degree).max(tests(&self.f1, of_gradients));
        integrand.min(2 * degree + 2)
    }

    /// The form as a function in a kernel text,
    ///
    /// ```text
    /// void point_form(const real *u, const real *grad_u, const real *a, const real *grad_a, const real *x,
    ///                 const real *parameters, real time, real *f0, real *f1)
    /// ```
    ///
    /// with arrays in private memory: `u[c]`, `grad_u[c·dim + axis]`, `a[field]`,
    /// `grad_a[field·dim + axis]`, `x[axis]`, `parameters[k]`, `f0[c]`, `f1[c·dim + axis]`. Inputs that the
    /// form does not use are not read; f0 and f1 are written completely.
    ///
    /// # Errors
    /// A constant that is not finite in this precision.
    pub fn point_function(
        &self,
        precision: Precision,
        language: Language,
    ) -> Result<String, GraphError> {
        let targets: Vec<String> = (0..self.f0.len())
            .map(|i| format!("f0[{i}]"))
            .chain((0..self.f1.len()).map(|i| format!("f1[{i}]")))
            .collect();
        let style = CStyle {
            precision,
            suffixed: language.suffixes_functions(),
            name: |input| self.place(input),
        };
        let body = style.print(&self.graph, &self.outputs(), &targets)?;
        Ok(format!(
            "INLINE void point_form(const real *u, const real *grad_u, const real *a, const real *grad_a,\n    \
             const real *x, const real *parameters, real time, real *f0, real *f1)\n{{\n{body}}}\n"
        ))
    }

    /// The C expression of an input in a printed function.
    fn place(&self, input: Input) -> String {
        let dim = self.dim;
        let at = |first: u8, axis: u8| usize::from(first) * dim + usize::from(axis);
        match input {
            Input::Position(axis) => format!("x[{axis}]"),
            Input::Time => "time".to_owned(),
            Input::Parameter(index) => format!("parameters[{index}]"),
            Input::Value(component) => format!("u[{component}]"),
            Input::Gradient { component, axis } => format!("grad_u[{}]", at(component, axis)),
            Input::Field(field) => format!("a[{field}]"),
            Input::FieldGradient { field, axis } => format!("grad_a[{}]", at(field, axis)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scalar;

    /// A bit of everything.
    struct Busy;
    impl Form<2, 2> for Busy {
        fn f0<S: Scalar>(&self, p: &Point<S, 2, 2>) -> [S; 2] {
            [p.u[1] * p.a[0], p.x[0].sin() * p.parameters[0] + p.time]
        }
        fn f1<S: Scalar>(&self, p: &Point<S, 2, 2>) -> [[S; 2]; 2] {
            [p.grad_u[1], [p.grad_a[1][0], p.u[0] * 0.0]]
        }
    }

    #[test]
    fn a_form_prints_as_a_function_of_arrays() {
        let traced = trace(&Busy);
        assert_eq!(traced.components(), 2);
        let text = traced
            .point_function(Precision::Fp64, Language::Cuda)
            .unwrap();
        let body = "\
  f0[0] = a[0] * u[1];
  f0[1] = time + parameters[0] * sin(x[0]);
  f1[0] = grad_u[2];
  f1[1] = grad_u[3];
  f1[2] = grad_a[2];
  f1[3] = 0.0;
}
";
        assert!(text.ends_with(body), "{text}");
        assert_eq!(traced.ops().flops(), 3);
    }

    #[test]
    fn derivatives_are_those_of_each_output() {
        let mut traced = trace(&Busy);
        let derivatives = traced.derivatives();
        let field = traced.graph.input(Input::Field(0));
        assert_eq!(derivatives[0][1], field);
        assert_eq!(traced.graph.constant_value(derivatives[2][4]), Some(1.0));
        assert_eq!(traced.graph.constant_value(derivatives[1][0]), Some(0.0));
    }
}
