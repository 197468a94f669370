//! The steps of every ladder, as data.

use super::super::schedule::{
    Bk1Layers, Bk3Layers, Bk5Layers, Cubes, Exchange, Layer, Schedule, Temporaries, Unroll, Values,
};
use super::{Benchmark, Step, Threads};
use crate::family::ladder::{Change, climb};

pub(super) fn all() -> Vec<Step> {
    let ladders = [
        ladder_of(
            Benchmark::Bk1,
            Threads::Layers,
            BK1_LAYERS,
            Schedule::Bk1Layers,
        ),
        ladder_of(
            Benchmark::Bk5,
            Threads::Layers,
            BK5_LAYERS,
            Schedule::Bk5Layers,
        ),
        // Collocated operators have one part, hence one launch.
        ladder_of(Benchmark::Bk5, Threads::Cubes, BK5_CUBES, Schedule::Cubes),
        ladder_of(
            Benchmark::Bk3,
            Threads::Layers,
            BK3_LAYERS,
            Schedule::Bk3Layers,
        ),
        ladder_of(Benchmark::Bk3, Threads::Cubes, BK3_CUBES, Schedule::Cubes),
    ];
    ladders.concat()
}

/// The ladder of changes from the default schedule.
fn ladder_of<S: Copy + Default>(
    benchmark: Benchmark,
    threads: Threads,
    changes: &[Change<S>],
    wrap: fn(S) -> Schedule,
) -> Vec<Step> {
    let steps = climb(1, S::default(), changes).into_iter();
    steps
        .map(|step| Step {
            benchmark,
            threads,
            number: step.number,
            change: step.change,
            schedule: wrap(step.schedule),
        })
        .collect()
}

/// Świrydowicz et al. 2019 §6, kernels 1 to 8.
const BK1_LAYERS: &[Change<Bk1Layers>] = &[
    ("temporaries in global memory, matrix in shared", |_| {}),
    ("temporaries in shared memory", |s| {
        (s.temporaries, s.barrier_at_end) = (Temporaries::Slices, false);
    }),
    ("columns of u and v in registers", |s| {
        (s.column_in_registers, s.barrier_at_end) = (true, true);
    }),
    ("const inputs", |s| {
        (s.common.const_inputs, s.barrier_at_end) = (true, false);
    }),
    ("padding; all loops unrolled but that over layers", |s| {
        (s.common.pad, s.common.unroll) = (true, Unroll::Most);
    }),
    ("the loop over layers unrolled", |s| {
        s.common.unroll = Unroll::All
    }),
    ("the whole cube in shared memory, six barriers", |s| {
        (s.temporaries, s.column_in_registers) = (Temporaries::Cube, false);
    }),
    ("symmetry of the matrix", |s| s.symmetry = true),
];

const BK5_LAYERS: &[Change<Bk5Layers>] = &[
    ("base", |_| {}),
    ("const inputs", |s| s.common.const_inputs = true),
    ("loops unrolled but the transposes", |s| {
        s.common.unroll = Unroll::Most
    }),
    ("the transposes unrolled", |s| s.common.unroll = Unroll::All),
    ("fluxes in two slices, one loop over layers", |s| {
        s.one_loop = true
    }),
    ("u in a shared cube", |s| s.values = Values::Cube),
    ("v in registers", |s| s.v_in_registers = true),
    ("padding", |s| s.common.pad = true),
    ("the column of u in registers, factors early", |s| {
        s.values = Values::CubeAndColumn;
    }),
    (
        "u in a slice in place of the cube, factors before the layer's first barrier",
        |s| s.values = Values::Slice,
    ),
];

const BK5_CUBES: &[Change<Cubes>] = &[
    ("base: one flux at a time in a global array", |s| {
        s.one_launch = true
    }),
    ("const inputs", |s| s.common.const_inputs = true),
    ("factors in registers", |s| s.factors_in_registers = true),
    ("v in a register", |s| s.sum_in_registers = true),
    (
        "u and then each flux in a shared cube, loops unrolled",
        |s| {
            (s.exchange, s.common.unroll) = (Exchange::Differentiation, Unroll::All);
        },
    ),
    ("the fluxes in three more cubes", |s| {
        s.exchange = Exchange::OwnCubes
    }),
];

