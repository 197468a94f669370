//! Smoothing along lines of nodes: the part of a matrix that couples nodes of the same line is inverted.
//!
//! Where cells are short in one direction, nodes are coupled along it far more strongly than across it. What is left of an
//! error after exact solves along lines is smooth across them, as it is everywhere after a few steps with the diagonal where
//! cells are not stretched (line relaxation: Brandt, Multi-level adaptive solutions to boundary-value problems, Mathematics
//! of Computation 31, 1977). Every component has lines of its own.

mod chains;
mod model;

use super::MultigridError;
use crate::Number;
use crate::vector::{Csr, LineSolve, SlantedNodes, SparseMatrix, VectorOps};
pub(super) use chains::Chains;
use femto_fem::parallel;
use femto_kernel::vector::line_solve::{LineFactors, MOST_BAND};
use femto_kernel::vector::sparse::{NO_COLUMN, SLICE};
use femto_platform::device::{Device, DeviceError};
use std::sync::Arc;

/// The diagonal of a line's model is off where it differs from A's by this factor.
const OFF: f64 = 3.0;

/// Roundings by which an entry of D may be negative.
const ROUNDED: f64 = 64.0;

/// M⁻¹.
pub(super) struct LineInverse<T: Number, D: Device> {
    device: D,
    solve: LineSolve<T, D>,
    /// From rows of lines to entries.
    order: SparseMatrix<T, D>,
    /// Nodes at which solutions are projected.
    slanted: Option<Arc<SlantedNodes<T, D>>>,
    /// The part of the entries at which the diagonal is not about that of A.
    off: f64,
}

impl<T: Number, D: VectorOps<T>> LineInverse<T, D> {
    /// z = M⁻¹ r; `rows` are those of all lines.
    pub(super) fn apply(
        &self,
        r: &D::Buffer<T>,
        rows: &mut D::Buffer<T>,
        z: &mut D::Buffer<T>,
    ) -> Result<(), DeviceError> {
        self.device.solve_lines(&self.solve, r, rows)?;
        self.device.multiply_sparse(&self.order, rows, false, z)?;
        match &self.slanted {
            Some(slanted) => self.device.project(slanted, z),
            None => Ok(()),
        }
    }

    /// Number of rows.
    pub(super) fn scratch(&self) -> usize {
        self.solve.rows()
    }

    /// Bytes of device memory.
    pub(super) fn bytes(&self) -> usize {
        self.solve.bytes() + self.order.bytes()
    }

    /// Of a symmetric matrix of `components` unknowns at each node; `None` if it couples too far along lines.
    pub(super) fn of_matrix(
        device: &D,
        matrix: &Csr,
        (chains, components): (&Chains, usize),
    ) -> Result<Option<Self>, MultigridError> {
        let along = Along::new(chains, components);
        // Distances of entries before one of the same component on its line.
        let before = |node: u32, component: usize, column: u32| match components {
            1 => along.before(node, column),
            _ => {
                let (other, of) = (column / components as u32, column as usize % components);
                along.before(node, other).filter(|_| of == component)
            }
        };
        let distance = |node: usize| {
            let entries = (0..components).flat_map(|component| {
                let columns = matrix.row_columns(node * components + component).iter();
                columns.filter_map(move |&column| before(node as u32, component, column))
            });
            entries.max().unwrap_or(1)
        };
        let band = parallel::reduce(chains.places.len(), 1, distance, i32::max) as usize;
        if band > MOST_BAND {
            return Ok(None);
        }
        let row = |node: u32, component: usize, row: &mut [f64]| {
            for (column, value) in matrix.row(node as usize * components + component) {
                if let Some(before @ 0..) = before(node, component, column) {
                    row[before as usize] += value;
                }
            }
        };
        Ok(Some(Self::new(device, &along, (band, None), &row)?))
    }

    /// Of a matrix, row by row: `row` adds the entries of a component of a node to zeros, at the distance along the line to
    /// one before it, 0 to `band`. Rows that stay zero are held. Each line is scaled to have the sum of the diagonal entries,
    /// if these are given.
    fn new(
        device: &D,
        along: &Along<'_>,
        (band, diagonal): (usize, Option<&[f64]>),
        row: &(dyn Fn(u32, usize, &mut [f64]) + Sync),
    ) -> Result<Self, MultigridError> {
        let rows = along.rows();
        let too_large = |_| MultigridError::TooLarge { entries: rows };
        u32::try_from(rows).map_err(too_large)?;
        let Factors {
            entries,
            factors,
            off,
        } = Factors::<T>::new(along, (band, diagonal), row)?;
        let offsets: Vec<u32> = along.offsets.iter().map(|&it| it as u32).collect();
        let lines = LineFactors {
            band,
            offsets: &offsets,
            entries: &entries,
            factors: &factors,
        };
        let size = along.chains.places.len() * along.components;
        Ok(Self {
            device: device.clone(),
            solve: LineSolve::new(device, lines, size)?,
            order: SparseMatrix::selecting(device, (size, rows), |entry| along.row(entry) as u32)?,
            slanted: None,
            off: off as f64 / size.max(1) as f64,
        })
    }
}

