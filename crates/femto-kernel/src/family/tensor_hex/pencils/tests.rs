use super::*;
use crate::family::fields::Fields;
use crate::form::{Poisson, inspect};

const ELEMENTS: Vectors = Vectors::Element { listed: false };
const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Atomic,
};

fn shape(points_1d: usize, storage: Storage) -> Shape {
    let inspection = inspect::<_, 3, 1>(&Poisson);
    Shape {
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
        form_flops: 0,
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
        Storage::Trilinear,
        Storage::PointFactors,
    ];
    let check = |shape: Shape| {
        for vectors in [ELEMENTS, NODAL] {
            for (precision, factors) in [
                (Precision::Fp32, FactorPrecision::Same),
                (Precision::Fp64, FactorPrecision::Same),
                (Precision::Fp64, FactorPrecision::Single),
            ] {
                let schedule = Pencils::best(&shape, vectors, factors);
                let result = schedule.validate(&shape, (precision, factors), &limits);
                assert_eq!(result, Ok(()), "{shape:?}: {schedule}");
            }
        }
    };
    for points in 2..=17 {
        for storage in storages {
            for (collocated, gradients) in
                [(true, true), (true, false), (false, true), (false, false)]
            {
                check(Shape {
                    collocated,
                    gradients,
                    ..shape(points, storage)
                });
            }
        }
    }
}

#[test]
fn broken_rules_are_named() {
    let shape8 = shape(8, Storage::Trilinear);
    let good = Pencils::best(&shape8, ELEMENTS, FactorPrecision::Same);
    let limits = Limits::default();
    let message = |schedule: Pencils, shape: &Shape, limits: &Limits| {
        let result = schedule.validate(shape, (Precision::Fp64, FactorPrecision::Same), limits);
        result.unwrap_err().to_string()
    };
    let odd = Pencils {
        third_cube: false,
        keep_values: false,
        ..good
    };
    assert!(message(odd, &shape8, &limits).contains("values stay in registers"));
    let odd = Pencils {
        third_cube: false,
        keep_values: true,
        metric_unroll: 2,
        ..good
    };
    assert!(message(odd, &shape8, &limits).contains("needs a third cube"));
    assert!(message(good, &shape(8, Storage::Jacobians), &limits).contains("lambda u"));
    let odd = Pencils {
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
fn strides_leave_rows_apart_and_threads_together() {
    for points in 2..=17 {
        let shape = shape(points, Storage::Trilinear);
        let strides = padding::Strides::of(&Pencils::plain(), &shape);
        assert!(strides.row as usize >= points);
        assert!(strides.layer as usize >= (points - 1) * strides.row as usize + points);
        assert!(strides.layer as usize <= points * (points + 2) + 16);
    }
    // Eight points: rows of nine have no conflicts along i, and few along k.
    let strides = padding::Strides::of(&Pencils::plain(), &shape(8, Storage::Trilinear));
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
            let schedule = Pencils {
                elements_per_block,
                by_warp,
                staged: true,
                ..Pencils::plain()
            };
            for (precision, factors) in numbers {
                let stage = padding::Stage::of(&schedule, &shape, (precision, factors));
                let stored = factors.of(shape.storage, precision).bytes() as u32;
                let number = precision.bytes() as u32;
                let (start, slot) = (stage.start * number, stage.slot * stored);
                let slots = padding::Places::of(&schedule, &shape).slots;
                let cubes = slots * padding::Strides::of(&schedule, &shape).slot * number;
                let bytes = geometry_len(&shape) as u32 * stored;
                assert_eq!((start % 16, slot % 16), (0, 0));
                assert!(start >= cubes && slot >= bytes);
                assert_eq!(bytes % stage.copy_bytes, 0);
                assert_eq!(stage.end * number, start + slots * slot);
            }
        }
    }
    let odd = padding::Stage::of(
        &Pencils::plain(),
        &shape(3, Storage::PointFactors),
        numbers[1],
    );
    assert_eq!(
        odd.copy_bytes, 8,
        "6 factors at 27 points in single precision"
    );
}
