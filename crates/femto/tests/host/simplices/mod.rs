//! Operators on triangles and tetrahedra on the host, against the oracle, and their mathematical
//! properties.

use crate::common::forms::{Busy, Conduction};
use crate::common::{Random, difference, oracle};
use femto::element::MapKind;
use femto::element::basis::MAX_SIMPLEX_DEGREE;
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::SimplexBox;
use femto::fem::space::{Layout, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Form, Mass, Poisson, ScreenedPoisson};
use femto::operator::{Auxiliary, OperatorError};
use femto::platform::device::Device;
use femto::{DataLevel, Host, Number, Operator, OperatorParams, Quadrature};

fn tolerance<T: Number>() -> f64 {
    if T::BYTES == 8 { 1e-13 } else { 1e-5 }
}

/// A small irregular mesh, straight or curved.
fn triangles(curved: bool) -> Mesh {
    let generator = SimplexBox {
        geometry_degree: if curved { 2 } else { 1 },
        irregular: Some(7),
        ..SimplexBox::<2>::unit_square(4)
    };
    let bend = if curved { 0.05 } else { 0.0 };
    let mesh = generator.build(|[x, y]| [x + bend * (3.0 * y).sin(), 1.3 * y + bend * x * x]);
    mesh.expect("a mesh")
}

fn tetrahedra(curved: bool) -> Mesh {
    let generator = SimplexBox {
        geometry_degree: if curved { 2 } else { 1 },
        irregular: Some(5),
        ..SimplexBox::<3>::unit_cube(2)
    };
    let bend = if curved { 0.04 } else { 0.0 };
    let mesh = generator.build(|[x, y, z]| {
        [
            x + bend * (3.0 * y).sin(),
            1.3 * y + bend * z * z,
            z + bend * x * y,
        ]
    });
    mesh.expect("a mesh")
}

/// A space and the parameters of an operator on it, with fields of all kinds.
struct On {
    geometry: Geometry,
    space: Space,
    params: OperatorParams,
}

impl On {
    fn new(mesh: &Mesh, params: SpaceParams, data_level: DataLevel, random: &mut Random) -> Self {
        let geometry = Geometry::new(mesh).expect("simplices");
        let space = Space::new(mesh, &geometry, params).expect("legal");
        let quadrature = Quadrature::Exact(4);
        let points = oracle::rule(&space, quadrature).len();
        let params = OperatorParams {
            quadrature,
            data_level,
            auxiliary: vec![
                Auxiliary::PerCell(random.vector(space.elements())),
                Auxiliary::Nodal(random.vector(space.nodes())),
                Auxiliary::AtPoints(random.vector(space.elements() * points)),
            ],
            time: 0.7,
            parameters: vec![1.3],
            ..OperatorParams::default()
        };
        Self {
            geometry,
            space,
            params,
        }
    }

    /// Builds an operator in any dimension, applies it to random numbers and compares.
    fn check<T: Number>(
        &self,
        operator: &Operator<T, Host>,
        expected: impl Fn(&[f64]) -> Vec<f64>,
        random: &mut Random,
    ) {
        let host = operator.device();
        let len = self.space.dofs();
        let u: Vec<f64> = random
            .vector(len)
            .iter()
            .map(|&u| f64::from(u as f32))
            .collect();
        let cast: Vec<T> = u.iter().map(|&u| T::from_f64(u)).collect();
        let on_host = host.upload(&cast).expect("memory");
        let mut v = host
            .upload(&vec![T::from_f64(f64::NAN); len])
            .expect("memory");
        operator.apply(&on_host, &mut v).expect("lengths fit");
        let found: Vec<f64> = v.iter().map(|v| v.to_f64()).collect();
        let error = difference(&found, &expected(&u));
        assert!(
            error < tolerance::<T>(),
            "degree {}: {error}",
            self.space.degree()
        );
    }
}

fn solid<F, const C: usize>(form: &F, on: &On, random: &mut Random)
where
    F: Form<3, C> + Clone + 'static,
{
    let host = Host::new().expect("threads");
    let params = || on.params.clone();
    let expected = |u: &[f64]| {
        oracle::with_dense_tables::<F, 3, C>(form, &on.space, &on.geometry, &on.params, u)
    };
    let double = Operator::<f64, _>::new(&host, &on.space, &on.geometry, form, params());
    on.check(&double.expect("legal"), expected, random);
    let single = Operator::<f32, _>::new(&host, &on.space, &on.geometry, form, params());
    on.check(&single.expect("legal"), expected, random);
}

fn plane<F, const C: usize>(form: &F, on: &On, random: &mut Random)
where
    F: Form<2, C> + Clone + 'static,
{
    let host = Host::new().expect("threads");
    let params = || on.params.clone();
    let expected = |u: &[f64]| {
        oracle::with_dense_tables::<F, 2, C>(form, &on.space, &on.geometry, &on.params, u)
    };
    let double = Operator::<f64, _>::new(&host, &on.space, &on.geometry, form, params());
    on.check(&double.expect("legal"), expected, random);
    let single = Operator::<f32, _>::new(&host, &on.space, &on.geometry, form, params());
    on.check(&single.expect("legal"), expected, random);
}

/// All degrees, straight and curved, both data levels and layouts.
fn spaces(mesh: fn(bool) -> Mesh, components: usize, mut each: impl FnMut(On, &mut Random)) {
    let mut random = Random::new();
    for degree in 1..=3 {
        for (curved, data_level, layout) in [
            (false, DataLevel::OnTheFly, Layout::Interleaved),
            (false, DataLevel::Partial, Layout::Blocked),
            (true, DataLevel::OnTheFly, Layout::Blocked),
        ] {
            let params = SpaceParams {
                degree,
                components,
                layout,
                chunk_nodes: 20,
                ..SpaceParams::default()
            };
            let on = On::new(&mesh(curved), params, data_level, &mut random);
            let kind = if curved {
                MapKind::Curved
            } else {
                MapKind::Affine
            };
            assert!(on.geometry.kinds().contains(&kind));
            each(on, &mut random);
        }
    }
}

