//! Strides of the arrays in shared memory, padded so that threads meet few bank conflicts.

use crate::family::tensor_hex::work::Shape;

/// Numbers that shared memory serves at the same time, of 8 bytes: half a warp.
const BANKS: u32 = 16;

/// Distances of layers (k) and rows (j) in an array of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strides {
    pub(super) layer: u32,
    pub(super) row: u32,
}

/// How often pencils along an axis are read or written.
struct Accesses {
    along_i: u32,
    along_j: u32,
    along_k: u32,
}

impl Strides {
    /// The strides with the fewest conflicts; of equal ones those that take least memory.
    pub(super) fn of(shape: &Shape) -> Self {
        let points = shape.points_1d as u32;
        let accesses = if shape.gradients {
            Accesses {
                along_i: 4,
                along_j: 4,
                along_k: 7,
            }
        } else {
            Accesses {
                along_i: 4,
                along_j: 2,
                along_k: 2,
            }
        };
        let rows = points..points + 3;
        let candidates = rows.flat_map(|row| {
            let least = points * row;
            (least..least + BANKS).map(move |layer| Self { layer, row })
        });
        candidates
            .min_by_key(|strides| (strides.conflicts(points, &accesses), strides.layer))
            .unwrap_or(Self {
                layer: points * points,
                row: points,
            })
    }

    /// How often half a warp has to wait, weighted by how often pencils are accessed.
    fn conflicts(self, points: u32, accesses: &Accesses) -> u32 {
        let Self { layer, row } = self;
        accesses.along_i * waits(points, |slow, fast| slow * layer + fast * row)
            + accesses.along_j * waits(points, |slow, fast| slow * layer + fast)
            + accesses.along_k * waits(points, |slow, fast| slow * row + fast)
    }
}

/// How many more than one access each half warp needs, when thread t of an element is at
/// (t / points, t % points).
fn waits(points: u32, place: impl Fn(u32, u32) -> u32) -> u32 {
    let threads = points * points;
    (0..threads.div_ceil(BANKS))
        .map(|half| {
            let mut load = [0; BANKS as usize];
            for thread in half * BANKS..((half + 1) * BANKS).min(threads) {
                load[(place(thread / points, thread % points) % BANKS) as usize] += 1;
            }
            load.into_iter().max().unwrap_or(1) - 1
        })
        .sum()
}
