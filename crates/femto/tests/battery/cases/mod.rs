//! The cases of the battery, as data: those of the [host](hosts) and of [all devices](devices).

pub(crate) mod devices;
pub(crate) mod hosts;

use crate::common::meshes::maps;
use crate::physics::Physics::{self, *};
use femto::fem::space::Layout;
use femto::kernel::scalar::Precision::{self, Fp32, Fp64};
use femto::{DataLevel, Quadrature, Scatter};
use femto_element::basis::max_degree;
use femto_element::{Cell, Degree, MapKind};

/// A space on a mesh, and a quadrature rule.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) cell: Cell,
    pub(crate) map: MapKind,
    /// Whether some quadrilaterals are cut into triangles, or hexahedra into all other solids, whose maps are affine
    /// or curved.
    pub(crate) is_cut: bool,
    /// Rectangles or boxes along each axis.
    pub(crate) cells: [usize; 3],
    pub(crate) degree: Degree,
    pub(crate) quadrature: Quadrature,
    pub(crate) layout: Layout,
}

/// A way to evaluate an operator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) precision: Precision,
    pub(crate) data_level: DataLevel,
    pub(crate) scatter: Scatter,
}

/// All places with all forms in all ways.
pub(crate) struct Group {
    pub(crate) places: Vec<Place>,
    pub(crate) forms: &'static [Physics],
    pub(crate) ways: Vec<Way>,
    /// Without the oracle, which is slow at high degrees, only the other properties are checked.
    pub(crate) oracle: bool,
}

impl Place {
    fn new(cell: Cell, map: MapKind, degree: impl Into<Degree>, quadrature: Quadrature) -> Self {
        Self {
            cell,
            map,
            is_cut: false,
            cells: [3, 2, 2],
            degree: degree.into(),
            quadrature,
            layout: Layout::Interleaved,
        }
    }

    fn of(self, cells: [usize; 3]) -> Self {
        Self { cells, ..self }
    }

    fn with(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }
}

const BOTH_LAYOUTS: [Layout; 2] = [Layout::Interleaved, Layout::Blocked];
const RULES: [Quadrature; 2] = [Quadrature::Gauss, Quadrature::Collocated];
const SCALARS: &[Physics] = &[Mass, Poisson, Screened];
const SYSTEMS: &[Physics] = &[
    BusySystem,
    ComponentwiseMass,
    ComponentwisePoisson,
    ComponentwiseScreened,
    Elasticity,
];

fn way(precision: Precision, data_level: DataLevel, scatter: Scatter) -> Way {
    Way {
        precision,
        data_level,
        scatter,
    }
}

/// Both precisions.
fn both(data_level: DataLevel, scatter: Scatter) -> Vec<Way> {
    [Fp64, Fp32]
        .map(|precision| way(precision, data_level, scatter))
        .to_vec()
}

/// Both precisions at each of some data levels.
fn both_at(levels: [DataLevel; 2]) -> Vec<Way> {
    let at = |level| both(level, Scatter::Atomic);
    levels.into_iter().flat_map(at).collect()
}

/// Both precisions at both data levels without matrices.
fn all_ways() -> Vec<Way> {
    both_at([DataLevel::OnTheFly, DataLevel::Partial])
}

fn group(places: Vec<Place>, forms: &'static [Physics], ways: Vec<Way>) -> Group {
    Group {
        places,
        forms,
        ways,
        oracle: true,
    }
}

/// All maps of a cell with all of some degrees and rules.
fn product(
    cell: Cell,
    degrees: impl IntoIterator<Item = usize>,
    rules: impl Fn(usize) -> Vec<Quadrature>,
) -> Vec<Place> {
    let mut places = Vec::new();
    for degree in degrees {
        for &map in maps(cell) {
            let rules = rules(degree).into_iter();
            places.extend(rules.map(|rule| Place::new(cell, map, degree, rule)));
        }
    }
    places
}

fn each(places: Vec<Place>, change: impl Fn(Place) -> Place) -> Vec<Place> {
    places.into_iter().map(change).collect()
}

/// Every place with both layouts.
fn both_layouts(places: &[Place]) -> Vec<Place> {
    let with = |place: &Place| BOTH_LAYOUTS.map(|layout| place.with(layout));
    places.iter().flat_map(with).collect()
}

/// All four solids, of which some are hexahedra.
fn all_solids(degree: usize, map: MapKind) -> Place {
    let rule = exact_to(2 * degree);
    Place {
        is_cut: true,
        ..Place::new(Cell::Hexahedron, map, degree, rule).of([4, 2, 2])
    }
}

/// Triangles and quadrilaterals.
fn cut(degree: usize, map: MapKind) -> Place {
    let rule = exact_to(2 * degree);
    Place {
        is_cut: true,
        ..Place::new(Cell::Quadrilateral, map, degree, rule).of([7, 7, 0])
    }
}

/// Products with matrices.
const MATRICES: [DataLevel; 2] = [DataLevel::Element, DataLevel::Sparse];

fn exact_to(degree: usize) -> Quadrature {
    Quadrature::GaussOrExact(degree.into())
}

fn points(points_1d: usize) -> Quadrature {
    Quadrature::GaussPoints(points_1d)
}
