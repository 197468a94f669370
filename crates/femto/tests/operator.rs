//! Operators against the plain twin, and the properties that the mathematics gives them.

mod common;

use common::{Everything, Random, SHAPES, Shape, difference, mesh, oracle_apply};
use femto::fem::geometry::Geometry;
use femto::fem::space::{Continuity, Layout, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Form, Mass, Point, Poisson, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use femto::platform::device::Device;
use femto::{DataLevel, Host, Number, Operator, OperatorParams, Quadrature};

/// Relative error allowed against double precision (project standard).
fn tolerance<T: Number>() -> f64 {
    if T::BYTES == 8 { 1e-13 } else { 1e-5 }
}

fn round<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

fn widen<T: Number>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

/// A u on the host, with the output poisoned first.
fn apply<T: Number>(operator: &Operator<T, Host>, u: &[f64]) -> Vec<f64> {
    let host = operator.device();
    let u = host.upload(&round::<T>(u)).expect("memory");
    let mut v = host
        .upload(&vec![T::from_f64(f64::NAN); u.len()])
        .expect("memory");
    operator.apply(&u, &mut v).expect("lengths fit");
    widen(&v)
}

fn space_on(shape: Shape, cells: [usize; 3], params: SpaceParams) -> (Geometry, Space) {
    let mesh = mesh(shape, cells);
    let geometry = Geometry::new(&mesh).expect("hexahedra");
    let space = Space::new(&mesh, &geometry, params).expect("legal");
    (geometry, space)
}

/// Compares one form in both precisions and at both data levels with the oracle.
fn compare<F, const C: usize>(
    form: &F,
    (geometry, space): &(Geometry, Space),
    params: &OperatorParams,
    random: &mut Random,
) where
    F: Form<3, C> + Clone + 'static,
{
    let host = Host::with_threads(2).expect("two threads");
    // Numbers that both precisions hold exactly.
    let u: Vec<f64> = random
        .vector(space.dofs())
        .iter()
        .map(|&u| f64::from(u as f32))
        .collect();
    let expected = oracle_apply::<F, C>(space, geometry, form, params, &u);
    for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
        let params = OperatorParams {
            data_level,
            ..params.clone()
        };
        let double = Operator::<f64, _>::new(&host, space, geometry, form, params.clone());
        let error = difference(&apply(&double.expect("binds"), &u), &expected);
        assert!(
            error < tolerance::<f64>(),
            "{data_level:?} degree {}: {error}",
            space.degree()
        );
        let operator = Operator::<f32, _>::new(&host, space, geometry, form, params.clone());
        let error = difference(&apply(&operator.expect("binds"), &u), &expected);
        assert!(
            error < tolerance::<f32>(),
            "{data_level:?} degree {}: {error}",
            space.degree()
        );
    }
}

const RULES: [Quadrature; 2] = [Quadrature::Gauss, Quadrature::Collocated];

#[test]
fn ready_made_forms_agree_with_the_oracle() {
    let mut random = Random::new();
    for shape in SHAPES {
        for degree in 1..=8 {
            let cells = if degree < 4 { [3, 3, 2] } else { [2, 2, 1] };
            let chunk_nodes = 4 * degree * degree * degree;
            let params = SpaceParams {
                degree,
                chunk_nodes,
                ..SpaceParams::default()
            };
            let on = space_on(shape, cells, params);
            for quadrature in RULES {
                let params = OperatorParams {
                    quadrature,
                    ..OperatorParams::default()
                };
                compare(&Mass, &on, &params, &mut random);
                compare(&Poisson, &on, &params, &mut random);
                let screened = ScreenedPoisson { lambda: Some(2.5) };
                compare(&screened, &on, &params, &mut random);
            }
        }
    }
}

#[test]
fn high_degrees_agree_with_the_oracle() {
    let mut random = Random::new();
    for degree in 9..=15 {
        let on = space_on(
            Shape::Trilinear,
            [1, 1, 1],
            SpaceParams {
                degree,
                ..Default::default()
            },
        );
        let quadrature = RULES[degree % 2];
        let params = OperatorParams {
            quadrature,
            ..OperatorParams::default()
        };
        compare(&Mass, &on, &params, &mut random);
        compare(&Poisson, &on, &params, &mut random);
    }
}

