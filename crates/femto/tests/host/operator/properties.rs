//! Properties that hold for any input: symmetry, null space, volume, diagonal.

use super::{RULES, apply, space_on, tolerance};
use crate::common::{Random, SHAPES, difference};
use femto::fem::geometry::{Geometry, GeometryAtPoints};
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::{Form, Mass, Point, Poisson, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use femto::platform::device::Device;
use femto::{DataLevel, Host, Number, Operator, OperatorParams, Quadrature};
use femto_element::Cell;
use femto_element::quadrature::gauss;

/// ⟨A u, v⟩ = ⟨u, A v⟩, A 1 = 0 for Poisson, ⟨M 1, 1⟩ = volume.
fn battery<T: Number>(
    (geometry, space): &(Geometry, Space),
    quadrature: Quadrature,
    random: &mut Random,
) {
    let degree = space.degree();
    let host = Host::with_threads(1).expect("one thread");
    let params = OperatorParams {
        quadrature,
        ..OperatorParams::default()
    };
    let mass = Operator::<T, _>::new(&host, space, geometry, &Mass::<3>, params.clone());
    let mass = mass.expect("binds");
    let poisson = Operator::<T, _>::new(&host, space, geometry, &Poisson::<3>, params);
    let poisson = poisson.expect("binds");
    let (u, v) = (random.vector(space.dofs()), random.vector(space.dofs()));
    for operator in [&mass, &poisson] {
        let (au, av) = (apply(operator, &u), apply(operator, &v));
        let scale = (dot(&au, &au) * dot(&v, &v)).sqrt();
        let asymmetry = (dot(&au, &v) - dot(&u, &av)).abs() / scale;
        assert!(asymmetry < tolerance::<T>(), "degree {degree}: {asymmetry}");
    }
    let ones = vec![1.0; space.dofs()];
    let scale = largest(&apply(&poisson, &u));
    let null = largest(&apply(&poisson, &ones));
    // Constants are rounded exactly, so what remains is the rounding of the contractions.
    assert!(
        null < 40.0 * tolerance::<T>() * scale,
        "degree {degree}: {null} of {scale}"
    );
    let basis = quadrature.tables(Cell::Hexahedron, degree).expect("legal");
    let mut expected = volume(geometry, &basis.points, &basis.weights);
    // The determinant of a triquadratic map has degree 5 along an axis.
    let exact = match quadrature {
        Quadrature::Collocated => 2 * basis.points_1d - 3,
        _ => 2 * basis.points_1d - 1,
    };
    if exact >= 5 {
        let rule = gauss(3);
        expected = volume(geometry, &rule.points, &rule.weights);
    }
    let found = dot(&apply(&mass, &ones), &ones);
    assert!(
        (found / expected - 1.0).abs() < tolerance::<T>(),
        "degree {degree}: {found}, not {expected}"
    );
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The largest magnitude; NaN if any value is.
fn largest(values: &[f64]) -> f64 {
    let larger = |m: f64, x: &f64| if m >= x.abs() { m } else { x.abs() };
    values.iter().fold(0.0, larger)
}

/// Volume of a mesh by a quadrature rule.
fn volume(geometry: &Geometry, points: &[f64], weights: &[f64]) -> f64 {
    let (n, mut at) = (points.len(), GeometryAtPoints::default());
    let weight = |p: usize| weights[p % n] * weights[p / n % n] * weights[p / (n * n)];
    let mut cell = |cell| -> f64 {
        geometry.at_points(cell, points, &mut at);
        let terms = at.determinant.iter().enumerate();
        terms.map(|(p, determinant)| weight(p) * determinant).sum()
    };
    (0..geometry.len()).map(&mut cell).sum()
}

#[test]
fn every_degree_passes_the_battery_on_every_kind_of_map() {
    let mut random = Random::new();
    for shape in SHAPES {
        for degree in 1..=15 {
            let params = SpaceParams {
                degree,
                ..SpaceParams::default()
            };
            let on = space_on(shape, [2, 1, 1], params);
            for quadrature in RULES {
                battery::<f64>(&on, quadrature, &mut random);
                battery::<f32>(&on, quadrature, &mut random);
            }
        }
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
                    let auxiliary = vec![random.vector(4).into()];
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

/// The zero form, and one that looks nonzero.
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
