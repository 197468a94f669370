//! Values and sums on every device that executes against plain loops, and exact work on the null device.

use super::*;
use femto_kernel::expr::{Graph, Input, Symbols, parse};
use femto_platform::device::accelerator::Accelerator;
use femto_platform::device::conformance;
use femto_platform::device::host::Host;
use femto_platform::device::null::Null;
use std::hash::{BuildHasher, RandomState};

/// Numbers in [0, 1), other ones in every run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        let seed = RandomState::new().hash_one(0) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }

    fn below(&mut self, end: usize) -> u32 {
        (self.next() * end as f64) as u32
    }
}

fn program(text: &str) -> Program {
    let mut graph = Graph::new();
    let value = parse(&mut graph, text, &Symbols::position().and_time()).unwrap();
    Program::new(&graph, &[value])
}

fn read<D: Device>(device: &D, buffer: &D::Buffer<f64>) -> Vec<f64> {
    let mut values = vec![f64::NAN; buffer.len()];
    device.read(buffer, &mut values).unwrap();
    values
}

fn values_are_those_of_the_formula<D: BoundaryOps>(device: &D) {
    let mut random = Random::new();
    let function = program("x*sin(y) - t/(1 + z)");
    for count in [0, 1, 255, 4097, 10_001] {
        let positions = random.vector(3 * count);
        let time = random.next();
        let at = Points {
            positions: &device.upload(&positions).unwrap(),
            time,
        };
        let mut values = device.upload(&vec![f64::NAN; count]).unwrap();
        device.values(&function, &at, &mut values).unwrap();
        let (positions, _) = positions.as_chunks::<3>();
        for ([x, y, z], value) in positions.iter().zip(read(device, &values)) {
            let wanted = x * y.sin() - time / (1.0 + z);
            assert!((value - wanted).abs() < 1e-15, "{value} {wanted}");
        }
    }
}

/// Random facets and rows for every node; some nodes have none.
fn sums_are_those_of_the_formula<D: BoundaryOps>(device: &D) {
    let mut random = Random::new();
    for (nodes, points) in [(1, 1), (300, 4), (1000, 7)] {
        let (facets, rows) = (nodes / 2 + 1, 24);
        let mut offsets = vec![0];
        for node in 0..nodes {
            offsets.push(offsets[node] + random.below(6));
        }
        let contributions =
            (0..offsets[nodes]).flat_map(|_| [random.below(facets), random.below(rows)]);
        let contributions: Vec<u32> = contributions.collect();
        if contributions.is_empty() {
            continue;
        }
        let (basis, weights) = (random.vector(rows * points), random.vector(facets * points));
        let values = random.vector(facets * points);
        let tables = FacetSums {
            points,
            offsets: &offsets,
            contributions: &contributions,
            basis: &basis,
            weights: &weights,
        };
        let tables = FacetTables::new(device, &tables).unwrap();
        let mut sums = device.upload(&vec![f64::NAN; nodes]).unwrap();
        let given = device.upload(&values).unwrap();
        device.facet_sums(&tables, &given, &mut sums).unwrap();
        let found = read(device, &sums);
        for (node, found) in found.iter().enumerate() {
            let mut wanted = 0.0;
            for contribution in offsets[node] as usize..offsets[node + 1] as usize {
                let (facet, row) = (
                    contributions[2 * contribution] as usize,
                    contributions[2 * contribution + 1] as usize,
                );
                for p in 0..points {
                    let value = weights[facet * points + p] * values[facet * points + p];
                    wanted += basis[row * points + p] * value;
                }
            }
            assert!((found - wanted).abs() < 1e-13, "{node}: {found} {wanted}");
        }
        device.facet_sums(&tables, &given, &mut sums).unwrap();
        assert_eq!(read(device, &sums), found, "deterministic");
    }
}

/// Tables of one node and one facet of two points.
fn small<D: Device>(device: &D) -> FacetTables<D> {
    let sums = FacetSums {
        points: 2,
        offsets: &[0, 1],
        contributions: &[0, 0],
        basis: &[0.5, 0.5],
        weights: &[1.0, 1.0],
    };
    FacetTables::new(device, &sums).unwrap()
}

fn mistakes_are_errors<D: BoundaryOps>(device: &D) {
    let positions = device.upload(&[0.0; 6]).unwrap();
    let at = Points {
        positions: &positions,
        time: 0.0,
    };
    let [mut one, mut two] = [1, 2].map(|len| device.zeros(len).unwrap());
    let refused = device.values(&program("x"), &at, &mut one).unwrap_err();
    let length = |error: &DeviceError| matches!(error, DeviceError::LengthMismatch { .. });
    assert!(matches!(refused, OperatorError::Device(error) if length(&error)));
    let mut graph = Graph::new();
    let parameter = graph.input(Input::Parameter(0));
    let foreign = Program::new(&graph, &[parameter]);
    let refused = device.values(&foreign, &at, &mut two).unwrap_err();
    assert!(matches!(refused, OperatorError::Graph(_)), "{refused}");
    let tables = small(device);
    let mut sum = device.zeros(1).unwrap();
    assert!(length(
        &device.facet_sums(&tables, &one, &mut sum).unwrap_err()
    ));
    let mut sums = device.zeros(2).unwrap();
    assert!(length(
        &device.facet_sums(&tables, &two, &mut sums).unwrap_err()
    ));
}

fn suite<D: BoundaryOps>(device: &D) {
    values_are_those_of_the_formula(device);
    sums_are_those_of_the_formula(device);
    mistakes_are_errors(device);
}

#[test]
fn on_the_host() {
    for threads in [1, 3] {
        let host = Host::with_threads(threads).unwrap();
        host.enter(|| suite(&host));
    }
}

#[test]
fn on_opencl() {
    conformance::with(Accelerator::opencl(0), suite::<Accelerator>);
}

#[test]
fn on_cuda() {
    conformance::with(Accelerator::cuda(0), suite::<Accelerator>);
}

#[test]
fn the_null_device_notes_the_work() {
    let null = Null::new();
    mistakes_are_errors(&null);
    assert!(null.launches().is_empty());
    let positions = null.zeros(6).unwrap();
    let at = Points {
        positions: &positions,
        time: 0.0,
    };
    let mut values = null.zeros(2).unwrap();
    null.values(&program("x*y + t"), &at, &mut values).unwrap();
    let mut sums = null.zeros(1).unwrap();
    null.facet_sums(&small(&null), &values, &mut sums).unwrap();
    let wanted = [("values", 48, 16, 4), ("facets", 48 + 16, 8, 6)];
    for (launch, (name, read, written, flops)) in null.launches().iter().zip(wanted) {
        assert_eq!(launch.name, name);
        assert_eq!((launch.bytes_read, launch.bytes_written), (read, written));
        assert_eq!(launch.flops, flops);
    }
    assert_eq!(null.launches().len(), 2);
}
