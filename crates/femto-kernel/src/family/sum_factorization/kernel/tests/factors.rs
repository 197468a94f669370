//! Schedules and sources of folded factors.

use super::super::padding::{LayerStrides, Places, Stage, Strides};
use super::super::*;
use crate::family::fields::Fields;
use crate::family::sum_factorization::Storage;
use crate::family::{Limits, Scatter};
use crate::form::{Poisson, inspect};
use femto_element::tables::TensorTables;

const ELEMENTS: Vectors = Vectors::Element { listed: false };
const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Atomic,
};

fn shape(points_1d: usize, storage: Storage) -> Shape {
    let inspection = inspect::<_, 3, 1>(&Poisson);
    Shape {
        dim: 3,
        nodes_1d: points_1d,
        points_1d,
        collocated: true,
        components: 1,
        values: inspection.values(),
        gradients: inspection.gradients(),
        position: false,
        storage,
        fields: Fields::default(),
        field_gradients: 0,
        parameters: 0,
        reads_context: false,
        form_flops: 0,
        form_calls: 0,
    }
}

/// Up to 17 points in a direction; the nodes' lower degree does not matter to sources.
fn basis(points_1d: usize) -> TensorTables {
    let degree = (points_1d - 1).min(15);
    TensorTables::gauss(femto_element::Cell::Hexahedron, degree, points_1d).unwrap()
}

fn spec(
    basis: &TensorTables,
    shape: Shape,
    vectors: Vectors,
    (precision, factors): (Precision, FactorPrecision),
) -> KernelSpec<'_> {
    KernelSpec {
        basis,
        shape,
        step: PointStep::Factors(factors),
        vectors,
        precision,
        language: Language::Cuda,
    }
}

#[test]
fn the_best_are_legal_on_the_device_they_are_for() {
    let limits = Limits {
        shared_bytes: 227 << 10,
        ..Limits::default()
    };
    let storages = [
        Storage::ElementFactors,
        Storage::MapFactors,
        Storage::PointFactors,
    ];
    let check = |shape: Shape| {
        for vectors in [ELEMENTS, NODAL] {
            for (precision, factors) in [
                (Precision::Fp32, FactorPrecision::Same),
                (Precision::Fp64, FactorPrecision::Same),
                (Precision::Fp64, FactorPrecision::Single),
            ] {
                let basis = basis(shape.points_1d);
                let spec = spec(&basis, shape, vectors, (precision, factors));
                let schedule = spec.best(&limits);
                let result = schedule.validate(&spec, &limits);
                assert_eq!(result, Ok(()), "{shape:?}: {schedule}");
            }
        }
    };
    for points in 2..=17 {
        for storage in storages {
            for (collocated, gradients) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                for components in [1, 3] {
                    check(Shape {
                        collocated,
                        gradients,
                        components,
                        ..shape(points, storage)
                    });
                }
            }
        }
    }
}

#[test]
fn broken_rules_are_named() {
    let shape8 = shape(8, Storage::MapFactors);
    let (limits, basis8) = (Limits::default(), basis(8));
    let numbers = (Precision::Fp64, FactorPrecision::Same);
    let good = spec(&basis8, shape8, ELEMENTS, numbers).best(&limits);
    let message = |schedule: Schedule, shape: &Shape, limits: &Limits| {
        let result = schedule.validate(&spec(&basis8, *shape, ELEMENTS, numbers), limits);
        result.unwrap_err().to_string()
    };
    let with = |reload_values, point_unroll| Schedule {
        scratch_cube: false,
        reload_values,
        point_unroll,
        ..good
    };
    let odd = with(true, 0);
    assert!(message(odd, &shape8, &limits).contains("values stay in registers"));
    let odd = with(false, 2);
    assert!(message(odd, &shape8, &limits).contains("needs a scratch cube"));
    assert!(message(good, &shape(8, Storage::Jacobians), &limits).contains("lambda u"));
    let odd = Schedule {
        elements_per_block: 17,
        ..good
    };
    assert!(message(odd, &shape8, &limits).contains("1088"));
    let small = Limits {
        shared_bytes: 1000,
        ..limits
    };
    assert!(message(good, &shape8, &small).contains("shared memory"));
    let single = Limits {
        fp64: false,
        ..limits
    };
    assert!(message(good, &shape8, &single).contains("fp64"));
}

#[test]
fn rules_of_whole_elements_are_named() {
    let (limits, numbers) = (Limits::default(), (Precision::Fp64, FactorPrecision::Same));
    let two = Shape {
        components: 3,
        ..shape(2, Storage::MapFactors)
    };
    let basis2 = basis(2);
    let best = spec(&basis2, two, NODAL, numbers).best(&limits);
    assert_eq!(
        (best.thread_per, best.block_sums, best.together),
        (ThreadPer::Element, true, true)
    );
    let message = |schedule: Schedule, shape: Shape, vectors: Vectors| {
        let result = schedule.validate(&spec(&basis2, shape, vectors, numbers), &limits);
        result.unwrap_err().to_string()
    };
    let stored = shape(2, Storage::PointFactors);
    assert!(message(best, two, ELEMENTS).contains("L-vectors"));
    assert!(message(best, stored, NODAL).contains("no geometry at points"));
    let deterministic = Vectors::Nodal {
        interleaved: false,
        scatter: Scatter::Deterministic,
    };
    assert!(message(best, two, deterministic).contains("atomic additions"));
    let with = |change: fn(&mut Schedule)| {
        let mut schedule = best;
        change(&mut schedule);
        message(schedule, two, NODAL)
    };
    assert!(with(|it| it.together = false).contains("all components together"));
    assert!(with(|it| it.elements_per_block = 40).contains("whole warps"));
    assert!(with(|it| it.points = PointData::Shared).contains("exchanges nothing"));
    assert!(with(|it| it.thread_per = ThreadPer::Pencil).contains("blocks sum if"));
    assert!(with(|it| it.elements_per_block = 4096).contains("65536"));
}

