#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use super::operator::Edit;
use super::*;
use crate::OperatorParams;
use crate::operator::plan::Plan;
use femto_fem::geometry::Geometry;
use femto_fem::mesh::box_mesh::BoxMesh;
use femto_fem::space::{Space, SpaceParams};
use femto_kernel::family::sum_factorization::kernel::{PointData, Schedule};
use femto_kernel::form::Poisson;

type Bound = Blocks<f64, SumFactorization<f64>>;

/// Binds a Poisson operator on a small box with these knobs, its texts edited.
fn bind(knobs: &str, edit: Edit<Schedule>) -> Option<Result<Bound, OperatorError>> {
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
    let params = OperatorParams {
        knobs: knobs.parse().unwrap(),
        ..OperatorParams::default()
    };
    let plan =
        Plan::new::<_, 3, 1>(device.info().kind, &space, &geometry, &Poisson, &params).unwrap();
    let binding = Binding {
        space: &space,
        geometry: &geometry,
        form: &Poisson,
        params: &params,
        plan: &plan,
    };
    let Tables::Hex(basis) = &plan.tables else {
        panic!("hexahedra")
    };
    let oracle = verify::hexahedron::<_, 1>(&binding, basis);
    let binding = binding.without_form();
    let family = SumFactorization::new(&device, &binding, language(device.features()));
    let family = family.unwrap();
    Some(Blocks::with_edit(&device, &binding, family, &oracle, edit))
}

/// Spoils the metric.
fn spoil(text: &str) -> String {
    let spoilt = text.replace("*t = inner_product(z, flux)", "*t = inner_product(y, flux)");
    assert_ne!(spoilt, text, "there is nothing to spoil");
    spoilt
}

/// The candidates, best first.
fn candidates(bound: &Bound) -> Vec<Schedule> {
    bound.legal(bound.vectors).unwrap().remove(0)
}

/// The schedule that was taken.
fn taken(bound: &Bound) -> Schedule {
    bound.nodal[0].schedule.unwrap()
}

#[test]
fn a_wrong_variant_is_dropped_with_a_warning_and_the_next_one_taken() {
    let planted: Edit<Schedule> = |schedule, text| {
        if schedule.even_odd {
            spoil(&text)
        } else {
            text
        }
    };
    let Some(bound) = bind("best", planted) else {
        return;
    };
    let bound = bound.unwrap();
    assert!(!taken(&bound).even_odd);
    assert_eq!(bound.warnings.len(), 2);
    for (warning, schedule) in bound.warnings.iter().zip(&candidates(&bound)) {
        assert!(warning.contains(&schedule.to_string()), "{warning}");
        assert!(warning.contains("differs from its oracle by"), "{warning}");
    }
}

#[test]
fn right_variants_are_taken_in_order_and_without_warning() {
    let Some(bound) = bind("best", |_, text| text) else {
        return;
    };
    let bound = bound.unwrap();
    assert_eq!(bound.warnings, [] as [&str; 0]);
    assert_eq!(taken(&bound), candidates(&bound)[0]);
}

#[test]
fn a_wrong_kernel_of_e_vectors_is_dropped_too() {
    let planted: Edit<Schedule> = |schedule, text| {
        if schedule.even_odd && text.contains("#define VECTORS_NODAL 0") {
            spoil(&text)
        } else {
            text
        }
    };
    let Some(bound) = bind("best", planted) else {
        return;
    };
    let bound = bound.unwrap();
    assert_eq!(bound.warnings, [] as [&str; 0]);
    let kernels = bound.element_kernels(&EvalContext::default()).unwrap();
    assert!(!kernels[0].schedule.unwrap().even_odd);
    assert_eq!(super::super::Bound::warnings(&bound).len(), 2);
}

#[test]
fn where_all_variants_are_wrong_there_is_no_operator() {
    let Some(bound) = bind("best", |_, text| spoil(&text)) else {
        return;
    };
    let error = bound.unwrap_err();
    assert!(
        matches!(error, OperatorError::WrongVariant { .. }),
        "{error}"
    );
}

#[test]
fn knobs_are_turned_and_there_is_no_second_choice() {
    let Some(bound) = bind("elements=2+even_odd=0", |_, text| text) else {
        return;
    };
    let schedule = taken(&bound.unwrap());
    assert_eq!((schedule.elements_per_block, schedule.even_odd), (2, false));
    assert!(matches!(schedule.points, PointData::Factors { .. }));
    // The maps are trilinear, and recomputed.
    let error = bind("staged=1", |_, text| text).unwrap();
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("only factors at points are staged"),
        "{error}"
    );
}
