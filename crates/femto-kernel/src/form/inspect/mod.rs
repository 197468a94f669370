//! What a form does, found by running it once on numbers that only remember where they came from.
//!
//! The numbers record whether a value is exactly zero, which inputs it depends on, and whether it
//! is linear in the solution. That decides which stages of the evaluation are needed, and whether
//! the form is "λu, K∇u", so that its coefficients can be folded into stored factors.

mod trail;

use super::{Form, Point};
use trail::{Inputs, Trail};

/// Most auxiliary fields, and most parameters, that a form may read.
pub const MAX_FIELDS: usize = 8;

/// What [`inspect`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inspection<const C: usize> {
    /// f0 or f1 reads the values of the solution.
    pub reads_values: bool,
    /// f0 or f1 reads the gradient of the solution.
    pub reads_gradients: bool,
    /// f0 is not identically zero.
    pub writes_values: bool,
    /// f1 is not identically zero.
    pub writes_gradients: bool,
    /// The position is read.
    pub reads_position: bool,
    /// Auxiliary fields that must be given.
    pub auxiliary: usize,
    /// Parameters that must be given.
    pub parameters: usize,
    /// Linear in the solution.
    pub linear: bool,
    /// The form is λ u, κ ∇u with these coefficients.
    pub coefficients: Option<Coefficients>,
}

/// A form λ u, κ ∇u, the same for each component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// λ.
    pub mass: Coefficient,
    /// κ.
    pub stiffness: Coefficient,
}

/// A coefficient that does not vary inside an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    /// The term is absent.
    Zero,
    /// The same number everywhere.
    Constant(f64),
    /// A function of the auxiliary fields, which are constant per element.
    PerElement,
}

impl<const C: usize> Inspection<C> {
    /// Gradients enter or leave the form.
    pub fn gradients(&self) -> bool {
        self.reads_gradients || self.writes_gradients
    }

    /// Values enter or leave the form; so that there is always something to evaluate, also where a
    /// form is identically zero.
    pub fn values(&self) -> bool {
        self.reads_values || self.writes_values || !self.gradients()
    }
}

impl Coefficient {
    /// The value, if it is the same everywhere.
    pub fn constant(self) -> Option<f64> {
        match self {
            Self::Zero => Some(0.0),
            Self::Constant(value) => Some(value),
            Self::PerElement => None,
        }
    }
}

/// Runs `form` once on trails and, where it is linear, on unit vectors.
pub fn inspect<F: Form<3, C>, const C: usize>(form: &F) -> Inspection<C> {
    let fields = |set| core::array::from_fn(|i| Trail::input(Inputs::field(set, i)));
    let a: [Trail; MAX_FIELDS] = fields(Inputs::AUXILIARY);
    let parameters: [Trail; MAX_FIELDS] = fields(Inputs::PARAMETER);
    let point = Point {
        u: [Trail::input(Inputs::U); C],
        grad_u: [[Trail::input(Inputs::GRAD_U); 3]; C],
        a: &a,
        grad_a: &[],
        x: [Trail::input(Inputs::POSITION); 3],
        time: Trail::input(Inputs::TIME),
        parameters: &parameters,
    };
    let (f0, f1) = (form.f0(&point), form.f1(&point));
    let outputs = || {
        f0.iter()
            .chain(f1.iter().flatten())
            .filter(|output| !output.zero)
    };
    let all = outputs().fold(Inputs::default(), |all, output| all.or(output.inputs));
    let linear = outputs().all(|output| output.linear && output.inputs.solution());
    let varies = [Inputs::POSITION, Inputs::TIME, Inputs::PARAMETER];
    let constant = linear && !varies.iter().any(|&input| all.has(input));
    Inspection {
        reads_values: all.has(Inputs::U),
        reads_gradients: all.has(Inputs::GRAD_U),
        writes_values: f0.iter().any(|output| !output.zero),
        writes_gradients: f1.iter().flatten().any(|output| !output.zero),
        reads_position: all.has(Inputs::POSITION),
        auxiliary: all.fields(Inputs::AUXILIARY),
        parameters: all.fields(Inputs::PARAMETER),
        linear,
        coefficients: constant.then(|| coefficients(form, &f0, &f1)).flatten(),
    }
}

