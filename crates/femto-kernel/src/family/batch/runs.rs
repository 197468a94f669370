//! Runs of interior nodes of tensor-product cells, which are consecutive in the L-vectors: a batch reads and writes
//! them there, transposing eight numbers of each lane at a time.

#![allow(
    clippy::needless_range_loop,
    reason = "loops of a fixed length are unrolled, and their arrays stay in registers"
)]

use super::transpose::{to_lanes, to_rows};
use crate::scalar::Lanes;

/// Numbers of a lane that are transposed together; the numbers of that many nodes are whole transposes, whatever
/// their components.
const BLOCK: usize = 8;

/// The interior nodes of a batch.
#[derive(Clone, Copy)]
pub(super) struct Runs<'a> {
    /// The first one of each lane.
    pub(super) first: &'a [u16],
    /// Their positions in an element.
    pub(super) positions: &'a [u16],
    /// Nodes of an element.
    pub(super) nodes: usize,
}

/// Reads the nodes into `nodal` `[component][node]`, from slices with one or several components each.
#[inline(always)]
pub(super) fn gather<L: Lanes>(
    token: L::Token,
    runs: Runs,
    source: &[&[L::Real]],
    nodal: &mut [L],
) {
    let width = nodal.len() / runs.nodes / source.len().max(1);
    let slices = nodal.chunks_exact_mut(width * runs.nodes);
    for (source, nodal) in source.iter().zip(slices) {
        match width {
            1 => gather_slice::<L, 1>(token, runs, source, nodal),
            2 => gather_slice::<L, 2>(token, runs, source, nodal),
            3 => gather_slice::<L, 3>(token, runs, source, nodal),
            4 => gather_slice::<L, 4>(token, runs, source, nodal),
            _ => gather_each(token, runs, (0, width), source, nodal),
        }
    }
}

#[inline(always)]
fn gather_slice<L: Lanes, const W: usize>(
    token: L::Token,
    runs: Runs,
    source: &[L::Real],
    nodal: &mut [L],
) {
    let (blocks, _) = runs.positions.as_chunks::<BLOCK>();
    for (b, positions) in blocks.iter().enumerate() {
        for part in 0..W {
            let start = (b * W + part) * BLOCK;
            let values = to_lanes::<L, BLOCK>(
                token,
                #[inline(always)]
                |lane| {
                    let run = &source[usize::from(runs.first[lane]) * W + start..];
                    *run.first_chunk().expect("the run is in the vector")
                },
            );
            for c in 0..BLOCK {
                let number = part * BLOCK + c;
                let position = usize::from(positions[number / W]);
                nodal[number % W * runs.nodes + position] = values[c];
            }
        }
    }
    gather_each(token, runs, (blocks.len() * BLOCK, W), source, nodal);
}

/// Reads one number at a time from node `start` on.
#[inline(always)]
fn gather_each<L: Lanes>(
    token: L::Token,
    runs: Runs,
    (start, width): (usize, usize),
    source: &[L::Real],
    nodal: &mut [L],
) {
    for (node, &position) in runs.positions.iter().enumerate().skip(start) {
        for c in 0..width {
            nodal[c * runs.nodes + usize::from(position)] = L::from_fn(
                token,
                #[inline(always)]
                |lane| source[(usize::from(runs.first[lane]) + node) * width + c],
            );
        }
    }
}

/// Writes the nodes of as many elements as there are first nodes, from `nodal` to such slices.
#[inline(always)]
pub(super) fn scatter<L: Lanes>(runs: Runs, nodal: &[L], target: &mut [&mut [L::Real]]) {
    let width = nodal.len() / runs.nodes / target.len().max(1);
    let slices = nodal.chunks_exact(width * runs.nodes);
    for (target, nodal) in target.iter_mut().zip(slices) {
        match width {
            1 => scatter_slice::<L, 1>(runs, nodal, target),
            2 => scatter_slice::<L, 2>(runs, nodal, target),
            3 => scatter_slice::<L, 3>(runs, nodal, target),
            4 => scatter_slice::<L, 4>(runs, nodal, target),
            _ => scatter_each(runs, (0, width), nodal, target),
        }
    }
}

#[inline(always)]
fn scatter_slice<L: Lanes, const W: usize>(runs: Runs, nodal: &[L], target: &mut [L::Real]) {
    let (blocks, _) = runs.positions.as_chunks::<BLOCK>();
    for (b, positions) in blocks.iter().enumerate() {
        for part in 0..W {
            let start = (b * W + part) * BLOCK;
            let mut values = [nodal[0].constant(0.0); BLOCK];
            for c in 0..BLOCK {
                let number = part * BLOCK + c;
                let position = usize::from(positions[number / W]);
                values[c] = nodal[number % W * runs.nodes + position];
            }
            to_rows(&mut values);
            if runs.first.len() == L::WIDTH {
                for lane in 0..L::WIDTH {
                    write(
                        &values,
                        lane,
                        start + usize::from(runs.first[lane]) * W,
                        target,
                    );
                }
            } else {
                for (lane, &first) in runs.first.iter().enumerate() {
                    write(&values, lane, start + usize::from(first) * W, target);
                }
            }
        }
    }
    scatter_each(runs, (blocks.len() * BLOCK, W), nodal, target);
}

/// Writes one lane's numbers from `[lane][number]`.
#[inline(always)]
fn write<L: Lanes>(values: &[L; BLOCK], lane: usize, start: usize, target: &mut [L::Real]) {
    let target = &mut target[start..][..BLOCK];
    for c in 0..BLOCK {
        let n = lane * BLOCK + c;
        target[c] = values[n / L::WIDTH].lanes()[n % L::WIDTH];
    }
}

/// Writes one number at a time from node `start` on.
#[inline(always)]
fn scatter_each<L: Lanes>(
    runs: Runs,
    (start, width): (usize, usize),
    nodal: &[L],
    target: &mut [L::Real],
) {
    for (node, &position) in runs.positions.iter().enumerate().skip(start) {
        for c in 0..width {
            let value = nodal[c * runs.nodes + usize::from(position)];
            for (lane, &first) in runs.first.iter().enumerate() {
                target[(usize::from(first) + node) * width + c] = value.lanes()[lane];
            }
        }
    }
}
