//! femto's own hexahedral kernel and its diagonal.

mod data;

use anyhow::{Context, Result, ensure};
use femto_element::Cell;
use femto_element::tables::TensorTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::EvalContext;
use femto_kernel::family::Limits;
use femto_kernel::family::oracle::{self, CellFields, OracleGeometry};
use femto_kernel::family::sum_factorization::Storage;
use femto_kernel::family::sum_factorization::kernel::{PointData, PointStep, Problem, Schedule};
use femto_kernel::family::sum_factorization::work::Shape;
use femto_kernel::family::{FactorPrecision, KernelSource, Operand, Scatter, Vectors};
use femto_kernel::form::{ScreenedPoisson, inspect};
use femto_kernel::roofline::Precision;
use femto_platform::device::Device;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Launch, Module,
};
use rand::RngExt;
use std::rc::Rc;

use self::data::Data;
pub(super) use self::data::{at_points, basis};
use super::{Case, Selection};

/// Elements of a check: several blocks, the last one not full.
const ELEMENTS: usize = 5;

/// Nodes of an element whose diagonal is compared whole: the oracle takes an application for each entry.
const ALL_NODES: usize = 125;

/// Random nodes that are compared in an element of more.
const SOME_NODES: usize = 8;

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
                let element = Rc::new(Element::new(degree, collocated, gradients, storage));
                for vectors in [ELEMENT, NODAL] {
                    cases.extend(element.case(vectors, language, limits));
                }
                if all || s == 0 {
                    cases.push(element.diagonal_case(language));
                }
                if storage == Storage::PointFactors {
                    let element = Rc::new(element.with_single_factors());
                    cases.extend(element.case(ELEMENT, language, limits));
                    cases.push(element.diagonal_case(language));
                }
            }
        }
        if all || degree != 2 {
            cases.extend(staged_cases(degree, language, limits));
        }
        for collocated in [true, false] {
            let element = Element::new(degree, collocated, true, Storage::Trilinear);
            let element = Rc::new(element.with_components(3));
            cases.extend(element.case(NODAL, language, limits));
        }
    }
    cases
}

