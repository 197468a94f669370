//! Knepley et al.'s quantities, and rules of schedules.

use super::*;
use crate::family::Scatter;
use crate::family::cell_quadrature::choice;
use crate::family::cell_quadrature::samples::{Nonlinear, Random, element, shape};
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;

fn sized(nodes: usize, points: usize, components: usize) -> Shape {
    let mut random = Random::new();
    let element = element(&mut random, 2, 1, 1);
    let (mut shape, _) = shape::<_, 2, 1>(&Nonlinear, &element, &[], Storage::Affine);
    (shape.nodes, shape.points, shape.components) = (nodes, points, components);
    shape
}

fn knobs(blocks_per_batch: u32) -> Transposition {
    Transposition {
        blocks_per_batch,
        batches_per_chunk: 5,
        by_component: true,
        padded: false,
        prefetch: false,
        blocks_per_unit: 1,
    }
}

/// Figure 3 of Knepley et al.: N_b = 3, N_q = 2, two components, two blocks.
#[test]
fn the_quantities_are_those_of_the_figures() {
    let expected = Quantities {
        n_t: 24,
        n_bs: 6,
        n_bl: 2,
        n_bc: 12,
        n_cb: 5,
        n_sqc: 2,
        n_sbc: 3,
        n_chunk: 60,
    };
    let figure_3 = sized(3, 2, 2);
    assert_eq!(knobs(2).quantities(&figure_3), expected);
    let mut shared = knobs(2);
    shared.by_component = false;
    assert_eq!(
        shared.quantities(&figure_3),
        Quantities {
            n_t: 12,
            ..expected
        }
    );
    let schedule = Schedule::Transposition(knobs(2));
    assert_eq!(schedule.blocks(&figure_3, 121), 3);
    assert_eq!(schedule.cells_of_full_blocks(&figure_3, 121), 120);
}

/// For any number of points, all threads have work: in each phase there are as many pairs of thread and
/// cell as points, or basis coefficients, in the batch.
#[test]
fn all_threads_have_work_in_both_phases() {
    for nodes in [3, 4, 6, 10, 20] {
        for points in [1, 2, 3, 4, 6, 14, 24] {
            let shape = sized(nodes, points, 3);
            let n = knobs(2).quantities(&shape);
            assert_eq!(n.n_t * n.n_sqc, n.n_bc * points * 3);
            assert_eq!(n.n_t * n.n_sbc, n.n_bc * nodes * 3);
        }
    }
}

#[test]
fn illegal_schedules_name_their_rule() {
    let shape = sized(3, 1, 1);
    let check = |schedule: Schedule, vectors, interleave| {
        let place = (vectors, interleave);
        let outcome = schedule.validate(&shape, place, Precision::Fp64, &Limits::default());
        outcome.map_err(|error| error.to_string())
    };
    let transposition = Schedule::Transposition(knobs(64));
    assert_eq!(
        check(transposition, Vectors::ELEMENT, Interleave::NONE),
        Ok(())
    );
    let together = Interleave {
        data: 32,
        vectors: 1,
    };
    let error = check(transposition, Vectors::ELEMENT, together).unwrap_err();
    assert!(error.contains("not interleaved"), "{error}");
    let large = Schedule::Transposition(knobs(400));
    let error = check(large, Vectors::ELEMENT, Interleave::NONE).unwrap_err();
    assert!(
        error.contains("1200 × 1 × 1 threads is too large"),
        "{error}"
    );
    let mut lists = BlockLocal {
        threads: 128,
        fans_per_block: 256,
        fan_cells: 1,
        block_nodes: 192,
        blocks_ahead: 0,
        blocks_per_unit: 1,
    };
    let block_local = Schedule::BlockLocal(lists);
    let error = check(block_local, Vectors::ELEMENT, together).unwrap_err();
    assert!(error.contains("L-vector"), "{error}");
    let deterministic = Vectors::Nodal {
        interleaved: true,
        scatter: Scatter::Deterministic,
    };
    let few = BlockLocal {
        threads: 4,
        fans_per_block: 4,
        ..lists
    };
    let error = check(Schedule::BlockLocal(few), deterministic, together).unwrap_err();
    assert!(error.contains("read by eights"), "{error}");
    lists.fan_cells = 4;
    let nodal = Vectors::Nodal {
        interleaved: true,
        scatter: Scatter::Atomic,
    };
    let error = check(Schedule::BlockLocal(lists), nodal, together).unwrap_err();
    assert!(error.contains("geometry from vertices"), "{error}");
}

/// The number of warps leaves few of them without tiles; their sums fit registers.
#[test]
fn warps_suit_the_tiles_of_nodes_and_points() {
    let warps = |nodes, points, components, precision| {
        let all = choice::matrix_units(&sized(nodes, points, components), precision);
        all.first().map(|schedule| match schedule {
            Schedule::MatrixUnits(it) => it.warps,
            other => panic!("{other}"),
        })
    };
    for (nodes, points, expected) in [
        (20, 14, [2, 2]),
        (35, 24, [3, 3]),
        (56, 46, [2, 2]),
        (84, 81, [4, 4]),
        (120, 168, [3, 4]),
        (165, 204, [3, 8]),
    ] {
        let found = [1, 3].map(|components| warps(nodes, points, components, Precision::Fp64));
        assert_eq!(found, expected.map(Some), "{nodes} {points}");
    }
    assert_eq!(warps(10, 4, 3, Precision::Fp64), None);
    assert_eq!(warps(20, 14, 1, Precision::Fp32), None);
}

/// Real tetrahedra of degree 5 have classes, which come first; they need four warps, and there are none without symmetry.
#[test]
fn classes_are_those_of_symmetric_tetrahedra() {
    let cell = femto_element::Cell::Tetrahedron;
    let basis = LagrangeBasis::new(cell, 5).unwrap();
    let element = DenseTables::new(&basis, &rule(cell, 8).unwrap());
    let (shape, _) = shape::<_, 3, 1>(&Nonlinear, &element, &[], Storage::Affine);
    let limits = Limits {
        matrix_units: true,
        ..Limits::default()
    };
    let place = (Vectors::ELEMENT, Interleave::NONE);
    let is_legal = |shape: &Shape, warps| {
        let units = MatrixUnits {
            warps,
            of_classes: true,
            blocks_per_unit: 1,
        };
        let schedule = Schedule::MatrixUnits(units);
        let valid = schedule.validate(shape, place, Precision::Fp64, &limits);
        valid.is_ok()
    };
    let comes_first = |shape: &Shape| {
        let first = choice::matrix_units(shape, Precision::Fp64)[0];
        matches!(first, Schedule::MatrixUnits(it) if it.of_classes)
    };
    assert!(comes_first(&shape) && is_legal(&shape, 4) && !is_legal(&shape, 3));
    let skewed = Shape {
        classes: None,
        ..shape
    };
    assert!(!comes_first(&skewed) && !is_legal(&skewed, 4));
}

#[test]
fn matrix_units_are_only_used_where_there_are_some() {
    let shape = sized(35, 24, 3);
    let place = (Vectors::ELEMENT, Interleave::NONE);
    let all = choice::matrix_units(&shape, Precision::Fp64);
    let validate = |matrix_units: bool| {
        let limits = Limits {
            matrix_units,
            ..Limits::default()
        };
        all[0].validate(&shape, place, Precision::Fp64, &limits)
    };
    assert_eq!(validate(true), Ok(()));
    assert_eq!(validate(false), Err(ScheduleError::MatrixUnits));
}
