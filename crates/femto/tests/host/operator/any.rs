//! Operators with precision and device erased.

use super::space_on;
use crate::common::{Random, difference};
use femto::fem::space::{Block, SpaceParams};
use femto::kernel::form::Poisson;
use femto::kernel::scalar::Precision;
use femto::kernel::scalar::SimdLevel;
use femto::operator::{OperatorError, Typed};
use femto::platform::device::Device;
use femto::platform::device::null::Null;
use femto::{AnyDevice, Host, Operator, OperatorParams};

#[test]
fn products_and_diagonals_are_those_of_the_operator() {
    let params = SpaceParams {
        degree: 3,
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
