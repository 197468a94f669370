//! Knepley et al.'s figures, and counts by hand.

use super::knepley::Model;
use super::*;
use crate::family::cell_quadrature::schedule::{
    BlockLocal, CellPerThread, MatrixUnits, PointAtATime, Transposition,
};
use crate::family::fields::{FieldKind, Fields};
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;

const POISSON: Model = Model {
    d: 2,
    n_b: 3,
    n_q: 1,
    n_comp: 1,
    n_bl: 32,
    bytes: 4,
};

/// Equation 9.
#[test]
fn the_balance_of_the_example_is_the_published_one() {
    assert_eq!(POISSON.balance(), 41.0 / 22.0);
    assert_eq!(
        (POISSON.flops_per_cell(), POISSON.bytes_per_cell()),
        (82, 44)
    );
}

#[test]
fn batches_are_the_published_ones() {
    assert_eq!((POISSON.n_bc(), POISSON.n_t()), (96, 96));
    // Figure 3 has two components and two points.
    let figure_3 = Model {
        n_q: 2,
        n_comp: 2,
        n_bl: 2,
        ..POISSON
    };
    assert_eq!((figure_3.n_bc(), figure_3.n_t()), (12, 24));
}

/// ∇φ·κ∇u at degree 1, κ per cell.
fn shape(dim: usize, components: usize) -> Shape {
    Shape {
        dim,
        nodes: dim + 1,
        points: 1,
        components,
        degree_one: true,
        vertex_order_invariant: true,
        reads_values: false,
        reads_gradients: true,
        writes_values: false,
        writes_gradients: true,
        position: false,
        field_gradients: false,
        fields: Fields::new(&[FieldKind::Cell]),
        parameters: 0,
        classes: None,
        storage: Storage::Affine,
        form_flops: (components * dim) as u64,
    }
}

const CELL: Schedule = Schedule::CellPerThread(CellPerThread {
    threads: 128,
    staged: false,
    padded: false,
    blocks_per_unit: 1,
});

fn transposition(by_component: bool) -> Schedule {
    Schedule::Transposition(Transposition {
        blocks_per_batch: 32,
        batches_per_chunk: 4,
        by_component,
        padded: false,
        prefetch: false,
        blocks_per_unit: 1,
    })
}

#[test]
fn bytes_of_e_vectors_are_those_of_the_arrays() {
    let counts = Counts {
        cells: 1000,
        ..Counts::default()
    };
    for (dim, components) in [(2, 1), (3, 1), (2, 2), (3, 3)] {
        let shape = shape(dim, components);
        for schedule in [CELL, transposition(true)] {
            let of = |bytes| work(&shape, &schedule, Vectors::ELEMENT, bytes, counts);
            let (single, double) = (of(Precision::Fp32), of(Precision::Fp64));
            let unknowns = components * (dim + 1);
            let numbers = dim * dim + 1 + 1 + unknowns;
            assert_eq!(double.bytes_read as usize, 1000 * 8 * numbers);
            assert_eq!(double.bytes_written as usize, 1000 * 8 * unknowns);
            assert_eq!(2 * single.bytes(), double.bytes());
            assert_eq!(single.flops, double.flops);
        }
    }
}

#[test]
fn bytes_of_l_vectors_count_tables_and_nodes() {
    let mut shape = shape(3, 1);
    shape.storage = Storage::Vertices;
    let vectors = Vectors::Nodal {
        interleaved: true,
        scatter: Scatter::Atomic,
    };
    let counts = Counts {
        cells: 600,
        nodes: 100,
        vertices: 100,
        entries: 150,
        slots: 2600,
        filled: 2400,
    };
    let found = work(&shape, &CELL, vectors, Precision::Fp64, counts);
    // Nodes and the field of a cell; coordinates and u of a node.
    assert_eq!(found.bytes_read, 600 * (4 * 4 + 8) + 100 * 8 * (3 + 1));
    assert_eq!(found.bytes_written, 100 * 8);
    let block_local = Schedule::BlockLocal(BlockLocal {
        threads: 128,
        fans_per_block: 256,
        fan_cells: 1,
        block_nodes: 128,
        blocks_ahead: 0,
        blocks_per_unit: 1,
    });
    let found = work(&shape, &block_local, vectors, Precision::Fp64, counts);
    let of_nodes = 150 * (4 + 2) + 100 * 8 * (3 + 1);
    assert_eq!(found.bytes_read, 600 * 8 + 2600 * (2 + 2) + of_nodes);
    let deterministic = Vectors::Nodal {
        interleaved: true,
        scatter: Scatter::Deterministic,
    };
    let found = work(&shape, &block_local, deterministic, Precision::Fp64, counts);
    assert_eq!(found.bytes_written, 150 * 8);
    shape.degree_one = false;
    let found = work(&shape, &CELL, deterministic, Precision::Fp64, counts);
    // A table of vertices besides that of nodes.
    assert_eq!(found.bytes_read, 600 * (8 * 4 + 8) + 100 * 8 * (3 + 1));
    assert_eq!(found.bytes_written, 600 * 4 * 8);
}