#[test]
fn scalar_forms_agree_on_triangles() {
    spaces(triangles, 1, |on, random| {
        plane::<_, 1>(&Busy, &on, random);
        plane(&Conduction, &on, random);
    });
}

#[test]
fn scalar_forms_agree_on_tetrahedra() {
    spaces(tetrahedra, 1, |on, random| {
        solid::<_, 1>(&Busy, &on, random);
        solid(&Conduction, &on, random);
    });
}

#[test]
fn systems_agree() {
    spaces(triangles, 2, |on, random| plane::<_, 2>(&Busy, &on, random));
    spaces(tetrahedra, 3, |on, random| {
        solid::<_, 3>(&Busy, &on, random)
    });
}

/// Forms λ u, κ ∇u, which affine cells evaluate with matrices of the reference cell, at every degree.
#[test]
fn coefficients_constant_in_each_cell_agree_at_every_degree() {
    let mut random = Random::new();
    for degree in 1..=MAX_SIMPLEX_DEGREE {
        for components in [1, 3] {
            let params = || SpaceParams {
                degree,
                components,
                chunk_nodes: 300,
                ..SpaceParams::default()
            };
            // Curved cells take much longer here.
            for curved in [false, true].into_iter().take(1 + usize::from(degree <= 4)) {
                let mut solids = On::new(
                    &tetrahedra(curved),
                    params(),
                    DataLevel::OnTheFly,
                    &mut random,
                );
                let mut plane_cells = On::new(
                    &triangles(curved),
                    params(),
                    DataLevel::OnTheFly,
                    &mut random,
                );
                for on in [&mut solids, &mut plane_cells] {
                    on.params.auxiliary.truncate(1);
                    on.params.quadrature = Quadrature::Exact(2 * degree);
                }
                if components == 1 {
                    solid(&Mass, &solids, &mut random);
                    solid(&ScreenedPoisson { lambda: None }, &solids, &mut random);
                    plane(&Poisson, &plane_cells, &mut random);
                    plane(&ScreenedPoisson { lambda: None }, &plane_cells, &mut random);
                } else {
                    solid(&Componentwise::<_, 3>(Poisson), &solids, &mut random);
                    plane(&Componentwise::<_, 3>(Mass), &plane_cells, &mut random);
                }
            }
        }
    }
}

/// The mass of 1 is the square's area, stiffness ignores constants, and the diagonal matches unit vectors.
#[test]
fn mass_stiffness_and_diagonal_are_what_they_should_be() {
    let host = Host::new().expect("threads");
    for degree in 1..=MAX_SIMPLEX_DEGREE {
        let mesh = SimplexBox::<2>::unit_square(3)
            .build(|x| x)
            .expect("a mesh");
        let geometry = Geometry::new(&mesh).expect("triangles");
        let params = SpaceParams {
            degree,
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        let params = OperatorParams::default;
        let mass = Operator::<f64, _>::new(&host, &space, &geometry, &Mass::<2>, params());
        let mass = mass.expect("legal");
        let ones = host.upload(&vec![1.0; space.dofs()]).expect("memory");
        let mut v = host.zeros(space.dofs()).expect("memory");
        mass.apply(&ones, &mut v).expect("lengths fit");
        assert!((v.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        let stiffness = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<2>, params());
        let stiffness = stiffness.expect("legal");
        stiffness.apply(&ones, &mut v).expect("lengths fit");
        assert!(v.iter().all(|v| v.abs() < 1e-13));
        let mut diagonal = host.zeros(space.dofs()).expect("memory");
        stiffness.diagonal(&mut diagonal).expect("linear");
        for i in 0..space.dofs() {
            let mut unit = vec![0.0; space.dofs()];
            unit[i] = 1.0;
            let unit = host.upload(&unit).expect("memory");
            stiffness.apply(&unit, &mut v).expect("lengths fit");
            assert!((v[i] - diagonal[i]).abs() < 1e-13);
        }
    }
}

#[test]
fn mismatched_parts_are_errors() {
    let host = Host::new().expect("threads");
    let mesh = triangles(false);
    let geometry = Geometry::new(&mesh).expect("triangles");
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).expect("legal");
    let operator =
        |params| Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<2>, params);
    let solid = Operator::<f64, _>::new(
        &host,
        &space,
        &geometry,
        &Poisson::<3>,
        OperatorParams::default(),
    );
    assert_eq!(
        solid.expect_err("triangles").to_string(),
        "a form in 3 dimensions on triangles"
    );
    let collocated = operator(OperatorParams {
        quadrature: Quadrature::Collocated,
        ..OperatorParams::default()
    });
    assert_eq!(
        collocated.expect_err("no GLL points"),
        OperatorError::QuadratureOnSimplices
    );
    let knobs = operator(OperatorParams {
        knobs: "blocks=2".parse().expect("a knob"),
        ..OperatorParams::default()
    });
    assert_eq!(
        knobs.expect_err("no kernel with knobs"),
        OperatorError::KnobsElsewhere
    );
    let short = operator(OperatorParams {
        auxiliary: vec![Auxiliary::Nodal(vec![0.0; 3])],
        ..OperatorParams::default()
    });
    assert_eq!(
        short.expect_err("too short").to_string(),
        format!(
            "auxiliary field 0 has 3 values for {} nodes of the space",
            space.nodes()
        )
    );
}
