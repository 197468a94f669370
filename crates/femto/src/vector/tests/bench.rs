//! Vector operations on random numbers, compared with plain loops.

use crate::Number;
use crate::vector::{
    Entries, Projector, Ratio, Sum, Sums, UpdateDirection, UpdateResidual, VectorOps,
};
use femto_fem::space::{Constraints, NodeNormal};
use femto_kernel::vector::random::entry;
use femto_platform::device::Buffer;
use std::hash::{BuildHasher, RandomState};

/// A factor that is ordinary, or zero if a sum is not positive.
pub(super) const ALPHA: Ratio = Ratio {
    numerator: Sum::Last(0),
    denominator: Sum::Last(1),
};
pub(super) const BETA: Ratio = Ratio {
    numerator: Sum::Last(0),
    denominator: Sum::Before(0),
};

/// Random numbers between 0.5 and 1.5, seeded differently in every run.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().hash_one(0) | 1;
        println!("seed {seed}");
        Self(seed)
    }

    pub(super) fn vector<T: Number>(&mut self, len: usize) -> Vec<T> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            T::from_f64((self.0 >> 11) as f64 / (1u64 << 53) as f64 + 0.5)
        };
        (0..len).map(|_| next()).collect()
    }
}

/// A device with vectors on it.
pub(super) struct Bench<'a, T: Number, D: VectorOps<T>> {
    pub(super) device: &'a D,
    pub(super) inputs: [Vec<T>; 4],
}

impl<'a, T: Number, D: VectorOps<T>> Bench<'a, T, D> {
    pub(super) fn new(device: &'a D, len: usize, random: &mut Random) -> Self {
        let inputs = [(); 4].map(|()| random.vector(len));
        Self { device, inputs }
    }

    pub(super) fn upload(&self, values: &[T]) -> D::Buffer<T> {
        self.device.upload(values).unwrap()
    }

    /// A vector as long as the others, filled with NaN.
    pub(super) fn poison(&self) -> D::Buffer<T> {
        self.upload(&vec![T::from_f64(f64::NAN); self.inputs[0].len()])
    }

    fn read(&self, buffer: &D::Buffer<T>) -> Vec<T> {
        let mut values = vec![T::from_f64(f64::NAN); buffer.len()];
        self.device.read(buffer, &mut values).unwrap();
        values
    }

    /// Compares a vector with its expected entries, up to the rounding of three operations.
    pub(super) fn check(&self, name: &str, found: &D::Buffer<T>, wanted: impl Fn(usize) -> f64) {
        let epsilon = match T::BYTES {
            8 => f64::EPSILON,
            _ => f64::from(f32::EPSILON),
        };
        for (i, found) in self.read(found).into_iter().enumerate() {
            let (found, wanted) = (found.to_f64(), wanted(i));
            let close = (found - wanted).abs() <= 8.0 * epsilon;
            assert!(close, "entry {i} after {name}: {found}, not {wanted}");
        }
    }

    pub(super) fn inputs(&self) -> [impl Fn(usize) -> f64 + '_; 4] {
        self.inputs
            .each_ref()
            .map(|values| |i: usize| values[i].to_f64())
    }

    /// Operations with factors known to the host.
    pub(super) fn plain_operations(&self) {
        let ([x, y, ..], device) = (self.inputs(), self.device);
        let g_x = self.upload(&self.inputs[0]);
        let g_y = || self.upload(&self.inputs[1]);

        let mut g_z = self.poison();
        device.fill(-0.75, &mut g_z).unwrap();
        self.check("fill", &g_z, |_| -0.75);
        // Every third entry from the second on, and the first two again.
        let len = self.inputs[0].len() as u32;
        let listed = (1..len).step_by(3).chain((0..len).take(2));
        let entries = Entries::new(device, &listed.collect::<Vec<_>>()).unwrap();
        let mut g_z = g_y();
        device.set_entries(&entries, -0.75, &mut g_z).unwrap();
        let is_listed = |i: usize| i % 3 == 1 || i == 0;
        let entry = |i: usize| if is_listed(i) { -0.75 } else { y(i) };
        self.check("set_entries", &g_z, entry);
        self.project();
        // All, the last ones first.
        let backwards = |i: usize| len as usize - 1 - i;
        let listed: Vec<u32> = (0..len).rev().collect();
        let entries = Entries::new(device, &listed).unwrap();
        let mut g_z = self.poison();
        device.gather(&g_x, &entries, &mut g_z).unwrap();
        self.check("gather", &g_z, |i| x(backwards(i)));
        let mut g_z = g_y();
        device.add_to_entries(&g_x, &entries, &mut g_z).unwrap();
        self.check("add_to_entries", &g_z, |i| y(i) + x(backwards(i)));
        let mut g_z = self.poison();
        device.copy(&g_x, &mut g_z).unwrap();
        self.check("copy", &g_z, &x);
        let mut g_z = g_y();
        device.axpy(0.3, &g_x, &mut g_z).unwrap();
        self.check("axpy", &g_z, |i| y(i) + 0.3 * x(i));
        let mut g_z = g_y();
        device.xpby(&g_x, -0.7, &mut g_z).unwrap();
        self.check("xpby", &g_z, |i| x(i) - 0.7 * y(i));
        let mut g_z = g_y();
        device.multiply(&g_x, &mut g_z).unwrap();
        self.check("multiply", &g_z, |i| y(i) * x(i));
        let mut g_z = g_y();
        assert_eq!(device.invert(&mut g_z).unwrap(), 0.0);
        self.check("invert", &g_z, |i| 1.0 / y(i));
        self.randomise();
        self.convert();
        self.chebyshev_steps();
        self.sparse_products();
        self.check("all", &g_x, &x);
    }

