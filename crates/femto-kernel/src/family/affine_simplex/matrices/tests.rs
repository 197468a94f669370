use super::*;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;

fn tables(cell: Cell, degree: usize) -> DenseTables {
    let rule = rule(cell, 2 * degree).unwrap();
    DenseTables::in_space(
        &LagrangeBasis::new(cell, degree).unwrap(),
        &rule,
        cell.dim(),
    )
}

/// S_ab = D̂_aᵀ D̂_b in blocks of classes, with as many rows as there are polynomials of one degree less, and M likewise.
#[test]
fn blocks_are_the_matrices() {
    for cell in [Cell::Triangle, Cell::Tetrahedron] {
        for degree in 1..=8 {
            let it = Matrices::on_host(&tables(cell, degree), (true, true));
            let classes = if degree == 1 {
                1
            } else {
                1 << (cell.dim() - 1)
            };
            assert_eq!(it.ranks.len(), classes, "{cell:?} {degree}");
            are_the_matrices(&it, degree);
            are_the_matrices(&it.in_one_class(), degree);
        }
    }
}

fn are_the_matrices(it: &Matrices, degree: usize) {
    let (dim, nodes, classes) = (it.dim, it.nodes, it.symmetry.classes);
    assert_eq!(
        it.rank(),
        (degree..degree + dim).product::<usize>() / (1..=dim).product::<usize>()
    );
    // The sums over orbits of a vector, and the vector that has products with them.
    let vector = |seed: usize| -> Vec<f64> {
        (0..nodes)
            .map(|n| ((n * 7 + seed) % 11) as f64 - 5.0)
            .collect()
    };
    let sums = |class: usize, u: &[f64]| -> Vec<f64> {
        let sums = it.symmetry.sums(class).into_iter();
        sums.map(|sum| sum.iter().map(|&(n, factor)| factor * u[n]).sum())
            .collect()
    };
    let times = |matrix: &[f64], u: &[f64]| -> Vec<f64> {
        matrix
            .chunks_exact(u.len())
            .map(|row| inner(row, u))
            .collect()
    };
    let (u, v) = (vector(1), vector(4));
    let close = |found: f64, expected: f64| {
        let error = (found - expected).abs();
        assert!(
            error < 1e-11 * expected.abs().max(1.0),
            "{dim} {degree}: {error}"
        );
    };
    for a in 0..dim {
        for b in 0..dim {
            let found = (0..classes).map(|class| {
                let of = |axis: usize, u: &[f64]| {
                    let sums = sums(it.symmetry.before(axis, class), u);
                    times(&it.derivatives[class][axis], &sums)
                };
                inner(&of(a, &v), &of(b, &u))
            });
            close(
                found.sum(),
                inner(&v, &times(&it.stiffness[a * dim + b], &u)),
            );
        }
    }
    let found = (0..classes).map(|class| {
        inner(
            &sums(class, &v),
            &times(&it.masses[class], &sums(class, &u)),
        )
    });
    let mass = it.mass.clone().unwrap();
    close(found.sum(), inner(&v, &times(&mass, &u)));
}

/// A rule whose symmetry is lost has blocks that are not all of the matrix.
#[test]
fn rules_without_symmetry_have_one_class() {
    let mut tables = tables(Cell::Tetrahedron, 3);
    assert_eq!(Matrices::on_host(&tables, (true, true)).ranks.len(), 4);
    tables.weights[0] *= 1.5;
    let it = Matrices::on_host(&tables, (true, true));
    assert_eq!(it.symmetry, Symmetry::none(3, 20));
    are_the_matrices(&it, 3);
}

/// Sums of M are the cell's volume, rows of S sum to zero.
#[test]
fn constants_have_a_volume_and_no_slope() {
    let it = Matrices::on_host(&tables(Cell::Tetrahedron, 5), (true, true));
    assert_eq!(
        (it.factors(), it.all(true).len(), it.all(false).len()),
        (7, 7, 10)
    );
    let mass: f64 = it.mass.iter().flatten().sum();
    assert!((mass - 1.0 / 6.0).abs() < 1e-14);
    for row in it.all(true)[..6].iter().flat_map(|it| it.chunks_exact(56)) {
        assert!(row.iter().sum::<f64>().abs() < 1e-12);
    }
}
