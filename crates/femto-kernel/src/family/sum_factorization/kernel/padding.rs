//! Padding of shared memory against bank conflicts.

use super::schedule::WARP;
use super::{KernelSpec, Schedule, warp_elements};
use crate::family::sum_factorization::work::Shape;

/// Numbers of 8 bytes that shared memory serves at the same time: half a warp.
const BANKS: u32 = 16;

/// Maximum number of threads considered by the search.
const MOST_THREADS: u32 = 256;

/// The threads of a block, and the positions of its elements in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) threads: u32,
    /// Elements with a slot in shared memory; for elements by warp, plus one for the idle lanes.
    pub(super) slots: u32,
    pencils: u32,
    points: u32,
    /// Points of an element along k: one for quadrilaterals.
    layers: u32,
    /// Elements and slots of a warp.
    by_warp: Option<(u32, u32)>,
}

impl Places {
    pub(super) fn of(schedule: &Schedule, shape: &Shape) -> Self {
        Self::new(shape, schedule.elements_per_block, schedule.by_warp)
    }

    /// For a block of elements.
    pub(super) fn new(shape: &Shape, elements: u32, by_warp: bool) -> Self {
        let points = shape.points_1d as u32;
        let pencils = shape.pencils() as u32;
        let (threads, slots, by_warp) = match warp_elements(shape) {
            of_warp if by_warp && of_warp > 0 => {
                let slots = of_warp + u32::from(!WARP.is_multiple_of(pencils));
                let warps = elements.div_ceil(of_warp);
                (warps * WARP, warps * slots, Some((of_warp, slots)))
            }
            _ => (elements * pencils, elements, None),
        };
        Self {
            threads,
            slots,
            pencils,
            points,
            layers: shape.points() as u32 / (points * points),
            by_warp,
        }
    }

    /// Slot and pencil indices (slow, fast) of a thread.
    fn at(&self, thread: u32) -> (u32, u32, u32) {
        let (slot, pencil) = match self.by_warp {
            None => (thread / self.pencils, thread % self.pencils),
            Some((_, slots)) => {
                let (warp, lane) = (thread / WARP, thread % WARP);
                (warp * slots + lane / self.pencils, lane % self.pencils)
            }
        };
        (slot, pencil / self.points, pencil % self.points)
    }
}

/// Strides of slots, layers (k) and rows (j).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strides {
    pub(super) slot: u32,
    pub(super) layer: u32,
    pub(super) row: u32,
}

impl Strides {
    pub(super) fn of(schedule: &Schedule, spec: &KernelSpec) -> Self {
        let places = Places::of(schedule, &spec.shape);
        Self::new(&places, schedule.cubes(spec), spec.shape.gradients)
    }

    /// The strides with the fewest conflicts for slots of `cubes` cubes; among equal ones, those with the
    /// least memory.
    pub(super) fn new(places: &Places, cubes: u32, gradients: bool) -> Self {
        let (points, layers) = (places.points, places.layers);
        // Number of times that pencils along i, j, k are read or written.
        let accesses = if gradients { [4, 4, 7] } else { [4, 2, 2] };
        let slot_pads = if places.slots > 1 { BANKS } else { 1 };
        let candidates = (points..points + 3).flat_map(|row| {
            let pads = if layers > 1 { BANKS } else { 1 };
            let starts = points * row..points * row + pads;
            starts.flat_map(move |layer| {
                let least = cubes * layer * layers;
                (least..least + slot_pads).map(move |slot| Self { slot, layer, row })
            })
        });
        let cost = |strides: &Self| (strides.conflicts(places, accesses), strides.slot);
        candidates.min_by_key(cost).unwrap_or(Self {
            slot: cubes * points * points * layers,
            layer: points * points,
            row: points,
        })
    }

    /// Waits of half warps, weighted by the number of accesses along each axis.
    fn conflicts(self, places: &Places, [along_i, along_j, along_k]: [u32; 3]) -> u32 {
        let Self { slot, layer, row } = self;
        along_i * waits(places, |s, slow, fast| s * slot + slow * layer + fast * row)
            + along_j * waits(places, |s, slow, fast| s * slot + slow * layer + fast)
            + along_k * waits(places, |s, slow, fast| s * slot + slow * row + fast)
    }
}

/// Strides of slots and of layers with a layer of nodes per thread, see `family/sum_factorization/text/layers.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LayerStrides {
    pub(super) slot: u32,
    pub(super) layer: u32,
}

impl LayerStrides {
    /// Those with the fewest conflicts; among equal ones, those with the least memory.
    pub(super) fn of(schedule: &Schedule, spec: &KernelSpec) -> Self {
        let shape = &spec.shape;
        let (nodes, points) = (shape.nodes_1d as u32, shape.points_1d as u32);
        let layers = shape.exchanged(spec.coupled(schedule)) as u32 * nodes;
        let plain = points * points;
        let candidates = (plain..plain + BANKS).flat_map(|layer| {
            let least = layers * layer;
            (least..least + BANKS).map(move |slot| Self { slot, layer })
        });
        let lanes = schedule.warp_elements(shape) * points;
        // Threads have a layer of nodes each, and then a point of each row.
        let waits = |strides: &Self, active: u32, stride: u32| {
            waits_of(BANKS, lanes, |lane| {
                let (slot, own) = (lane / points, lane % points);
                (own < active).then_some(slot * strides.slot + own * stride)
            })
        };
        let cost = |strides: &Self| {
            let both = waits(strides, nodes, strides.layer) + waits(strides, points, 1);
            (both, strides.slot)
        };
        candidates.min_by_key(cost).unwrap_or(Self {
            slot: layers * plain,
            layer: plain,
        })
    }
}