/// The coefficients of a linear form, if it couples nothing but u to f0 and ∇u to f1, equally for
/// all components and axes.
fn coefficients<F: Form<3, C>, const C: usize>(
    form: &F,
    f0: &[Trail; C],
    f1: &[[Trail; 3]; C],
) -> Option<Coefficients> {
    let (mass, stiffness) = isotropic(form, &SAMPLE)?;
    let classify = |varies: bool, value: f64| match value {
        _ if varies => Coefficient::PerElement,
        0.0 => Coefficient::Zero,
        _ => Coefficient::Constant(value),
    };
    let varies = |output: &Trail| !output.zero && output.inputs.has(Inputs::AUXILIARY);
    Some(Coefficients {
        mass: classify(f0.iter().any(varies), mass),
        stiffness: classify(f1.iter().flatten().any(varies), stiffness),
    })
}

/// Values of the auxiliary fields at which a form's structure shows: all differ, and no factor is
/// likely to vanish. Whoever folds coefficients asks [`isotropic`] again at the real values.
const SAMPLE: [f64; MAX_FIELDS] = [0.62, 1.37, 2.11, 0.29, 3.43, 0.83, 1.93, 0.47];

/// λ and κ of a linear form at auxiliary values `a`, or `None` if it is not λ u, κ ∇u. For forms
/// that read no parameters: see [`Inspection::coefficients`].
pub fn isotropic<F: Form<3, C>, const C: usize>(form: &F, a: &[f64]) -> Option<(f64, f64)> {
    let response = |component: usize, axis: Option<usize>| {
        let mut point = Point {
            u: [0.0; C],
            grad_u: [[0.0; 3]; C],
            a,
            grad_a: &[],
            x: [0.0; 3],
            time: 0.0,
            parameters: &[],
        };
        match axis {
            None => point.u[component] = 1.0,
            Some(axis) => point.grad_u[component][axis] = 1.0,
        }
        (form.f0(&point), form.f1(&point))
    };
    let mass = response(0, None).0[0];
    let stiffness = response(0, Some(0)).1[0][0];
    for component in 0..C {
        for axis in [None, Some(0), Some(1), Some(2)] {
            let mut expected = ([0.0; C], [[0.0; 3]; C]);
            match axis {
                None => expected.0[component] = mass,
                Some(axis) => expected.1[component][axis] = stiffness,
            }
            if response(component, axis) != expected {
                return None;
            }
        }
    }
    Some((mass, stiffness))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Componentwise, Mass, Poisson, ScreenedPoisson};
    use crate::scalar::Scalar;

    #[test]
    fn ready_made_forms_are_recognised() {
        let mass = inspect::<_, 3>(&Componentwise(Mass));
        assert!(mass.linear && mass.reads_values && !mass.reads_gradients);
        assert!(mass.writes_values && !mass.writes_gradients);
        let expected = Coefficients {
            mass: Coefficient::Constant(1.0),
            stiffness: Coefficient::Zero,
        };
        assert_eq!(mass.coefficients, Some(expected));
        let poisson = inspect(&Poisson);
        assert!(!poisson.reads_values && poisson.writes_gradients);
        let screened = inspect(&ScreenedPoisson { lambda: None });
        let expected = Coefficients {
            mass: Coefficient::PerElement,
            stiffness: Coefficient::Constant(1.0),
        };
        assert_eq!(screened.coefficients, Some(expected));
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

    fn screened() -> Inspection<1> {
        inspect(&ScreenedPoisson { lambda: None })
    }

    #[test]
    fn others_are_described() {
        let transport = inspect(&Transport);
        assert!(transport.linear && transport.reads_position && transport.coefficients.is_none());
        assert!(!transport.reads_values && transport.writes_values);
        assert_eq!((screened().auxiliary, screened().parameters), (1, 0));
        let nonlinear = inspect(&Nonlinear);
        assert!(!nonlinear.linear && nonlinear.reads_values && nonlinear.coefficients.is_none());
    }
}
