//! Operators with precision and device erased.

use super::space_on;
use crate::common::{Random, difference};
use femto::fem::space::{Block, SpaceParams};
use femto::kernel::form::{Coefficient, Diffusion, Form, Point, Poisson};
use femto::kernel::scalar::{Precision, Scalar, SimdLevel};
use femto::operator::{AnyOperator, Auxiliary, OperatorError, Typed};
use femto::platform::device::Device;
use femto::platform::device::null::Null;
use femto::{AnyDevice, Host, Operator, OperatorParams};

#[test]
fn products_and_diagonals_are_those_of_the_operator() {
    let params = SpaceParams {
        degree: 3.into(),
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on([2, 3, 2], params);
    let host = Host::with_threads(2).unwrap();
    let own = Operator::<f64, _>::new(
        &host,
        &space,
        &geometry,
        &Poisson::<3>,
        OperatorParams::default(),
    );
    let own = own.unwrap();
    let mut random = Random::new();
    let u: Vec<f64> = (0..space.dofs()).map(|_| random.next()).collect();
    let (mut product, mut diagonal) = (host.upload(&u).unwrap(), host.upload(&u).unwrap());
    own.apply(&host.upload(&u).unwrap(), &mut product).unwrap();
    own.diagonal(&mut diagonal).unwrap();
    let blocks = [Block { space, geometry }];
    for precision in [Precision::Fp64, Precision::Fp32] {
        let any = AnyDevice::from(host.clone());
        let form = Typed::<_, 3, 1>(Poisson::<3>);
        let any = any.operator(precision, &blocks, &form, OperatorParams::default());
        let any = any.unwrap();
        assert_eq!((any.precision(), any.dofs()), (precision, u.len()));
        assert_eq!(any.explain(None, None).precision, precision);
        assert!(matches!(any.device(), AnyDevice::Host(_)));
        let limit = match precision {
            Precision::Fp64 => 1e-13,
            Precision::Fp32 => 1e-5,
        };
        let mut v = vec![f64::NAN; u.len()];
        any.apply(&u, &mut v).unwrap();
        assert!(difference(&v, &product) < limit);
        v.fill(f64::NAN);
        any.diagonal(&mut v).unwrap();
        assert!(difference(&v, &diagonal) < limit);
        let mut application = any.application(&u).unwrap();
        application().unwrap();
        application().unwrap();
        let refused = [
            any.apply(&u[1..], &mut v).err(),
            any.apply(&u, &mut v[1..]).err(),
            any.diagonal(&mut v[1..]).err(),
            any.application(&u[1..]).err(),
        ];
        for error in refused {
            assert!(
                matches!(error, Some(OperatorError::VectorLength { .. })),
                "{error:?}"
            );
        }
    }
    let null = AnyDevice::from(Null::new());
    assert!(!null.info().executes);
}

#[test]
fn the_host_reports_the_instructions_that_are_dispatched() {
    let host = Host::with_threads(1).unwrap();
    assert_eq!(host.info().simd, SimdLevel::detect().name());
}

/// u times the sum of the time, a parameter and a field.
#[derive(Clone, Copy)]
struct Changing;

impl Form<3> for Changing {
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0] * (p.time + p.parameters[0] + p.a[0])]
    }
}

#[test]
fn time_parameters_and_fields_can_be_changed() {
    let (geometry, space) = space_on([2, 2, 1], SpaceParams::default());
    let dofs = space.dofs();
    let params = OperatorParams {
        time: 1.0,
        parameters: vec![0.0],
        auxiliary: vec![Auxiliary::Nodal(vec![0.0; dofs])],
        ..OperatorParams::default()
    };
    let blocks = [Block { space, geometry }];
    let host = AnyDevice::from(Host::with_threads(1).unwrap());
    let form = Typed::<_, 3, 1>(Changing);
    let mut any = host
        .operator(Precision::Fp64, &blocks, &form, params)
        .unwrap();
    let ones = vec![1.0; dofs];
    let sum = |any: &dyn AnyOperator| {
        let mut v = vec![f64::NAN; dofs];
        any.apply(&ones, &mut v).unwrap();
        v.iter().sum::<f64>()
    };
    let volume = sum(&*any);
    any.set_time(2.0).unwrap();
    any.set_parameters(&[3.0]).unwrap();
    any.set_nodal(0, &vec![4.0; dofs]).unwrap();
    assert!((sum(&*any) / volume - 9.0).abs() < 1e-13);
    assert!(any.set_parameters(&[]).is_err());
    assert!(any.set_nodal(0, &ones[1..]).is_err());
    let error = any.set_nodal(1, &ones).unwrap_err().to_string();
    assert!(
        error.contains("sets 1 nodal fields from number 1 on; there are 1"),
        "{error}"
    );
    assert!((sum(&*any) / volume - 9.0).abs() < 1e-13);
}

/// Forms that read more fields than there may be are refused, not run.
#[test]
fn fields_beyond_the_most_are_refused() {
    let (geometry, space) = space_on([1, 1, 1], SpaceParams::default());
    let host = Host::with_threads(1).unwrap();
    let refusal = |kappa| {
        let params = OperatorParams::default();
        let form = Diffusion::<3> { kappa };
        let made = Operator::<f64, _>::new(&host, &space, &geometry, &form, params);
        made.err().unwrap().to_string()
    };
    let found = [Coefficient::Auxiliary(8), Coefficient::Parameter(20)].map(refusal);
    assert!(
        found[0].contains("9 auxiliary fields; a form may read at most 8"),
        "{}",
        found[0]
    );
    assert!(
        found[1].contains("21 parameters; a form may read at most 8"),
        "{}",
        found[1]
    );
}
