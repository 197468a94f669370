//! Operators on accelerators against the host, where the battery has no case: factors in single precision, chosen data
//! levels, meshes with several kinds of map, states, inputs that may be missing.

use crate::common::bound::{Bound, accelerator};
use crate::common::forms::{Conduction, Interpreted};
use crate::common::meshes::{blocks, columns, mesh};
use crate::common::{Random, difference, hexahedra, largest};
use femto::element::{Cell, Layering, MapKind};
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{BoxMesh, SimplexBox};
use femto::fem::space::{Block, Layout, SpaceParams};
use femto::kernel::form::{
    Componentwise, Form, Jacobian, LinearElasticity, Mass, NonlinearDiffusion, Point, Poisson,
    ScreenedPoisson,
};
use femto::kernel::scalar::Scalar;
use femto::operator::{AnyForm, Auxiliary, OperatorError};
use femto::platform::device::accelerator::Accelerator;
use femto::{DataLevel, FactorPrecision, Host, Operator, OperatorParams, Quadrature};

/// A form in space with one component.
fn solid<F: Form<3>>(form: F) -> Interpreted<F, 3, 1> {
    Interpreted::new(form)
}

pub(super) fn screened(lambda: Option<f64>) -> impl AnyForm {
    solid(ScreenedPoisson { lambda })
}

pub(super) fn of_degree(degree: usize) -> SpaceParams {
    SpaceParams {
        degree: degree.into(),
        chunk_nodes: 40,
        ..SpaceParams::default()
    }
}

pub(super) fn bind(
    device: &Accelerator,
    blocks: &[Block],
    form: &dyn AnyForm,
    params: &OperatorParams,
) -> Operator<f64, Accelerator> {
    Operator::of_blocks(device, blocks, form, params.clone()).unwrap()
}

pub(super) fn on_host(
    blocks: &[Block],
    form: &dyn AnyForm,
    params: &OperatorParams,
) -> Operator<f64, Host> {
    let host = Host::with_threads(1).unwrap();
    let params = OperatorParams {
        factors: FactorPrecision::Same,
        ..params.clone()
    };
    Operator::of_blocks(&host, blocks, form, params).unwrap()
}

/// The largest relative difference over everything operators do.
pub(super) fn worst(host: &dyn Bound, there: &dyn Bound, block: &Block) -> f64 {
    assert_eq!(there.warnings(), [] as [&str; 0]);
    let mut random = Random::new();
    let u = random.vector(block.space.dofs());
    let e = random.vector(block.space.element_dofs());
    let mut errors = vec![
        difference(&there.apply(&u), &host.apply(&u)),
        difference(&there.apply_elements(&e), &host.apply_elements(&e)),
    ];
    if host.inspection().linear {
        errors.push(difference(&there.diagonal(), &host.diagonal()));
    }
    largest(errors)
}

/// As [`worst`], of a form on a mesh.
fn error(
    device: &Accelerator,
    (mesh, space): (&Mesh, SpaceParams),
    form: &dyn AnyForm,
    params: &OperatorParams,
) -> f64 {
    let blocks = blocks(mesh, space);
    let there = bind(device, &blocks, form, params);
    worst(&on_host(&blocks, form, params), &there, &blocks[0])
}

