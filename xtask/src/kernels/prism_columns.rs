//! The kernels on columns of prisms.

use std::sync::Arc;

use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::{DenseTables, Tables};
use femto_element::{Cell, Layering, MapKind};
use femto_kernel::dialect::Language;
use femto_kernel::family::cell_quadrature::source::Interleave;
use femto_kernel::family::cell_quadrature::{FieldKind, Fields};
use femto_kernel::family::prism_column::{Block, PrismColumn};
use femto_kernel::family::{
    BlockOperator, ElementOperator, FactorPrecision, Family, KernelSource, Limits, Scatter, Target,
    Vectors,
};
use femto_kernel::form::{
    Componentwise, Form, Mass, Poisson, ScreenedPoisson, SymmetricGradient, trace,
};
use femto_kernel::scalar::Precision;

use super::elements::{Elements, Map, Random, Recipe, oracle};
use super::runner::{Run, Value, nodal};
use super::simplices::forms::{Everything, KINDS};
use super::{Case, Selection};

/// Columns and layers: several blocks, the last one not full, and blocks that end within a column.
const COLUMNS: usize = 7;
const LAYERS: usize = 29;

const ATOMIC: Vectors = nodal(true, Scatter::Atomic);
const DETERMINISTIC: Vectors = nodal(false, Scatter::Deterministic);

/// Bounded: each kind of vectors in one precision at a low degree, pairs of columns at degree 1 too. All: every degree with all of them.
pub(super) fn cases(selection: Selection, language: Language, limits: &Limits) -> Vec<Case> {
    let mut cases = Vec::new();
    for degree in 1..=4 {
        let kinds = [Vectors::ELEMENT, ATOMIC, DETERMINISTIC];
        for (v, vectors) in kinds.into_iter().enumerate() {
            for precision in [Precision::Fp64, Precision::Fp32] {
                let of_degree = degree == 1 + v % 2 || (degree == 1 && vectors == ATOMIC);
                let usual = of_degree && (precision == Precision::Fp64) == (v > 0);
                if !usual && selection == Selection::Bounded {
                    continue;
                }
                let kind = Kind {
                    degree,
                    vectors,
                    precision,
                    layering: Layering::Any,
                    knobs: "best",
                };
                let of = (language, limits);
                cases.extend(kind.cases::<_, 1>("mass", Mass, &[], of));
                cases.extend(kind.cases::<_, 1>("poisson", Poisson, &[], of));
                cases.extend(kind.cases::<_, 3>("elasticity", SymmetricGradient, &[], of));
                cases.extend(kind.cases::<_, 2>("everything", Everything, &KINDS, of));
                let screened = ScreenedPoisson { lambda: None };
                let each = Componentwise::<_, 3>(screened);
                if degree <= 2 {
                    cases.extend(kind.cases::<_, 3>("3 screened", each, &[FieldKind::Cell], of));
                }
                let level = Kind {
                    layering: Layering::Level,
                    ..kind
                };
                let kinds = [FieldKind::Cell];
                cases.extend(level.cases::<_, 1>("screened of level", screened, &kinds, of));
                if degree == 1 {
                    cases.extend(level.cases::<_, 3>("3 screened of level", each, &kinds, of));
                    cases.extend(level.cases::<_, 1>("mass of level", Mass, &[], of));
                }
                for layering in [Layering::Any, Layering::Parallel] {
                    let by_level = Kind {
                        layering,
                        knobs: "levels=1+elements=8",
                        ..kind
                    };
                    let name = format!("everything by level, {layering:?}");
                    cases.extend(by_level.cases::<_, 2>(&name, Everything, &KINDS, of));
                }
                if vectors == ATOMIC {
                    let by_level = Kind {
                        knobs: "levels=1+carry=0+elements=8",
                        ..kind
                    };
                    let name = "everything by level, uncarried";
                    cases.extend(by_level.cases::<_, 2>(name, Everything, &KINDS, of));
                    for (name, knobs) in TOGETHER {
                        for layering in [Layering::Any, Layering::Level] {
                            let kind = Kind {
                                knobs,
                                layering,
                                ..kind
                            };
                            let name = format!("3 screened {name}, {layering:?}");
                            cases.extend(kind.cases::<_, 3>(&name, each, &[FieldKind::Cell], of));
                        }
                    }
                    let parallel = Kind {
                        layering: Layering::Parallel,
                        ..kind
                    };
                    cases.extend(parallel.cases::<_, 2>("parallel", Everything, &KINDS, of));
                    cases.extend(parallel.cases::<_, 1>(
                        "screened of parallel",
                        screened,
                        &kinds,
                        of,
                    ));
                    for (name, knobs) in STACKS {
                        let in_stacks = |kind| Kind { knobs, ..kind };
                        let (mass, all) = (format!("mass {name}"), format!("everything {name}"));
                        cases.extend(in_stacks(level).cases::<_, 1>(&mass, Mass, &[], of));
                        cases.extend(in_stacks(kind).cases::<_, 2>(&all, Everything, &KINDS, of));
                    }
                }
            }
        }
    }
    // At points, one component after the other.
    let kind = Kind {
        degree: 3,
        vectors: ATOMIC,
        precision: Precision::Fp64,
        layering: Layering::Any,
        knobs: "together=0",
    };
    let each = Componentwise::<_, 3>(ScreenedPoisson { lambda: None });
    let of = (language, limits);
    cases.extend(kind.cases::<_, 3>("3 screened at points", each, &[FieldKind::Cell], of));
    cases
}

