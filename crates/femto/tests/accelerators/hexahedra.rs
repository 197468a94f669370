//! Operators on accelerators against the host, on every kind of map.

use crate::accelerator;
use crate::common::{Random, SHAPES, Shape, difference, mesh};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::space::{Continuity, Layout, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Form, Mass, Point, Poisson, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use femto::operator::OperatorError;
use femto::platform::device::Device;
use femto::platform::device::accelerator::Accelerator;
use femto::{
    DataLevel, FactorPrecision, Host, Number, Operator, OperatorParams, Quadrature, Scatter,
};

/// A test case: a space, a form's data, an operator's parameters.
struct Case {
    mesh: Mesh,
    space: SpaceParams,
    params: OperatorParams,
}

impl Case {
    fn new(shape: Shape, degree: usize) -> Self {
        Self {
            mesh: mesh(shape, [3, 2, 2]),
            space: SpaceParams {
                degree,
                chunk_nodes: 4 * degree.pow(3),
                ..SpaceParams::default()
            },
            params: OperatorParams::default(),
        }
    }

    /// λ u, ∇u in double precision.
    fn operator(&self, device: &Accelerator) -> Operator<f64, Accelerator> {
        let geometry = Geometry::new(&self.mesh).unwrap();
        let space = Space::new(&self.mesh, &geometry, self.space.clone()).unwrap();
        Operator::new(device, &space, &geometry, &LAMBDA, self.params.clone()).unwrap()
    }

    /// Largest relative difference between host and accelerator over everything operators do.
    fn worst<T: Number, F, const C: usize>(&self, device: &Accelerator, form: &F) -> f64
    where
        F: Form<3, C> + Clone + 'static,
    {
        let geometry = Geometry::new(&self.mesh).unwrap();
        let params = SpaceParams {
            components: C,
            ..self.space.clone()
        };
        let space = Space::new(&self.mesh, &geometry, params).unwrap();
        let host = Host::with_threads(1).unwrap();
        let on_host = OperatorParams {
            factors: FactorPrecision::Same,
            ..self.params.clone()
        };
        let on_host = Operator::<f64, _>::new(&host, &space, &geometry, form, on_host).unwrap();
        let there =
            Operator::<T, _>::new(device, &space, &geometry, form, self.params.clone()).unwrap();
        assert!(there.warnings().is_empty(), "{:?}", there.warnings());

        let mut random = Random::new();
        let mut worst: f64 = 0.0;
        let mut compare = |what: &str, found: &[f64], expected: &[f64]| {
            let error = difference(found, expected);
            assert!(!error.is_nan(), "{what} is not a number");
            worst = worst.max(error);
        };
        let len = space.dofs();
        let u = random.vector(len);
        let mut expected = host.upload(&vec![f64::NAN; len]).unwrap();
        on_host
            .apply(&host.upload(&u).unwrap(), &mut expected)
            .unwrap();
        let run = |v: &mut _| there.apply(&upload::<T>(device, &u), v).unwrap();
        compare("apply", &outcome::<T>(device, len, run), &expected);

        on_host.diagonal(&mut expected).unwrap();
        let run = |d: &mut _| there.diagonal(d).unwrap();
        compare("diagonal", &outcome::<T>(device, len, run), &expected);
        let len = space.element_dofs();
        let u = random.vector(len);
        let mut expected = host.upload(&vec![f64::NAN; len]).unwrap();
        on_host
            .apply_elements(&host.upload(&u).unwrap(), &mut expected)
            .unwrap();
        let run = |v: &mut _| there.apply_elements(&upload::<T>(device, &u), v).unwrap();
        compare("apply_elements", &outcome::<T>(device, len, run), &expected);
        worst
    }
}

type Memory<T> = <Accelerator as Device>::Buffer<T>;

fn upload<T: Number>(device: &Accelerator, values: &[f64]) -> Memory<T> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    device.upload(&values).unwrap()
}

/// The result of `run` on a vector of NaN.
fn outcome<T: Number>(device: &Accelerator, len: usize, run: impl Fn(&mut Memory<T>)) -> Vec<f64> {
    let mut out = upload::<T>(device, &vec![f64::NAN; len]);
    run(&mut out);
    let mut values = vec![T::default(); len];
    device.read(&out, &mut values).unwrap();
    values
        .into_iter()
        .map(femto::kernel::scalar::Real::to_f64)
        .collect()
}

const LAMBDA: ScreenedPoisson = ScreenedPoisson { lambda: Some(1.3) };

