//! The cases that every device runs, and some that are for GPUs.

use super::*;

/// Some degrees and forms on cells of one shape.
pub(crate) fn of_cell(cell: Cell) -> Vec<Group> {
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
        let blocked = vec![place.with(layout)];
        match cell.dim() {
            2 => [
                group(vec![place], &[Conduction], both(level, scatter)),
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
pub(crate) fn columns() -> Vec<Group> {
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
    let automatic = || both(DataLevel::Automatic, Scatter::Atomic);
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

/// Cells of several shapes.
pub(crate) fn mixed() -> Vec<Group> {
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
pub(crate) fn matrices() -> Vec<Group> {
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
    // A system and a scalar form for each, at the two levels in different precisions, as kernels compile slowly.
    let forms: [[(&[Physics], _); 2]; 2] = [
        [
            (&[ComponentwiseScreened], [Fp64, Fp32]),
            (&[Orthotropic], [Fp32, Fp64]),
        ],
        [
            (&[Elasticity], [Fp32, Fp64]),
            (&[ScreenedPerCell], [Fp64, Fp32]),
        ],
    ];
    let mut groups = Vec::new();
    for (forms, (cell, map, degree, scatter)) in forms.into_iter().cycle().zip(rows) {
        let place = Place::new(cell, map, degree, exact_to(2 * degree)).with(Layout::Blocked);
        groups.extend(forms.map(|(form, precisions)| {
            let ways = MATRICES.into_iter().zip(precisions);
            let ways = ways.map(|(level, precision)| way(precision, level, scatter));
            group(vec![place], form, ways.collect())
        }));
    }
    let ways = MATRICES
        .map(|level| way(Fp64, level, Scatter::Atomic))
        .to_vec();
    let mixed = vec![cut(2, MapKind::Curved)];
    groups.push(group(mixed, &[Elasticity, Conduction], ways));
    groups
}

/// All degrees of hexahedra, for GPUs.
pub(crate) fn all_degrees() -> Vec<Group> {
    let rule = |map| match map {
        MapKind::Multilinear => Quadrature::Collocated,
        _ => Quadrature::Gauss,
    };
    let places = product(Cell::Hexahedron, 1..=15, |_| vec![Quadrature::Gauss]);
    let places = each(places, |place| Place {
        quadrature: rule(place.map),
        ..place
    });
    let ways = both(DataLevel::Automatic, Scatter::Atomic);
    vec![group(places, &[Screened], ways)]
}

/// Simplices of high degree, for GPUs with matrix units.
pub(crate) fn high_simplices() -> Vec<Group> {
    let ways = |scatter| both(DataLevel::Automatic, scatter);
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