const BK3_LAYERS: &[Change<Bk3Layers>] = &[
    ("base", |_| {}),
    ("const inputs, the column of u in registers", |s| {
        (s.common.const_inputs, s.u_in_registers) = (true, true);
    }),
    ("all loops unrolled", |s| s.common.unroll = Unroll::All),
    ("padding", |s| s.common.pad = true),
    ("the interpolation of BK1, in a cube", |s| {
        (s.layer, s.u_in_registers) = (Layer::Cube, false);
        (s.pad_cube, s.barriers_before_layers) = (true, 2);
    }),
    ("the layers of BK5's step 9", |s| {
        (s.layer, s.pad_cube) = (Layer::CubeAndColumn, false);
    }),
    ("from step 5: one slice fewer", |s| {
        s.layer = Layer::CubeOneSlice
    }),
    (
        "the differentiation matrix and its transpose in shared memory",
        |s| {
            (s.transposed_grad, s.barriers_before_layers) = (true, 0);
        },
    ),
    ("symmetry of the interpolation matrix, no transpose", |s| {
        (s.symmetry, s.transposed_grad) = (true, false);
        s.barriers_before_layers = 1;
    }),
    ("two slices of fluxes", |s| {
        (s.layer, s.pad_cube) = (Layer::Cube, true);
        s.barriers_before_layers = 2;
    }),
    ("the layers of BK5's step 10", |s| {
        s.layer = Layer::CubeFactorsFirst
    }),
    ("a row of the differentiation matrix in registers", |s| {
        s.grad_row_in_registers = true;
    }),
    (
        "from step 4: only slices, the layers of BK5's step 10",
        |s| {
            let common = s.common;
            *s = Bk3Layers {
                common,
                layer: Layer::SlicesFactorsFirst,
                u_in_registers: true,
                ..Bk3Layers::default()
            };
        },
    ),
];

const BK3_CUBES: &[Change<Cubes>] = &[
    ("three launches", |_| {}),
    ("one launch", |s| s.one_launch = true),
    ("const inputs, all loops unrolled", |s| {
        (s.common.const_inputs, s.common.unroll) = (true, Unroll::All);
    }),
    ("factors in registers", |s| s.factors_in_registers = true),
    ("values and then each flux in a shared cube", |s| {
        s.exchange = Exchange::Differentiation;
    }),
    ("the sum in a register", |s| s.sum_in_registers = true),
    ("interpolation and projection in the cube", |s| {
        s.exchange = Exchange::Parts;
    }),
    ("no global temporaries", |s| s.exchange = Exchange::Cube),
    ("five cubes, sums in shared memory", |s| {
        (s.exchange, s.sum_in_registers) = (Exchange::OwnCubes, false);
    }),
];

#[cfg(test)]
mod tests {
    use super::super::super::schedule::Sizes;
    use super::super::ladder;
    use super::*;
    use crate::family::Limits;
    use crate::scalar::Precision;

    #[test]
    fn names_are_unique_and_numbered() {
        let names: Vec<String> = all().iter().map(Step::to_string).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(names.first().map(String::as_str), Some("bk1/layers/1"));
        assert_eq!(super::super::find("bk5/layers/11"), None);
    }

    #[test]
    fn every_step_differs_from_the_one_before() {
        for pair in all().windows(2) {
            assert_ne!(pair[0].schedule, pair[1].schedule, "{}", pair[1]);
        }
    }

    /// Degrees at which each step is legal with 48 KiB of shared memory, in double precision.
    #[test]
    fn legal_degrees_are_the_published_ones() {
        for step in all() {
            let limit = match (step.benchmark, step.threads) {
                (Benchmark::Bk5, Threads::Cubes) => 9,
                (Benchmark::Bk3, Threads::Cubes) => 8,
                _ => 15,
            };
            for degree in 1..=15 {
                let sizes = step.benchmark.sizes(degree);
                let valid = step
                    .schedule
                    .validate(sizes, Precision::Fp64, &Limits::default());
                assert_eq!(
                    valid.is_ok(),
                    degree <= limit,
                    "{step} at {degree}: {valid:?}"
                );
            }
        }
        assert!(ladder(Benchmark::Bk1, Threads::Cubes).is_empty());
    }

    /// Reads and writes of shared memory together at N = 3, counted in the authors' kernels.
    const SUMS: [(Benchmark, Threads, &[u64]); 5] = [
        (
            Benchmark::Bk1,
            Threads::Layers,
            &[2460, 4665, 4665, 4665, 4665, 4665, 3558, 2916],
        ),
        (
            Benchmark::Bk5,
            Threads::Layers,
            &[1872, 1872, 1872, 1872, 2192, 3024, 3088, 3088, 2832, 2768],
        ),
        (
            Benchmark::Bk5,
            Threads::Cubes,
            &[1552, 1552, 1552, 1552, 3408, 3408],
        ),
        (
            Benchmark::Bk3,
            Threads::Layers,
            &[
                11160, 11160, 11160, 11160, 10958, 10333, 11038, 10983, 10316, 10316, 9691, 9066,
                11160,
            ],
        ),
        (
            Benchmark::Bk3,
            Threads::Cubes,
            &[6255, 6235, 6235, 6235, 10610, 10610, 13739, 13739, 16634],
        ),
    ];

