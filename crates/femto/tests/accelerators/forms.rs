//! Printed forms on accelerators against the host: hexahedra, quadrilaterals, tetrahedra and triangles, all
//! kinds of map, all kinds of field, linear and nonlinear forms.

use crate::accelerator;
use crate::common::forms::{Busy, Conduction};
use crate::common::{Random, SHAPES, Shape, difference, mesh};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{RectangleMesh, SimplexBox};
use femto::fem::space::{Layout, Space, SpaceParams};
use femto::kernel::form::{Form, Jacobian, LinearElasticity, NonlinearDiffusion, Point};
use femto::kernel::scalar::Scalar;
use femto::operator::{Auxiliary, Backend};
use femto::platform::device::Device;
use femto::platform::device::accelerator::Accelerator;
use femto::{DataLevel, Host, Number, Operator, OperatorParams, Quadrature, Scatter};

/// A space, and the parameters of an operator on it with fields of all kinds.
struct On {
    geometry: Geometry,
    space: Space,
    params: OperatorParams,
}

impl On {
    fn new(mesh: &Mesh, space: SpaceParams, params: OperatorParams, random: &mut Random) -> Self {
        let geometry = Geometry::new(mesh).unwrap();
        let space = Space::new(mesh, &geometry, space).unwrap();
        let points = match params.quadrature {
            Quadrature::Exact(degree) => {
                let rule = femto_element::quadrature::simplex_rule(space.dim(), degree);
                rule.unwrap().points.len()
            }
            other => other.tables(space.cell(), space.degree()).unwrap().points(),
        };
        let params = OperatorParams {
            auxiliary: vec![
                Auxiliary::PerCell(random.vector(space.elements())),
                Auxiliary::Nodal(random.vector(space.nodes())),
                Auxiliary::AtPoints(random.vector(space.elements() * points)),
            ],
            time: 0.7,
            parameters: vec![1.3],
            ..params
        };
        Self {
            geometry,
            space,
            params,
        }
    }

    fn solid<T: Number, D: Backend, F, const C: usize>(
        &self,
        device: &D,
        form: &F,
    ) -> Operator<T, D>
    where
        F: Form<3, C> + Clone + 'static,
    {
        let params = self.params.clone();
        Operator::new(device, &self.space, &self.geometry, form, params).unwrap()
    }

    fn planar<T: Number, D: Backend, F, const C: usize>(
        &self,
        device: &D,
        form: &F,
    ) -> Operator<T, D>
    where
        F: Form<2, C> + Clone + 'static,
    {
        let params = self.params.clone();
        Operator::new(device, &self.space, &self.geometry, form, params).unwrap()
    }
}

fn upload<T: Number, D: Device>(device: &D, values: &[f64]) -> D::Buffer<T> {
    let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
    device.upload(&values).unwrap()
}

/// The result of `run` on a vector of NaN.
fn outcome<T: Number, D: Device>(
    device: &D,
    len: usize,
    run: impl FnOnce(&mut D::Buffer<T>),
) -> Vec<f64> {
    let mut out = upload::<T, D>(device, &vec![f64::NAN; len]);
    run(&mut out);
    let mut values = vec![T::default(); len];
    device.read(&out, &mut values).unwrap();
    values.iter().map(|value| value.to_f64()).collect()
}

