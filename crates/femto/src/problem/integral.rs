//! Integrals of functions over the domain, by operators whose scalar form is the integrand.

use super::discretization::check_finite;
use super::function::POINTS;
use super::{Discretization, Function, FunctionName, ProblemError, ProblemForm};
use crate::operator::{Auxiliary, Backend, OperatorError, rule_on};
use crate::vector::VectorOps;
use crate::{Operator, OperatorParams, Quadrature};
use femto_fem::geometry::Points;
use femto_fem::parallel;
use femto_fem::space::{Block, Space};
use femto_kernel::expr::{Graph, Handle, Input, Program};
use femto_kernel::scalar::{Scalar, Traced};
use std::cell::RefCell;

/// The points of an operator on `space`.
pub(super) fn points(space: &Space, quadrature: Quadrature) -> Result<Points, OperatorError> {
    let (cell, degree) = (space.cell(), space.degree());
    match cell.is_tensor_product() && degree.is_uniform() {
        true => Ok(Points::Grid(
            quadrature.tables(cell, degree.horizontal)?.points,
        )),
        false => Ok(Points::List(rule_on((cell, degree), quadrature)?.points)),
    }
}

/// A function in an integrand.
pub(super) enum Term {
    /// Evaluated at the points by the operator itself.
    Program(Program),
    /// The auxiliary field of this number, with values at the points.
    Field(u8),
}

impl Term {
    /// `f`; what has no program has its values at the points in a new auxiliary field.
    pub(super) fn new(
        on: &Discretization<'_>,
        (name, f): (&FunctionName, &dyn Function),
        auxiliary: &mut Vec<Auxiliary>,
    ) -> Result<Self, ProblemError> {
        match f.as_program() {
            Some(program) => Ok(Self::Program(program)),
            None => Self::at_points(on, (name, f), auxiliary),
        }
    }

    /// As [`Self::new`], but programs that read the position are tabulated at the points too.
    pub(super) fn without_position(
        on: &Discretization<'_>,
        (name, f): (&FunctionName, &dyn Function),
        auxiliary: &mut Vec<Auxiliary>,
    ) -> Result<Self, ProblemError> {
        let is_position = |input: &Input| matches!(input, Input::Position(_));
        match f.as_program() {
            Some(program) if !program.inputs().iter().any(is_position) => {
                Ok(Self::Program(program))
            }
            _ => Self::at_points(on, (name, f), auxiliary),
        }
    }

    fn at_points(
        on: &Discretization<'_>,
        (name, f): (&FunctionName, &dyn Function),
        auxiliary: &mut Vec<Auxiliary>,
    ) -> Result<Self, ProblemError> {
        auxiliary.push(Auxiliary::AtPoints(on.at_points(name, f)?));
        Ok(Self::Field(auxiliary.len() as u8 - 1))
    }

    /// The term in a graph over points with `dim` coordinates.
    pub(super) fn traced<'g>(&self, graph: &'g RefCell<Graph>, dim: usize) -> Traced<'g> {
        let mut value = match self {
            Self::Program(_) => Traced::input(graph, Input::Time),
            Self::Field(field) => Traced::input(graph, Input::Field(*field)),
        };
        if let Self::Program(program) = self {
            let like = value;
            let input = |input| match input {
                // In the plane z is 0.
                Input::Position(axis) if usize::from(axis) >= dim => like.constant(0.0),
                _ => Traced::input(graph, input),
            };
            program.run_point(like, input, |_, found| value = found);
        }
        value
    }
}

/// Integrands, tested with basis functions.
#[derive(Clone, Copy)]
pub(super) enum Integrand {
    /// f.
    Value,
    /// (u - f)².
    SquareOfError,
    /// |∇u - f|², where f has one component per axis.
    SquareOfGradientError,
}

/// ∫ φ f0 for every basis function φ of a scalar space.
pub(super) struct Integral<'a> {
    blocks: &'a [Block],
    dim: usize,
    graph: Graph,
    f0: Handle,
    params: OperatorParams,
}

impl<'a> Integral<'a> {
    /// The integral of `integrand` with `functions` as its f on the scalar
    /// `blocks`.
    pub(super) fn new(
        on: &Discretization<'_>,
        blocks: &'a [Block],
        integrand: Integrand,
        (name, functions): (&FunctionName, &[&dyn Function]),
    ) -> Result<Self, ProblemError> {
        let mut auxiliary = Vec::new();
        let mut terms = Vec::new();
        for &f in functions {
            terms.push(Term::new(on, (name, f), &mut auxiliary)?);
        }
        let graph = RefCell::new(Graph::new());
        let f0 = {
            let input = |input| Traced::input(&graph, input);
            let mut sum = input(Input::Time).constant(0.0);
            for (axis, term) in terms.iter().enumerate() {
                let f = term.traced(&graph, on.dim());
                let along = Input::Gradient {
                    component: 0,
                    axis: axis as u8,
                };
                sum = match integrand {
                    Integrand::Value => f,
                    Integrand::SquareOfError => (input(Input::Value(0)) - f).powi(2),
                    Integrand::SquareOfGradientError => sum + (input(along) - f).powi(2),
                };
            }
            sum.handle()
        };
        Ok(Self::of_graph(
            on,
            blocks,
            (graph.into_inner(), f0),
            auxiliary,
        ))
    }

    /// The integral of given values on the scalar `blocks`.
    pub(super) fn of_values(
        on: &Discretization<'_>,
        blocks: &'a [Block],
        values: Auxiliary,
    ) -> Self {
        let mut graph = Graph::new();
        let f0 = graph.input(Input::Field(0));
        Self::of_graph(on, blocks, (graph, f0), vec![values])
    }

