//! The cases that only the host runs: accelerators would compile for minutes.

use super::*;

/// All degrees and forms on cells of one shape.
pub(crate) fn of_cell(cell: Cell) -> Vec<Group> {
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

/// Cells of several shapes.
pub(crate) fn mixed() -> Vec<Group> {
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

/// Products with matrices.
pub(crate) fn matrices() -> Vec<Group> {
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
    let ways = || both_at(MATRICES);
    vec![
        group(both_layouts(&places), MATRIX_SYSTEMS, ways()),
        group(places, MATRIX_SCALARS, ways()),
    ]
}

const MATRIX_SYSTEMS: &[Physics] = &[ComponentwiseScreened, Elasticity];
const MATRIX_SCALARS: &[Physics] = &[Mass, ScreenedPerCell, Conduction, Orthotropic];