/// Compares everything operators do on both devices.
fn agree<T: Number>(host: &Operator<f64, Host>, there: &Operator<T, Accelerator>, what: &str) {
    let tolerance = if T::BYTES == 8 { 1e-12 } else { 2e-5 };
    assert_eq!(there.warnings(), [] as [&str; 0], "{what}");
    let mut random = Random::new();
    let check = |what: &str, found: &[f64], expected: &[f64]| {
        let error = difference(found, expected);
        assert!(error < tolerance, "{what}: {error}");
    };
    let (h, d) = (host.device(), there.device());
    let len = host.dofs();
    let u = random.vector(len);
    let expected = outcome::<f64, _>(h, len, |v| host.apply(&upload(h, &u), v).unwrap());
    let found = outcome::<T, _>(d, len, |v| there.apply(&upload(d, &u), v).unwrap());
    check(&format!("apply, {what}"), &found, &expected);
    if host.inspection().linear {
        let expected = outcome::<f64, _>(h, len, |v| host.diagonal(v).unwrap());
        let found = outcome::<T, _>(d, len, |v| there.diagonal(v).unwrap());
        check(&format!("diagonal, {what}"), &found, &expected);
    }
    let len = host.element_dofs();
    let u = random.vector(len);
    let apply = |v: &mut _| host.apply_elements(&upload(h, &u), v).unwrap();
    let expected = outcome::<f64, _>(h, len, apply);
    let apply = |v: &mut _| there.apply_elements(&upload(d, &u), v).unwrap();
    check(
        &format!("elements, {what}"),
        &outcome::<T, _>(d, len, apply),
        &expected,
    );
}

fn space(degree: usize, components: usize, layout: Layout) -> SpaceParams {
    SpaceParams {
        degree,
        components,
        layout,
        chunk_nodes: 40,
        ..SpaceParams::default()
    }
}

#[test]
fn hexahedra_agree() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    for shape in SHAPES {
        for (degree, scatter, quadrature) in [
            (1, Scatter::Deterministic, Quadrature::Gauss),
            (2, Scatter::Atomic, Quadrature::Gauss),
            (2, Scatter::Atomic, Quadrature::Collocated),
        ] {
            let params = || OperatorParams {
                scatter,
                quadrature,
                data_level: DataLevel::OnTheFly,
                ..OperatorParams::default()
            };
            let mesh = mesh(shape, [3, 2, 2]);
            let scalar = space(degree, 1, Layout::Interleaved);
            let on = On::new(&mesh, scalar, params(), &mut random);
            let what = format!("{shape:?}, degree {degree}");
            let on_host = on.solid::<f64, _, Busy, 1>(&host, &Busy);
            agree(
                &on_host,
                &on.solid::<f64, _, Busy, 1>(&device, &Busy),
                &what,
            );
            let vector = space(degree, 3, Layout::Blocked);
            let on = On::new(&mesh, vector, params(), &mut random);
            let form = LinearElasticity::from_young(2.0, 0.3);
            agree(
                &on.solid(&host, &form),
                &on.solid::<f64, _, _, 3>(&device, &form),
                &what,
            );
        }
    }
}

fn quadrilaterals(shape: Shape) -> Mesh {
    let generator = RectangleMesh {
        geometry_degree: if shape == Shape::Curved { 2 } else { 1 },
        ..RectangleMesh::unit_square(3)
    };
    let [twist, bend] = match shape {
        Shape::Affine => [0.0, 0.0],
        Shape::Trilinear => [0.15, 0.0],
        Shape::Curved => [0.15, 0.05],
    };
    generator
        .build(|[x, y]| {
            [
                x + twist * x * y + bend * (3.0 * y).sin(),
                1.3 * y - twist * x * y,
            ]
        })
        .unwrap()
}

#[test]
fn quadrilaterals_agree() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    for (degree, shape, scatter, quadrature) in [
        (
            1,
            Shape::Trilinear,
            Scatter::Deterministic,
            Quadrature::Gauss,
        ),
        (3, Shape::Affine, Scatter::Atomic, Quadrature::Collocated),
        (
            6,
            Shape::Curved,
            Scatter::Deterministic,
            Quadrature::Collocated,
        ),
        (8, Shape::Trilinear, Scatter::Atomic, Quadrature::Gauss),
        (15, Shape::Affine, Scatter::Atomic, Quadrature::Gauss),
    ] {
        let what = format!("quadrilaterals, {shape:?}, degree {degree}, {scatter:?}");
        let mesh = quadrilaterals(shape);
        let mut on = |components, layout| {
            let params = OperatorParams {
                scatter,
                quadrature,
                ..OperatorParams::default()
            };
            let space = space(degree, components, layout);
            On::new(&mesh, space, params, &mut random)
        };
        let one = on(1, Layout::Interleaved);
        let on_host = one.planar::<f64, _, _, 1>(&host, &Conduction);
        assert_eq!(on_host.explain(None, None).family, "sum_factorization");
        let double = one.planar::<f64, _, _, 1>(&device, &Conduction);
        agree(&on_host, &double, &what);
        let two = on(2, Layout::Blocked);
        let on_host = two.planar::<f64, _, Busy, 2>(&host, &Busy);
        let there = two.planar::<f64, _, Busy, 2>(&device, &Busy);
        agree(&on_host, &there, &what);
    }
}

