//! Rows compared with the library.

use super::subject::Subject;
use super::*;
use femto::kernel::roofline::{Ceilings, bound};
use femto::kernel::scalar::Precision;
use femto::{AnyDevice, DataLevel, Host};
use femto_platform::device::Device;

pub(crate) const CEILINGS: Ceilings = Ceilings {
    copy: 1e10,
    read: 2e10,
    write: 3e10,
    fma_fp64: 1e11,
    fma_fp32: 2e11,
    shared: None,
};

/// As short as possible.
pub(crate) const SAMPLING: Sampling = Sampling {
    samples: 1,
    seconds: 0.0,
};

fn params(benchmark: Benchmark, degree: usize) -> Params {
    Params {
        degree: degree.into(),
        size: Size::Elements(8),
        sampling: Sampling {
            samples: 2,
            seconds: 0.0,
        },
        ..Params::new(benchmark)
    }
}

fn count(record: &Record, column: &str) -> u64 {
    record.get(column).as_u64().unwrap()
}

#[test]
fn the_work_of_a_row_is_the_operators() {
    let host = Host::with_threads(1).unwrap();
    for benchmark in Benchmark::ALL {
        for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
            let params = Params {
                data_level,
                ..params(benchmark, 2)
            };
            let row = run(&host.clone().into(), &params, &CEILINGS).unwrap();
            let problem = params.problem(params.cells()).unwrap();
            let operator = Subject::<f64, Host>::new(&host, &params, &problem)
                .unwrap()
                .operator;
            let (work, dofs, per_element) = match benchmark.vector() {
                VectorKind::E => (operator.element_work(), operator.element_dofs(), 27),
                _ => (operator.work(), operator.dofs(), 0),
            };
            assert_eq!(
                (row.work, count(&row, "dofs")),
                (work, dofs as u64),
                "{benchmark}"
            );
            assert_eq!(count(&row, "nominal_flops"), operator.nominal_flops());
            if per_element > 0 {
                assert_eq!(count(&row, "dofs"), per_element * count(&row, "elements"));
            } else {
                assert_eq!(count(&row, "dofs"), 125 * count(&row, "components"));
            }
            let bound = bound(&work, &CEILINGS, Precision::Fp64);
            assert_eq!(row.bound_seconds("bound"), Some(bound.seconds));
            let number = |column| row.number(column).unwrap();
            assert_eq!(number("fraction"), bound.seconds / row.seconds());
            assert_eq!(number("rate"), dofs as f64 / row.seconds());
            let copied = number("byte_rate") / CEILINGS.copy;
            assert!((number("copy_fraction") / copied - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn nominal_flops_are_those_of_the_papers() {
    let host = AnyDevice::from(Host::with_threads(1).unwrap());
    let nominal = |benchmark| {
        let row = run(&host, &params(benchmark, 7), &CEILINGS).unwrap();
        count(&row, "nominal_flops") / count(&row, "elements")
    };
    let (q, g) = (8, 9);
    let interpolation = 4 * (g * q * q * q + g * g * q * q + g * g * g * q);
    let bk1 = interpolation + g * g * g;
    assert_eq!(nominal(Benchmark::Bk1), bk1);
    assert_eq!(nominal(Benchmark::Bp2), 3 * bk1);
    assert_eq!(
        nominal(Benchmark::Bk3),
        interpolation + 12 * g * g * g * g + 19 * g * g * g
    );
    assert_eq!(
        nominal(Benchmark::Bp6),
        3 * (12 * q * q * q * q + 15 * q * q * q)
    );
}

#[test]
fn single_precision_moves_half_the_numbers() {
    let host = AnyDevice::from(Host::with_threads(2).unwrap());
    let double = params(Benchmark::Bk5, 3);
    let single = Params {
        precision: Precision::Fp32,
        ..double
    };
    let [double, single] = [double, single].map(|params| run(&host, &params, &CEILINGS).unwrap());
    assert_eq!(2 * single.work.bytes_read, double.work.bytes_read);
    assert_eq!(
        (count(&single, "threads"), single.number("ceiling_fma")),
        (2, Some(CEILINGS.fma_fp32))
    );
}

#[test]
fn iterations_are_timed_on_free_unknowns() {
    let host = AnyDevice::from(Host::with_threads(1).unwrap());
    let cg = |benchmark, degree| {
        let params = Params {
            measured: Measured::CgIteration,
            ..params(benchmark, degree)
        };
        run(&host, &params, &CEILINGS)
    };
    let inner = cg(Benchmark::Bp5, 4).unwrap();
    assert_eq!(
        (count(&inner, "dofs"), inner.text("vector").as_str()),
        (7 * 7 * 7, "L")
    );
    assert_eq!(inner.text("rate_unit"), "DOF/s that are not constrained");
    let all = cg(Benchmark::Bp1, 4).unwrap();
    assert_eq!(count(&all, "dofs"), 9 * 9 * 9);
    // Besides the operator: 9 reads, 3 writes and 14 flops per unknown.
    let alone = run(&host, &params(Benchmark::Bp1, 4), &CEILINGS).unwrap();
    assert_eq!(all.work.bytes_read - alone.work.bytes_read, 72 * 729);
    assert_eq!(all.work.bytes_written - alone.work.bytes_written, 24 * 729);
    assert_eq!(all.work.flops - alone.work.flops, 14 * 729);

    let sparse = Params {
        data_level: DataLevel::Sparse,
        ..params(Benchmark::Bk1, 4)
    };
    let refused = run(&host, &sparse, &CEILINGS).unwrap_err();
    assert!(matches!(refused, BenchError::NoSparseMatrix { .. }));
    let refused = cg(Benchmark::Bk1, 4).unwrap_err();
    assert!(matches!(
        refused,
        BenchError::NoIterations {
            benchmark: Benchmark::Bk1
        }
    ));
    let one_element = Params {
        measured: Measured::CgIteration,
        size: Size::Elements(1),
        ..params(Benchmark::Bp3, 1)
    };
    let nothing = run(&host, &one_element, &CEILINGS).unwrap_err();
    assert!(
        matches!(nothing, BenchError::NothingToSolve { .. }),
        "{nothing}"
    );
}

#[test]
fn probes_are_integrals_of_their_function() {
    let host = AnyDevice::from(Host::with_threads(1).unwrap());
    let probe = |benchmark| {
        let params = Params {
            mesh: MeshShape::Box,
            probe: true,
            ..params(benchmark, 7)
        };
        run(&host, &params, &CEILINGS).unwrap()
    };
    // Over the unit cube, of (sin(x + c) + y z)² and of cos²(x + c) + y² + z².
    let square = |c: f64| {
        let mixed = (c.cos() - (c + 1.0).cos()) / 2.0;
        0.5 - ((2.0 * c + 2.0).sin() - (2.0 * c).sin()) / 4.0 + mixed + 1.0 / 9.0
    };
    let slope = |c: f64| 0.5 + ((2.0 * c + 2.0).sin() - (2.0 * c).sin()) / 4.0 + 2.0 / 3.0;
    let three = |integral: &dyn Fn(f64) -> f64| [0.0, 1.0, 2.0].map(integral).iter().sum();
    for (benchmark, exact) in [
        (Benchmark::Bp1, square(0.0)),
        (Benchmark::Bp2, three(&square)),
        (Benchmark::Bp3, slope(0.0)),
        (Benchmark::Bp4, three(&slope)),
        (Benchmark::Bp5, slope(0.0)),
        (Benchmark::Bp6, three(&slope)),
    ] {
        let row = probe(benchmark);
        let energy = row.number("energy").unwrap();
        assert!(
            (energy / exact - 1.0).abs() < 1e-9,
            "{benchmark}: {energy} {exact}"
        );
        assert!(row.number("norm").unwrap() > 0.0);
    }
    assert_eq!(probe(Benchmark::Bk1).number("energy"), None);
    assert_eq!(
        run(&host, &params(Benchmark::Bp1, 2), &CEILINGS)
            .unwrap()
            .number("energy"),
        None
    );
}

#[test]
fn impossible_measurements_are_rejected_up_front() {
    let host = Host::with_threads(1).unwrap().info();
    let refused = |params: Params| params.check(&host).unwrap_err().to_string();
    let degree = refused(params(Benchmark::Bp5, 16));
    assert!(degree.contains("16"), "{degree}");
    assert!(params(Benchmark::Bp5, 0).check(&host).is_err());
    let large = refused(Params {
        size: Size::Dofs(1_000_000_000_000),
        ..params(Benchmark::Bp5, 4)
    });
    assert!(large.contains("GB"), "{large}");
}

#[test]
fn an_operator_is_timed_on_its_own() {
    let host = Host::with_threads(1).unwrap();
    let params = params(Benchmark::Bp5, 3);
    let problem = params.problem(params.cells()).unwrap();
    let subject = Subject::<f32, Host>::new(&host, &params, &problem).unwrap();
    let timing = time_apply(&subject.operator, &params.sampling).unwrap();
    assert!(0.0 < timing.min && timing.min <= timing.median && timing.median <= timing.max);
    assert_eq!((timing.samples, timing.repeats), (2, 3));
}
