use super::*;
use crate::form::{Poisson, inspect};

fn shape(points_1d: usize, storage: Storage) -> Shape {
    let inspection = inspect::<Poisson, 1>(&Poisson);
    Shape {
        nodes_1d: points_1d,
        points_1d,
        collocated: true,
        components: 1,
        values: inspection.values(),
        gradients: inspection.gradients(),
        position: false,
        storage,
        form_flops: 0,
    }
}

#[test]
fn defaults_are_legal_everywhere() {
    let limits = Limits {
        shared_bytes: 227 << 10,
        ..Limits::default()
    };
    for points in 2..=17 {
        for storage in [
            Storage::ElementFactors,
            Storage::Trilinear,
            Storage::PointFactors,
        ] {
            let shape = shape(points, storage);
            let schedule = Pencils::for_shape(&shape);
            for precision in [Precision::Fp32, Precision::Fp64] {
                let result = schedule.validate(&shape, precision, &limits);
                assert_eq!(result, Ok(()), "{points} points: {schedule}");
            }
        }
    }
}

#[test]
fn broken_rules_are_named() {
    let shape8 = shape(8, Storage::Trilinear);
    let good = Pencils::for_shape(&shape8);
    let limits = Limits::default();
    let message = |schedule: Pencils, shape: &Shape, limits: &Limits| {
        let result = schedule.validate(shape, Precision::Fp64, limits);
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
        let strides = padding::Strides::of(&shape(points, Storage::Trilinear));
        assert!(strides.row as usize >= points);
        assert!(strides.layer as usize >= (points - 1) * strides.row as usize + points);
        assert!(strides.layer as usize <= points * (points + 2) + 16);
    }
    // Eight points: rows of nine have no conflicts along i, and few along k.
    let strides = padding::Strides::of(&shape(8, Storage::Trilinear));
    assert_eq!((strides.row, strides.layer % 16), (9, 8));
}
