//! All steps on OpenCL, and the loops of the host.

use super::*;
use crate::Record;
use crate::tests::{CEILINGS, SAMPLING};
use femto::Host;
use femto_platform::device::conformance::with;
use serde_json::json;

const ALL: How<'static> = How {
    sampling: &SAMPLING,
    ceilings: &CEILINGS,
    stages: &Stage::ALL,
};

#[test]
fn every_step_is_right_and_has_a_record_of_every_stage() {
    with(Accelerator::opencl(0), |device| {
        let challenge = Challenge::new(40, 9).unwrap();
        let mut stages = DeviceStages::new(device, &challenge).unwrap();
        for step in steps() {
            let rows = stages.measure(&step, ALL).unwrap();
            let names: Vec<String> = rows.iter().map(|row| row.text("stage")).collect();
            let mut wanted: Vec<String> = step.schedule.stages().map(|it| it.to_string()).collect();
            wanted.push("together".to_owned());
            assert_eq!(names, wanted);
            assert_eq!(
                step.schedule.copy,
                wanted.contains(&"expression_2".to_owned())
            );
            for row in &rows {
                assert!(row.error.unwrap() < 1e-13, "{step}, {}", row.text("stage"));
                assert_eq!(row.get("cells"), json!(challenge.columns.cells()));
                assert!(row.seconds() > 0.0);
            }
        }
    });
}

#[test]
fn host_loops_are_right_and_add_up() {
    let challenge = Challenge::new(40, 9).unwrap();
    let host = Host::with_threads(2).unwrap();
    for variant in Variant::ALL {
        let rows = measure_on_host(&host, &challenge, variant, ALL);
        let rows = rows.unwrap();
        assert_eq!(rows.len(), Stage::ALL.len() + 1);
        let seconds = |name: &str| -> f64 {
            let mut named = rows.iter().filter(|row| row.text("stage") == name);
            named.next().unwrap().seconds()
        };
        let sum: f64 = Stage::CHALLENGE.iter().map(|it| seconds(it.name())).sum();
        assert!((seconds("together") / sum - 1.0).abs() < 1e-12);
        let nominal = |name: &str| {
            let mut named = rows.iter().filter(|row| row.text("stage") == name);
            named.next().unwrap().number("nominal_flops").unwrap()
        };
        assert_eq!(
            nominal("lhs"),
            challenge.columns.cells() as f64 * (50.0 + 288.0 * 40.0 + 6.0)
        );
    }
    let one = Host::with_threads(1).unwrap();
    let refused = measure_on_host(&one, &challenge, Variant::Cells, ALL);
    assert!(matches!(refused, Err(BenchError::Illegal(_))));
}

#[test]
fn stages_are_timed_alone() {
    let challenge = Challenge::new(40, 9).unwrap();
    let host = Host::with_threads(1).unwrap();
    let how = How {
        stages: &[Stage::Lhs, Stage::Zero],
        ..ALL
    };
    let check = |rows: &[Record]| {
        let names: Vec<String> = rows.iter().map(|row| row.text("stage")).collect();
        assert_eq!(names, ["zero", "lhs"]);
        assert!(rows.iter().all(|row| row.seconds() > 0.0));
    };
    check(&measure_on_host(&host, &challenge, Variant::Serial, how).unwrap());
    with(Accelerator::opencl(0), |device| {
        let mut stages = DeviceStages::new(device, &challenge).unwrap();
        check(&stages.measure(&steps()[7], how).unwrap());
        assert!(
            measure_operators(&device.clone().into(), &challenge, how)
                .unwrap()
                .is_empty()
        );
    });
}

/// Every node of every product, through another numbering.
#[test]
fn products_by_operators_are_right() {
    let challenge = Challenge::new(40, 9).unwrap();
    let check = |device: &AnyDevice| {
        let rows = measure_operators(device, &challenge, ALL).unwrap();
        let names: Vec<String> = rows.iter().map(|row| row.text("stage")).collect();
        assert_eq!(names, ["rhs_1", "rhs", "action"]);
        for row in &rows {
            assert!(row.error.unwrap() < 1e-13, "{}", row.text("stage"));
            assert!(row.number("nominal_flops").unwrap() > 0.0 && row.seconds() > 0.0);
        }
    };
    check(&Host::with_threads(2).unwrap().into());
    with(Accelerator::opencl(0), |device| {
        check(&device.clone().into())
    });
}

#[test]
fn a_wrong_output_is_a_failure() {
    let Challenge { oracle, .. } = Challenge::new(8, 2).unwrap();
    let mut found = oracle.output(Stage::Lhs).unwrap().values.clone();
    let check = |found: &[f64]| record::compare(&oracle, Stage::Lhs, found);
    assert_eq!(check(&found).unwrap(), 0.0);
    found[3] += 1e-9;
    assert!(matches!(check(&found), Err(BenchError::Wrong { .. })));
    found[3] = f64::NAN;
    assert!(check(&found).is_err() && check(&found[1..]).is_err());
}

#[test]
fn the_mesh_is_irregular_and_as_large_as_asked() {
    let Challenge { columns, .. } = Challenge::new(300, 4).unwrap();
    assert!(columns.triangles() >= 300 && columns.layers() == 4);
    assert_eq!(columns.nodes(), columns.vertices() * 5);
    // Neighbours in the list of triangles do not have neighbouring columns.
    let first = columns.map().chunks_exact(6).map(|nodes| nodes[0] / 5);
    let first: Vec<u32> = first.collect();
    let regular = first
        .windows(2)
        .filter(|pair| pair[1].abs_diff(pair[0]) <= 1);
    assert!(2 * regular.count() < first.len());
}