    /// To what is free beside every third entry from the second on, and beside a direction at every other node.
    fn project(&self) {
        let y = &self.inputs[1];
        for count in [2, 3] {
            let nodes = y.len() / count;
            let entries = (1..y.len() as u32).step_by(3).collect();
            let normal = |node: usize| {
                let free = |c: usize| c < count && (node * count + c) % 3 != 1;
                let part = |c: usize| 1.0 + ((node + 2 * c) % 5) as f64;
                let normal = [0, 1, 2].map(|c| if free(c) { part(c) } else { 0.0 });
                let length = normal.iter().map(|n| n * n).sum::<f64>().sqrt();
                normal.map(|n| n / length)
            };
            let slanted = (0..nodes).step_by(2);
            let normals = slanted.clone().map(|node| NodeNormal {
                node: node as u32,
                group: 0,
                position: [0.0; 3],
                normal: normal(node),
                share: 1.0,
            });
            let constraints = Constraints::of_entries(entries);
            let constraints = constraints.with_node_normals(count, normals.collect());
            let projector = Projector::new(self.device, &constraints).unwrap();
            let mut g_z = self.upload(y);
            projector.project(self.device, &mut g_z).unwrap();
            let (mut wanted, free) = (Vec::new(), |entry: usize| entry % 3 != 1);
            for (entry, y) in y.iter().enumerate() {
                wanted.push(if free(entry) { y.to_f64() } else { 0.0 });
            }
            for node in slanted {
                let normal = normal(node);
                let own = &mut wanted[node * count..][..count];
                let part: f64 = own.iter().zip(normal).map(|(y, n)| y * n).sum();
                own.iter_mut().zip(normal).for_each(|(y, n)| *y -= part * n);
            }
            self.check("project", &g_z, |i| wanted[i]);
        }
    }

    fn randomise(&self) {
        let mut g_y = self.poison();
        self.device.randomise(3, &mut g_y).unwrap();
        self.check("randomise", &g_y, |i| entry(3, i as u32));
    }

    fn convert(&self) {
        let x = self.inputs[0].iter().map(|x| x.to_f64() / 3.0);
        let x: Vec<f64> = x.collect();
        let g_x = self.device.upload(&x).unwrap();
        let mut g_z = self.poison();
        self.device.convert(&g_x, &mut g_z).unwrap();
        let rounded = x.iter().map(|&x| T::from_f64(x));
        assert!(self.read(&g_z).into_iter().eq(rounded), "convert");
        let single: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let mut g_z = self.poison();
        let g_x = self.device.upload(&single).unwrap();
        self.device.convert(&g_x, &mut g_z).unwrap();
        let same = single.iter().map(|&x| T::from_f64(x.into()));
        assert!(self.read(&g_z).into_iter().eq(same), "convert from fp32");
    }

    /// Entries without an inverse are counted.
    pub(super) fn bad_entries(device: &D) {
        let largest = if T::BYTES == 8 {
            f64::MAX
        } else {
            f32::MAX.into()
        };
        let bad = [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, -f64::INFINITY];
        let good = [1.0, 1e-30, 1e30, largest / 1e10];
        let values = good.iter().chain(&bad).chain(&good);
        let values: Vec<T> = values.map(|&value| T::from_f64(value)).collect();
        let mut g_y = device.upload(&values).unwrap();
        assert_eq!(device.invert(&mut g_y).unwrap(), bad.len() as f64);
    }

    /// Operations whose factors are computed from sums on the device, with and without a diagonal.
    pub(super) fn resident_operations(&self, sums: &mut Sums<D>) {
        sums.read(self.device).unwrap();
        let factor = |Ratio {
                          numerator,
                          denominator,
                      }| {
            let (above, below) = (sums.get(numerator), sums.get(denominator));
            let ordinary = above > 0.0 && below > 0.0;
            if ordinary { above / below } else { 0.0 }
        };
        let factors = [factor(ALPHA), factor(BETA)];
        for scaled in [false, true] {
            self.update_direction(sums, factors, scaled);
            self.update_residual(sums, factors[0], scaled);
        }
    }