    /// What the authors' pencils do twice: with h = ⌈g/2⌉ pairs of outputs on both ways, those of an odd number's middle,
    /// and on the way back one pair too many for even q.
    fn done_twice(sizes: Sizes) -> u64 {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let (pencils, pairs) = (q * q + q * g + g * g, g.div_ceil(2));
        let entries = pencils * (pairs - q.div_ceil(2)) * g;
        let outputs = pencils * (2 * pairs - g) + (g * g + g * q) * (2 * pairs - q);
        entries + outputs
    }

    #[test]
    fn shared_memory_is_accessed_as_often_as_by_the_authors() {
        for (benchmark, threads, sums) in SUMS {
            let steps = ladder(benchmark, threads);
            assert_eq!(steps.len(), sums.len());
            for (step, sum) in steps.iter().zip(sums) {
                let sizes = benchmark.sizes(3);
                let symmetry = match step.schedule {
                    Schedule::Bk1Layers(schedule) => schedule.symmetry,
                    Schedule::Bk3Layers(schedule) => schedule.symmetry,
                    Schedule::Bk5Layers(_) | Schedule::Cubes(_) => false,
                };
                let zeros = sizes.points_1d * sizes.nodes_1d.pow(2);
                let for_nothing = match (benchmark, threads, step.number) {
                    (Benchmark::Bk3, Threads::Layers, 7) => u64::from(zeros),
                    _ if symmetry => done_twice(sizes),
                    _ => 0,
                };
                let work = step.schedule.block_work(sizes);
                assert_eq!(work.reads + work.writes, sum - for_nothing, "{step}");
            }
        }
    }

    /// As in the authors' kernels, but for one that orders nothing in steps 6 and 7 of BK3 in layers.
    #[test]
    fn barriers_are_those_of_the_authors() {
        for step in all() {
            for degree in 1..=15 {
                let sizes = step.benchmark.sizes(degree);
                let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
                let barriers = match (step.benchmark, step.threads, step.number) {
                    (Benchmark::Bk1, _, 1) => 2 + 4 * g,
                    (Benchmark::Bk1, _, 3) => 2 + 5 * g,
                    (Benchmark::Bk1, _, 2 | 4..=6) => 1 + 5 * g,
                    (Benchmark::Bk1, ..) => 6,
                    (Benchmark::Bk5, Threads::Layers, 1..=4) => 3,
                    (Benchmark::Bk5, Threads::Layers, 5) => 2 + 2 * q,
                    (Benchmark::Bk5, Threads::Layers, 6) => 1 + 2 * q,
                    (Benchmark::Bk5, Threads::Layers, 7 | 8) => 2 * q,
                    (Benchmark::Bk5, Threads::Layers, 9) => 2 + 3 * q,
                    (Benchmark::Bk5, Threads::Layers, _) => 3 * q,
                    (Benchmark::Bk5, Threads::Cubes, 6) => 2,
                    (Benchmark::Bk5, Threads::Cubes, _) => 7,
                    (Benchmark::Bk3, Threads::Layers, 1..=4 | 13) => 6 * g + 3 * q,
                    (Benchmark::Bk3, Threads::Layers, 5 | 10) => 2 * g + 9,
                    (Benchmark::Bk3, Threads::Layers, 6) => 3 * g + 10 - 1,
                    (Benchmark::Bk3, Threads::Layers, 7) => 4 * g + 10 - 1,
                    (Benchmark::Bk3, Threads::Layers, 8) => 4 * g + 7,
                    (Benchmark::Bk3, Threads::Layers, 9) => 4 * g + 8,
                    (Benchmark::Bk3, Threads::Layers, _) => 3 * g + 8,
                    (Benchmark::Bk3, Threads::Cubes, 1) => 15,
                    (Benchmark::Bk3, Threads::Cubes, 2..=6) => 16,
                    (Benchmark::Bk3, Threads::Cubes, 7 | 8) => 19,
                    (Benchmark::Bk3, Threads::Cubes, _) => 8,
                };
                let work = step.schedule.block_work(sizes);
                assert_eq!(work.barriers, barriers, "{step} at {degree}");
            }
        }
    }
}