/// The arrays of [`LineFactors`] on the host.
struct Factors<T> {
    entries: Vec<u32>,
    factors: Vec<T>,
    /// The number of entries at which the diagonal is not about that of A.
    off: usize,
}

impl<T: Number> Factors<T> {
    /// As [`LineInverse::new`].
    fn new(
        along: &Along<'_>,
        (band, diagonal): (usize, Option<&[f64]>),
        row: &(dyn Fn(u32, usize, &mut [f64]) + Sync),
    ) -> Result<Self, MultigridError> {
        let rows = along.rows();
        // The rows of a line, and the number of those with another diagonal.
        let line = |(nodes, component): (&[u32], usize), own: &mut Vec<f64>| {
            own.clear();
            own.resize(nodes.len() * (1 + band), 0.0);
            let mut sums = [0.0; 2];
            let exact = |node: u32, own: f64| match diagonal {
                Some(exact) => exact[along.entry(node, component)],
                None => own,
            };
            for (&node, own) in nodes.iter().zip(own.chunks_exact_mut(1 + band)) {
                row(node, component, own);
                if own[0] != 0.0 {
                    sums[0] += own[0];
                    sums[1] += exact(node, own[0]);
                }
            }
            if diagonal.is_some() && sums[0] > 0.0 {
                own.iter_mut().for_each(|it| *it *= sums[1] / sums[0]);
            }
            let rows = nodes.iter().zip(own.chunks_exact(1 + band));
            let is_off = |&(&node, own): &(&u32, &[f64])| {
                let exact = exact(node, own[0]);
                own[0] != 0.0 && (own[0] > OFF * exact || OFF * own[0] < exact)
            };
            rows.filter(is_off).count()
        };
        let slice = |slice: usize, entries: &mut [u32], factors: &mut [T]| -> Result<usize, f64> {
            let (mut own, mut off) = (Vec::new(), 0);
            for lane in 0..SLICE {
                let (nodes, component) = along.line(slice * SLICE + lane);
                off += line((nodes, component), &mut own);
                factorise(&mut own, band, T::EPSILON)?;
                let to = entries[lane..].iter_mut().step_by(SLICE);
                to.zip(nodes)
                    .for_each(|(to, &node)| *to = along.entry(node, component) as u32);
                let to = factors[lane..].iter_mut().step_by(SLICE);
                to.zip(&own)
                    .for_each(|(to, &value)| *to = T::from_f64(value));
            }
            match factors.iter().all(|it| it.to_f64().is_finite()) {
                true => Ok(off),
                false => Err(f64::INFINITY),
            }
        };
        let mut entries = parallel::map(rows, |_| NO_COLUMN);
        let mut factors = vec![T::default(); rows * (1 + band)];
        let lengths = along.offsets.windows(2).map(|ends| ends[1] - ends[0]);
        let of_entries = parallel::split(&mut entries, lengths.clone());
        let of_factors = parallel::split(&mut factors, lengths.map(|rows| rows * (1 + band)));
        let slices = of_entries.into_iter().zip(of_factors);
        let mut slices: Vec<_> = slices.map(|slice| (slice, Ok(0))).collect();
        parallel::each(&mut slices, |number, ((entries, factors), made)| {
            *made = slice(number, entries, factors);
        });
        // The first error for any number of threads.
        let made = slices.into_iter().map(|(_, made)| made);
        let off = made.sum::<Result<usize, f64>>();
        let off = off.map_err(|curvature| MultigridError::NotPositiveDefinite { curvature })?;
        Ok(Self {
            entries,
            factors,
            off,
        })
    }
}

/// Where entries are along lines, of each component one after the other.
struct Along<'a> {
    components: usize,
    chains: &'a Chains,
    /// The first row of each slice, and the end of the last.
    offsets: Vec<usize>,
}

impl<'a> Along<'a> {
    fn new(chains: &'a Chains, components: usize) -> Self {
        let slices = (chains.len() * components).div_ceil(SLICE);
        let mut end = 0;
        let ends = (0..slices).map(|slice| {
            // The first is the longest.
            end += chains.line(slice * SLICE / components).len() * SLICE;
            end
        });
        Self {
            components,
            chains,
            offsets: std::iter::once(0).chain(ends).collect(),
        }
    }

