//! femto's own hexahedral kernel and its diagonal.

use femto_element::Cell;
use femto_element::tables::TensorTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::sum_factorization::Storage;
use femto_kernel::family::sum_factorization::kernel::{PointData, Schedule};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::{FactorPrecision, KernelSource, Limits, Scatter, Vectors};
use femto_kernel::form::{Mass, ScreenedPoisson, inspect};
use femto_kernel::roofline::Precision;

use super::runner::{Oracle, oracle};
use super::tensor::{LAMBDA, Operator, basis};
use super::{Case, Selection};

const ELEMENT: Vectors = Vectors::Element { listed: false };
const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Atomic,
};

/// Bounded: each storage and kind of operator at low degrees. All: every degree, and vectors of both
/// kinds; single precision is compiled alone.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let degrees: Vec<usize> = match selection {
        Selection::Bounded => vec![1, 2, 3],
        Selection::All => (1..=15).collect(),
    };
    let on = (language, limits);
    let mut cases = Vec::new();
    for (n, &degree) in degrees.iter().enumerate() {
        let all = selection == Selection::All;
        for (collocated, gradients) in [(true, true), (false, true), (false, false)] {
            let storages = [
                Storage::Trilinear,
                Storage::PointFactors,
                Storage::ElementFactors,
            ];
            for (s, storage) in storages.into_iter().enumerate() {
                if !all && (n + s) % 3 == 2 {
                    continue;
                }
                let element = Element::new(degree, collocated, gradients, storage);
                for vectors in [ELEMENT, NODAL] {
                    cases.extend(element.case(vectors, on));
                }
                if all || s == 0 {
                    cases.push(element.diagonal_case(language));
                }
                if storage == Storage::PointFactors {
                    let element = element.with_single_factors();
                    cases.extend(element.case(ELEMENT, on));
                    cases.push(element.diagonal_case(language));
                }
            }
        }
        if all || degree != 2 {
            cases.extend(staged_cases(degree, on));
        }
        for collocated in [true, false] {
            let element = Element::new(degree, collocated, true, Storage::Trilinear);
            let element = element.with_components(3);
            cases.extend(element.case(NODAL, on));
        }
    }
    cases
}

/// Elements of every kind with factors in both precisions, copied to shared memory.
fn staged_cases(degree: usize, on: (Language, &Limits)) -> Vec<Case> {
    let mut cases = Vec::new();
    for (collocated, gradients) in [(true, true), (false, true), (true, false), (false, false)] {
        let element = Element::new(degree, collocated, gradients, Storage::PointFactors);
        let single = element.with_single_factors();
        for element in [element, single] {
            cases.extend(element.staged_case(on));
        }
    }
    cases
}

/// A kind of element: λ u, or λ u and κ ∇u, with λ = 1.3 and κ = 1, on trilinear maps.
#[derive(Clone)]
struct Element {
    basis: TensorTables,
    shape: Shape,
    factors: FactorPrecision,
}

impl Element {
    fn new(degree: usize, collocated: bool, gradients: bool, storage: Storage) -> Self {
        let basis = basis(Cell::Hexahedron, degree, collocated);
        let inspection = inspect::<ScreenedPoisson, 3, 1>(&FORM);
        let mut shape = Shape::new(&basis, &inspection, storage);
        shape.gradients = gradients;
        Self {
            basis,
            shape,
            factors: FactorPrecision::Same,
        }
    }

    fn with_single_factors(&self) -> Self {
        Self {
            factors: FactorPrecision::Single,
            ..self.clone()
        }
    }

    fn with_components(mut self, components: usize) -> Self {
        self.shape.components = components;
        self
    }

    fn operator(&self, vectors: Vectors) -> Operator {
        Operator {
            basis: self.basis.clone(),
            shape: self.shape,
            form: None,
            factors: self.factors,
            vectors,
            precision: Precision::Fp64,
        }
    }

    fn name(&self, what: &str, vectors: Vectors) -> String {
        let (degree, storage) = (self.basis.nodes_1d - 1, self.shape.storage);
        let kind = match (self.shape.gradients, self.basis.collocated) {
            (false, false) => "bk1",
            (false, true) => "collocated mass",
            (true, true) => "bk5",
            (true, false) => "bk3",
        };
        let vectors = if vectors == ELEMENT {
            "element"
        } else {
            "nodal"
        };
        let single = match self.factors {
            FactorPrecision::Same => "",
            FactorPrecision::Single => ", factors fp32",
        };
        let components = match self.shape.components {
            1 => String::new(),
            components => format!(", {components} components"),
        };
        format!("{what}/{kind} {storage:?} {vectors} N={degree:02} fp64{single}{components}")
    }

    fn case(&self, vectors: Vectors, on: (Language, &Limits)) -> Option<Case> {
        self.first_legal("pencils", vectors, on, |schedule| schedule)
    }

    /// With factors copied to shared memory, where they are not anyway.
    fn staged_case(&self, (language, limits): (Language, &Limits)) -> Option<Case> {
        let best = self.operator(ELEMENT).problem(language).best(limits);
        if staged(best) == best {
            // That is the case above.
            return None;
        }
        self.first_legal("pencils staged", ELEMENT, (language, limits), staged)
    }

    fn first_legal(
        &self,
        what: &str,
        vectors: Vectors,
        (language, limits): (Language, &Limits),
        change: fn(Schedule) -> Schedule,
    ) -> Option<Case> {
        let operator = self.operator(vectors);
        let problem = operator.problem(language);
        let schedules = [problem.best(limits), problem.plain()].map(change);
        let is_legal = |schedule: &Schedule| schedule.validate(&problem, limits).is_ok();
        let schedule = schedules.into_iter().find(is_legal)?;
        let kernel = problem.source(&schedule).expect("no form is printed");
        Some(self.checked(self.name(what, vectors), operator, kernel))
    }

    fn diagonal_case(&self, language: Language) -> Case {
        let operator = self.operator(ELEMENT);
        let kernel = operator.problem(language).diagonal_source();
        let kernel = kernel.expect("no form is printed");
        self.checked(self.name("diagonal", ELEMENT), operator, kernel)
    }

    fn checked(&self, name: String, operator: Operator, kernel: KernelSource) -> Case {
        let tolerance = match self.factors {
            FactorPrecision::Same => TOLERANCE,
            FactorPrecision::Single => 32.0 * FactorPrecision::SINGLE_CHANGE,
        };
        operator.case(name, kernel, self.oracle(), tolerance)
    }

    /// Of one component after the other.
    fn oracle(&self) -> Oracle {
        let (nodes, basis) = (self.basis.nodes(), self.basis.clone());
        let (scale, of_one) = match self.shape.gradients {
            true => (1.0, oracle::<_, 3, 1>(FORM, basis)),
            false => (LAMBDA, oracle::<_, 3, 1>(Mass, basis)),
        };
        Box::new(move |geometry, fields, u| {
            let components = u.chunks_exact(nodes);
            let v = components.flat_map(|u| of_one(geometry, fields, u));
            v.map(|v| scale * v).collect()
        })
    }
}

/// A schedule with factors copied to shared memory.
fn staged(schedule: Schedule) -> Schedule {
    let mut staged_schedule = schedule;
    if let PointData::Factors { staged, .. } = &mut staged_schedule.points {
        *staged = true;
    }
    staged_schedule
}

/// How far kernels may be from their oracles, relative to the largest value.
const TOLERANCE: f64 = 1e-12;
const FORM: ScreenedPoisson = ScreenedPoisson {
    lambda: Some(LAMBDA),
};