#[test]
fn any_form_agrees_with_the_oracle() {
    let mut random = Random::new();
    for shape in SHAPES {
        for degree in [1, 2, 3, 5] {
            let space = |components, layout| SpaceParams {
                degree,
                components,
                layout,
                chunk_nodes: 40,
                ..SpaceParams::default()
            };
            let params = OperatorParams {
                auxiliary: vec![random.vector(12)],
                time: 0.7,
                parameters: vec![1.3],
                ..OperatorParams::default()
            };
            let on = space_on(shape, [3, 2, 2], space(1, Layout::ByNode));
            compare::<_, 1>(&Everything, &on, &params, &mut random);
            for layout in [Layout::ByNode, Layout::ByComponent] {
                let on = space_on(shape, [3, 2, 2], space(3, layout));
                compare::<_, 3>(&Everything, &on, &params, &mut random);
                let plain = OperatorParams {
                    quadrature: RULES[degree % 2],
                    ..Default::default()
                };
                compare(&Componentwise::<_, 3>(Mass), &on, &plain, &mut random);
                compare(&Componentwise::<_, 3>(Poisson), &on, &plain, &mut random);
            }
        }
    }
}

#[test]
fn lambda_may_differ_per_element_and_points_may_be_many() {
    let mut random = Random::new();
    for shape in SHAPES {
        let on = space_on(
            shape,
            [2, 2, 2],
            SpaceParams {
                degree: 3,
                ..Default::default()
            },
        );
        for quadrature in [
            Quadrature::Gauss,
            Quadrature::GaussPoints(4),
            Quadrature::GaussPoints(9),
        ] {
            let auxiliary = vec![random.vector(8)];
            let params = OperatorParams {
                quadrature,
                auxiliary,
                ..OperatorParams::default()
            };
            compare(&ScreenedPoisson { lambda: None }, &on, &params, &mut random);
        }
    }
}

/// ⟨A u, v⟩ = ⟨u, A v⟩, A 1 = 0 for Poisson, ⟨M 1, 1⟩ = volume: all degrees, both precisions.
fn battery<T: Number>(degree: usize, random: &mut Random) {
    let (geometry, space) = space_on(
        Shape::Trilinear,
        [2, 2, 2],
        SpaceParams {
            degree,
            ..Default::default()
        },
    );
    let host = Host::with_threads(1).expect("one thread");
    let ones = vec![1.0; space.dofs()];
    for quadrature in RULES {
        let params = OperatorParams {
            quadrature,
            ..OperatorParams::default()
        };
        let mass = Operator::<T, _>::new(&host, &space, &geometry, &Mass, params.clone());
        let mass = mass.expect("binds");
        let poisson = Operator::<T, _>::new(&host, &space, &geometry, &Poisson, params);
        let poisson = poisson.expect("binds");
        let (u, v) = (random.vector(space.dofs()), random.vector(space.dofs()));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for operator in [&mass, &poisson] {
            let (au, av) = (apply(operator, &u), apply(operator, &v));
            let scale = (dot(&au, &au) * dot(&v, &v)).sqrt();
            let asymmetry = (dot(&au, &v) - dot(&u, &av)).abs() / scale;
            assert!(asymmetry < tolerance::<T>(), "degree {degree}: {asymmetry}");
        }
        let scale = apply(&poisson, &u)
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        let null = apply(&poisson, &ones)
            .iter()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        // Constants are rounded exactly, so what remains is the rounding of the contractions.
        assert!(
            null < 40.0 * tolerance::<T>() * scale,
            "degree {degree}: {null} of {scale}"
        );
        let volume = dot(&apply(&mass, &ones), &ones);
        let exact = exact_volume(&geometry);
        assert!(
            (volume / exact - 1.0).abs() < tolerance::<T>(),
            "degree {degree}: {volume}"
        );
    }
}

/// By a rule that is exact for the determinant of a trilinear map (degree 2 in each variable).
fn exact_volume(geometry: &Geometry) -> f64 {
    let rule = femto::fem::quadrature::gauss(2);
    let mut at = femto::fem::geometry::GeometryAtPoints::default();
    let cell = |cell| {
        geometry.at_points(cell, &rule.points, &mut at);
        at.determinant.iter().sum::<f64>()
    };
    (0..geometry.len()).map(cell).sum()
}

