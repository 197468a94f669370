//! The steps of every ladder, as data.

use super::super::schedule::{
    Bk1Layers, Bk3Layers, Bk5Column, Bk5Layers, CubeTemporaries, Cubes, Fluxes, Partials, Points,
    Schedule, Temporaries,
};
use super::{Benchmark, Step, Threads};

/// A change of a schedule, with its description.
type Change<S> = (&'static str, fn(&mut S));

pub(super) fn all() -> Vec<Step> {
    let mut steps = climb(
        (Benchmark::Bk1, Threads::Layers),
        BK1_LAYERS,
        Schedule::Bk1Layers,
    );
    steps.extend(climb(
        (Benchmark::Bk5, Threads::Layers),
        BK5_LAYERS,
        Schedule::Bk5Layers,
    ));
    // Collocated operators have one part, hence one launch.
    steps.extend(climb(
        (Benchmark::Bk5, Threads::Cubes),
        BK5_CUBES,
        Schedule::Cubes,
    ));
    steps.extend(climb(
        (Benchmark::Bk3, Threads::Layers),
        BK3_LAYERS,
        Schedule::Bk3Layers,
    ));
    steps.extend(climb(
        (Benchmark::Bk3, Threads::Cubes),
        BK3_CUBES,
        Schedule::Cubes,
    ));
    steps
}

/// The ladder of changes from the default schedule.
fn climb<S: Copy + Default>(
    (benchmark, threads): (Benchmark, Threads),
    changes: &[Change<S>],
    wrap: fn(S) -> Schedule,
) -> Vec<Step> {
    let mut schedule = S::default();
    let step = |(index, &(change, apply)): (usize, &Change<S>)| {
        apply(&mut schedule);
        Step {
            benchmark,
            threads,
            number: index + 1,
            change,
            schedule: wrap(schedule),
        }
    };
    changes.iter().enumerate().map(step).collect()
}

/// Świrydowicz et al. 2019 §6, kernels 1 to 8.
const BK1_LAYERS: &[Change<Bk1Layers>] = &[
    ("temporaries in global memory, matrix in shared", |_| {}),
    ("temporaries in shared memory", |s| {
        s.temporaries = Temporaries::Slices;
    }),
    ("the column of u in registers", |s| {
        s.column_in_registers = true;
    }),
    ("const inputs", |s| s.common.const_inputs = true),
    ("padding", |s| s.common.pad = true),
    ("all loops unrolled", |s| s.common.unroll = true),
    ("the whole cube in shared memory, five barriers", |s| {
        s.temporaries = Temporaries::Cube;
    }),
    ("symmetry of the matrix", |s| s.symmetry = true),
];

const BK5_LAYERS: &[Change<Bk5Layers>] = &[
    ("base", |_| {}),
    ("const inputs", |s| s.common.const_inputs = true),
    ("all loops unrolled", |s| s.common.unroll = true),
    ("the loop over layers outermost", |s| s.k_outermost = true),
    ("two slices in place of the shared cube", |s| {
        s.fluxes = Fluxes::Slices;
    }),
    ("u in shared memory", |s| s.values_in_shared = true),
    ("no global temporaries", |s| s.no_global_temporaries = true),
    ("padding", |s| s.common.pad = true),
    ("u in registers", |s| s.column = Bk5Column::Input),
    (
        "u and v in registers, only slices in shared memory, factors loaded early",
        |s| s.column = Bk5Column::InputAndOutput,
    ),
];

const BK5_CUBES: &[Change<Cubes>] = &[
    ("base", |s| s.one_launch = true),
    ("const inputs, all loops unrolled", |s| {
        (s.common.const_inputs, s.common.unroll) = (true, true);
    }),
    ("factors in registers", |s| s.factors_in_registers = true),
    ("partial derivatives in registers", |s| {
        s.partials = Partials::Registers;
    }),
    ("u in shared memory", |s| s.values_in_shared = true),
    ("fluxes in three more shared cubes", |s| {
        s.partials = Partials::Shared;
    }),
];

const BK3_LAYERS: &[Change<Bk3Layers>] = &[
    ("base", |_| {}),
    ("const inputs, columns of u and v in registers", |s| {
        (s.common.const_inputs, s.column_in_registers) = (true, true);
    }),
    ("all loops unrolled", |s| s.common.unroll = true),
    ("padding", |s| s.common.pad = true),
    ("the interpolation of BK1, in the cube", |s| {
        s.points = Points::Cube;
    }),
    ("columns of values differentiated in registers", |s| {
        s.differentiate_columns = true;
    }),
    ("one shared array fewer", |s| s.fluxes_in_cube = true),
    (
        "the differentiation matrix and its transpose in shared memory",
        |s| {
            s.transposed_grad = true;
        },
    ),
    ("fewer shared reads by symmetry", |s| s.symmetry = true),
    ("two outputs per thread", |s| s.two_layers = true),
    ("rows of the differentiation matrix in registers", |s| {
        s.grad_rows_in_registers = true;
    }),
    ("only slices in shared memory", |s| {
        // No cube remains for the fluxes.
        (s.points, s.fluxes_in_cube) = (Points::Columns, false);
    }),
];

const BK3_CUBES: &[Change<Cubes>] = &[
    ("three launches", |_| {}),
    ("one launch", |s| s.one_launch = true),
    ("const inputs, all loops unrolled", |s| {
        (s.common.const_inputs, s.common.unroll) = (true, true);
    }),
    ("factors in registers", |s| s.factors_in_registers = true),
    ("values in shared memory", |s| s.values_in_shared = true),
    ("partial derivatives in registers", |s| {
        s.partials = Partials::Registers;
    }),
    ("global memory only between parts", |s| {
        s.temporaries = CubeTemporaries::BetweenParts;
    }),
    ("no global temporaries", |s| {
        s.temporaries = CubeTemporaries::Shared;
    }),
    ("fluxes in three shared cubes", |s| {
        s.partials = Partials::Shared;
    }),
];

#[cfg(test)]
mod tests {
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
                let two_layers_with_cube = matches!(step.schedule,
                    Schedule::Bk3Layers(s) if s.two_layers && s.points == Points::Cube);
                let expected = degree <= limit && !(two_layers_with_cube && degree == 15);
                assert_eq!(valid.is_ok(), expected, "{step} at {degree}: {valid:?}");
            }
        }
        assert!(ladder(Benchmark::Bk1, Threads::Cubes).is_empty());
    }
}