    /// Number of rows.
    fn rows(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// The nodes of a line of a component, numbered through, and the component; none beyond the last.
    fn line(&self, lane: usize) -> (&'a [u32], usize) {
        let (line, component) = (lane / self.components, lane % self.components);
        match line < self.chains.len() {
            true => (self.chains.line(line), component),
            false => (&[], component),
        }
    }

    /// The entry of a component of a node.
    fn entry(&self, node: u32, component: usize) -> usize {
        node as usize * self.components + component
    }

    /// The row of an entry.
    fn row(&self, entry: usize) -> usize {
        let [line, place] = self.chains.places[entry / self.components];
        let lane = line as usize * self.components + entry % self.components;
        self.offsets[lane / SLICE] + place as usize * SLICE + lane % SLICE
    }

    /// How far before a node another one is on the same line; negative after it.
    fn before(&self, node: u32, other: u32) -> Option<i32> {
        let [own, there] = [node, other].map(|it| self.chains.places[it as usize]);
        (own[0] == there[0]).then(|| own[1] as i32 - there[1] as i32)
    }
}

/// Replaces the rows of a matrix, diagonal entries first, by 1/D and L. Entries have the relative rounding `epsilon`: on a free
/// line of thin cells the last entry of D may be less than that. Fails with an entry of D that is further below zero.
fn factorise(rows: &mut [f64], band: usize, epsilon: f64) -> Result<(), f64> {
    let width = 1 + band;
    for at in 0..rows.len() / width {
        let (before, own) = rows.split_at_mut(at * width);
        let own = &mut own[..width];
        if own[0] == 0.0 {
            own.fill(0.0);
            continue;
        }
        for k in (1..=band.min(at)).rev() {
            let there = &before[(at - k) * width..][..width];
            let mut sum = own[k];
            for further in 1..=(band - k).min(at - k) {
                let inverse = before[(at - k - further) * width];
                if inverse != 0.0 {
                    sum -= own[k + further] * there[further] / inverse;
                }
            }
            own[k] = sum * there[0];
        }
        let mut diagonal = own[0];
        for k in 1..=band.min(at) {
            let inverse = before[(at - k) * width];
            if inverse != 0.0 {
                diagonal -= own[k] * own[k] / inverse;
            }
        }
        let rounding = epsilon * own[0];
        // Not for NaN.
        if !(diagonal > -ROUNDED * rounding && diagonal.is_finite()) || own[0] < 0.0 {
            return Err(diagonal);
        }
        own[0] = 1.0 / diagonal.max(rounding);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Host;

    /// A matrix that couples lines only, with a held entry, is inverted.
    #[test]
    fn lines_are_inverted() {
        let (nodes, block) = (100, 2);
        let size = nodes * block;
        let held = 31 * block + 1;
        // Lines of ten nodes, every tenth; the second neighbour too.
        let value = |row: usize, column: usize| -> f64 {
            let (a, b) = (row / block, column / block);
            let distance = (a / 10).abs_diff(b / 10);
            let couples = a % 10 == b % 10 && row % block == column % block;
            match distance {
                _ if !couples || ([row, column].contains(&held) && row != column) => 0.0,
                0 => 2.5 + 0.01 * row as f64,
                1 => -1.0,
                2 => -0.25,
                _ => 0.0,
            }
        };
        let matrix = Csr::by_rows((size, size), |row, entries| {
            let columns = (0..size).map(|column| (column as u32, value(row, column)));
            entries.extend(columns.filter(|entry| entry.1 != 0.0));
        });
        let strong = Csr::by_rows((nodes, nodes), |node, entries| {
            let others = (0..nodes).map(|other| (other as u32, -value(node * 2, other * 2)));
            entries.extend(others.filter(|entry| entry.1 > 0.5));
        });
        let chains = Chains::of_couplings(&strong).0.unwrap();
        let host = Host::with_threads(2).unwrap();
        let lines = LineInverse::<f64, _>::of_matrix(&host, &matrix, (&chains, block));
        let lines = lines.unwrap().unwrap();
        assert_eq!(lines.solve.rows(), 32 * 10);
        let x: Vec<f64> = (0..size).map(|n| (n as f64).sin()).collect();
        let product = |row| matrix.row(row).map(|(c, v)| v * x[c as usize]).sum::<f64>();
        let b: Vec<f64> = (0..size).map(product).collect();
        let b = host.upload(&b).unwrap();
        let mut rows = host.upload(&vec![f64::NAN; lines.scratch()]).unwrap();
        let mut z = host.upload(&vec![f64::NAN; size]).unwrap();
        lines.apply(&b, &mut rows, &mut z).unwrap();
        for (found, wanted) in z.iter().zip(&x) {
            assert!((found - wanted).abs() < 1e-12, "{found}, not {wanted}");
        }
    }

    #[test]
    fn what_is_not_positive_is_refused() {
        // 1 2; 2 1.
        assert_eq!(factorise(&mut [1.0, 0.0, 1.0, 2.0], 1, 1e-16), Err(-3.0));
        assert!(factorise(&mut [f64::NAN, 0.0], 1, 1e-16).is_err());
        // A constant is free but for rounding.
        let mut free = [1.0, 0.0, 1.0 - 1e-7, -1.0];
        assert_eq!(factorise(&mut free, 1, 6e-8), Ok(()));
        assert!(free[2] > 1e7);
        // A held entry between others.
        let mut rows = [2.0, 0.0, 0.0, 7.0, 4.0, 7.0];
        assert_eq!(factorise(&mut rows, 1, 1e-16), Ok(()));
        assert_eq!(rows[..4], [0.5, 0.0, 0.0, 0.0]);
        assert_eq!(rows[4..], [0.25, 0.0]);
    }
}
