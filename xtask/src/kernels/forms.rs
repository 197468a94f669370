//! Arbitrary forms on hexahedra and quadrilaterals.

use femto_element::Cell;
use femto_kernel::dialect::Language;
use femto_kernel::family::Limits;
use femto_kernel::family::fields::{FieldKind, Fields};
use femto_kernel::family::sum_factorization::Storage;
use femto_kernel::family::sum_factorization::kernel::{PointData, Schedule, ThreadPer};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::{FactorPrecision, Scatter, Vectors};
use femto_kernel::form::{
    Coefficient, Diffusion, Form, Jacobian, LinearElasticity, Mass, NeoHookean, NonlinearDiffusion,
    Point, ScreenedPoisson, trace,
};
use femto_kernel::scalar::{Precision, Scalar};

use super::elements::oracle;
use super::runner::nodal;
use super::simplices::forms::{Everything, KINDS};
use super::tensor::{Operator, basis};
use super::{Case, Selection};

const STORAGES: [Storage; 3] = [Storage::Affine, Storage::Multilinear, Storage::Jacobians];

const VECTORS: [Vectors; 5] = [
    Vectors::ELEMENT,
    nodal(true, Scatter::Atomic),
    nodal(false, Scatter::Deterministic),
    Vectors::Element { listed: true },
    nodal(true, Scatter::Deterministic),
];

const PRECISIONS: [Precision; 2] = [Precision::Fp64, Precision::Fp32];

const PLACES: [PointData; 3] = [PointData::Registers, PointData::Shared, PointData::Private];

/// The kernel under test.
#[derive(Clone, Copy)]
enum Action {
    Apply,
    Diagonal,
}

/// All parameters except the form.
#[derive(Clone, Copy)]
struct Kind {
    cell: Cell,
    degree: usize,
    collocated: bool,
    storage: Storage,
    vectors: Vectors,
    precision: Precision,
    /// Storage of numbers at the points; `None` for the best.
    points: Option<PointData>,
    action: Action,
}

impl Kind {
    /// Cycles through the values of every property, each with its own period.
    fn turn(degree: usize, n: usize) -> Self {
        Self {
            cell: Cell::Hexahedron,
            degree,
            collocated: n / 2 % 3 == 2,
            storage: STORAGES[n % 3],
            vectors: VECTORS[n % 5],
            precision: PRECISIONS[n / 3 % 2],
            points: PLACES.get(n % 4).copied(),
            action: Action::Apply,
        }
    }

    fn diagonal(self) -> Self {
        Self {
            action: Action::Diagonal,
            ..self
        }
    }
}

/// Bounded: every form at low degrees, with all other properties in turn, and one high degree. All: every
/// degree.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let mut cases = Vec::new();
    let on = (language, limits);
    let lame = (Coefficient::Constant(1.5), Coefficient::Auxiliary(0));
    let elasticity = LinearElasticity {
        lambda: lame.0,
        mu: lame.1,
    };
    let body = NeoHookean::from_young(1.0, 0.3);
    let diffusion = Diffusion {
        kappa: Coefficient::Auxiliary(0),
    };
    let screened = ScreenedPoisson { lambda: None };
    let state = [FieldKind::Nodal; 3];
    let both = [[FieldKind::Nodal; 2].as_slice(), &KINDS].concat();
    let degrees = match selection {
        Selection::Bounded => vec![1, 2, 3, 4],
        Selection::All => (1..=15).collect(),
    };
    for degree in degrees {
        // Forms of one degree start at different turns, so that they do not always have the same
        // properties.
        let turn = |form: usize| Kind::turn(degree, 7 * degree + 4 * form);
        let cell = [FieldKind::Cell];
        cases.extend(turn(0).case::<_, 3, 1>("mass", Mass, &[], on));
        cases.extend(turn(1).case::<_, 3, 1>("screened", screened, &cell, on));
        cases.extend(turn(2).case::<_, 3, 1>("diffusion", diffusion, &[FieldKind::Nodal], on));
        cases.extend(turn(3).case::<_, 3, 3>("elasticity", elasticity, &[FieldKind::Points], on));
        cases.extend(turn(4).case::<_, 3, 3>("neo-hookean", body, &[], on));
        if degree <= 8 {
            // Forms with many derivatives take long to compile.
            cases.extend(turn(5).case::<_, 3, 3>("jacobian", Jacobian(body), &state, on));
        }
        cases.extend(turn(6).case::<_, 3, 2>("everything", Everything, &KINDS, on));
        if degree <= 3 {
            let diagonal = |form| turn(form).diagonal();
            cases.extend(diagonal(7).case::<_, 3, 3>("elasticity", elasticity, &cell, on));
            let linear = Jacobian(Everything);
            cases.extend(diagonal(8).case::<_, 3, 2>("linear everything", linear, &both, on));
        }
    }
    if selection == Selection::Bounded {
        let high = Kind::turn(7, 10);
        cases.extend(high.case::<_, 3, 3>("elasticity", elasticity, &[FieldKind::Points], on));
        cases.extend(Kind::turn(9, 7).case::<_, 3, 1>(
            "screened",
            screened,
            &[FieldKind::Cell],
            on,
        ));
        // PoCL 3.1 is prone to miscompiling these.
        let material = LinearElasticity::from_young(2.0, 0.3);
        for storage in [Storage::Multilinear, Storage::Jacobians] {
            let kind = Kind {
                collocated: true,
                storage,
                vectors: nodal(false, Scatter::Atomic),
                precision: Precision::Fp64,
                ..Kind::turn(3, 0).diagonal()
            };
            cases.extend(kind.case::<_, 3, 3>("elastic material", material, &[], on));
        }
    }
    cases.extend(layer_cases(on));
    cases.extend(planar_cases(selection, on));
    cases
}