#[test]
fn every_kind_of_map_form_and_quadrature_agrees() {
    let Some(device) = accelerator() else { return };
    let check = |shape, degree, quadrature| {
        let mut case = Case::new(shape, degree);
        case.params.quadrature = quadrature;
        let errors = match shape {
            Shape::Trilinear => vec![
                case.worst::<f64, _, 1>(&device, &Mass),
                case.worst::<f64, _, 1>(&device, &Poisson),
            ],
            _ => vec![case.worst::<f64, _, 1>(&device, &LAMBDA)],
        };
        let right = errors.iter().all(|&error| error < 1e-12);
        assert!(right, "{shape:?} {degree} {quadrature:?}: {errors:?}");
    };
    for shape in SHAPES {
        check(shape, 1, Quadrature::Gauss);
        check(shape, 2, Quadrature::Collocated);
    }
    check(Shape::Trilinear, 3, Quadrature::GaussPoints(6));
    check(Shape::Curved, 4, Quadrature::Gauss);
}

/// All degrees take minutes if kernels are compiled for a processor: run by hand on GPUs.
#[test]
#[ignore = "minutes on a processor; run it where there is a GPU"]
fn all_degrees_agree() {
    let Some(device) = accelerator() else { return };
    for degree in 1..=15 {
        for (shape, quadrature) in [
            (Shape::Affine, Quadrature::Gauss),
            (Shape::Trilinear, Quadrature::Collocated),
            (Shape::Curved, Quadrature::Gauss),
        ] {
            let mut case = Case::new(shape, degree);
            case.params.quadrature = quadrature;
            let error = case.worst::<f64, _, 1>(&device, &LAMBDA);
            assert!(error < 1e-12, "{shape:?} degree {degree}: {error}");
            let error = case.worst::<f32, _, 1>(&device, &LAMBDA);
            assert!(error < 3e-5, "{shape:?} degree {degree} fp32: {error}");
        }
    }
}

#[test]
fn stored_factors_components_and_layouts_agree() {
    let Some(device) = accelerator() else { return };
    for shape in SHAPES {
        let mut case = Case::new(shape, 3);
        case.params.data_level = DataLevel::Partial;
        let error = case.worst::<f64, _, 1>(&device, &LAMBDA);
        assert!(error < 1e-12, "{shape:?}: {error}");
        for layout in [Layout::Interleaved, Layout::Blocked] {
            case.space.layout = layout;
            let error = case.worst::<f64, _, 3>(&device, &Componentwise::<_, 3>(LAMBDA));
            assert!(error < 1e-12, "{shape:?} {layout:?}: {error}");
        }
    }
}

#[test]
fn repeatable_sums_agree_to_the_last_bit() {
    let Some(device) = accelerator() else { return };
    for layout in [Layout::Interleaved, Layout::Blocked] {
        let mut case = Case::new(Shape::Trilinear, 3);
        case.params.scatter = Scatter::Deterministic;
        case.space.layout = layout;
        let form = Componentwise::<_, 3>(LAMBDA);
        assert!(case.worst::<f64, _, 3>(&device, &form) < 1e-12);

        let geometry = Geometry::new(&case.mesh).unwrap();
        case.space.components = 3;
        let space = Space::new(&case.mesh, &geometry, case.space).unwrap();
        let operator =
            Operator::<f64, _>::new(&device, &space, &geometry, &form, case.params).unwrap();
        let u = upload::<f64>(&device, &Random::new().vector(space.dofs()));
        let bits = || {
            let run = |v: &mut _| operator.apply(&u, v).unwrap();
            let found = outcome::<f64>(&device, space.dofs(), run);
            found.into_iter().map(f64::to_bits).collect::<Vec<_>>()
        };
        let first = bits();
        assert!((0..5).all(|_| bits() == first));
    }
}

#[test]
fn single_precision_agrees() {
    let Some(device) = accelerator() else { return };
    for shape in SHAPES {
        let case = Case::new(shape, 4);
        let error = case.worst::<f32, _, 1>(&device, &LAMBDA);
        assert!(error < 1e-5, "{shape:?}: {error}");
    }
}

