#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use super::*;
use crate::OperatorParams;
use crate::operator::plan::Plan;
use femto_fem::geometry::Geometry;
use femto_fem::mesh::box_mesh::BoxMesh;
use femto_fem::space::{Space, SpaceParams};
use femto_kernel::family::tensor_hex::pencils::FactorPrecision;
use femto_kernel::form::Poisson;

/// Binds a Poisson operator on a small box with kernels of these variants.
fn bind(variants: &Variants) -> Option<Result<Factors<f64>, OperatorError>> {
    let device = match Accelerator::opencl(0) {
        Ok(device) => device,
        Err(error) => {
            println!("skipped: {error}");
            return None;
        }
    };
    let mesh = BoxMesh::unit_cube(2)
        .build(|[x, y, z]| [x + 0.1 * y * z, y, z])
        .unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    let params = SpaceParams {
        degree: 3,
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).unwrap();
    let params = OperatorParams::default();
    let plan =
        Plan::new::<_, 3, 1>(device.info().kind, &space, &geometry, &Poisson, &params).unwrap();
    let binding = Binding {
        space: &space,
        geometry: &geometry,
        form: &Poisson,
        params: &params,
        plan: &plan,
    };
    Some(Factors::new(&device, &binding, variants))
}

/// Spoils the metric.
fn spoil(text: &str) -> String {
    let spoilt = text.replace("*t = inner_product(z, flux)", "*t = inner_product(y, flux)");
    assert_ne!(spoilt, text, "there is nothing to spoil");
    spoilt
}

#[test]
fn a_wrong_variant_is_dropped_with_a_warning_and_the_next_one_taken() {
    let planted = Variants {
        edit: |schedule, text| {
            if schedule.even_odd {
                spoil(&text)
            } else {
                text
            }
        },
        ..Variants::default()
    };
    let Some(bound) = bind(&planted) else { return };
    let bound = bound.unwrap();
    assert!(!bound.nodal[0].schedule.even_odd);
    let best = variant::candidates(
        &bound.groups[0].shape,
        bound.nodal_vectors(),
        FactorPrecision::Same,
    );
    assert_eq!(bound.warnings.len(), 2);
    for (warning, schedule) in bound.warnings.iter().zip(&best) {
        assert!(warning.contains(&schedule.to_string()), "{warning}");
        assert!(warning.contains("differs from its oracle by"), "{warning}");
    }
}

#[test]
fn right_variants_are_taken_in_order_and_without_warning() {
    let Some(bound) = bind(&Variants::default()) else {
        return;
    };
    let bound = bound.unwrap();
    assert_eq!(bound.warnings, [] as [&str; 0]);
    assert_eq!(
        bound.nodal[0].schedule,
        variant::candidates(
            &bound.groups[0].shape,
            bound.nodal_vectors(),
            FactorPrecision::Same
        )[0]
    );
}

#[test]
fn where_all_variants_are_wrong_there_is_no_operator() {
    let planted = Variants {
        edit: |_, text| spoil(&text),
        ..Variants::default()
    };
    let Some(bound) = bind(&planted) else { return };
    let error = bound.unwrap_err();
    assert!(
        matches!(error, OperatorError::WrongVariant { .. }),
        "{error}"
    );
}

#[test]
fn knobs_are_turned_and_there_is_no_second_choice() {
    let with = |knobs: &str| {
        bind(&Variants {
            knobs: knobs.parse().unwrap(),
            ..Variants::default()
        })
    };
    let Some(bound) = with("elements=2+even_odd=0") else {
        return;
    };
    let schedule = bound.unwrap().nodal[0].schedule;
    assert_eq!((schedule.elements_per_block, schedule.even_odd), (2, false));
    // The maps are trilinear, and recomputed.
    let error = with("staged=1").unwrap().unwrap_err().to_string();
    assert!(
        error.contains("only factors at points are staged"),
        "{error}"
    );
}