/// Elements of every kind with factors in both precisions, copied to shared memory.
fn staged_cases(degree: usize, language: Language, limits: &Limits) -> Vec<Case> {
    let mut cases = Vec::new();
    for (collocated, gradients) in [(true, true), (false, true), (true, false), (false, false)] {
        let element = Element::new(degree, collocated, gradients, Storage::PointFactors);
        let single = element.with_single_factors();
        for element in [element, single].map(Rc::new) {
            cases.extend(element.staged_case(language, limits));
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

    fn problem(&self, vectors: Vectors, language: Language) -> Problem<'_> {
        Problem {
            basis: &self.basis,
            shape: self.shape,
            step: PointStep::Factors(self.factors),
            vectors,
            precision: Precision::Fp64,
            language,
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

    fn case(
        self: &Rc<Self>,
        vectors: Vectors,
        language: Language,
        limits: &Limits,
    ) -> Option<Case> {
        let problem = self.problem(vectors, language);
        let schedules = [problem.best(limits), problem.plain()];
        self.first_legal("pencils", schedules, vectors, language, limits)
    }

    /// With factors copied to shared memory, where they are not anyway.
    fn staged_case(self: &Rc<Self>, language: Language, limits: &Limits) -> Option<Case> {
        let problem = self.problem(ELEMENT, language);
        let schedules = [problem.best(limits), problem.plain()].map(staged);
        if schedules[0] == problem.best(limits) {
            // That is the case above.
            return None;
        }
        self.first_legal("pencils staged", schedules, ELEMENT, language, limits)
    }

    fn first_legal(
        self: &Rc<Self>,
        what: &str,
        schedules: [Schedule; 2],
        vectors: Vectors,
        language: Language,
        limits: &Limits,
    ) -> Option<Case> {
        let problem = self.problem(vectors, language);
        let is_legal = |schedule: &Schedule| schedule.validate(&problem, limits).is_ok();
        let schedule = schedules.into_iter().find(is_legal)?;
        let kernel = problem.source(&schedule).expect("no form is printed");
        let element = Rc::clone(self);
        Some(Case {
            name: self.name(what, vectors),
            text: kernel.text.clone(),
            check: Box::new(move |device, module| element.check(device, module, &kernel, vectors)),
        })
    }

    fn diagonal_case(self: &Rc<Self>, language: Language) -> Case {
        let problem = self.problem(ELEMENT, language);
        let kernel = problem.diagonal_source().expect("no form is printed");
        let element = Rc::clone(self);
        Case {
            name: self.name("diagonal", ELEMENT),
            text: kernel.text.clone(),
            check: Box::new(move |device, module| element.check_diagonal(device, module, &kernel)),
        }
    }

    /// Runs the kernel on random elements and compares with the oracle.
    fn check(
        &self,
        device: &Accelerator,
        module: &Module,
        kernel: &KernelSource,
        vectors: Vectors,
    ) -> Result<()> {
        let data = Data::new(&self.problem(ELEMENT, Language::Cuda));
        let (numbers, components) = (data.u.len(), self.shape.components);
        let nodes = numbers / components;
        let geometry = self.upload(device, &data.geometry)?;
        let rule = device.upload(&data.rule)?;
        // Where number n of an E-vector is; of L-vectors the components of a node are together.
        let len = self.basis.nodes();
        let place = |n: usize| match vectors == ELEMENT {
            true => n,
            false => {
                let (element, component, node) =
                    (n / len / components, n / len % components, n % len);
                (element * len + node) * components + component
            }
        };
        let mut u = vec![f64::NAN; numbers];
        for (n, &number) in data.u.iter().enumerate() {
            u[place(n)] = number;
        }
        let u = device.upload(&u)?;
        // No two elements share a node. What is added to must be zero before; the rest is poison.
        let start = if vectors == ELEMENT { f64::NAN } else { 0.0 };
        let mut v = device.upload(&vec![start; numbers])?;
        let table = device.upload(&(0..nodes as u32).collect::<Vec<_>>())?;
        let mut v_once = Some(&mut v);
        let argument = |&operand: &Operand| {
            Some(match operand {
                Operand::Geometry => geometry.argument(),
                Operand::Rule => Argument::input(&rule),
                Operand::Nodes => Argument::input(&table),
                Operand::ComponentStride => Argument::U32(1),
                Operand::U => Argument::input(&u),
                Operand::V => Argument::output(v_once.take()?),
                Operand::Count => Argument::U32(ELEMENTS as u32),
                _ => return None,
            })
        };
        let arguments: Option<Vec<_>> = kernel.operands.iter().map(argument).collect();
        let arguments = arguments.context("an operand that there is not")?;
        device.launch(&module.kernel("apply")?, &launch(kernel), &arguments)?;
        let mut read = vec![f64::NAN; numbers];
        device.read(&v, &mut read)?;
        let found: Vec<f64> = (0..numbers).map(|n| read[place(n)]).collect();
        let expected = data.each(&self.basis, |geometry, u| self.oracle(geometry, u));
        within(self.tolerance(), &found, &expected)
    }

    fn check_diagonal(
        &self,
        device: &Accelerator,
        module: &Module,
        kernel: &KernelSource,
    ) -> Result<()> {
        let data = Data::new(&self.problem(ELEMENT, Language::Cuda));
        let geometry = self.upload(device, &data.geometry)?;
        let rule = device.upload(&data.rule)?;
        let mut d = device.upload(&vec![f64::NAN; data.u.len()])?;
        let arguments = [
            geometry.argument(),
            Argument::input(&rule),
            Argument::output(&mut d),
            Argument::U32(ELEMENTS as u32),
        ];
        device.launch(&module.kernel("diagonal")?, &launch(kernel), &arguments)?;
        let mut found = vec![f64::NAN; data.u.len()];
        device.read(&d, &mut found)?;
        let len = self.basis.nodes();
        let nodes: Vec<usize> = if len <= ALL_NODES {
            (0..len).collect()
        } else {
            let mut random = rand::rng();
            (0..SOME_NODES)
                .map(|_| random.random_range(0..len))
                .collect()
        };
        let found: Vec<f64> = found
            .chunks_exact(len)
            .flat_map(|d| nodes.iter().map(|&n| d[n]))
            .collect();
        let expected = data.each(&self.basis, |geometry, _| {
            let entry = |&n: &usize| {
                let mut unit = vec![0.0; len];
                unit[n] = 1.0;
                self.oracle(geometry, &unit)[n]
            };
            nodes.iter().map(entry).collect()
        });
        within(self.tolerance(), &found, &expected)
    }

    fn upload(&self, device: &Accelerator, numbers: &[f64]) -> Result<Geometry> {
        Ok(match self.factors {
            FactorPrecision::Same => Geometry::Same(device.upload(numbers)?),
            FactorPrecision::Single => {
                let single: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
                Geometry::Single(device.upload(&single)?)
            }
        })
    }

    fn tolerance(&self) -> f64 {
        match self.factors {
            FactorPrecision::Same => TOLERANCE,
            FactorPrecision::Single => 32.0 * FactorPrecision::SINGLE_CHANGE,
        }
    }

    fn oracle(&self, geometry: OracleGeometry, u: &[f64]) -> Vec<f64> {
        let environment = (&CellFields::default(), &EvalContext::default());
        if self.shape.gradients {
            return oracle::apply::<_, 3, 1>(&FORM, &self.basis, geometry, environment, u);
        }
        let mass = femto_kernel::form::Mass;
        let v = oracle::apply::<_, 3, 1>(&mass, &self.basis, geometry, environment, u);
        v.into_iter().map(|v| LAMBDA * v).collect()
    }
}

/// Geometry on a device.
enum Geometry {
    Same(AcceleratorBuffer<f64>),
    Single(AcceleratorBuffer<f32>),
}

impl Geometry {
    fn argument(&self) -> Argument<'_> {
        match self {
            Self::Same(numbers) => Argument::input(numbers),
            Self::Single(numbers) => Argument::input(numbers),
        }
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
const LAMBDA: f64 = 1.3;
const FORM: ScreenedPoisson = ScreenedPoisson {
    lambda: Some(LAMBDA),
};

fn launch(kernel: &KernelSource) -> Launch {
    Launch {
        blocks: kernel.blocks(ELEMENTS),
        threads: kernel.block.threads,
        shared_bytes: kernel.block.shared_bytes(Precision::Fp64),
    }
}

pub(super) fn close(found: &[f64], expected: &[f64]) -> Result<()> {
    within(TOLERANCE, found, expected)
}

fn within(tolerance: f64, found: &[f64], expected: &[f64]) -> Result<()> {
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        // Not for NaN.
        let close = (found - expected).abs() <= tolerance * largest;
        ensure!(close, "entry {n} is {found}, not {expected}");
    }
    Ok(())
}