/// Strides of staged nodes, see `family/sum_factorization/text/numbers.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberStrides {
    /// Numbers of a node: an odd number.
    pub(super) node: u32,
    /// Nodes of a layer along k.
    pub(super) layer: u32,
    /// Numbers of all elements of a block.
    pub(super) end: u32,
}

impl NumberStrides {
    /// Those with the fewest conflicts where threads read a component; among equal ones, those with the least memory.
    pub(super) fn of(schedule: &Schedule, spec: &KernelSpec) -> Self {
        let shape = &spec.shape;
        let (nodes, points) = (shape.nodes_1d as u32, shape.points_1d as u32);
        let layers = spec.basis.nodes() as u32 / (nodes * nodes);
        let node = shape.components as u32 | 1;
        let places = Places::of(schedule, shape);
        let banks = BANKS * 8 / spec.precision.bytes() as u32;
        let conflicts = |layer: u32| {
            waits_of(banks, places.threads.min(MOST_THREADS), |thread| {
                let (slot, slow, fast) = places.at(thread);
                let pencil = slow * points + fast;
                // The first node of the thread's pencil: along the last axis, or along j.
                let (along_i, along_k) = (pencil % nodes, pencil / nodes);
                let first = match shape.collocated {
                    true => Some(pencil),
                    false => (along_k < layers).then_some(along_k * layer + along_i),
                };
                first.map(|first| (slot * layers * layer + first) * node)
            })
        };
        let plain = nodes * nodes;
        let candidates = plain..plain + if layers > 1 { banks } else { 1 };
        let layer = candidates
            .min_by_key(|&layer| (conflicts(layer), layer))
            .unwrap_or(plain);
        Self {
            node,
            layer,
            end: places.slots * layers * layer * node,
        }
    }
}

/// Shared memory with an element per thread, see `family/sum_factorization/text/elements.h` and `sums.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// Numbers of an element: its geometry, later its contributions, if the block sums them; an odd number of pairs.
    pub(super) row: u32,
    /// Nodes of an element: an odd number.
    pub(super) nodes: u32,
    /// Where nodes, the block's list, slots and their ends start, and the end, in numbers of the arithmetic.
    pub(super) nodes_start: u32,
    pub(super) list_start: u32,
    pub(super) slots_start: u32,
    pub(super) ends_start: u32,
    pub(super) end: u32,
}

impl Rows {
    /// For alignment to copies.
    const BYTES: u32 = 16;

    pub(super) fn of(schedule: &Schedule, spec: &KernelSpec) -> Self {
        let (own, elements) = (spec.basis.nodes() as u32, schedule.elements_per_block);
        let summed = u32::from(schedule.block_sums);
        let sums = summed * own * spec.coupled(schedule) as u32;
        let pairs = (spec.geometry_len() as u32).max(sums).div_ceil(2) | 1;
        let (row, nodes) = (2 * pairs, own | 1);
        // At most one entry a slot.
        let slots = summed * elements * own;
        let room = |bytes: u32| bytes.next_multiple_of(Self::BYTES) / spec.precision.bytes() as u32;
        let nodes_start = elements * row;
        let list_start = nodes_start + room(4 * elements * nodes);
        let slots_start = list_start + room(4 * slots);
        let ends_start = slots_start + room(2 * slots);
        Self {
            row,
            nodes,
            nodes_start,
            list_start,
            slots_start,
            ends_start,
            end: ends_start + room(2 * slots),
        }
    }
}

/// The part of shared memory for staged factors, after the slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// The first index, in numbers of the arithmetic.
    pub(super) start: u32,
    /// Length of an element's part, in stored numbers.
    pub(super) slot: u32,
    /// Bytes that a thread copies at once.
    pub(super) copy_bytes: u32,
    /// The total shared memory including it, in numbers of the arithmetic.
    pub(super) end: u32,
}

impl Stage {
    /// The maximum that a thread copies at once, and the alignment of positions.
    const BYTES: u32 = 16;

    pub(super) fn of(schedule: &Schedule, spec: &KernelSpec) -> Self {
        let shape = &spec.shape;
        let stored = spec.stored_precision().bytes() as u32;
        let number = spec.precision.bytes() as u32;
        let slots = Places::of(schedule, shape).slots;
        let bytes = spec.geometry_len() as u32 * stored;
        let start =
            (slots * Strides::of(schedule, spec).slot * number).next_multiple_of(Self::BYTES);
        let slot = bytes.next_multiple_of(Self::BYTES);
        let copies = [Self::BYTES, Self::BYTES / 2, Self::BYTES / 4];
        let fits = |copy: &u32| bytes.is_multiple_of(*copy);
        Self {
            start: start / number,
            slot: slot / stored,
            copy_bytes: copies.into_iter().find(fits).unwrap_or(stored),
            end: (start + slots * slot) / number,
        }
    }
}

/// Serialised accesses of all half warps, beyond one each.
fn waits(places: &Places, address: impl Fn(u32, u32, u32) -> u32) -> u32 {
    waits_of(BANKS, places.threads.min(MOST_THREADS), |thread| {
        let (slot, slow, fast) = places.at(thread);
        Some(address(slot, slow, fast))
    })
}

/// The same of threads that access an address or none, for as many numbers at the same time as there are banks: BANKS, or
/// twice as many of 4 bytes.
fn waits_of(banks: u32, threads: u32, address: impl Fn(u32) -> Option<u32>) -> u32 {
    (0..threads.div_ceil(banks))
        .map(|part| {
            let mut load = [0_u32; 2 * BANKS as usize];
            let lanes = part * banks..((part + 1) * banks).min(threads);
            for address in lanes.filter_map(&address) {
                load[(address % banks) as usize] += 1;
            }
            load.into_iter().max().unwrap_or(0).saturating_sub(1)
        })
        .sum()
}