fn triangles(degree: usize) -> Mesh {
    let generator = SimplexBox {
        geometry_degree: degree,
        irregular: Some(7),
        ..SimplexBox::<2>::unit_square(5)
    };
    generator
        .build(|[x, y]| [x + 0.02 * degree as f64 * (3.0 * y).sin(), 1.3 * y])
        .unwrap()
}

fn tetrahedra(degree: usize) -> Mesh {
    let generator = SimplexBox {
        geometry_degree: degree,
        irregular: Some(5),
        ..SimplexBox::<3>::unit_cube(3)
    };
    generator
        .build(|[x, y, z]| [x, y + 0.02 * degree as f64 * (3.0 * z).sin(), z])
        .unwrap()
}

/// Degrees, each with sums, data level and order of the maps.
const SIMPLICES: [(usize, Scatter, DataLevel, usize); 4] = [
    (1, Scatter::Atomic, DataLevel::OnTheFly, 1),
    (1, Scatter::Deterministic, DataLevel::Partial, 1),
    (2, Scatter::Atomic, DataLevel::OnTheFly, 2),
    (3, Scatter::Deterministic, DataLevel::OnTheFly, 1),
];

fn simplex_params(scatter: Scatter, data_level: DataLevel) -> OperatorParams {
    OperatorParams {
        scatter,
        data_level,
        quadrature: Quadrature::Exact(4),
        ..OperatorParams::default()
    }
}

#[test]
fn triangles_agree() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    for (degree, scatter, data_level, order) in SIMPLICES {
        let mesh = triangles(order);
        let what = format!("triangles, degree {degree}, {scatter:?}");
        let mut on = |components, layout| {
            let params = simplex_params(scatter, data_level);
            On::new(
                &mesh,
                space(degree, components, layout),
                params,
                &mut random,
            )
        };
        let one = on(1, Layout::Interleaved);
        let on_host = one.planar::<f64, _, _, 1>(&host, &Conduction);
        let double = one.planar::<f64, _, _, 1>(&device, &Conduction);
        agree(&on_host, &double, &what);
        let single = one.planar::<f32, _, _, 1>(&device, &Conduction);
        agree(&on_host, &single, &what);
        let two = on(2, Layout::Blocked);
        let on_host = two.planar::<f64, _, Busy, 2>(&host, &Busy);
        let there = two.planar::<f64, _, Busy, 2>(&device, &Busy);
        agree(&on_host, &there, &what);
    }
}

#[test]
fn tetrahedra_agree() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    for (degree, scatter, data_level, order) in SIMPLICES {
        let mesh = tetrahedra(order);
        let what = format!("tetrahedra, degree {degree}, {scatter:?}");
        let mut on = |components| {
            let params = simplex_params(scatter, data_level);
            let space = space(degree, components, Layout::Interleaved);
            On::new(&mesh, space, params, &mut random)
        };
        let one = on(1);
        let on_host = one.solid::<f64, _, Busy, 1>(&host, &Busy);
        let there = one.solid::<f64, _, Busy, 1>(&device, &Busy);
        agree(&on_host, &there, &what);
        let form = LinearElasticity::from_young(2.0, 0.3);
        let three = on(3);
        let on_host = three.solid::<f64, _, _, 3>(&host, &form);
        let there = three.solid::<f64, _, _, 3>(&device, &form);
        agree(&on_host, &there, &what);
    }
}

