//! Every operation on every executing device, compared with plain loops.

mod bench;
mod multigrid;
mod sparse;

use super::*;
use bench::{BETA, Bench, Random};
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance;
use femto_platform::device::host::Host;

/// Around the packs and blocks of accelerators, and the blocks of the host.
const LENGTHS: [usize; 13] = [
    0, 1, 2, 3, 5, 255, 256, 257, 8191, 8192, 8193, 100_003, 1_100_001,
];

/// Vectors that are longer test the loops: other things are the same for any length.
const LONG: usize = 200_000;

/// Sums (slot 0: last, before; slot 1: last) that make factors ordinary, or zero for various reasons.
fn cases<T: Number, D: VectorOps<T>>(device: &D) -> Vec<Sums<D>> {
    let values = [
        [0.4, 0.5, 0.8],
        [0.4, 0.0, -0.8],
        [-0.4, 0.5, 0.8],
        [f64::NAN, 0.5, 0.8],
        [0.4, f64::NAN, f64::NAN],
        [0.0; 3],
    ];
    let case = |[last, before, other]: [f64; 3]| {
        let mut sums = Sums::new(device, 4).unwrap();
        let one = device.upload(&[T::from_f64(1.0)]).unwrap();
        for (slot, value) in [(0, before), (0, last), (1, other)] {
            let value = device.upload(&[T::from_f64(value)]).unwrap();
            device.dot_into(&one, &value, &mut sums, slot).unwrap();
        }
        sums
    };
    values.into_iter().map(case).collect()
}

fn formulas_hold<T: Number, D: VectorOps<T>>(device: &D) {
    let mut random = Random::new();
    Bench::<T, D>::bad_entries(device);
    Bench::<T, D>::interpolation(device, &mut random);
    Bench::<T, D>::element_inverses(device, &mut random);
    Bench::<T, D>::line_solves(device, &mut random);
    // Loops are the same in both precisions.
    let lengths = LENGTHS.into_iter();
    for len in lengths.filter(|&len| len <= LONG || T::BYTES == 8) {
        let bench = Bench::<T, D>::new(device, len, &mut random);
        bench.plain_operations();
        bench.sums();
        let factors = if len > LONG { 1 } else { usize::MAX };
        for mut sums in cases::<T, D>(device).into_iter().take(factors) {
            bench.resident_operations(&mut sums);
        }
    }
}

fn sums_are_repeatable<T: Number, D: VectorOps<T>>(device: &D) {
    let mut random = Random::new();
    for len in LENGTHS {
        let bench = Bench::<T, D>::new(device, len, &mut random);
        let wanted = bench.bits();
        assert!((0..3).all(|_| bench.bits() == wanted), "{len} entries");
    }
}

fn wrong_lengths_are_errors<D: VectorOps<f32>>(device: &D) {
    let [short, mut long, mut a, mut b] = [4, 5, 5, 5].map(|len| device.zeros(len).unwrap());
    let mut sums = Sums::new(device, 1).unwrap();
    let (mut wrong, sums) = (device.zeros(4).unwrap(), &mut sums);
    let errors = [
        device.copy(&short, &mut long).unwrap_err(),
        device.axpy(1.0, &short, &mut long).unwrap_err(),
        device.xpby(&short, 1.0, &mut long).unwrap_err(),
        device.multiply(&short, &mut long).unwrap_err(),
        device
            .convert(&device.zeros::<f64>(4).unwrap(), &mut long)
            .unwrap_err(),
        device.dot(&short, &long).unwrap_err(),
        device.dot_into(&short, &long, sums, 0).unwrap_err(),
        refused_direction(device, (Some(&short), &long), (&mut a, &mut b), sums),
        refused_direction(device, (None, &short), (&mut a, &mut b), sums),
        refused_direction(device, (None, &long), (&mut wrong, &mut b), sums),
        refused_residual(device, None, (&short, &mut a), sums, 0),
        refused_residual(device, Some((&short, 0)), (&long, &mut a), sums, 0),
        device
            .precondition_dot(&short, &long, &mut a, sums, 0)
            .unwrap_err(),
        device
            .precondition_dot(&long, &short, &mut a, sums, 0)
            .unwrap_err(),
    ];
    for error in errors {
        assert_eq!(lengths(error), (4, 5));
    }
    let beyond = Entries::new(device, &[6, 1]).unwrap();
    let error = device.set_entries(&beyond, 0.0, &mut a).unwrap_err();
    assert_eq!(lengths(error), (5, 7));
    let error = device.gather(&long, &beyond, &mut a).unwrap_err();
    assert_eq!(lengths(error), (5, 7));
    let error = device.add_to_entries(&long, &beyond, &mut a).unwrap_err();
    assert_eq!(lengths(error), (5, 7));
    let two = Entries::new(device, &[3, 1, 3]).unwrap();
    let error = device.gather(&long, &two, &mut a).unwrap_err();
    assert_eq!(lengths(error), (5, 2));
    let error = device.add_to_entries(&long, &two, &mut a).unwrap_err();
    assert_eq!(lengths(error), (5, 2));
    let errors = [
        device.dot_into(&long, &long, sums, 1).unwrap_err(),
        device
            .precondition_dot(&long, &long, &mut a, sums, 1)
            .unwrap_err(),
        refused_residual(device, None, (&long, &mut a), sums, 1),
        refused_residual(device, Some((&long, 1)), (&long, &mut a), sums, 0),
    ];
    for error in errors {
        assert_eq!(lengths(error).0, 2);
    }
    sums.read(device).unwrap();
    assert_eq!(
        [Sum::Last(0), Sum::Before(0)].map(|sum| sums.get(sum)),
        [0.0; 2]
    );
}