    /// The integral of F·n on a scalar trace, of the F with the values `flux`, `[axis][node]`, at its nodes, with the
    /// [normals](Discretization::normals_at_points).
    pub(super) fn of_flux(
        on: &Discretization<'_>,
        blocks: &'a [Block],
        (flux, normals): (Vec<Vec<f64>>, &[Vec<f64>]),
    ) -> Self {
        let mut auxiliary = Vec::new();
        let graph = RefCell::new(Graph::new());
        let f0 = {
            let field = |field: usize| Traced::input(&graph, Input::Field(field as u8));
            let mut sum = Traced::input(&graph, Input::Time).constant(0.0);
            for (flux, normals) in flux.into_iter().zip(normals) {
                sum = sum + field(auxiliary.len()) * field(auxiliary.len() + 1);
                let normals = Auxiliary::AtPoints(normals.clone());
                auxiliary.extend([Auxiliary::Nodal(flux), normals]);
            }
            sum.handle()
        };
        Self::of_graph(on, blocks, (graph.into_inner(), f0), auxiliary)
    }

    fn of_graph(
        on: &Discretization<'_>,
        blocks: &'a [Block],
        (graph, f0): (Graph, Handle),
        auxiliary: Vec<Auxiliary>,
    ) -> Self {
        Self {
            blocks,
            dim: on.dim(),
            graph,
            f0,
            params: on.params(auxiliary),
        }
    }

    /// The operator that evaluates it.
    fn bind<B: Backend + VectorOps<f64>>(
        &self,
        device: &B,
    ) -> Result<Operator<f64, B>, OperatorError> {
        let form = ProblemForm::of_values(self.graph.clone(), vec![self.f0], self.dim)?;
        Operator::of_blocks(device, self.blocks, form.form(), self.params.clone())
    }

    /// The vector of integrals for u = 0.
    pub(super) fn vector<B>(&self, device: &B) -> Result<B::Buffer<f64>, ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let operator = self.bind(device)?;
        let zero = device.zeros(operator.dofs())?;
        let mut sums = device.zeros(operator.dofs())?;
        operator.apply(&zero, &mut sums)?;
        Ok(sums)
    }

    /// The integrals of f0 over the domain for the L-vector `u`, and for u = 0: basis functions sum to one.
    pub(super) fn totals<B>(&self, device: &B, u: &[f64]) -> Result<[f64; 2], ProblemError>
    where
        B: Backend + VectorOps<f64>,
    {
        let operator = self.bind(device)?;
        let mut sums = device.zeros(u.len())?;
        let mut ones = device.zeros(u.len())?;
        device.fill(1.0, &mut ones)?;
        let mut u = device.upload(u)?;
        operator.apply(&u, &mut sums)?;
        let with_u = device.dot(&ones, &sums)?;
        device.fill(0.0, &mut u)?;
        operator.apply(&u, &mut sums)?;
        Ok([with_u, device.dot(&ones, &sums)?])
    }
}

impl Discretization<'_> {
    /// Parameters of an operator with these auxiliary fields.
    fn params(&self, auxiliary: Vec<Auxiliary>) -> OperatorParams {
        OperatorParams {
            quadrature: self.quadrature,
            scatter: self.scatter,
            time: self.time,
            is_applied_once: true,
            auxiliary,
            ..OperatorParams::default()
        }
    }

    /// The outward normals at the points of all facets, one list for each axis, `[axis][facet][point]`.
    pub(super) fn normals_at_points(&self) -> Result<Vec<Vec<f64>>, ProblemError> {
        let (mut all, mut of_facet) = (vec![Vec::new(); self.dim()], Vec::new());
        for Block { space, geometry } in self.blocks {
            let points = points(space, self.quadrature)?;
            for facet in 0..geometry.len() {
                geometry.outward_normals(facet, &points, &mut of_facet);
                for (axis, along) in all.iter_mut().enumerate() {
                    along.extend(of_facet.iter().map(|normal| normal[axis]));
                }
            }
        }
        Ok(all)
    }

    /// The values of `f` at the points of all cells, `[mesh cell][point]`.
    pub(super) fn at_points(
        &self,
        name: &FunctionName,
        f: &dyn Function,
    ) -> Result<Vec<f64>, ProblemError> {
        self.at_points_within(name, f, None)
    }

    /// The same, but zero outside some cells, `[mesh cell]`, where `f` is not evaluated.
    pub(super) fn at_points_within(
        &self,
        name: &FunctionName,
        f: &dyn Function,
        within: Option<&[bool]>,
    ) -> Result<Vec<f64>, ProblemError> {
        let mut all = Vec::new();
        let mut first_cell = 0;
        for Block { space, geometry } in self.blocks {
            let points = points(space, self.quadrature)?;
            let (first, count) = (all.len(), points.count(space.cell()).max(1));
            let cells = (POINTS / count).max(1);
            all.resize(first + geometry.len() * count, 0.0);
            parallel::try_chunks(&mut all[first..], cells * count, |part, values| {
                let (mut positions, mut of_cell) = (Vec::with_capacity(values.len()), Vec::new());
                let mut own = Vec::new();
                for (cell, values) in (part * cells..).zip(values.chunks_exact_mut(count)) {
                    if within.is_none_or(|within| within[first_cell + cell]) {
                        geometry.positions(cell, &points, &mut of_cell);
                        positions.extend_from_slice(&of_cell);
                        own.push(values);
                    }
                }
                let mut found = vec![0.0; positions.len()];
                f.evaluate(&positions, self.time, &mut found);
                for (values, found) in own.into_iter().zip(found.chunks_exact(count)) {
                    values.copy_from_slice(found);
                }
                check_finite(name, &found, &positions)
            })?;
            first_cell += geometry.len();
        }
        Ok(all)
    }
}