/// Of two fields the second is read with its gradient.
#[derive(Clone)]
struct Carried;

impl Form<3> for Carried {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        let [flow, slope] = [p.grad_a[1], p.grad_u[0]];
        [flow[0] * slope[0] + flow[1] * slope[1] + flow[2] * slope[2] + p.a[1] * p.u[0]]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|slope| slope * (p.a[0] * p.a[0] + 1.0))]
    }
}

/// Forms that have a layer of nodes per thread.
fn layer_cases(on: (Language, &Limits)) -> Vec<Case> {
    let kind = |degree, storage, (vectors, precision)| Kind {
        cell: Cell::Hexahedron,
        degree,
        collocated: false,
        storage,
        vectors,
        precision,
        points: None,
        action: Action::Apply,
    };
    let atomic = (nodal(true, Scatter::Atomic), Precision::Fp64);
    let fixed = (nodal(false, Scatter::Deterministic), Precision::Fp64);
    let single = (nodal(false, Scatter::Atomic), Precision::Fp32);
    let screened = ScreenedPoisson { lambda: None };
    let diffusion = Diffusion {
        kappa: Coefficient::Auxiliary(0),
    };
    let material = LinearElasticity::from_young(2.0, 0.3);
    let heat = Jacobian(NonlinearDiffusion::default());
    let body = LinearElasticity {
        lambda: Coefficient::Auxiliary(0),
        mu: Coefficient::Auxiliary(1),
    };
    let (cell, nodal_field) = ([FieldKind::Cell], [FieldKind::Nodal]);
    let both = [FieldKind::Nodal, FieldKind::Cell];
    let (affine, multilinear) = (Storage::Affine, Storage::Multilinear);
    let cases = [
        kind(2, multilinear, fixed).case::<_, 3, 1>("layers screened", screened, &cell, on),
        kind(3, affine, atomic).case::<_, 3, 1>("layers diffusion", diffusion, &cell, on),
        kind(4, multilinear, single).case::<_, 3, 1>("layers diffusion", diffusion, &cell, on),
        kind(2, multilinear, atomic).case::<_, 3, 3>("layers elasticity", material, &[], on),
        kind(2, multilinear, atomic).case::<_, 3, 1>("layers jacobian", heat, &nodal_field, on),
        kind(3, affine, fixed).case::<_, 3, 1>(
            "layers nodal diffusion",
            diffusion,
            &nodal_field,
            on,
        ),
        kind(2, affine, single).case::<_, 3, 3>("layers nodal elasticity", body, &both, on),
        kind(2, multilinear, single).case::<_, 3, 1>(
            "layers fields",
            Carried,
            &[FieldKind::Nodal; 2],
            on,
        ),
    ];
    cases.into_iter().flatten().collect()
}