/// In the plane, one component: differences 2, ∇u 6, κ 2, weight 1, f1 8; tested with tables 12, or with
/// differences 2 + 4.
#[test]
fn flops_are_those_of_the_texts() {
    let flat = shape(2, 1);
    assert_eq!(flops(&flat, &transposition(true)), 2 + 6 + 2 + 1 + 8 + 12);
    assert_eq!(flops(&flat, &CELL), 2 + 6 + 2 + 1 + 8 + 4);
    let points = Schedule::PointAtATime(PointAtATime {
        cells_per_block: 8,
        blocks_per_unit: 1,
    });
    assert_eq!(flops(&flat, &points), 3 * 19 + 12);
    // Threads of other components repeat the same work.
    let solid = shape(3, 3);
    let more = flops(&solid, &transposition(true)) - flops(&solid, &transposition(false));
    assert_eq!(more, 2 * (3 * (3 + 15) + 9 + 1 + 3 * 18));
}

/// The work of matrix units in single precision, between E-vectors of a hundred cells.
fn of_units(shape: &Shape, units: MatrixUnits) -> Work {
    let (schedule, vectors) = (Schedule::MatrixUnits(units), Vectors::ELEMENT);
    let counts = Counts {
        cells: 100,
        ..Counts::default()
    };
    work(shape, &schedule, vectors, Precision::Fp32, counts)
}

/// Three tiles of nodes and two of points: J⁻¹ and its determinant at each point; three components' nodal values, and nine
/// fluxes.
#[test]
fn shared_numbers_of_matrix_units_are_those_of_the_text() {
    let solid = Shape {
        nodes: 20,
        points: 14,
        degree_one: false,
        ..shape(3, 3)
    };
    let units = MatrixUnits {
        of_classes: false,
        warps: 2,
        blocks_per_unit: 4,
    };
    let found = of_units(&solid, units);
    let numbers = 10 * (1 + 14) + 8 * (3 * 3 * (1 + 2) + 2 * 9 * (1 + 2));
    assert_eq!(found.shared_bytes, 100 * 4 * numbers);
    assert_eq!(found.flops, 100 * flops(&solid, &CELL));
    // Inverses and determinants, fields of cells, vectors; entries of six rows of six tiles in two parts.
    let read = 100 * (10 + 1 + 60) + 6 * 6 * 64 * 2;
    assert_eq!(found.bytes_read, 4 * read);
}

/// Degree 5: two tiles of sums of each class, and two of orbits of points. Sums of u are written and read twice, those of v
/// written and read; four numbers for each of nine derivatives and nine fluxes are written and read.
#[test]
fn classes_are_counted_as_in_the_text() {
    let solid = Shape {
        nodes: 56,
        points: 46,
        degree_one: false,
        classes: Some(ClassSizes {
            sums: [14, 14],
            point_orbits: 14,
        }),
        ..shape(3, 3)
    };
    let found = of_units(&solid, MatrixUnits::with_classes(2));
    let numbers = 10 * (1 + 46) + 8 * (8 * (3 * (1 + 2) + 2 * 3) + 2 * 4 * (9 + 9) * 2);
    assert_eq!(found.shared_bytes, 100 * 4 * numbers);
    // Rows of 46 points become rows of 14 orbits; sums at the nodes, and rows of J⁻¹.
    let saved = 6 * 3 * (2 * 56 * 46 - (2 * 56 + 8) * 14) - 6 * 8 * 14 - 2 * 9;
    assert_eq!(found.flops, 100 * (flops(&solid, &CELL) - saved));
    let orbits = 2 * 4 * 8 * (2 * 2 + 2);
    let read = 100 * (10 + 1 + 168) + 6 * 8 * 2 * 64 * 2;
    assert_eq!(found.bytes_read, 4 * read + orbits);
}

/// Real tetrahedra of degree 3: a quarter of the products, but for additions.
#[test]
fn hosts_do_fewer_flops_on_symmetric_cells() {
    let cell = femto_element::Cell::Tetrahedron;
    let basis = LagrangeBasis::new(cell, 3).unwrap();
    let count = |exact| {
        let element = DenseTables::new(&basis, &rule(cell, exact).unwrap());
        let own = Shape {
            nodes: 20,
            points: element.points,
            degree_one: false,
            ..shape(3, 1)
        };
        (
            host_flops(&own, &element),
            flops(&own, &CELL),
            element.points as u64,
        )
    };
    let (found, all, points) = count(5);
    let products = points * 2 * 2 * 3 * 20;
    assert!(found < all - products * 5 / 8 && found > all - products * 3 / 4);
    // A conical product.
    let (found, all, _) = count(17);
    assert_eq!(found, all);
}