#[test]
fn every_degree_passes_the_battery() {
    let mut random = Random::new();
    for degree in 1..=15 {
        battery::<f64>(degree, &mut random);
        battery::<f32>(degree, &mut random);
    }
}

#[test]
fn t_vectors_leave_constrained_entries_out() {
    let mut random = Random::new();
    for (components, layout) in [
        (1, Layout::ByNode),
        (3, Layout::ByNode),
        (3, Layout::ByComponent),
    ] {
        let params = SpaceParams {
            degree: 3,
            components,
            layout,
            dirichlet: vec!["xmin".into(), "zmax".into()],
            chunk_nodes: 60,
            ..SpaceParams::default()
        };
        let (geometry, space) = space_on(Shape::Trilinear, [3, 2, 2], params);
        let host = Host::with_threads(2).expect("two threads");
        let params = OperatorParams::default();
        let check = |l_of_t: &dyn Fn(&[f64]) -> Vec<f64>, result: (Vec<f64>, Vec<f64>)| {
            let (t, l) = result;
            let back: Vec<f64> = t_of_l(&space, &l);
            assert_eq!(
                t.len(),
                l_of_t(&t).len() - (space.dofs() - space.free_dofs())
            );
            assert_eq!(
                t, back,
                "the free entries of A applied to the extended vector"
            );
        };
        let u = random.vector(space.free_dofs());
        let extend = |t: &[f64]| l_of_t(&space, t);
        if components == 1 {
            let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
            let operator = operator.expect("binds");
            check(
                &extend,
                (apply(&operator, &u), apply(&operator, &extend(&u))),
            );
        } else {
            let form = Componentwise::<_, 3>(Poisson);
            let operator = Operator::<f64, _>::new(&host, &space, &geometry, &form, params);
            let operator = operator.expect("binds");
            check(
                &extend,
                (apply(&operator, &u), apply(&operator, &extend(&u))),
            );
        }
    }
}

fn l_of_t(space: &Space, t: &[f64]) -> Vec<f64> {
    let (nodes, free) = (space.nodes(), space.free_nodes());
    let mut l = vec![0.0; space.dofs()];
    match space.layout() {
        Layout::ByNode => l[..t.len()].copy_from_slice(t),
        Layout::ByComponent => {
            for (l, t) in l.chunks_exact_mut(nodes).zip(t.chunks_exact(free)) {
                l[..free].copy_from_slice(t);
            }
        }
    }
    l
}

fn t_of_l(space: &Space, l: &[f64]) -> Vec<f64> {
    match space.layout() {
        Layout::ByNode => l[..space.free_dofs()].to_vec(),
        Layout::ByComponent => {
            let parts = l.chunks_exact(space.nodes());
            parts
                .flat_map(|part| part[..space.free_nodes()].to_vec())
                .collect()
        }
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut random = Random::new();
    let params = SpaceParams {
        degree: 4,
        chunk_nodes: 100,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on(Shape::Curved, [4, 3, 3], params);
    let u = random.vector(space.dofs());
    let with = |threads| {
        let host = Host::with_threads(threads).expect("threads");
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
        apply(&operator.expect("binds"), &u)
    };
    let one = with(1);
    for threads in 2..=4 {
        assert_eq!(one, with(threads), "bitwise, with {threads} threads");
    }
}

#[test]
fn diagonals_are_exact() {
    let mut random = Random::new();
    for shape in SHAPES {
        for degree in [1, 2, 4] {
            for quadrature in RULES {
                for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
                    let params = SpaceParams {
                        degree,
                        chunk_nodes: 30,
                        ..Default::default()
                    };
                    let on = space_on(shape, [2, 2, 1], params);
                    let auxiliary = vec![random.vector(4)];
                    let params = OperatorParams {
                        quadrature,
                        data_level,
                        auxiliary,
                        ..Default::default()
                    };
                    diagonal_of(&ScreenedPoisson { lambda: None }, &on, &params);
                    diagonal_of(&Poisson, &on, &params);
                    diagonal_of(&Mass, &on, &params);
                }
            }
        }
    }
}

fn diagonal_of<F: Form<3> + Clone + 'static>(
    form: &F,
    (geometry, space): &(Geometry, Space),
    params: &OperatorParams,
) {
    let host = Host::with_threads(2).expect("two threads");
    let operator = Operator::<f64, _>::new(&host, space, geometry, form, params.clone());
    let operator = operator.expect("binds");
    let mut diagonal = host.upload(&vec![f64::NAN; space.dofs()]).expect("memory");
    operator.diagonal(&mut diagonal).expect("linear");
    let column = |i: usize| {
        let mut unit = vec![0.0; space.dofs()];
        unit[i] = 1.0;
        apply(&operator, &unit)[i]
    };
    let expected: Vec<f64> = (0..space.dofs()).map(column).collect();
    let error = difference(&diagonal, &expected);
    assert!(error < 1e-13, "degree {}: {error}", space.degree());
}