#[test]
fn factors_in_single_precision_change_the_operator_by_their_rounding() {
    let Some(device) = accelerator() else { return };
    for (shape, rounded) in [(Shape::Trilinear, true), (Shape::Affine, false)] {
        let mut case = Case::new(shape, 3);
        case.params.data_level = DataLevel::Partial;
        let exact = case.operator(&device);
        case.params.data_level = DataLevel::Automatic;
        case.params.factors = FactorPrecision::Single;
        let single = case.operator(&device);
        let error = case.worst::<f64, _, 1>(&device, &LAMBDA);
        let explanation = single.explain(None, None);
        assert_eq!(explanation.data_level, "partial");
        assert_eq!(explanation.perturbation.is_some(), rounded);
        let words = explanation.to_string();
        assert_eq!(words.contains("perturbed"), rounded, "{words}");
        // 7 factors at 125 points of 12 elements.
        let spared = if rounded { 12 * 7 * 125 * 4 } else { 0 };
        let read = exact.work().bytes_read - single.work().bytes_read;
        let element_read = exact.element_work().bytes_read - single.element_work().bytes_read;
        assert_eq!([read, element_read], [spared; 2]);
        assert_eq!((exact.bytes() - single.bytes()) as u64, spared);
        match rounded {
            true => assert!((1e-10..2e-6).contains(&error), "{error}"),
            false => assert!(error < 1e-12, "{error}"),
        }
    }
    let case = Case::new(Shape::Trilinear, 2);
    let params = OperatorParams {
        factors: FactorPrecision::Single,
        ..case.params.clone()
    };
    let host = Host::with_threads(1).unwrap();
    let geometry = Geometry::new(&case.mesh).unwrap();
    let space = Space::new(&case.mesh, &geometry, case.space).unwrap();
    let refused = Operator::<f64, _>::new(&host, &space, &geometry, &Mass::<3>, params);
    assert_eq!(refused.unwrap_err(), OperatorError::SingleFactorsOnHost);
}

#[test]
fn the_faster_level_is_chosen_with_its_reason() {
    let Some(device) = accelerator() else { return };
    let case = Case::new(Shape::Trilinear, 2);
    let geometry = Geometry::new(&case.mesh).unwrap();
    let space = Space::new(&case.mesh, &geometry, case.space).unwrap();
    let params = OperatorParams::default();
    let mass =
        Operator::<f64, _>::new(&device, &space, &geometry, &Mass::<3>, params.clone()).unwrap();
    assert_eq!(mass.data_level(), DataLevel::Partial);
    let words = mass.explain(None, None).to_string();
    assert!(words.contains("measured to be faster"), "{words}");
    assert!(words.contains("not on_the_fly"), "{words}");
    let poisson =
        Operator::<f64, _>::new(&device, &space, &geometry, &Poisson::<3>, params).unwrap();
    assert_eq!(poisson.data_level(), DataLevel::OnTheFly);
    let words = poisson.explain(None, None).to_string();
    assert!(words.contains("the least memory"), "{words}");
}

#[test]
fn a_mesh_of_several_kinds_and_a_coefficient_per_element_agree() {
    let Some(device) = accelerator() else { return };
    // The first cells are straight, those at the far end bent.
    let generator = femto::fem::mesh::boxes::BoxMesh {
        cells: [4, 2, 2],
        ..femto::fem::mesh::boxes::BoxMesh::unit_cube(1)
    };
    let bent = |[x, y, z]: [f64; 3]| {
        if x > 0.6 {
            [x + 0.1 * y * z, y, z + 0.05 * x * y]
        } else {
            [x, y, z]
        }
    };
    let mut case = Case::new(Shape::Affine, 3);
    case.mesh = generator.build(bent).unwrap();
    assert!(case.worst::<f64, _, 1>(&device, &Poisson) < 1e-12);
    let mut random = Random::new();
    case.params.auxiliary = vec![
        (0..16)
            .map(|_| random.next() + 2.0)
            .collect::<Vec<_>>()
            .into(),
    ];
    let form = ScreenedPoisson { lambda: None };
    assert!(case.worst::<f64, _, 1>(&device, &form) < 1e-12);
    case.space.continuity = Continuity::Broken;
    assert!(case.worst::<f64, _, 1>(&device, &form) < 1e-12);
}

/// κ ∇u with κ per element.
#[derive(Clone)]
struct Diffusion;

impl Form<3> for Diffusion {
    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|g| g * p.a[0])]
    }
}

#[test]
fn a_form_that_is_zero_on_the_mesh_does_not_reject_its_kernel() {
    let Some(device) = accelerator() else { return };
    let case = Case::new(Shape::Trilinear, 2);
    let geometry = Geometry::new(&case.mesh).unwrap();
    let space = Space::new(&case.mesh, &geometry, case.space).unwrap();
    let params = OperatorParams {
        auxiliary: vec![vec![0.0; 12].into()],
        ..OperatorParams::default()
    };
    let operator = Operator::<f64, _>::new(&device, &space, &geometry, &Diffusion, params).unwrap();
    assert!(operator.warnings().is_empty());
    let u = upload::<f64>(&device, &Random::new().vector(space.dofs()));
    let run = |v: &mut _| operator.apply(&u, v).unwrap();
    let found = outcome::<f64>(&device, space.dofs(), run);
    assert!(found.iter().all(|&v| v == 0.0));
}
