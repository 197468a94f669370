//! The operations of multigrid, compared with plain loops.

use super::bench::{Bench, Random};
use crate::Number;
use crate::vector::{
    ChebyshevFactors, ChebyshevInput, ChebyshevStep, ElementInterpolation, ElementInverse,
    LineSolve, VectorOps,
};
use femto_element::Interpolation;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector::Strides;
use femto_kernel::vector::element_inverse::{self, InverseShape, Items, Lines};
use femto_kernel::vector::interpolation::NO_NODE;
use femto_kernel::vector::line_solve::{self, LineFactors};
use femto_kernel::vector::sparse::{NO_COLUMN, SLICE};

impl<T: Number, D: VectorOps<T>> Bench<'_, T, D> {
    /// All kinds of step; what a step does not read is poisoned.
    pub(super) fn chebyshev_steps(&self) {
        let [c, b, d, x] = self.inputs();
        let [g_c, g_b, g_d, g_x] = self.inputs.each_ref().map(|v| self.upload(v));
        let factors = ChebyshevFactors {
            momentum: 0.6,
            gain: 0.7,
            weight: 1.2,
        };
        let run = |input, old: Option<[&D::Buffer<T>; 2]>| {
            let mut vectors = [self.poison(), self.poison(), self.poison()];
            let [r, d, x] = &mut vectors;
            if let Some([old_d, old_x]) = old {
                self.device.copy(&g_b, r).unwrap();
                self.device.copy(old_d, d).unwrap();
                self.device.copy(old_x, x).unwrap();
            }
            let step = ChebyshevStep {
                factors,
                inverse: &g_c,
                input,
                r,
                d,
                x,
            };
            self.device.chebyshev_step(step).unwrap();
            vectors
        };
        let [r, new_d, new_x] = run(ChebyshevInput::Start(&g_b), None);
        self.check("start, r", &r, &b);
        self.check("start, d", &new_d, |i| 0.7 * c(i) * b(i));
        self.check("start, x", &new_x, |i| 1.2 * 0.7 * c(i) * b(i));
        let poison = self.poison();
        let [r, new_d, new_x] = run(ChebyshevInput::Restart(&g_b, &g_d), Some([&poison, &g_x]));
        let residual = |i| b(i) - d(i);
        self.check("restart, r", &r, residual);
        self.check("restart, d", &new_d, |i| 0.7 * c(i) * residual(i));
        self.check("restart, x", &new_x, |i| {
            x(i) + 1.2 * 0.7 * c(i) * residual(i)
        });
        let [r, new_d, new_x] = run(ChebyshevInput::Step(&g_x), Some([&g_d, &g_x]));
        let residual = |i| b(i) - x(i);
        let direction = |i| 0.6 * d(i) + 0.7 * c(i) * residual(i);
        self.check("step, r", &r, residual);
        self.check("step, d", &new_d, direction);
        self.check("step, x", &new_x, |i| x(i) + 1.2 * direction(i));
    }

    /// An interpolation of elements without order, some of their positions without a node, to the second part of
    /// an E-vector.
    pub(super) fn interpolation(device: &D, random: &mut Random) {
        let (elements, components, first) = (203, 2, 10);
        let strides = Strides {
            components,
            node: components,
            component: 1,
        };
        for (axes, from, to) in [(3, 3, 5), (3, 5, 2), (2, 8, 4), (1, 4, 20), (1, 10, 1)] {
            let interpolation = Interpolation {
                axes,
                from,
                to,
                matrix: random
                    .vector::<f32>(from * to)
                    .into_iter()
                    .map(f64::from)
                    .collect(),
            };
            let (inputs, outputs) = (interpolation.from_nodes(), interpolation.to_nodes());
            let nodes = (0..elements * inputs).map(|n| match n % 5 {
                0 => NO_NODE,
                _ => (n * 37 % 1009) as u32,
            });
            let nodes: Vec<u32> = nodes.collect();
            let x = random.vector::<T>(1009 * components);
            let part =
                ElementInterpolation::<T, D>::new(device, &interpolation, (&nodes, strides), first);
            let part = part.unwrap();
            let mut e = vec![T::from_f64(f64::NAN); first + elements * components * outputs + 3];
            assert_eq!(part.end() + 3, e.len());
            let mut g_e = device.upload(&e).unwrap();
            device
                .interpolate(&part, &device.upload(&x).unwrap(), &mut g_e)
                .unwrap();
            device.read(&g_e, &mut e).unwrap();
            let along = |n: usize, len: usize, axis: usize| n / len.pow(axis as u32) % len;
            let wanted = |place: usize| -> f64 {
                let (item, q) = (place / outputs, place % outputs);
                let term = |n: usize| {
                    let factor = |axis| {
                        let row = along(q, to, axis);
                        interpolation.matrix[row * from + along(n, from, axis)]
                    };
                    match nodes[item / components * inputs + n] {
                        NO_NODE => 0.0,
                        node => {
                            let value = x[node as usize * components + item % components].to_f64();
                            value * (0..axes).map(factor).product::<f64>()
                        }
                    }
                };
                (0..inputs).map(term).sum()
            };
            let tolerance = 32.0 * T::EPSILON;
            for (place, value) in e[first..part.end()].iter().enumerate() {
                let (found, wanted) = (value.to_f64(), wanted(place));
                let close = (found - wanted).abs() <= tolerance * wanted.abs().max(1.0);
                assert!(
                    close,
                    "{axes} {from} {to}, entry {place}: {found}, not {wanted}"
                );
            }
            let others = e[..first].iter().chain(&e[part.end()..]);
            assert!(others.into_iter().all(|value| value.to_f64().is_nan()));
        }
    }

    /// Inverses on elements in any order, against the loops in double precision.
    pub(super) fn element_inverses(device: &D, random: &mut Random) {
        let (elements, components, len) = (53, 2, 211);
        for (axes, nodes_1d) in [(3, 3), (3, 5), (2, 6), (3, 8), (2, 16)] {
            let shape = InverseShape { axes, nodes_1d };
            let items = elements * components;
            let mut numbers = |len: usize| -> Vec<f64> {
                let numbers = random.vector::<f32>(len).into_iter();
                numbers.map(f64::from).collect()
            };
            let (vectors, values) = (numbers(9 * nodes_1d * nodes_1d), numbers(9 * nodes_1d));
            let lines = Lines {
                vectors: &vectors,
                values: &values,
            };
            let nodes = (0..elements * shape.nodes()).map(|at| (at * 37 % len) as u32);
            let nodes: Vec<u32> = nodes.collect();
            let ends = (0..items as u32).map(|item| (item % 9) | ((item / 3 % 9) << 4) | (8 << 8));
            let ends: Vec<u32> = ends.collect();
            let strengths = numbers(items * (1 + axes));
            let (weights, x) = (numbers(len * components), numbers(len * components));
            let of = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
            let rounded = of(&strengths);
            let given = Items {
                components,
                first: 0,
                nodes: &nodes,
                ends: &ends,
                strengths: &rounded,
            };
            let inverse =
                ElementInverse::new(device, (shape, lines), given, &of(&weights)).unwrap();
            let mut found = vec![T::from_f64(f64::NAN); items * shape.nodes()];
            let mut e = device.upload(&found).unwrap();
            let x_there = device.upload(&of(&x)).unwrap();
            device.invert_elements(&inverse, &x_there, &mut e).unwrap();
            device.read(&e, &mut found).unwrap();
            let given = Items {
                components,
                first: 0,
                nodes: &nodes,
                ends: &ends,
                strengths: &strengths,
            };
            let mut wanted = vec![f64::NAN; found.len()];
            let mut scratch = vec![f64::NAN; shape.scratch()];
            let to = (&mut scratch[..], &mut wanted[..]);
            element_inverse::invert(
                SimdLevel::detect(),
                (shape, lines),
                given,
                (&weights, &x),
                to,
            );
            // All numbers are positive, so that nothing cancels.
            for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let error = (found.to_f64() - wanted).abs() / wanted;
                assert!(
                    error < 64.0 * T::EPSILON,
                    "{shape:?}, entry {place}: {error:.1e}"
                );
            }
        }
    }

    /// Lines of any length, against the loops in double precision.
    pub(super) fn line_solves(device: &D, random: &mut Random) {
        let len = 211;
        for band in [1, 2, 4, 15] {
            let rows = [40, 3, 1, 1];
            let ends = rows.iter().scan(0, |end, rows| {
                *end += (rows * SLICE) as u32;
                Some(*end)
            });
            let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
            let count = rows.iter().sum::<usize>() * SLICE;
            // The last lines of the first slice are shorter, and the last slice is not full.
            let is_row = |at: usize| match at / SLICE {
                row @ 0..40 => at % SLICE < 25 || row < 20,
                44 => at % SLICE < 7,
                _ => true,
            };
            let entry = |at: usize| {
                if is_row(at) {
                    (at * 37 % len) as u32
                } else {
                    NO_COLUMN
                }
            };
            let entries: Vec<u32> = (0..count).map(entry).collect();
            let numbers = random.vector::<f32>(count * (1 + band)).into_iter();
            let factors = numbers.enumerate().map(|(number, value)| {
                let (row, k) = (number / SLICE / (1 + band), number / SLICE % (1 + band));
                let first = [0, 40, 43, 44].into_iter().rfind(|&first| first <= row);
                let counts = is_row(row * SLICE + number % SLICE) && k <= row - first.unwrap();
                let size = if k == 0 { 1.0 } else { -0.5 / band as f64 };
                if counts { size * f64::from(value) } else { 0.0 }
            });
            let factors: Vec<f64> = factors.collect();
            let x: Vec<f64> = random
                .vector::<f32>(len)
                .into_iter()
                .map(f64::from)
                .collect();
            let of = |values: &[f64]| values.iter().map(|&x| T::from_f64(x)).collect::<Vec<T>>();
            let rounded = of(&factors);
            let lines = LineFactors {
                band,
                offsets: &offsets,
                entries: &entries,
                factors: &rounded,
            };
            let solve = LineSolve::new(device, lines, len).unwrap();
            let mut found = vec![T::from_f64(f64::NAN); count];
            let mut e = device.upload(&found).unwrap();
            let x_there = device.upload(&of(&x)).unwrap();
            device.solve_lines(&solve, &x_there, &mut e).unwrap();
            device.read(&e, &mut found).unwrap();
            let as_stored: Vec<f64> = rounded.iter().map(|it| it.to_f64()).collect();
            let lines = LineFactors {
                band,
                offsets: &offsets,
                entries: &entries,
                factors: &as_stored,
            };
            let mut wanted = vec![f64::NAN; count];
            line_solve::solve(SimdLevel::detect(), lines, &x, (0, &mut wanted));
            // All numbers are positive but those of L, so that nothing cancels.
            for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
                let error = (found.to_f64() - wanted).abs();
                assert!(
                    error <= 64.0 * T::EPSILON * wanted,
                    "band {band}, entry {place}: {found}, not {wanted}"
                );
            }
        }
    }
}