#[test]
fn factors_in_single_precision_change_the_operator_by_their_rounding() {
    let Some(device) = accelerator() else { return };
    let form = screened(Some(1.3));
    for (map, rounded) in [(MapKind::Multilinear, true), (MapKind::Affine, false)] {
        let mesh = hexahedra(map, [3, 2, 2]);
        let blocks = blocks(&mesh, of_degree(3));
        let mut params = OperatorParams {
            data_level: DataLevel::Partial,
            ..OperatorParams::default()
        };
        let exact = bind(&device, &blocks, &form, &params);
        params.data_level = DataLevel::Automatic;
        params.factors = FactorPrecision::Single;
        let single = bind(&device, &blocks, &form, &params);
        let error = worst(&on_host(&blocks, &form, &params), &single, &blocks[0]);
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
    let params = OperatorParams {
        factors: FactorPrecision::Single,
        ..OperatorParams::default()
    };
    let host = Host::with_threads(1).unwrap();
    let blocks = blocks(
        &hexahedra(MapKind::Multilinear, [3, 2, 2]),
        SpaceParams::default(),
    );
    let refused = Operator::<f64, _>::of_blocks(&host, &blocks, &solid(Mass), params);
    assert_eq!(refused.unwrap_err(), OperatorError::SingleFactorsOnHost);
}

#[test]
fn the_faster_level_is_chosen_with_its_reason() {
    let Some(device) = accelerator() else { return };
    let blocks = blocks(
        &hexahedra(MapKind::Multilinear, [3, 2, 2]),
        SpaceParams {
            degree: 2.into(),
            ..SpaceParams::default()
        },
    );
    let params = OperatorParams::default();
    let mass = bind(&device, &blocks, &solid(Mass), &params);
    assert_eq!(mass.data_level(), DataLevel::Partial);
    let words = mass.explain(None, None).to_string();
    assert!(words.contains("measured to be faster"), "{words}");
    assert!(words.contains("not on_the_fly"), "{words}");
    let poisson = bind(&device, &blocks, &solid(Poisson), &params);
    assert_eq!(poisson.data_level(), DataLevel::OnTheFly);
    let words = poisson.explain(None, None).to_string();
    assert!(words.contains("the least memory"), "{words}");
}

/// Numbers at the nodes of vectors through shared memory, where that is the default and where it is not.
#[test]
fn staged_nodes_agree() {
    let Some(device) = accelerator() else { return };
    let of = |degree, layout| SpaceParams {
        components: 3,
        layout,
        ..of_degree(degree)
    };
    let mesh = hexahedra(MapKind::Multilinear, [3, 3, 2]);
    let mass = Interpreted::<_, 3, 3>::new(Componentwise::<_, 3>(Mass));
    let screened = Componentwise::<_, 3>(ScreenedPoisson { lambda: Some(1.3) });
    let screened = Interpreted::<_, 3, 3>::new(screened);
    for degree in 1..=4 {
        for (layout, is_default) in [(Layout::Interleaved, degree > 1), (Layout::Blocked, false)] {
            let blocks = blocks(&mesh, of(degree, layout));
            let mut params = OperatorParams::default();
            let words = bind(&device, &blocks, &mass, &params)
                .explain(None, None)
                .to_string();
            assert_eq!(words.contains("nodes staged"), is_default, "{words}");
            // Otherwise degree 1 has matrices.
            params.data_level = match degree {
                1 => DataLevel::OnTheFly,
                _ => DataLevel::Automatic,
            };
            params.knobs = "thread_per=0+elements=4+scratch_cube=1+nodes_staged=1"
                .parse()
                .unwrap();
            for form in [&mass as &dyn AnyForm, &screened] {
                let there = bind(&device, &blocks, form, &params);
                let words = there.explain(None, None).to_string();
                assert!(words.contains("nodes staged"), "{words}");
                let u = Random::new().vector(blocks[0].space.dofs());
                let host = on_host(&blocks, form, &OperatorParams::default());
                let error = difference(&Bound::apply(&there, &u), &Bound::apply(&host, &u));
                assert!(error < 1e-12, "{degree} {layout:?}: {error}");
            }
        }
    }
}

/// At degree 1 blocks of elements sum all components, so these cannot be taken one after the other.
#[test]
fn knobs_that_break_a_rule_are_refused() {
    let Some(device) = accelerator() else { return };
    let blocks = blocks(
        &hexahedra(MapKind::Multilinear, [3, 2, 2]),
        SpaceParams {
            components: 3,
            ..of_degree(1)
        },
    );
    let params = OperatorParams {
        knobs: "thread_per=1+block_sums=1+together=0".parse().unwrap(),
        ..OperatorParams::default()
    };
    let form = Interpreted::<_, 3, 3>::new(Componentwise::<_, 3>(Mass));
    let refused = Operator::<f64, _>::of_blocks(&device, &blocks, &form, params);
    let words = refused.unwrap_err().to_string();
    assert!(
        words.contains("blocks sum all components together"),
        "{words}"
    );
}

/// Cells with different kinds of map share nodes; each kind is launched separately.
#[test]
fn meshes_with_several_kinds_of_map_agree() {
    let Some(device) = accelerator() else { return };
    let mut random = Random::new();
    // The first hexahedra are straight, those at the far end bent.
    let generator = BoxMesh {
        cells: [4, 2, 2],
        ..BoxMesh::unit_cube(1)
    };
    let bent = |[x, y, z]: [f64; 3]| {
        if x > 0.6 {
            [x + 0.1 * y * z, y, z + 0.05 * x * y]
        } else {
            [x, y, z]
        }
    };
    let mesh = generator.build(bent).unwrap();
    let mut params = OperatorParams::default();
    let found = error(&device, (&mesh, of_degree(3)), &solid(Poisson), &params);
    assert!(found < 1e-12, "{found}");
    let lambda: Vec<f64> = (0..16).map(|_| random.next() + 2.0).collect();
    params.auxiliary = vec![lambda.into()];
    let space = of_degree(3);
    let found = error(&device, (&mesh, space), &screened(None), &params);
    assert!(found < 1e-12, "{found}");
    // Half of the triangles are curved.
    let generator = SimplexBox {
        geometry_degree: 2,
        ..SimplexBox::<2>::unit_square(12)
    };
    let bend = |x: f64, y: f64| y + (x - 0.5).max(0.0).powi(2);
    let mesh = generator.build(|[x, y]| [x, bend(x, y)]).unwrap();
    let blocks = blocks(&mesh, of_degree(1));
    let params = OperatorParams {
        quadrature: Quadrature::Exact(4),
        auxiliary: vec![
            Auxiliary::PerCell(vec![0.0; blocks[0].space.elements()]),
            Auxiliary::Nodal(random.vector(blocks[0].space.nodes())),
        ],
        ..OperatorParams::default()
    };
    let found = error(
        &device,
        (&mesh, of_degree(1)),
        &Interpreted::<_, 2, 1>::new(Conduction),
        &params,
    );
    assert!(found < 1e-12, "triangles: {found}");
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

/// In single precision the differences of positions are kept, not the positions.
#[test]
fn meshes_far_from_the_origin_are_as_good_in_single_precision() {
    let host = Host::with_threads(1).unwrap();
    let device = accelerator();
    let form = Interpreted::<_, 3, 3>::new(LinearElasticity::from_young(1.0, 0.3));
    let moved = |mesh: &Mesh, degree: usize, by: f64| {
        let mut mesh = mesh.clone();
        let positions = mesh.coordinates.to_mut().iter_mut().flatten();
        positions.for_each(|x| *x += by);
        let params = SpaceParams {
            components: 3,
            ..of_degree(degree)
        };
        blocks(&mesh, params)
    };
    let tetrahedra = mesh(Cell::Tetrahedron, MapKind::Affine, &[2; 3]);
    let columns = columns(&[2; 3], Layering::Any);
    for (mesh, degree) in [(&tetrahedra, 1), (&tetrahedra, 2), (&columns, 1)] {
        let [near, far] = [0.0, 5e6].map(|by| moved(mesh, degree, by));
        let expected =
            Operator::<f64, _>::of_blocks(&host, &near, &form, OperatorParams::default());
        let expected = expected.unwrap();
        let u = Random::new().single(expected.dofs());
        let expected = Bound::apply(&expected, &u);
        let check = |found: Vec<f64>| {
            let error = difference(&found, &expected);
            assert!(error < 1e-5 * largest(expected.iter().copied()), "{error}");
        };
        let on_host = Operator::<f32, _>::of_blocks(&host, &far, &form, OperatorParams::default());
        check(Bound::apply(&on_host.unwrap(), &u));
        if let Some(device) = &device {
            let there =
                Operator::<f32, _>::of_blocks(device, &far, &form, OperatorParams::default());
            check(Bound::apply(&there.unwrap(), &u));
        }
    }
}

#[test]
fn a_form_that_is_zero_on_the_mesh_does_not_reject_its_kernel() {
    let Some(device) = accelerator() else { return };
    let blocks = blocks(&hexahedra(MapKind::Multilinear, [3, 2, 2]), of_degree(2));
    let params = OperatorParams {
        auxiliary: vec![vec![0.0; 12].into()],
        ..OperatorParams::default()
    };
    let operator = bind(&device, &blocks, &solid(Diffusion), &params);
    assert!(operator.warnings().is_empty());
    let found = Bound::apply(&operator, &Random::new().vector(operator.dofs()));
    assert!(found.iter().all(|&v| v == 0.0));
}

/// Hexahedra and tetrahedra.
fn solids() -> [Mesh; 2] {
    [
        hexahedra(MapKind::Multilinear, [2, 2, 2]),
        mesh(Cell::Tetrahedron, MapKind::Affine, &[3, 3, 3]),
    ]
}

/// The state of a Jacobian is replaced.
#[test]
fn states_are_replaced() {
    let Some(device) = accelerator() else { return };
    let mut random = Random::new();
    let form = solid(Jacobian(NonlinearDiffusion::<3>::default()));
    for mesh in solids() {
        let blocks = blocks(&mesh, of_degree(2));
        let params = OperatorParams {
            auxiliary: vec![Auxiliary::Nodal(vec![0.0; blocks[0].space.nodes()])],
            ..OperatorParams::default()
        };
        let mut host = on_host(&blocks, &form, &params);
        let mut there = bind(&device, &blocks, &form, &params);
        for _ in 0..2 {
            let state = random.vector(host.dofs());
            Bound::set_nodal(&mut host, 0, &state).unwrap();
            Bound::set_nodal(&mut there, 0, &state).unwrap();
            let found = worst(&host, &there, &blocks[0]);
            assert!(found < 1e-12, "{found}");
        }
        assert!(Bound::set_nodal(&mut there, 0, &[0.0]).is_err());
        assert!(Bound::set_nodal(&mut there, 1, &[0.0]).is_err());
    }
}

/// Reads a field and a parameter that simplification removes, so they need not be given.
#[derive(Clone, Copy)]
struct Unneeded;

impl Form<3> for Unneeded {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0] * p.u[0] + p.a[6] * 0.0 + p.grad_a[5][1] * 0.0]
    }
    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(
            #[inline(always)]
            |g| g + p.parameters[7] * 0.0,
        )]
    }
}

#[test]
fn unneeded_inputs_may_be_missing() {
    let Some(device) = accelerator() else { return };
    for mesh in solids() {
        let on = (&mesh, of_degree(1));
        let found = error(&device, on, &solid(Unneeded), &OperatorParams::default());
        assert!(found < 1e-12, "{found}");
    }
}

/// λ u, κ ∇u is the same with and without its coefficients folded into the geometry.
#[test]
fn folding_coefficients_changes_nothing() {
    let Some(device) = accelerator() else { return };
    let blocks = blocks(&hexahedra(MapKind::Multilinear, [3, 2, 2]), of_degree(3));
    let u = Random::new().vector(blocks[0].space.dofs());
    let apply = |fold_coefficients| {
        let params = OperatorParams {
            fold_coefficients,
            ..OperatorParams::default()
        };
        Bound::apply(&bind(&device, &blocks, &screened(Some(0.7)), &params), &u)
    };
    assert!(difference(&apply(true), &apply(false)) < 1e-12);
}