/// Prisms of several layers for each thread: parts of columns, the last one shorter and handing sums downwards; whole columns.
const STACKS: [(&str, &str); 2] = [
    ("stacks", "stack=3+columns=2"),
    ("whole columns", "stack=29+elements=116+carry=0"),
];

/// Components at the same time, and one after the other.
const TOGETHER: [(&str, &str); 2] = [("together", "together=1"), ("apart", "together=0")];

/// A kernel without its form.
#[derive(Clone, Copy)]
struct Kind {
    degree: usize,
    vectors: Vectors,
    precision: Precision,
    layering: Layering,
    knobs: &'static str,
}

impl Kind {
    /// A case for each schedule of a form, and one for the diagonal of a linear one.
    fn cases<F, const C: usize>(
        self,
        name: &str,
        form: F,
        kinds: &[FieldKind],
        (language, limits): (Language, &Limits),
    ) -> Vec<Case>
    where
        F: Form<3, C> + Copy + 'static,
    {
        let basis = LagrangeBasis::new(Cell::Prism, self.degree).expect("a degree");
        let rule = rule(Cell::Prism, 2 * self.degree).expect("a degree");
        let tables = DenseTables::new(&basis, &rule);
        let traced = trace::<F, 3, C>(&form);
        let operator = Arc::new(ElementOperator {
            cell: Cell::Prism,
            tables: Tables::Dense(Arc::new(tables.clone())),
            inspection: traced.inspect(),
            form: traced,
            fields: Fields::new(kinds),
            coefficients: None,
            fold_coefficients: true,
            layering: self.layering,
        });
        let block = PrismColumn::block(&operator, MapKind::Extruded, false).expect("prisms");
        let target = Target {
            language,
            limits: *limits,
            precision: self.precision,
            factors: FactorPrecision::default(),
            knobs: self.knobs.parse().expect("knobs"),
            vectors: self.vectors,
            is_applied_once: false,
        };
        let columns = Columns::new(self.degree, self.layering);
        let kernels = block.kernels(&target, &columns).expect("columns");
        let candidates = kernels.candidates(self.vectors);
        let candidates = match target.knobs.is_empty() {
            true => candidates.unwrap_or_default(),
            false => candidates.expect("a legal schedule"),
        };
        let mut sources: Vec<(String, KernelSource, usize)> = candidates
            .into_iter()
            .enumerate()
            .map(|(n, it)| (format!("apply/{n}"), it.source, it.places))
            .collect();
        if operator.inspection.linear && self.vectors == DETERMINISTIC {
            sources.extend(
                kernels
                    .diagonal(self.vectors)
                    .ok()
                    .map(|it| ("diagonal".to_owned(), it, COLUMNS * LAYERS)),
            );
        }
        let case = |(entry, kernel, places): (String, KernelSource, usize)| {
            let vectors = match self.vectors {
                Vectors::Element { .. } => "element",
                ATOMIC => "nodal",
                Vectors::Nodal { .. } => "deterministic",
            };
            let (degree, precision, block) = (self.degree, self.precision, block.clone());
            let (points, fields) = (tables.positions_3d(), operator.fields);
            let oracle = oracle::<F, 3, C>(form, tables.clone());
            Case {
                name: format!("prism_column/{entry} {name} {vectors} N={degree} {precision}"),
                text: kernel.text.clone(),
                check: Box::new(move |device, module| {
                    let columns = Columns::new(degree, self.layering);
                    let elements =
                        Elements::new(Random::new(), columns.recipe(&points, (C, fields)));
                    let run = Run {
                        elements: &elements,
                        kernel: &kernel,
                        vectors: self.vectors,
                        interleave: Interleave::NONE,
                        precision,
                        arrays: columns.arrays(&block, &target),
                        written: vec![false; elements.total],
                        places,
                    };
                    let tolerance = match precision {
                        Precision::Fp64 => 1e-13,
                        Precision::Fp32 => 1e-5,
                    };
                    run.check((device, module), &oracle, tolerance)
                }),
            }
        };
        sources.into_iter().map(case).collect()
    }
}

/// Columns beside each other: those of a strip of triangles, which share vertices, each with a base and heights of its
/// own.
struct Columns {
    /// `[element][node]`
    nodes: Vec<u32>,
    /// `[column][level][corner][3]`
    coordinates: Vec<[f64; 3]>,
}

