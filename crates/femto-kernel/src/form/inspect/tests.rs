//! Properties that are found of forms, and those that only seem to be there.

use super::*;
use crate::form::{
    Componentwise, Jacobian, LinearElasticity, Mass, Point, Poisson, ScreenedPoisson,
};
use crate::scalar::Scalar;

#[test]
fn ready_made_forms_are_recognised() {
    let mass = inspect::<_, 3, 3>(&Componentwise(Mass));
    assert!(mass.linear && mass.symmetric && mass.reads_values && !mass.reads_gradients);
    assert!(mass.writes_values && !mass.writes_gradients);
    let found = mass.coefficients.unwrap();
    assert_eq!(found.mass, CoefficientKind::Constant(1.0));
    assert_eq!(found.stiffness, CoefficientKind::Zero);
    let poisson = inspect::<_, 2, 1>(&Poisson);
    assert!(!poisson.reads_values && poisson.writes_gradients);
    let screened = inspect::<_, 3, 1>(&ScreenedPoisson { lambda: None });
    let found = screened.coefficients.unwrap();
    assert_eq!(found.mass, CoefficientKind::OfFields);
    assert_eq!(found.stiffness, CoefficientKind::Constant(1.0));
    assert_eq!(found.at(&[2.5]), (2.5, 1.0));
    assert_eq!((screened.auxiliary, screened.parameters), (1, 0));
}

/// ∇φ·∇u of four components, with a term by which the first two are coupled, or the first and the third.
struct Coupling {
    other: usize,
}
impl Form<2, 4> for Coupling {
    fn f0<S: Scalar>(&self, p: &Point<S, 2, 4>) -> [S; 4] {
        let mut f0 = p.u;
        f0[0] = p.u[self.other];
        f0
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 2, 4>) -> [[S; 2]; 4] {
        p.grad_u
    }
}

#[test]
fn groups_of_coupled_components_are_found() {
    let elasticity = LinearElasticity {
        lambda: 1.5.into(),
        mu: 0.8.into(),
    };
    assert_eq!(inspect::<_, 3, 3>(&Componentwise(Poisson)).coupled, 1);
    assert_eq!(inspect::<_, 3, 3>(&elasticity).coupled, 3);
    let twice = Componentwise::<_, 6, 3>(elasticity);
    assert_eq!(inspect::<_, 3, 6>(&twice).coupled, 3);
    // Two pairs, of which only one is coupled.
    assert_eq!(inspect::<_, 2, 4>(&Coupling { other: 1 }).coupled, 4);
    assert_eq!(inspect::<_, 2, 4>(&Coupling { other: 2 }).coupled, 4);
    let pairs = Componentwise::<_, 8, 4>(Coupling { other: 2 });
    assert_eq!(inspect::<_, 2, 8>(&pairs).coupled, 4);
}

/// −∇·((1 + x)∇u) + b·∇u: linear, depends on x, not of factor form.
struct Transport;
impl Form<3> for Transport {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.grad_u[0][0] * 2.0 - p.grad_u[0][1]]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|g| g * (p.x[0] + 1.0))]
    }
}

/// A source, and a coefficient that depends on u.
struct Nonlinear;
impl Form<3> for Nonlinear {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.x[0].sin()]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|g| g * (p.u[0] * p.u[0] + 1.0))]
    }
}

/// Convection where x is above 1/2.
struct OneSided;
impl Form<3> for OneSided {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        let x = p.x[0] - 0.5;
        [p.grad_u[0][0] * (x + x.abs())]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        p.grad_u
    }
}

/// Convection where x is above 1/2, smoothly.
struct Ramp;
impl Form<3> for Ramp {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        let x = p.x[0] - 0.5;
        [p.grad_u[0][0] * (x + (x * x).sqrt())]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        p.grad_u
    }
}

/// A little convection beside much diffusion.
struct Weak;
impl Form<3> for Weak {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.grad_u[0][0]]
    }
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        [p.grad_u[0].map(|g| g * 1e11)]
    }
}

#[test]
fn convection_is_seen_wherever_it_is() {
    let found = inspect::<_, 3, 1>(&OneSided);
    assert!(found.linear && !found.symmetric);
    assert!(!inspect::<_, 3, 1>(&Ramp).symmetric);
    assert!(!inspect::<_, 3, 1>(&Weak).symmetric);
}

#[test]
fn others_are_described() {
    let transport = inspect::<_, 3, 1>(&Transport);
    assert!(transport.linear && !transport.symmetric && transport.reads_position);
    assert!(transport.coefficients.is_none() && !transport.field_coefficients);
    assert!(!transport.reads_values && transport.writes_values);
    let nonlinear = inspect::<_, 3, 1>(&Nonlinear);
    assert!(!nonlinear.linear && nonlinear.reads_values && nonlinear.coefficients.is_none());
}

/// Linear except for a constant, on one side of a kink, and on one side of a jump.
struct Affine;
impl Form<2> for Affine {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0] * 2.0 + 1.0]
    }
}
struct Kink;
impl Form<2> for Kink {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].abs()]
    }
}

struct Jump;
impl Form<2> for Jump {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        let is_low = p.u[0].less(p.x[0].constant(0.5));
        [p.u[0] + S::select(is_low, p.x[0].constant(0.0), p.x[0].constant(1.0))]
    }
}

/// The solution as base and as exponent.
struct Powers;
impl Form<2> for Powers {
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        [p.u[0].powf(p.u[0]) + p.u[0].constant(2.0).powf(p.u[0])]
    }
}

#[test]
fn jacobians_are_linear() {
    assert!(!inspect::<_, 2, 1>(&Powers).linear);
    assert!(inspect::<_, 2, 1>(&Jacobian(Powers)).linear);
    assert!(inspect::<_, 2, 1>(&Jacobian(Kink)).linear);
    assert!(inspect::<_, 2, 1>(&Jacobian(Jump)).linear);
}

#[test]
fn what_is_nearly_linear_is_not() {
    let affine = inspect::<_, 2, 1>(&Affine);
    assert!(!affine.linear && affine.affine);
    let kink = inspect::<_, 2, 1>(&Kink);
    assert!(!kink.linear && !kink.affine);
    let jump = inspect::<_, 2, 1>(&Jump);
    assert!(!jump.linear && !jump.affine && jump.coefficients.is_none());
}