/// Cells with different kinds of map share nodes; each kind is launched separately.
#[test]
fn straight_and_curved_cells_agree() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    let params = simplex_params(Scatter::Atomic, DataLevel::OnTheFly);
    let bend = |x: f64, y: f64| y + (x - 0.5).max(0.0).powi(2);
    let generator = SimplexBox {
        geometry_degree: 2,
        ..SimplexBox::<2>::unit_square(12)
    };
    let mesh = generator.build(|[x, y]| [x, bend(x, y)]).unwrap();
    let planar = On::new(&mesh, space(1, 1, Layout::Interleaved), params, &mut random);
    let on_host = planar.planar::<f64, _, _, 1>(&host, &Conduction);
    let there = planar.planar::<f64, _, _, 1>(&device, &Conduction);
    agree(&on_host, &there, "triangles");
}

/// The state of a Jacobian is replaced, on hexahedra and tetrahedra.
#[test]
fn states_are_replaced() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(1).unwrap();
    let mut random = Random::new();
    for mesh in [mesh(Shape::Trilinear, [2, 2, 2]), tetrahedra(1)] {
        let geometry = Geometry::new(&mesh).unwrap();
        let space = Space::new(&mesh, &geometry, space(2, 1, Layout::Interleaved)).unwrap();
        let form = Jacobian(NonlinearDiffusion::<3>::default());
        let params = || OperatorParams {
            auxiliary: vec![Auxiliary::Nodal(vec![0.0; space.nodes()])],
            ..OperatorParams::default()
        };
        let mut on_host =
            Operator::<f64, _>::new(&host, &space, &geometry, &form, params()).unwrap();
        let mut there =
            Operator::<f64, _>::new(&device, &space, &geometry, &form, params()).unwrap();
        for _ in 0..2 {
            let state = random.vector(space.dofs());
            on_host.set_nodal(0, &upload(&host, &state)).unwrap();
            there.set_nodal(0, &upload(&device, &state)).unwrap();
            agree(&on_host, &there, "Jacobian");
        }
        let short = upload(&device, &[0.0]);
        assert!(there.set_nodal(0, &short).is_err() && there.set_nodal(1, &short).is_err());
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
    let host = Host::with_threads(1).unwrap();
    for mesh in [mesh(Shape::Trilinear, [2, 2, 2]), tetrahedra(1)] {
        let geometry = Geometry::new(&mesh).unwrap();
        let space = Space::new(&mesh, &geometry, space(1, 1, Layout::Interleaved)).unwrap();
        let params = OperatorParams::default;
        let on_host = Operator::new(&host, &space, &geometry, &Unneeded, params()).unwrap();
        let there =
            Operator::<f64, _>::new(&device, &space, &geometry, &Unneeded, params()).unwrap();
        agree(&on_host, &there, "unneeded");
    }
}

/// λ u, κ ∇u is the same with and without its coefficients folded into the geometry.
#[test]
fn folding_coefficients_changes_nothing() {
    let Some(device) = accelerator() else { return };
    let mesh = mesh(Shape::Trilinear, [3, 2, 2]);
    let geometry = Geometry::new(&mesh).unwrap();
    let space = Space::new(&mesh, &geometry, space(3, 1, Layout::Interleaved)).unwrap();
    let form = femto::kernel::form::ScreenedPoisson::<3> { lambda: Some(0.7) };
    let u = Random::new().vector(space.dofs());
    let apply = |fold_coefficients| {
        let params = OperatorParams {
            fold_coefficients,
            ..OperatorParams::default()
        };
        let operator = Operator::<f64, _>::new(&device, &space, &geometry, &form, params).unwrap();
        outcome::<f64, _>(&device, u.len(), |v| {
            operator.apply(&upload(&device, &u), v).unwrap();
        })
    };
    assert!(difference(&apply(true), &apply(false)) < 1e-12);
}