impl Columns {
    fn new(degree: usize, layering: Layering) -> Self {
        let mut random = Random::new();
        let mut coordinates = Vec::new();
        for _ in 0..COLUMNS {
            let base = [[0.0, 0.0], [1.0, 0.2], [0.3, 1.1]]
                .map(|[x, y]| [random.near(x, 0.1), random.near(y, 0.1)]);
            for level in 0..=LAYERS {
                let height = random.near(level as f64, 0.2);
                coordinates.extend(base.map(|[x, y]| match layering {
                    Layering::Level => [x, y, height],
                    Layering::Parallel => [x, y, height + 0.3 * x - 0.1 * y],
                    Layering::Any => [x, y, random.near(level as f64, 0.2)],
                }));
            }
        }
        let (line, triangle) = (LAYERS * degree + 1, Cell::Triangle.lattice_places(degree));
        let of_column = Cell::Triangle.lattice(degree).len();
        let node = |element: usize, [i, j, k]: [usize; 3]| {
            let (column, layer) = (element / LAYERS, element % LAYERS);
            let over = match [i, j] {
                [0, 0] => column,
                [i, 0] if i == degree => column + 1,
                [0, j] if j == degree => column + 2,
                _ => {
                    let own = triangle([i, j, 0]).expect("a node of the triangle");
                    COLUMNS + 2 + column * of_column + own
                }
            };
            (over * line + layer * degree + k) as u32
        };
        let lattice = Cell::Prism.lattice(degree);
        let of_element = |element| lattice.iter().map(move |&steps| (element, steps));
        let all = (0..COLUMNS * LAYERS).flat_map(of_element);
        Self {
            nodes: all.map(|(element, steps)| node(element, steps)).collect(),
            coordinates,
        }
    }

    /// The six vertices of an element.
    fn corners(element: usize) -> [usize; 6] {
        let first = 3 * (element / LAYERS * (LAYERS + 1) + element % LAYERS);
        [0, 1, 2, 3, 4, 5].map(|corner| first + corner)
    }

    /// x = Σ c_m ξ^a η^b ζ^c of an element, from its vertices.
    fn map(&self, element: usize) -> Map {
        let x = Self::corners(element).map(|corner| self.coordinates[corner]);
        let sum = |weights: [f64; 6]| {
            [0, 1, 2].map(|d| (0..6).map(|n| weights[n] * x[n][d]).sum::<f64>())
        };
        let mean = |n: usize, up: f64| {
            let mut weights = [0.0; 6];
            (weights[n], weights[n + 3]) = (0.5 * up, 0.5);
            sum(weights)
        };
        let less = |a: [f64; 3], b: [f64; 3]| [0, 1, 2].map(|d| a[d] - b[d]);
        let (middle, half) = (
            [0, 1, 2].map(|n| mean(n, 1.0)),
            [0, 1, 2].map(|n| mean(n, -1.0)),
        );
        let mut map = Map::default();
        (map[0], map[1], map[2]) = (
            middle[0],
            less(middle[1], middle[0]),
            less(middle[2], middle[0]),
        );
        (map[4], map[5], map[6]) = (half[0], less(half[1], half[0]), less(half[2], half[0]));
        map
    }

    fn recipe(&self, points: &[[f64; 3]], (components, fields): (usize, Fields)) -> Recipe {
        Recipe {
            maps: (0..COLUMNS * LAYERS)
                .map(|element| self.map(element))
                .collect(),
            curved: false,
            nodes: self.nodes.clone(),
            points: points.to_vec(),
            components,
            fields,
            amplitude: 1.0,
        }
    }

    /// What the family packs of these columns.
    fn arrays(
        &self,
        block: &Block,
        target: &Target,
    ) -> Vec<(femto_kernel::family::Operand, Value)> {
        let mut kernels = block.kernels(target, self).expect("columns");
        let arrays = kernels.take_arrays().into_iter();
        arrays
            .map(|(operand, array)| (operand, array.into()))
            .collect()
    }
}

impl femto_kernel::family::Elements for Columns {
    fn count(&self) -> usize {
        COLUMNS * LAYERS
    }

    fn layers(&self) -> usize {
        LAYERS
    }

    fn nodes_of(&self, element: usize) -> Vec<u32> {
        let per_element = self.nodes.len() / self.count();
        self.nodes[element * per_element..][..per_element].to_vec()
    }

    fn vertex(&self, element: usize, vertex: usize) -> u32 {
        Self::corners(element)[vertex] as u32
    }

    fn position(&self, mesh_node: u32) -> [f64; 3] {
        self.coordinates[mesh_node as usize]
    }

    fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    fn elsewhere(&self) -> Vec<bool> {
        let nodes = self.nodes.iter().max().map_or(0, |&most| most as usize + 1);
        vec![false; nodes]
    }

    fn vertices(&self) -> Vec<u32> {
        let of_element = |element| Self::corners(element).map(|corner| corner as u32);
        (0..self.count()).flat_map(of_element).collect()
    }

    fn coordinates(&self) -> Vec<f64> {
        self.coordinates.concat()
    }

    fn node_coordinates(&self) -> Vec<f64> {
        Vec::new()
    }

    fn cell_fields(&self, _: &[u32]) -> Vec<f64> {
        Vec::new()
    }
}
