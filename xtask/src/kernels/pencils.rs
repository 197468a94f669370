//! femto's own tensor-product kernel and its diagonal.

use femto_element::Cell;
use femto_kernel::dialect::Language;
use femto_kernel::expr::GraphError;
use femto_kernel::family::sum_factorization::Storage;
use femto_kernel::family::sum_factorization::kernel::{PointData, Schedule, ThreadPer};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::{FactorPrecision, KernelSource, Limits, Scatter, Vectors};
use femto_kernel::form::{Mass, Poisson, ScreenedPoisson, inspect};
use femto_kernel::scalar::Precision;

use super::elements::{Oracle, oracle};
use super::runner::nodal;
use super::tensor::{LAMBDA, Operator, basis};
use super::{Case, Selection};

const NODAL: Vectors = nodal(true, Scatter::Atomic);

/// Bounded: each storage and kind of operator at low degrees. All: every degree, and vectors of both kinds;
/// single precision is only compiled.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let degrees: Vec<usize> = match selection {
        Selection::Bounded => vec![1, 2, 3],
        Selection::All => (1..=15).collect(),
    };
    let on = (language, limits);
    let mut cases = Vec::new();
    let all = selection == Selection::All;
    for (n, &degree) in degrees.iter().enumerate() {
        for (collocated, gradients) in [(true, true), (false, true), (false, false)] {
            let storages = [
                Storage::MapFactors,
                Storage::PointFactors,
                Storage::ElementFactors,
            ];
            for (s, storage) in storages.into_iter().enumerate() {
                if !all && (n + s) % 3 == 2 {
                    continue;
                }
                let operator = operator(degree, collocated, gradients, storage);
                cases.extend(operator.apply_cases(on));
                cases.extend(operator.on_vectors(NODAL).apply_cases(on));
                if all || s == 0 {
                    cases.push(operator.diagonal_case(language));
                }
                if storage == Storage::PointFactors {
                    let operator = operator.with_single_factors();
                    cases.extend(operator.apply_cases(on));
                    cases.push(operator.diagonal_case(language));
                }
            }
        }
        if all || degree != 2 {
            cases.extend(staged_cases(degree, on));
        }
        if all || degree == 2 {
            for (collocated, gradients) in [(true, true), (false, true), (false, false)] {
                let operator = operator(degree, collocated, gradients, Storage::PointFactors);
                cases.extend(operator.on_vectors(NODAL).memory_cases(on));
            }
        }
        for (collocated, gradients) in [(true, true), (false, true), (false, false)] {
            let operator = operator(degree, collocated, gradients, Storage::MapFactors);
            let mut operator = operator.on_vectors(NODAL);
            operator.shape.components = 3;
            cases.extend(operator.apply_cases(on));
            cases.extend(operator.together_case(on));
            cases.extend(operator.nodes_staged_case(on));
        }
        if (2..=4).contains(&degree) {
            let poisson = operator(degree, false, true, Storage::MapFactors).without_values();
            cases.extend(poisson.on_vectors(NODAL).apply_cases(on));
        }
        if degree == 1 {
            for gradients in [true, false] {
                let operator = operator(degree, false, gradients, Storage::Entries);
                cases.extend(operator.entries_cases(on));
            }
            let poisson = operator(degree, true, true, Storage::Entries).without_values();
            cases.extend(poisson.entries_cases(on));
        }
        if degree == 1 || all && degree == 2 {
            for (collocated, gradients) in [(true, true), (false, true), (false, false)] {
                let operator = operator(degree, collocated, gradients, Storage::MapFactors);
                cases.extend(operator.on_vectors(NODAL).whole_element_cases(on));
            }
        }
    }
    cases
}

/// Elements of every kind, with factors in both precisions copied to shared memory.
fn staged_cases(degree: usize, on: (Language, &Limits)) -> Vec<Case> {
    let mut cases = Vec::new();
    for (collocated, gradients) in [(true, true), (false, true), (true, false), (false, false)] {
        let operator = operator(degree, collocated, gradients, Storage::PointFactors);
        cases.extend(operator.staged_case(on));
        cases.extend(operator.with_single_factors().staged_case(on));
    }
    cases
}