/// The same cases on quadrilaterals.
fn planar_cases(selection: Selection, on: (Language, &Limits)) -> Vec<Case> {
    let mut cases = Vec::new();
    let body = NeoHookean::from_young(1.0, 0.3);
    let elasticity = LinearElasticity {
        lambda: Coefficient::Constant(1.5),
        mu: Coefficient::Auxiliary(0),
    };
    let screened = ScreenedPoisson { lambda: None };
    let [cell, state] = [FieldKind::Cell, FieldKind::Nodal];
    let both = [[state; 2].as_slice(), &KINDS].concat();
    let degrees = match selection {
        Selection::Bounded => vec![1, 2, 3, 5, 8],
        Selection::All => (1..=15).collect(),
    };
    for degree in degrees {
        let turn = |form: usize| Kind {
            cell: Cell::Quadrilateral,
            ..Kind::turn(degree, 7 * degree + 4 * form)
        };
        cases.extend(turn(0).case::<_, 2, 1>("mass", Mass, &[], on));
        cases.extend(turn(1).case::<_, 2, 1>("screened", screened, &[cell], on));
        cases.extend(turn(2).case::<_, 2, 2>("elasticity", elasticity, &[FieldKind::Points], on));
        cases.extend(turn(3).case::<_, 2, 2>("jacobian", Jacobian(body), &[state; 2], on));
        cases.extend(turn(4).case::<_, 2, 2>("everything", Everything, &KINDS, on));
        if degree <= 3 {
            let linear = Jacobian(Everything);
            let diagonal = |form| turn(form).diagonal();
            cases.extend(diagonal(5).case::<_, 2, 2>("elasticity", elasticity, &[cell], on));
            cases.extend(diagonal(6).case::<_, 2, 2>("linear everything", linear, &both, on));
        }
    }
    cases
}

impl Kind {
    fn case<F, const D: usize, const C: usize>(
        self,
        what: &str,
        form: F,
        fields: &[FieldKind],
        (language, limits): (Language, &Limits),
    ) -> Option<Case>
    where
        F: Form<D, C> + 'static,
    {
        let basis = basis(self.cell, self.degree, self.collocated);
        let traced = trace::<F, D, C>(&form);
        let inspection = traced.inspect();
        let shape = Shape::new(&basis, &inspection, self.storage);
        let operator = Operator {
            basis: basis.clone(),
            shape: shape.with_fields(&inspection, Fields::new(fields)),
            form: Some(traced),
            factors: FactorPrecision::Same,
            vectors: self.vectors,
            precision: self.precision,
        };
        let problem = operator.problem(language);
        let best = problem.best(limits);
        let mut all = problem.schedules(limits).into_iter();
        let pencils = all.find(|it| it.thread_per == ThreadPer::Pencil)?;
        let asked = |scratch_cube| {
            self.points.map(|points| Schedule {
                points,
                scratch_cube: scratch_cube && points == PointData::Registers,
                ..pencils
            })
        };
        // A single input does not need a scratch cube.
        let asked = [asked(self.degree % 2 == 1), asked(true)];
        let legal = |schedule: &Schedule| schedule.validate(&problem, limits).is_ok();
        let schedule = asked.into_iter().flatten().chain([best]).find(legal)?;
        // As their names say.
        let is_layer = schedule.thread_per == ThreadPer::Layer;
        assert!(
            is_layer || !what.starts_with("layers"),
            "{what}: {schedule}"
        );
        let (kernel, schedule) = match self.action {
            Action::Apply => (problem.source(&schedule), schedule),
            Action::Diagonal => (problem.diagonal_source(), Schedule::PLAIN),
        };
        let kernel = kernel.expect("constants of these forms are finite");
        let name = self.name(what, kernel.entry, schedule.points);
        let tolerance = match self.precision {
            Precision::Fp64 => 1e-12,
            Precision::Fp32 => 2e-5,
        };
        let kernel = (kernel, schedule);
        Some(operator.case(name, kernel, oracle::<F, D, C>(form, basis), tolerance))
    }

    fn name(self, what: &str, entry: &str, points: PointData) -> String {
        let vectors = match self.vectors {
            Vectors::Element { listed: true } => "listed",
            Vectors::Element { listed: false } => "element",
            Vectors::Nodal { scatter, .. } => scatter.name(),
        };
        let rule = if self.collocated {
            "collocated"
        } else {
            "gauss"
        };
        let cell = match self.cell {
            Cell::Hexahedron => "",
            other => &format!("{} ", other.name()),
        };
        format!(
            "forms/{cell}{what} {entry} {:?} {vectors} {rule} {points:?} N={:02} {}",
            self.storage,
            self.degree,
            self.precision.name()
        )
    }
}