    fn update_direction(&self, sums: &Sums<D>, [alpha, beta]: [f64; 2], scaled: bool) {
        let [x, z, p, d] = self.inputs();
        let [mut g_x, g_z, mut g_p, g_d] = self.inputs.each_ref().map(|v| self.upload(v));
        if alpha == 0.0 && beta == 0.0 {
            g_p = self.poison();
        }
        let step = UpdateDirection {
            alpha: ALPHA,
            beta: BETA,
            d: scaled.then_some(&g_d),
            z: &g_z,
            p: &mut g_p,
            x: &mut g_x,
        };
        self.device.update_direction(step, sums).unwrap();
        let z = |i| if scaled { d(i) * z(i) } else { z(i) };
        self.check("update_direction", &g_x, |i| x(i) + alpha * p(i));
        self.check("update_direction", &g_p, |i| z(i) + beta * p(i));
    }

    /// Puts its sums into slots 2 and 3.
    fn update_residual(&self, sums: &mut Sums<D>, alpha: f64, scaled: bool) {
        let [r, ap, ..] = self.inputs();
        let [mut g_r, mut g_ap, g_d, _] = self.inputs.each_ref().map(|v| self.upload(v));
        if alpha == 0.0 {
            g_ap = self.poison();
        }
        let before = [2, 3].map(|slot| sums.get(Sum::Last(slot)));
        let step = UpdateResidual {
            alpha: ALPHA,
            ap: &g_ap,
            r: &mut g_r,
            square: 2,
            scaled: scaled.then_some((&g_d, 3)),
        };
        self.device.update_residual(step, sums).unwrap();
        self.check("update_residual", &g_r, |i| r(i) - alpha * ap(i));
        sums.read(self.device).unwrap();
        let r: Vec<f64> = self.read(&g_r).iter().map(|r| r.to_f64()).collect();
        let last = |slot| sums.get(Sum::Last(slot));
        self.close_to_sum(last(2), |i| r[i] * r[i]);
        assert_eq!(sums.get(Sum::Before(2)), before[0]);
        if scaled {
            let dr = |i: usize| (self.inputs[2][i] * T::from_f64(r[i])).to_f64();
            self.close_to_sum(last(3), |i| r[i] * dr(i));
            assert_eq!(sums.get(Sum::Before(3)), before[1]);
        } else {
            assert_eq!(last(3), before[1]);
        }
    }

    fn check_sum(&self, sums: &mut Sums<D>, slot: usize, term: impl Fn(usize) -> f64) {
        let before = sums.get(Sum::Last(slot));
        sums.read(self.device).unwrap();
        self.close_to_sum(sums.get(Sum::Last(slot)), term);
        assert_eq!(sums.get(Sum::Before(slot)), before);
    }

    /// Compares a sum of positive terms with one in another order.
    fn close_to_sum(&self, found: f64, term: impl Fn(usize) -> f64) {
        let wanted: f64 = (0..self.inputs[0].len()).map(term).sum();
        let close = (found - wanted).abs() <= 1e-12 * wanted;
        assert!(close, "a sum is {found}, not {wanted}");
    }

    pub(super) fn sums(&self) {
        let ([x, y, d, _], device) = (self.inputs(), self.device);
        let [g_x, g_y, g_d, _] = self.inputs.each_ref().map(|v| self.upload(v));
        self.close_to_sum(device.dot(&g_x, &g_y).unwrap(), |i| x(i) * y(i));
        self.close_to_sum(device.norm(&g_x).unwrap().powi(2), |i| x(i) * x(i));
        let mut sums = Sums::new(device, 2).unwrap();
        device.dot_into(&g_x, &g_y, &mut sums, 1).unwrap();
        self.check_sum(&mut sums, 1, |i| x(i) * y(i));
        device.dot_into(&g_x, &g_x, &mut sums, 1).unwrap();
        self.check_sum(&mut sums, 1, |i| x(i) * x(i));
        let mut g_z = self.poison();
        device
            .precondition_dot(&g_d, &g_x, &mut g_z, &mut sums, 0)
            .unwrap();
        self.check("precondition_dot", &g_z, |i| d(i) * x(i));
        let z = self.read(&g_z);
        self.check_sum(&mut sums, 0, |i| x(i) * z[i].to_f64());
    }

    /// The bits of all sums and of the results computed with them.
    pub(super) fn bits(&self) -> Vec<u64> {
        let device = self.device;
        let [mut g_x, mut g_r, g_p, g_ap] = self.inputs.each_ref().map(|v| self.upload(v));
        let mut sums = Sums::new(device, 4).unwrap();
        device.dot_into(&g_x, &g_r, &mut sums, 0).unwrap();
        device
            .precondition_dot(&g_ap, &g_p, &mut g_x, &mut sums, 1)
            .unwrap();
        let mut update_residual = |scaled| {
            let step = UpdateResidual {
                alpha: ALPHA,
                ap: &g_ap,
                r: &mut g_r,
                square: 2,
                scaled,
            };
            device.update_residual(step, &mut sums).unwrap();
        };
        update_residual(None);
        update_residual(Some((&g_p, 3)));
        sums.read(device).unwrap();
        let dots = [device.dot(&g_x, &g_p), device.norm(&g_r)].map(Result::unwrap);
        let sums = (0..4).map(|slot| sums.get(Sum::Last(slot)));
        sums.chain(dots)
            .chain(self.read(&g_x).iter().map(|x| x.to_f64()))
            .map(f64::to_bits)
            .collect()
    }
}
