//! Every form, kind of map, degree, rule, layout and data level against the oracle.

use super::{RULES, apply, space_on, tolerance};
use crate::common::{Everything, Random, SHAPES, Shape, difference, oracle};
use femto::fem::geometry::Geometry;
use femto::fem::space::{Continuity, Layout, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Form, Mass, Point, Poisson, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use femto::operator::Auxiliary;
use femto::{DataLevel, Host, Operator, OperatorParams, Quadrature};

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
    // Numbers that are exact in both precisions.
    let u: Vec<f64> = random
        .vector(space.dofs())
        .iter()
        .map(|&u| f64::from(u as f32))
        .collect();
    let expected = oracle::on_hexahedra::<F, C>(form, space, geometry, params, &u);
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

fn of_degree(degree: usize) -> SpaceParams {
    SpaceParams {
        degree,
        ..SpaceParams::default()
    }
}

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
    for (number, shape) in SHAPES.into_iter().enumerate() {
        for degree in 9..=15 {
            let on = space_on(shape, [1, 1, 1], of_degree(degree));
            let params = OperatorParams {
                quadrature: RULES[(degree + number) % 2],
                ..OperatorParams::default()
            };
            let screened = ScreenedPoisson { lambda: Some(2.5) };
            compare(&screened, &on, &params, &mut random);
        }
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
                auxiliary: vec![random.vector(12).into()],
                time: 0.7,
                parameters: vec![1.3],
                ..OperatorParams::default()
            };
            let on = space_on(shape, [3, 2, 2], space(1, Layout::Interleaved));
            compare::<_, 1>(&Everything, &on, &params, &mut random);
            for layout in [Layout::Interleaved, Layout::Blocked] {
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
        let on = space_on(shape, [2, 2, 2], of_degree(3));
        for quadrature in [
            Quadrature::Gauss,
            Quadrature::GaussPoints(4),
            Quadrature::GaussPoints(9),
        ] {
            let auxiliary = vec![random.vector(8).into()];
            let params = OperatorParams {
                quadrature,
                auxiliary,
                ..OperatorParams::default()
            };
            compare(&ScreenedPoisson { lambda: None }, &on, &params, &mut random);
        }
    }
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

#[test]
fn coefficients_are_folded_only_where_they_are_scalars() {
    let mut random = Random::new();
    for shape in SHAPES {
        let on = space_on(shape, [2, 2, 2], of_degree(2));
        let mut field = || Auxiliary::from(random.vector(8));
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
