//! The cases of the battery, as data.

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

/// Both precisions at both data levels.
fn all_ways() -> Vec<Way> {
    let levels = [DataLevel::OnTheFly, DataLevel::Partial];
    let both = |level| [Fp64, Fp32].map(|precision| way(precision, level, Scatter::Atomic));
    levels.into_iter().flat_map(both).collect()
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

/// The cases that only the host runs: accelerators would compile for minutes.
pub(crate) fn on_hosts(cell: Cell) -> Vec<Group> {
    match cell.is_tensor_product() {
        true => tensor_products(cell),
        false => others(cell),
    }
}

fn tensor_products(cell: Cell) -> Vec<Group> {
    let gauss_or_collocated = |_| RULES.to_vec();
    let alternating = |degree: usize| vec![RULES[degree % 2]];
    let low = each(product(cell, 1..=8, gauss_or_collocated), |place| {
        place.of(match place.degree.most() {
            1..=3 => [3, 3, 2],
            4 | 5 => [2, 2, 1],
            _ => [2, 1, 1],
        })
    });
    // At least as many points as nodes, and so many that no loop is unrolled for them.
    let many_points = |_| vec![Quadrature::Gauss, points(4), points(9)];
    let any = each(
        product(cell, [1, 2, 3, 5], alternating),
        |place| match place.degree.most() {
            5 => place.of([2, 1, 1]),
            _ => place,
        },
    );
    // The oracle takes long: one kind of map for each degree.
    let mut single = each(product(cell, 9..=15, alternating), |it| it.of([1, 1, 1]));
    single.retain(|place| place.map == maps(cell)[place.degree.most() % maps(cell).len()]);
    let high = product(cell, 9..=15, gauss_or_collocated);
    let unrelated = Group {
        oracle: false,
        ..group(
            each(high, |place| place.of([2, 1, 1])),
            &[Mass, Poisson],
            all_ways(),
        )
    };
    let some = each(product(cell, [2], alternating), |place| place.of([2, 2, 2]));
    let mut groups = vec![
        group(low, SCALARS, all_ways()),
        group(single, &[Screened], all_ways()),
        unrelated,
        group(both_layouts(&any), SYSTEMS, all_ways()),
        group(any, &[Busy, Conduction, ScreenedPerCell], all_ways()),
        group(
            each(product(cell, [3], many_points), |it| it.of([2, 2, 2])),
            &[ScreenedPerCell],
            all_ways(),
        ),
        group(
            some,
            &[Orthotropic, Isotropic, Nothing, TimesZero],
            all_ways(),
        ),
    ];
    if cell == Cell::Hexahedron {
        // Hundreds of chunks, and boxes whose chunks are long.
        let many = Place::new(cell, MapKind::Multilinear, 1, Quadrature::Gauss).of([24, 20, 20]);
        let thin = Place::new(cell, MapKind::Affine, 1, Quadrature::Gauss).of([1, 1, 20000]);
        groups.push(group(vec![many, thin], &[Mass], all_ways()));
    }
    groups
}

fn others(cell: Cell) -> Vec<Group> {
    let cells = match cell.dim() {
        2 => [4, 4, 0],
        _ => [2, 2, 2],
    };
    let rules = |degree| vec![Quadrature::Exact(4), exact_to(2 * degree)];
    let degrees = 1..=max_degree(cell).min(3);
    let places = each(product(cell, degrees, rules), |place| place.of(cells));
    vec![
        group(both_layouts(&places), SYSTEMS, all_ways()),
        group(
            places,
            &[
                Mass,
                Poisson,
                Screened,
                ScreenedPerCell,
                Busy,
                Conduction,
                Orthotropic,
                Isotropic,
                Nothing,
                TimesZero,
            ],
            all_ways(),
        ),
    ]
}

/// The cases that every device runs.
pub(crate) fn on_all_devices(cell: Cell) -> Vec<Group> {
    match cell {
        Cell::Hexahedron => hexahedra(),
        Cell::Quadrilateral => quadrilaterals(),
        _ => others_everywhere(cell),
    }
}

fn hexahedra() -> Vec<Group> {
    const AUTOMATIC: DataLevel = DataLevel::Automatic;
    let at = |map, degree, quadrature| Place::new(Cell::Hexahedron, map, degree, quadrature);
    let every = |degree, rule| product(Cell::Hexahedron, [degree], |_| vec![rule]);
    let gauss = Quadrature::Gauss;
    let first = [every(1, gauss), every(2, Quadrature::Collocated)].concat();
    let (mut multilinear, mut others): (Vec<_>, Vec<_>) = first
        .into_iter()
        .partition(|place| place.map == MapKind::Multilinear);
    multilinear.push(at(MapKind::Multilinear, 3, points(6)));
    others.push(at(MapKind::Curved, 4, gauss));
    let double = |level, scatter| vec![way(Fp64, level, scatter)];
    let plain = || double(AUTOMATIC, Scatter::Atomic);
    let stored = || double(DataLevel::Partial, Scatter::Atomic);
    let repeatable = double(AUTOMATIC, Scatter::Deterministic);
    let mut groups = vec![
        group(multilinear, &[Mass, Poisson], plain()),
        group(others, &[Screened], plain()),
        group(every(3, gauss), &[Screened], stored()),
        group(
            both_layouts(&every(3, gauss)),
            &[ComponentwiseScreened],
            stored(),
        ),
        group(
            both_layouts(&[at(MapKind::Multilinear, 3, gauss)]),
            &[ComponentwiseScreened],
            repeatable,
        ),
        group(
            every(4, gauss),
            &[Screened],
            vec![way(Fp32, AUTOMATIC, Scatter::Atomic)],
        ),
        group(
            vec![at(MapKind::Multilinear, 3, gauss)],
            &[ScreenedPerCell],
            plain(),
        ),
    ];
    for (degree, rule, scatter) in [
        (1, gauss, Scatter::Deterministic),
        (2, gauss, Scatter::Atomic),
        (2, Quadrature::Collocated, Scatter::Atomic),
    ] {
        let ways = || double(DataLevel::OnTheFly, scatter);
        let blocked = each(every(degree, rule), |place| place.with(Layout::Blocked));
        groups.push(group(every(degree, rule), &[Busy], ways()));
        groups.push(group(blocked, &[Elasticity], ways()));
    }
    groups
}

fn quadrilaterals() -> Vec<Group> {
    let (atomic, ordered) = (Scatter::Atomic, Scatter::Deterministic);
    let (gauss, collocated) = (Quadrature::Gauss, Quadrature::Collocated);
    let rows = [
        (1, MapKind::Multilinear, ordered, gauss),
        (3, MapKind::Affine, atomic, collocated),
        (6, MapKind::Curved, ordered, collocated),
        (8, MapKind::Multilinear, atomic, gauss),
        (15, MapKind::Affine, atomic, gauss),
    ];
    let row = |(degree, map, scatter, rule)| {
        let place = Place::new(Cell::Quadrilateral, map, degree, rule).of([3, 3, 0]);
        let ways = || vec![way(Fp64, DataLevel::Automatic, scatter)];
        [
            group(vec![place], &[Conduction], ways()),
            group(vec![place.with(Layout::Blocked)], &[BusySystem], ways()),
        ]
    };
    rows.into_iter().flat_map(row).collect()
}

fn others_everywhere(cell: Cell) -> Vec<Group> {
    let (on_the_fly, partial) = (DataLevel::OnTheFly, DataLevel::Partial);
    let rows = [
        (1, Scatter::Atomic, on_the_fly, MapKind::Affine),
        (1, Scatter::Deterministic, partial, MapKind::Affine),
        (2, Scatter::Atomic, on_the_fly, MapKind::Curved),
        (3, Scatter::Deterministic, on_the_fly, MapKind::Affine),
    ];
    let rows = rows.into_iter().filter(|row| row.0 <= max_degree(cell));
    let row = |(degree, scatter, level, map)| {
        let (cells, layout) = match cell.dim() {
            2 => ([5, 5, 0], Layout::Blocked),
            _ => ([3, 3, 3], Layout::Interleaved),
        };
        let place = Place::new(cell, map, degree, Quadrature::Exact(4)).of(cells);
        let double = || vec![way(Fp64, level, scatter)];
        let both = [Fp64, Fp32].map(|precision| way(precision, level, scatter));
        let blocked = vec![place.with(layout)];
        match cell.dim() {
            2 => [
                group(vec![place], &[Conduction], both.into()),
                group(blocked, &[BusySystem], double()),
            ],
            _ => [
                group(vec![place], &[Busy], double()),
                group(blocked, &[Elasticity], double()),
            ],
        }
    };
    rows.flat_map(row).collect()
}

/// Prisms in columns.
pub(crate) fn columns_on_all_devices() -> Vec<Group> {
    let of_degree = |degree: Degree, cells| {
        let rule = Quadrature::GaussOrExact(degree.map(|degree| 2 * degree));
        Place::new(Cell::Prism, MapKind::Extruded, degree, rule).of(cells)
    };
    let at = |degree: usize, cells| of_degree(degree.into(), cells);
    // Of another degree vertically.
    let other = |horizontal, vertical, cells| {
        let degree = Degree::new(horizontal, vertical);
        of_degree(degree, cells)
    };
    let both = |level| [Fp64, Fp32].map(|it| way(it, level, Scatter::Atomic));
    let automatic = || both(DataLevel::Automatic).to_vec();
    let ordered = vec![way(Fp64, DataLevel::Automatic, Scatter::Deterministic)];
    vec![
        group(
            vec![
                at(1, [4, 3, 5]),
                at(1, [2, 2, 40]),
                at(2, [3, 3, 3]),
                at(2, [3, 2, 4]),
                at(2, [3, 2, 1]),
            ],
            &[Screened, Busy],
            automatic(),
        ),
        group(vec![at(3, [2, 2, 4])], &[Poisson], automatic()),
        group(vec![at(4, [2, 1, 2])], &[Mass], automatic()),
        group(
            vec![
                other(1, 2, [4, 3, 5]),
                other(1, 4, [3, 2, 3]),
                other(2, 1, [3, 3, 4]),
                other(3, 2, [2, 2, 2]),
            ],
            &[Screened],
            automatic(),
        ),
        group(
            vec![other(1, 3, [3, 2, 3]), other(3, 1, [2, 2, 4])],
            &[Busy],
            automatic(),
        ),
        group(
            vec![other(1, 2, [3, 3, 4]).with(Layout::Blocked)],
            &[Elasticity],
            automatic(),
        ),
        group(
            vec![at(1, [3, 3, 4]).with(Layout::Blocked), at(2, [2, 2, 3])],
            &[Elasticity],
            automatic(),
        ),
        group(
            vec![at(1, [3, 3, 4]), at(2, [2, 2, 3])],
            &[ScreenedPerCell, Conduction],
            ordered,
        ),
        group(
            vec![at(1, [2, 2, 3])],
            &[Orthotropic],
            vec![way(Fp64, DataLevel::Element, Scatter::Atomic)],
        ),
        // Columns taller than there are lanes; positions on level and parallel layers.
        group(
            vec![at(2, [2, 1, 20]), at(1, [3, 2, 4]), at(1, [2, 2, 3])],
            &[Busy],
            vec![way(Fp64, DataLevel::Automatic, Scatter::Atomic)],
        ),
        group(
            vec![at(1, [2, 1, 20]).with(Layout::Blocked)],
            &[Elasticity],
            vec![way(Fp32, DataLevel::Automatic, Scatter::Atomic)],
        ),
    ]
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

/// As [`on_hosts`], on cells of several shapes.
pub(crate) fn mixed_on_hosts() -> Vec<Group> {
    let maps = || [MapKind::Multilinear, MapKind::Curved].into_iter();
    let places = maps().flat_map(|map| [1, 2, 3].map(|degree| cut(degree, map)));
    let solids = maps().flat_map(|map| [1, 2].map(|degree| all_solids(degree, map)));
    let places: Vec<Place> = places.chain(solids).collect();
    vec![
        group(both_layouts(&places), SYSTEMS, all_ways()),
        group(places.clone(), SCALARS, all_ways()),
        group(places, &[Busy, ScreenedPerCell], all_ways()),
    ]
}

/// As [`on_all_devices`], on cells of several shapes.
pub(crate) fn mixed_on_all_devices() -> Vec<Group> {
    let ways = || {
        let both = [Scatter::Atomic, Scatter::Deterministic];
        both.map(|scatter| way(Fp64, DataLevel::Automatic, scatter))
            .to_vec()
    };
    let systems = [
        cut(1, MapKind::Multilinear),
        cut(2, MapKind::Curved).with(Layout::Blocked),
        cut(3, MapKind::Curved),
    ];
    let scalars = [1, 2, 3].map(|degree| cut(degree, MapKind::Multilinear));
    let solids = [1, 2].map(|degree| all_solids(degree, MapKind::Curved));
    vec![
        group(systems.into(), &[BusySystem], ways()),
        group(scalars.into(), &[Mass, Poisson], ways()),
        group(solids.into(), &[Screened], ways()),
        group(
            vec![all_solids(2, MapKind::Multilinear)],
            &[Elasticity],
            ways(),
        ),
    ]
}

/// Products with matrices.
const MATRICES: [DataLevel; 2] = [DataLevel::Element, DataLevel::Sparse];

/// Matrices, on the host.
pub(crate) fn matrices_on_hosts() -> Vec<Group> {
    let cells = [
        Cell::Hexahedron,
        Cell::Quadrilateral,
        Cell::Tetrahedron,
        Cell::Triangle,
        Cell::Prism,
        Cell::Pyramid,
    ];
    let of_cell = |&cell: &Cell| {
        let rule = |degree| vec![exact_to(2 * degree)];
        let degrees = 1..=max_degree(cell).min(3);
        each(product(cell, degrees, rule), |place| place.of([2, 2, 2]))
    };
    let mut places: Vec<Place> = cells.iter().flat_map(of_cell).collect();
    places.extend([1, 2].map(|degree| cut(degree, MapKind::Curved)));
    let both = |level| [Fp64, Fp32].map(|it| way(it, level, Scatter::Atomic));
    let ways: Vec<Way> = MATRICES.into_iter().flat_map(both).collect();
    vec![
        group(both_layouts(&places), MATRIX_SYSTEMS, ways.clone()),
        group(places, MATRIX_SCALARS, ways),
    ]
}

const MATRIX_SYSTEMS: &[Physics] = &[ComponentwiseScreened, Elasticity];
const MATRIX_SCALARS: &[Physics] = &[Mass, ScreenedPerCell, Conduction, Orthotropic];

/// Matrices, on all devices.
pub(crate) fn matrices_on_all_devices() -> Vec<Group> {
    let rows = [
        (Cell::Tetrahedron, MapKind::Affine, 1, Scatter::Atomic),
        (
            Cell::Tetrahedron,
            MapKind::Curved,
            2,
            Scatter::Deterministic,
        ),
        (Cell::Triangle, MapKind::Affine, 4, Scatter::Atomic),
        (Cell::Hexahedron, MapKind::Curved, 3, Scatter::Atomic),
        (
            Cell::Hexahedron,
            MapKind::Multilinear,
            2,
            Scatter::Deterministic,
        ),
        (Cell::Prism, MapKind::Curved, 2, Scatter::Atomic),
    ];
    // A system and a scalar form for each, as kernels compile slowly.
    let forms: [[&[Physics]; 2]; 2] = [
        [&[ComponentwiseScreened], &[Orthotropic]],
        [&[Elasticity], &[ScreenedPerCell]],
    ];
    let row = |(forms, (cell, map, degree, scatter)): ([&'static [Physics]; 2], _)| {
        let [system, scalar] = forms;
        let place = Place::new(cell, map, degree, exact_to(2 * degree));
        let both = |level| [Fp64, Fp32].map(|it| way(it, level, scatter));
        let ways: Vec<Way> = MATRICES.into_iter().flat_map(both).collect();
        [
            group(vec![place.with(Layout::Blocked)], system, ways.clone()),
            group(vec![place], scalar, ways),
        ]
    };
    let rows = forms.into_iter().cycle().zip(rows);
    let mut groups: Vec<Group> = rows.flat_map(row).collect();
    let ways = MATRICES
        .map(|level| way(Fp64, level, Scatter::Atomic))
        .to_vec();
    let mixed = vec![cut(2, MapKind::Curved)];
    groups.push(group(mixed, &[Elasticity, Conduction], ways));
    groups
}

/// All degrees of hexahedra, for GPUs.
pub(crate) fn all_degrees() -> Vec<Group> {
    let ways = || {
        let ways = [Fp64, Fp32].map(|it| way(it, DataLevel::Automatic, Scatter::Atomic));
        ways.to_vec()
    };
    let rule = |map| match map {
        MapKind::Multilinear => Quadrature::Collocated,
        _ => Quadrature::Gauss,
    };
    let places = product(Cell::Hexahedron, 1..=15, |_| vec![Quadrature::Gauss]);
    let places = each(places, |place| Place {
        quadrature: rule(place.map),
        ..place
    });
    vec![group(places, &[Screened], ways())]
}

/// Simplices of high degree, for GPUs with matrix units.
pub(crate) fn high_simplices() -> Vec<Group> {
    let ways = |scatter| {
        [Fp64, Fp32]
            .map(|it| way(it, DataLevel::Automatic, scatter))
            .to_vec()
    };
    let places = |cell: Cell, degrees: &[usize]| {
        let rule = |degree| vec![exact_to(2 * degree)];
        let places = product(cell, degrees.iter().copied(), rule);
        each(places, |place| place.of([3, 1, 1]))
    };
    let some = [
        places(Cell::Tetrahedron, &[3, 4]),
        places(Cell::Triangle, &[5]),
    ]
    .concat();
    let high = [
        places(Cell::Tetrahedron, &[5, 6]),
        places(Cell::Triangle, &[8]),
    ]
    .concat();
    vec![
        group(both_layouts(&some), &[Elasticity], ways(Scatter::Atomic)),
        group(some.clone(), &[Busy], ways(Scatter::Deterministic)),
        group(some, &[Mass, Conduction], ways(Scatter::Atomic)),
        group(high, &[Busy, Elasticity], ways(Scatter::Atomic)),
    ]
}

fn exact_to(degree: usize) -> Quadrature {
    Quadrature::GaussOrExact(degree.into())
}

fn points(points_1d: usize) -> Quadrature {
    Quadrature::GaussPoints(points_1d)
}
