#![allow(clippy::print_stdout, reason = "a skipped test says so")]

use super::choose::Edit;
use super::pack::Packer;
use super::verify::Expected;
use super::*;
use crate::OperatorParams;
use crate::operator::plan::{FieldPlace, Plan};
use crate::operator::{AnyForm, Bound as _, Typed};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::Mesh;
use femto_fem::mesh::boxes::{BoxMesh, SimplexBox};
use femto_fem::space::{Block, Space, SpaceParams};
use femto_kernel::family::{Elements, EvalContext};
use femto_kernel::form::{Form, Point, Poisson};
use femto_kernel::scalar::Scalar;
use std::sync::Arc;

type Bound = AcceleratorBound<f64>;

/// Binds a Poisson operator on a small box with these knobs and edited texts.
fn bind(knobs: &str, edit: Edit) -> Option<Result<Bound, OperatorError>> {
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
    let params = OperatorParams {
        knobs: knobs.parse().unwrap(),
        ..OperatorParams::default()
    };
    let form = Typed::<_, 3, 1>(Poisson);
    let block = block(&mesh, 3);
    let bound = |binding: &Binding<'_>| Bound::with_edit(&device, binding, edit);
    Some(with_binding(&device, &block, (&form, &params), bound))
}

/// The cells of a mesh of one shape, with a space of this degree.
pub(super) fn block(mesh: &Mesh, degree: usize) -> Block {
    let geometry = Geometry::new(mesh).unwrap();
    let params = SpaceParams {
        degree: degree.into(),
        ..SpaceParams::default()
    };
    let space = Space::new(mesh, &geometry, params).unwrap();
    Block { space, geometry }
}

/// Runs `run` on the form's binding to the block, planned for the device.
fn with_binding<R>(
    device: &Accelerator,
    block: &Block,
    (form, params): (&dyn AnyForm, &OperatorParams),
    run: impl FnOnce(&Binding<'_>) -> R,
) -> R {
    let place = FieldPlace::default();
    let plan = Plan::new(device.info().kind, block, form, params, place).unwrap();
    run(&Binding {
        space: &block.space,
        geometry: &block.geometry,
        form,
        params,
        plan: &plan,
    })
}

/// Spoils the metric.
fn spoil(text: &str) -> String {
    let spoilt = text.replace("*t = inner_product(z, flux)", "*t = inner_product(y, flux)");
    assert_ne!(spoilt, text, "there is nothing to spoil");
    spoilt
}

/// The schedules of the candidates, best first.
fn candidates(bound: &Bound) -> Vec<String> {
    let all = bound.candidates(bound.vectors).unwrap().remove(0);
    all.into_iter().map(|it| it.schedule).collect()
}

/// The chosen schedule.
fn taken(bound: &Bound) -> &str {
    &bound.nodal[0].schedule
}

#[test]
fn a_wrong_variant_is_dropped_with_a_warning_and_the_next_one_taken() {
    let planted: Edit = |schedule, text| {
        if schedule.contains("even-odd") {
            spoil(&text)
        } else {
            text
        }
    };
    let Some(bound) = bind("best", planted) else {
        return;
    };
    let bound = bound.unwrap();
    assert!(!taken(&bound).contains("even-odd"));
    // A layer of nodes per thread, in blocks of four warps and of one, and pencils, measured and plain.
    assert_eq!(bound.warnings.len(), 4);
    for (warning, schedule) in bound.warnings.iter().zip(&candidates(&bound)) {
        assert!(warning.contains(schedule), "{warning}");
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
    let planted: Edit = |schedule, text| {
        if schedule.contains("even-odd") && text.contains("#define VECTORS_NODAL 0") {
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
    assert!(!kernels[0].schedule.contains("even-odd"));
    assert_eq!(bound.warnings().len(), 2);
}

#[test]
fn if_all_variants_are_wrong_there_is_no_operator() {
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
fn knobs_are_applied_without_fallback() {
    let Some(bound) = bind("thread_per=0+elements=2+even_odd=0", |_, text| text) else {
        return;
    };
    let bound = bound.unwrap();
    let schedule = taken(&bound);
    assert!(
        schedule.contains("pencils, 2 elements a block"),
        "{schedule}"
    );
    assert!(!schedule.contains("even-odd"), "{schedule}");
    // The maps are trilinear and recomputed, so this is not a legal knob.
    let error = bind("thread_per=0+staged=1", |_, text| text).unwrap();
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("only factors at points are staged"),
        "{error}"
    );
}

/// The integrals of basis functions.
#[derive(Clone)]
struct Load;

impl Form<2> for Load {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].constant(1.0)]
    }
}

/// Those of vertices are zero on triangles of degree 2: differences there are pure rounding.
#[test]
fn rounding_errors_do_not_set_the_scale() {
    let Ok(device) = Accelerator::opencl(0) else {
        println!("skipped: no OpenCL device");
        return;
    };
    let mesh = SimplexBox::unit_square(2).build(|[x, y]| [x, y + 0.3 * x]);
    let mesh = mesh.unwrap();
    let (form, params) = (Typed::<_, 2, 1>(Load), OperatorParams::default());
    let block = block(&mesh, 2);
    let scale = with_binding(&device, &block, (&form, &params), |binding| {
        let packers = Packer::all(binding);
        // The first three nodes of an element are its vertices.
        let mut vertices = Elements::nodes(&packers[0])[..3].to_vec();
        vertices.sort_unstable();
        Expected::at::<f64>(vertices, binding).scale()
    });
    // A third of the triangle's area on each edge.
    assert!(scale > 0.04, "{scale}");
}

#[test]
fn operators_on_a_space_share_its_nodes() {
    let Ok(device) = Accelerator::opencl(0) else {
        println!("skipped: no OpenCL device");
        return;
    };
    let mesh = BoxMesh::unit_cube(2).build(|x| x).unwrap();
    let (form, params) = (Typed::<_, 3, 1>(Poisson::<3>), OperatorParams::default());
    let block = block(&mesh, 2);
    let list = |block: &Block| {
        with_binding(&device, block, (&form, &params), |binding| {
            let bound = Bound::new(&device, binding).unwrap();
            bound.blocks[0].list.clone()
        })
    };
    let first = list(&block);
    assert!(Arc::ptr_eq(&first, &list(&block)));
    let lower = Block::of_lower_degree(std::slice::from_ref(&block), 1).unwrap();
    assert!(!Arc::ptr_eq(&first, &list(&lower[0])));
}