fn refused_direction<D: VectorOps<f32>>(
    device: &D,
    (d, z): (Option<&D::Buffer<f32>>, &D::Buffer<f32>),
    (p, x): (&mut D::Buffer<f32>, &mut D::Buffer<f32>),
    sums: &Sums<D>,
) -> DeviceError {
    let (alpha, beta) = (BETA, BETA);
    let step = UpdateDirection {
        alpha,
        beta,
        d,
        z,
        p,
        x,
    };
    device.update_direction(step, sums).unwrap_err()
}

fn refused_residual<D: VectorOps<f32>>(
    device: &D,
    scaled: Option<(&D::Buffer<f32>, usize)>,
    (ap, r): (&D::Buffer<f32>, &mut D::Buffer<f32>),
    sums: &mut Sums<D>,
    square: usize,
) -> DeviceError {
    let alpha = BETA;
    let step = UpdateResidual {
        alpha,
        ap,
        r,
        square,
        scaled,
    };
    device.update_residual(step, sums).unwrap_err()
}

fn lengths(error: DeviceError) -> (usize, usize) {
    match error {
        DeviceError::LengthMismatch {
            found, expected, ..
        } => (found, expected),
        other => panic!("{other}"),
    }
}

#[test]
fn formulas_hold_on_the_host() {
    let host = Host::with_threads(2).unwrap();
    formulas_hold::<f64, _>(&host);
    formulas_hold::<f32, _>(&host);
}

#[test]
fn wrong_lengths_are_errors_on_the_host() {
    wrong_lengths_are_errors(&Host::with_threads(1).unwrap());
}

fn threads_do_not_matter<T: Number>() {
    let mut random = Random::new();
    let hosts = [1, 2, 3].map(|threads| Host::with_threads(threads).unwrap());
    for len in LENGTHS {
        let mut bench = Bench::<T, Host>::new(&hosts[0], len, &mut random);
        let wanted = bench.bits();
        for host in &hosts[1..] {
            bench.device = host;
            assert!(bench.bits() == wanted, "{len} entries on {host:?}");
        }
    }
}

#[test]
fn results_have_the_same_bits_for_any_number_of_threads() {
    threads_do_not_matter::<f64>();
    threads_do_not_matter::<f32>();
}

/// Tests of an accelerator; `$open` gives a `Result<Accelerator, DeviceError>`.
macro_rules! accelerator {
    ($name:ident, $open:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn formulas_hold() {
                conformance::with($open, |device: &Accelerator| {
                    super::formulas_hold::<f64, _>(device);
                    super::formulas_hold::<f32, _>(device);
                });
            }

            #[test]
            fn sums_are_repeatable() {
                conformance::with($open, |device: &Accelerator| {
                    super::sums_are_repeatable::<f64, _>(device);
                    super::sums_are_repeatable::<f32, _>(device);
                });
            }

            #[test]
            fn wrong_lengths_are_errors() {
                conformance::with($open, super::wrong_lengths_are_errors::<Accelerator>);
            }
        }
    };
}

accelerator!(opencl, Accelerator::opencl(0));
accelerator!(cuda, Accelerator::cuda(0));