#[test]
fn rules_of_layers_are_named() {
    let (limits, numbers) = (Limits::default(), (Precision::Fp64, FactorPrecision::Same));
    let cell = femto_element::Cell::Hexahedron;
    let (basis3, basis4) = (basis(3), TensorTables::gauss(cell, 2, 4).unwrap());
    let three = Shape {
        points_1d: 4,
        collocated: false,
        values: false,
        ..shape(3, Storage::MapFactors)
    };
    let best = spec(&basis4, three, NODAL, numbers).best(&limits);
    assert_eq!(best.thread_per, ThreadPer::Layer);
    // Warps of 8 elements; 3 · 3 layers of 4 · 4 points, padded.
    assert_eq!(
        best.block(&spec(&basis4, three, NODAL, numbers)).threads,
        [64, 1, 1]
    );
    let strides = LayerStrides::of(&best, &spec(&basis4, three, NODAL, numbers));
    assert!(strides.layer >= 16 && strides.slot >= 9 * strides.layer && strides.slot < 10 * 18);
    let message = |schedule: Schedule, basis: &TensorTables, shape: Shape| {
        let result = schedule.validate(&spec(basis, shape, NODAL, numbers), &limits);
        result.unwrap_err().to_string()
    };
    let of_nodes = Schedule {
        elements_per_block: 10,
        ..best
    };
    assert!(message(of_nodes, &basis3, shape(3, Storage::MapFactors)).contains("Gauss points"));
    let with = |change: fn(&mut Schedule)| {
        let mut schedule = best;
        change(&mut schedule);
        message(schedule, &basis4, three)
    };
    assert!(with(|it| it.by_warp = false).contains("not split between warps"));
    assert!(with(|it| it.elements_per_block = 12).contains("multiple"));
    assert!(with(|it| it.scratch_cube = true).contains("in registers"));
    assert!(with(|it| it.point_unroll = 2).contains("one pencil"));
    // Factors at points are for pencils.
    let stored = Shape {
        storage: Storage::PointFactors,
        ..three
    };
    let of_points = spec(&basis4, stored, NODAL, numbers).best(&limits);
    assert_eq!(of_points.thread_per, ThreadPer::Pencil);
}

#[test]
fn strides_leave_rows_apart_and_threads_together() {
    let strides = |points| {
        let numbers = (Precision::Fp64, FactorPrecision::Same);
        let (basis, shape) = (basis(points), shape(points, Storage::MapFactors));
        Strides::of(&Schedule::PLAIN, &spec(&basis, shape, ELEMENTS, numbers))
    };
    for points in 2..=17 {
        let strides = strides(points);
        assert!(strides.row as usize >= points);
        assert!(strides.layer as usize >= (points - 1) * strides.row as usize + points);
        assert!(strides.layer as usize <= points * (points + 2) + 16);
    }
    // Eight points: rows of nine have no conflicts along i, and few along k.
    let strides = strides(8);
    assert_eq!((strides.row, strides.layer % 16), (9, 8));
}

#[test]
fn staged_factors_lie_where_they_can_be_copied_to() {
    let numbers = [
        (Precision::Fp64, FactorPrecision::Same),
        (Precision::Fp64, FactorPrecision::Single),
        (Precision::Fp32, FactorPrecision::Same),
    ];
    for points in 2..=17 {
        let shape = shape(points, Storage::PointFactors);
        for (elements_per_block, by_warp) in [(1, false), (3, false), (6, points < 4)] {
            let schedule = Schedule {
                elements_per_block,
                by_warp,
                staged: true,
                ..Schedule::PLAIN
            };
            for (precision, factors) in numbers {
                let basis = basis(points);
                let spec = spec(&basis, shape, ELEMENTS, (precision, factors));
                let stage = Stage::of(&schedule, &spec);
                let stored = shape.storage.precision(factors, precision).bytes() as u32;
                let number = precision.bytes() as u32;
                let (start, slot) = (stage.start * number, stage.slot * stored);
                let slots = Places::of(&schedule, &shape).slots;
                let cubes = slots * Strides::of(&schedule, &spec).slot * number;
                let bytes = spec.geometry_len() as u32 * stored;
                assert_eq!((start % 16, slot % 16), (0, 0));
                assert!(start >= cubes && slot >= bytes);
                assert_eq!(bytes % stage.copy_bytes, 0);
                assert_eq!(stage.end * number, start + slots * slot);
            }
        }
    }
    let basis3 = basis(3);
    let shape3 = shape(3, Storage::PointFactors);
    let odd = Stage::of(
        &Schedule::PLAIN,
        &spec(&basis3, shape3, ELEMENTS, numbers[1]),
    );
    assert_eq!(
        odd.copy_bytes, 8,
        "6 factors at 27 points in single precision"
    );
}