/// Orthotropic conduction with a per-element tensor: linear, of factor form only where all three
/// fields agree.
#[derive(Clone, Copy)]
struct Orthotropic;
impl Form<3> for Orthotropic {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0] + (p.a[0] - p.a[1]) * p.grad_u[0][0]]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        let g = p.grad_u[0];
        [[g[0] * p.a[0], g[1] * p.a[1], g[2] * p.a[2]]]
    }
}

/// Nothing at all, and a form that only looks like something.
#[derive(Clone, Copy)]
struct Nothing;
impl Form<3> for Nothing {}
#[derive(Clone, Copy)]
struct TimesZero;
impl Form<3> for TimesZero {
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|g| g * 0.0)]
    }
}

#[test]
fn coefficients_are_folded_only_where_they_are_scalars() {
    let mut random = Random::new();
    for shape in SHAPES {
        let on = space_on(
            shape,
            [2, 2, 2],
            SpaceParams {
                degree: 2,
                ..Default::default()
            },
        );
        let mut field = || random.vector(8);
        let different = vec![field(), field(), field()];
        let same = vec![different[0].clone(); 3];
        for auxiliary in [different, same] {
            let params = OperatorParams {
                auxiliary,
                ..OperatorParams::default()
            };
            compare(&Orthotropic, &on, &params, &mut random);
        }
    }
}

#[test]
fn forms_that_are_zero_give_zero() {
    for shape in SHAPES {
        let (geometry, space) = space_on(
            shape,
            [2, 1, 1],
            SpaceParams {
                degree: 2,
                ..Default::default()
            },
        );
        let host = Host::with_threads(1).expect("one thread");
        for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
            let params = OperatorParams {
                data_level,
                ..OperatorParams::default()
            };
            let nothing =
                Operator::<f64, _>::new(&host, &space, &geometry, &Nothing, params.clone());
            let zero = Operator::<f64, _>::new(&host, &space, &geometry, &TimesZero, params);
            for operator in [nothing.expect("binds"), zero.expect("binds")] {
                let v = apply(&operator, &vec![1.0; space.dofs()]);
                assert!(v.iter().all(|&v| v == 0.0));
            }
        }
    }
}

#[test]
fn broken_spaces_are_bound_at_any_size() {
    let mut random = Random::new();
    for (degree, cells) in [(1, [24, 20, 20]), (3, [3, 2, 2])] {
        let continuity = Continuity::Broken;
        let on = space_on(
            Shape::Trilinear,
            cells,
            SpaceParams {
                degree,
                continuity,
                ..Default::default()
            },
        );
        compare(&Mass, &on, &OperatorParams::default(), &mut random);
    }
}

#[test]
fn long_thin_meshes_are_bound() {
    let on = space_on(Shape::Affine, [1, 1, 20000], SpaceParams::default());
    compare(&Mass, &on, &OperatorParams::default(), &mut Random::new());
}

#[test]
fn an_operator_may_be_applied_by_several_threads_at_once() {
    let mut random = Random::new();
    let params = SpaceParams {
        degree: 3,
        chunk_nodes: 50,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on(Shape::Trilinear, [4, 4, 3], params);
    let host = Host::with_threads(2).expect("two threads");
    let params = OperatorParams::default();
    let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
    let operator = operator.expect("binds");
    let u = random.vector(space.dofs());
    let expected = apply(&operator, &u);
    for _ in 0..20 {
        // Nested in the operator's own threads: a waiting thread may take up the other's work.
        let (a, b) = host.join(|| apply(&operator, &u), || apply(&operator, &u));
        assert!(a == expected && b == expected);
    }
}