/// λ u, or λ u and κ ∇u, with λ = 1.3 and κ = 1, on E-vectors.
fn operator(degree: usize, collocated: bool, gradients: bool, storage: Storage) -> Operator {
    let basis = basis(Cell::Hexahedron, degree, collocated);
    let mut shape = Shape::new(&basis, &inspect::<ScreenedPoisson, 3, 1>(&FORM), storage);
    shape.gradients = gradients;
    Operator {
        basis,
        shape,
        form: None,
        factors: FactorPrecision::Same,
        vectors: Vectors::ELEMENT,
        precision: Precision::Fp64,
    }
}

impl Operator {
    fn on_vectors(&self, vectors: Vectors) -> Self {
        Self {
            vectors,
            ..self.clone()
        }
    }

    /// κ ∇u alone.
    fn without_values(mut self) -> Self {
        self.shape.values = false;
        self
    }

    fn with_single_factors(&self) -> Self {
        Self {
            factors: FactorPrecision::Single,
            ..self.clone()
        }
    }

    fn name(&self, what: &str) -> String {
        let (degree, storage) = (self.basis.degree(), self.shape.storage);
        let kind = match (self.shape.gradients, self.basis.collocated) {
            _ if self.shape.gradients && !self.shape.values => "poisson",
            (false, false) => "bk1",
            (false, true) => "collocated mass",
            (true, true) => "bk5",
            (true, false) => "bk3",
        };
        let vectors = match self.vectors {
            Vectors::Element { .. } => "element",
            Vectors::Nodal { .. } => "nodal",
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

    /// The best schedule and, if that has no pencils, the best of those with them.
    fn apply_cases(&self, on: (Language, &Limits)) -> Vec<Case> {
        let problem = self.problem(on.0);
        let mut wanted = problem.schedules(on.1);
        wanted.retain(|schedule| schedule.validate(&problem, on.1).is_ok());
        let is_pencils = |it: &Schedule| it.thread_per == ThreadPer::Pencil;
        let first = wanted.iter().position(is_pencils).unwrap_or(0);
        let of = |what, schedule: Schedule| self.case_of(what, problem.source(&schedule), schedule);
        let best = (first > 0).then(|| of("best", wanted[0]));
        best.into_iter()
            .chain([of("pencils", wanted[first])])
            .collect()
    }

    /// Variants with numbers at the points in shared and in private memory.
    fn memory_cases(&self, on: (Language, &Limits)) -> Vec<Case> {
        let of = |what, change| self.first_legal(what, on, change);
        let cases = [
            of("pencils shared", |_| Schedule {
                points: PointData::Shared,
                elements_per_block: 2,
                ..Schedule::PLAIN
            }),
            of("pencils private", |_| Schedule::PLAIN),
        ];
        cases.into_iter().flatten().collect()
    }

    /// A variant with factors copied to shared memory, unless they already are.
    fn staged_case(&self, (language, limits): (Language, &Limits)) -> Option<Case> {
        let best = self.problem(language).best(limits);
        if staged(best) == best {
            // Covered by the case above.
            return None;
        }
        self.first_legal("pencils staged", (language, limits), staged)
    }

    /// A variant with pencils of all components together.
    fn together_case(&self, on: (Language, &Limits)) -> Option<Case> {
        self.first_legal("pencils together", on, |_| Schedule {
            points: PointData::Registers,
            scratch_cube: true,
            together: true,
            elements_per_block: 2,
            even_odd: true,
            ..Schedule::PLAIN
        })
    }

    /// A variant with nodes staged, unless they already are.
    fn nodes_staged_case(&self, on: (Language, &Limits)) -> Option<Case> {
        match self.problem(on.0).best(on.1).nodes_staged {
            true => None,
            false => self.first_legal("pencils nodes staged", on, |schedule| Schedule {
                nodes_staged: true,
                ..schedule
            }),
        }
    }

    /// Variants with an element per thread, whose contributions are added by each thread or summed by block, for one
    /// component and for three together.
    fn whole_element_cases(&self, on: (Language, &Limits)) -> Vec<Case> {
        const WHOLE: Schedule = Schedule {
            thread_per: ThreadPer::Element,
            point_unroll: 1,
            points: PointData::Registers,
            elements_per_block: 32,
            together: true,
            ..Schedule::PLAIN
        };
        let mut vector = self.clone();
        vector.shape.components = 3;
        let boxes = operator(
            self.basis.degree(),
            self.basis.collocated,
            self.shape.gradients,
            Storage::ElementFactors,
        );
        let boxes = boxes.on_vectors(nodal(false, Scatter::Atomic));
        let of = |operator: &Self| {
            let added = operator.first_legal("elements", on, |_| WHOLE);
            let summed = operator.first_legal("elements summed", on, |_| Schedule {
                block_sums: true,
                ..WHOLE
            });
            [added, summed]
        };
        let cases = [self, &vector, &boxes].into_iter().flat_map(of);
        let deterministic = self.on_vectors(nodal(true, Scatter::Deterministic));
        let stored = deterministic.first_legal("elements stored", on, |_| WHOLE);
        cases.flatten().chain(stored).collect()
    }

    /// Products with the numbers of matrices, whose contributions are added by each thread, stored or summed by block.
    fn entries_cases(&self, on: (Language, &Limits)) -> Vec<Case> {
        let mut cases = vec![self.diagonal_case(on.0)];
        let vectors = [
            Vectors::ELEMENT,
            NODAL,
            nodal(false, Scatter::Deterministic),
        ];
        for (vectors, components) in vectors.into_iter().flat_map(|it| [(it, 1), (it, 3)]) {
            let mut operator = self.on_vectors(vectors);
            operator.shape.components = components;
            cases.extend(operator.first_legal("entries", on, |_| Schedule::ENTRIES));
            let summed = operator.first_legal("entries summed", on, |_| Schedule {
                together: true,
                block_sums: true,
                ..Schedule::ENTRIES
            });
            cases.extend(summed);
        }
        let single = self.on_vectors(NODAL).with_single_factors();
        cases.extend(single.first_legal("entries", on, |_| Schedule::ENTRIES));
        cases
    }

    fn first_legal(
        &self,
        what: &str,
        (language, limits): (Language, &Limits),
        change: fn(Schedule) -> Schedule,
    ) -> Option<Case> {
        let problem = self.problem(language);
        let schedules = [problem.best(limits), Schedule::PLAIN].map(change);
        let is_legal = |schedule: &Schedule| schedule.validate(&problem, limits).is_ok();
        let schedule = schedules.into_iter().find(is_legal)?;
        Some(self.case_of(what, problem.source(&schedule), schedule))
    }

    fn diagonal_case(&self, language: Language) -> Case {
        let problem = self.problem(language);
        let schedule = problem.plain();
        self.case_of("diagonal", problem.diagonal_source(), schedule)
    }

    fn case_of(
        &self,
        what: &str,
        kernel: Result<KernelSource, GraphError>,
        schedule: Schedule,
    ) -> Case {
        let tolerance = match self.factors {
            FactorPrecision::Same => 1e-12,
            FactorPrecision::Single => 32.0 * FactorPrecision::SINGLE_CHANGE,
        };
        let kernel = kernel.expect("no form is printed");
        let oracle = self.oracle();
        self.clone()
            .case(self.name(what), (kernel, schedule), oracle, tolerance)
    }

    /// The oracle, one component after the other.
    fn oracle(&self) -> Oracle {
        let (nodes, basis) = (self.basis.nodes(), self.basis.clone());
        let (scale, of_one) = match (self.shape.values, self.shape.gradients) {
            (false, _) => (1.0, oracle::<_, 3, 1>(Poisson, basis)),
            (true, true) => (1.0, oracle::<_, 3, 1>(FORM, basis)),
            (true, false) => (LAMBDA, oracle::<_, 3, 1>(Mass, basis)),
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
    Schedule {
        staged: true,
        ..schedule
    }
}

const FORM: ScreenedPoisson = ScreenedPoisson {
    lambda: Some(LAMBDA),
};
