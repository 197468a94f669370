//! Identities of the Challenge on irregular meshes, and the ladder.

use super::host::{Stages, Variant};
use super::*;
use crate::dialect::Language;
use crate::family::Limits;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

const LAYERS: usize = 7;

/// Vertices `[vertex][x, y]` and triangles of the unit square: displaced, in random order and orientation.
struct Plane {
    vertices: Vec<[f64; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Plane {
    fn new(along: usize, random: &mut StdRng) -> Self {
        let spacing = 1.0 / along as f64;
        let mut vertices = Vec::new();
        for j in 0..=along {
            for i in 0..=along {
                let place = |n: usize, random: &mut StdRng| {
                    let inside = n > 0 && n < along;
                    let moved = if inside {
                        random.random_range(-0.2..0.2)
                    } else {
                        0.0
                    };
                    (n as f64 + moved) * spacing
                };
                vertices.push([place(i, random), place(j, random)]);
            }
        }
        let mut numbers: Vec<u32> = (0..vertices.len() as u32).collect();
        numbers.shuffle(random);
        let mut triangles = Vec::new();
        for j in 0..along {
            for i in 0..along {
                let at = |i: usize, j: usize| numbers[j * (along + 1) + i];
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
                triangles.extend(if random.random() {
                    [[a, b, c], [d, c, b]]
                } else {
                    [[a, b, d], [d, c, a]]
                });
            }
        }
        triangles.shuffle(random);
        for triangle in &mut triangles {
            triangle.shuffle(random);
        }
        let mut shuffled = vertices.clone();
        for (old, &new) in numbers.iter().enumerate() {
            shuffled[new as usize] = vertices[old];
        }
        Self {
            vertices: shuffled,
            triangles,
        }
    }

    fn columns(&self) -> Columns {
        Columns::extrude(&self.vertices, &self.triangles, LAYERS, Columns::HEIGHT).unwrap()
    }

    /// Area of the triangles at each vertex.
    fn areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.vertices.len()];
        for triangle in &self.triangles {
            let [a, b, c] = triangle.map(|v| self.vertices[v as usize]);
            let area = 0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])).abs();
            for &v in triangle {
                areas[v as usize] += area;
            }
        }
        areas
    }
}

/// A plane from a new seed, which is printed.
fn plane() -> Plane {
    let seed = rand::random();
    println!("seed {seed}");
    Plane::new(6, &mut StdRng::seed_from_u64(seed))
}

fn all_stages(columns: &Columns, variant: Variant) -> Stages<'_> {
    let mut stages = Stages::new(columns);
    for stage in Stage::CHALLENGE {
        stages.run(stage, variant);
    }
    stages
}

#[test]
fn every_variant_agrees_with_the_closed_forms_after_every_stage() {
    let columns = plane().columns();
    let oracle = Oracle::new(&columns);
    for variant in Variant::ALL {
        let mut stages = Stages::new(&columns);
        for stage in Stage::ALL {
            if stage == Stage::Action {
                stages.zero(Vector::Lhs, variant);
            }
            stages.run(stage, variant);
            match (stage.output(), oracle.output(stage)) {
                (Some(vector), Some(wanted)) => {
                    let error = wanted.error(&stages.vector(vector));
                    assert!(error < 1e-13, "{stage}, {}: {error:e}", variant.name());
                }
                _ => {
                    for vector in Vector::SUMS {
                        assert!(stages.vector(vector).iter().all(|&v| v == 0.0));
                    }
                }
            }
        }
    }
}

/// lhs is m · 0.1 · (area of the triangles at v) / 6, m = 1 at bottom and top, else 2; its sum is the volume.
#[test]
fn row_sums_are_the_masses_of_nodes() {
    let plane = plane();
    let columns = plane.columns();
    let lhs = all_stages(&columns, Variant::Serial).vector(Vector::Lhs);
    for (v, area) in plane.areas().into_iter().enumerate() {
        for layer in 0..=LAYERS {
            let m = if layer == 0 || layer == LAYERS {
                1.0
            } else {
                2.0
            };
            let wanted = m * Columns::HEIGHT * area / 6.0;
            let found = lhs[(LAYERS + 1) * v + layer];
            assert!((found - wanted).abs() < 1e-15, "{found} {wanted}");
        }
    }
    let volume = LAYERS as f64 * Columns::HEIGHT;
    assert!((lhs.iter().sum::<f64>() - volume).abs() < 1e-13);
}

/// Σ e2 = lhs·f, and Σ rhs = 0.
#[test]
fn sums_of_the_load_and_of_the_right_hand_side() {
    let columns = plane().columns();
    let stages = all_stages(&columns, Variant::Serial);
    let [f, load, rhs, lhs] =
        [Vector::F, Vector::Load, Vector::Rhs, Vector::Lhs].map(|it| stages.vector(it));
    let weighted: Vec<f64> = lhs.iter().zip(&f).map(|(a, b)| a * b).collect();
    let size: f64 = weighted.iter().map(|x| x.abs()).sum();
    let difference = load.iter().sum::<f64>() - weighted.iter().sum::<f64>();
    assert!(difference.abs() < 1e-13 * size, "{difference:e} of {size}");
    let size: f64 = rhs.iter().map(|x| x.abs()).sum();
    let sum: f64 = rhs.iter().sum();
    assert!(sum.abs() < 1e-13 * size && size > 0.0, "{sum:e} of {size}");
}

/// rhs of a constant is 0; of a linear field 0 at interior nodes, and uᵀKu = |∇u|² · volume.
#[test]
fn right_hand_sides_of_linear_fields() {
    let plane = plane();
    let columns = plane.columns();
    let (slope, volume) = ([0.3, -1.1, 0.7], LAYERS as f64 * Columns::HEIGHT);
    let linear: Vec<f64> = (0..columns.nodes())
        .map(|node| {
            let x = columns.position(node);
            x.iter().zip(slope).map(|(x, slope)| x * slope).sum()
        })
        .collect();
    for (u, energy) in [
        (vec![2.5; columns.nodes()], 0.0),
        (linear, slope.iter().map(|s| s * s).sum::<f64>() * volume),
    ] {
        let mut stages = Stages::new(&columns);
        stages.run(Stage::Zero, Variant::Serial);
        stages.set(Vector::Load, &u);
        stages.run(Stage::Expression2, Variant::Serial);
        stages.run(Stage::Rhs, Variant::Serial);
        let rhs = stages.vector(Vector::Rhs);
        let found: f64 = rhs.iter().zip(&u).map(|(rhs, u)| rhs * u).sum();
        assert!((found - energy).abs() < 1e-12, "{found} {energy}");
        for (node, rhs) in rhs.iter().enumerate() {
            let [x, y] = plane.vertices[node / (LAYERS + 1)];
            let inside = |x: f64| x > 0.0 && x < 1.0;
            let layer = node % (LAYERS + 1);
            if energy == 0.0 || (inside(x) && inside(y) && layer > 0 && layer < LAYERS) {
                assert!(rhs.abs() < 1e-13, "{node}: {rhs:e}");
            }
        }
    }
}

/// The published lhs is the true action on ones, and the action on any field is M u + K u.
#[test]
fn the_published_row_sums_are_the_action_on_ones() {
    let columns = plane().columns();
    let mut stages = all_stages(&columns, Variant::Serial);
    let published = stages.vector(Vector::Lhs);
    let ones = vec![1.0; columns.nodes()];
    stages.run(Stage::Zero, Variant::Serial);
    stages.set(Vector::Load, &ones);
    stages.run(Stage::Action, Variant::Serial);
    let action = stages.vector(Vector::Lhs);
    for (action, published) in action.iter().zip(&published) {
        assert!((action - published).abs() < 1e-15);
    }
}

#[test]
fn each_step_changes_one_field() {
    let steps = steps();
    let fields = |schedule: &Schedule| {
        let Schedule {
            visit,
            copy,
            tables,
            row_sums,
            accumulators,
            loops,
            unroll,
        } = *schedule;
        [
            format!("{visit:?}"),
            copy.to_string(),
            format!("{tables:?}"),
            row_sums.to_string(),
            format!("{accumulators:?}"),
            format!("{loops:?}"),
            unroll.to_string(),
        ]
    };
    for pair in steps.windows(2) {
        let (before, after) = (fields(&pair[0].schedule), fields(&pair[1].schedule));
        let changes = before.iter().zip(&after).filter(|(a, b)| a != b).count();
        assert_eq!(changes, 1, "{}", pair[1]);
    }
    for step in &steps {
        assert_eq!(find(&step.to_string()), Some(*step));
        let kernels = source(step, 100, Language::Cuda, &Limits::default()).unwrap();
        assert_eq!(kernels.block.threads, [101, 1, 1]);
    }
    assert_eq!(
        steps[0].schedule.to_string(),
        "visit=cells tables=local accumulators=36 loops=point-j-k copy"
    );
}

#[test]
fn illegal_schedules_and_meshes_are_refused_by_name() {
    let step = Step {
        schedule: Schedule {
            row_sums: false,
            ..steps()[5].schedule
        },
        ..steps()[5]
    };
    let refused = |step: &Step, layers| {
        let result = source(step, layers, Language::Cuda, &Limits::default());
        result.unwrap_err().to_string()
    };
    assert!(refused(&step, 100).contains("36 additions to nodes need 36 accumulators"));
    assert!(refused(&steps()[0], 1024).contains("1025 × 1 × 1 threads"));

    let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0]];
    let refused = |triangle, layers, height| {
        let result = Columns::extrude(&square, &[[0, 1, 2], triangle], layers, height);
        result.unwrap_err().to_string()
    };
    assert!(refused([0, 1, 7], 2, 0.1).contains("triangle 1 has vertices [0, 1, 7]"));
    assert!(refused([0, 1, 3], 2, 0.1).contains("no triangle of the 4 vertices"));
    assert!(refused([0, 1, 2], 0, 0.1).contains("0 layers"));
    assert!(refused([0, 1, 2], 2, f64::NAN).contains("height NaN"));
    assert!(refused([0, 1, 2], 1 << 31, 0.1).contains("exceed 32-bit numbers"));
}

/// Two triangles of one layer: 8 nodes, 2 cells.
#[test]
fn work_is_counted_by_hand() {
    let square = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let columns = Columns::extrude(&square, &[[0, 1, 2], [3, 2, 1]], 1, 0.1).unwrap();
    let (first, last) = (steps()[0].schedule, steps()[8].schedule);
    let work = |stage, schedule| StageWork::new(stage, schedule, &columns);
    let bytes = |stage, schedule| {
        let work = work(stage, schedule).work;
        (work.bytes_read, work.bytes_written)
    };
    assert_eq!(bytes(Stage::Zero, &first), (0, 3 * 64));
    assert_eq!(bytes(Stage::Expression1, &first), (3 * 64 + 48, 64));
    assert_eq!(bytes(Stage::Expression1, &last), (3 * 64, 64));
    assert_eq!(bytes(Stage::Expression2, &first), (64, 64));
    assert_eq!(bytes(Stage::Expression2, &last), (0, 0));
    assert_eq!(bytes(Stage::Rhs, &first), (6 * 64 + 48, 64));
    assert_eq!(bytes(Stage::Rhs, &last), (5 * 64 + 48, 64));
    assert_eq!(bytes(Stage::Lhs, &last), (4 * 64 + 48, 64));
    assert_eq!(work(Stage::Expression1, &first).work.flops, 12 * 12);
    assert_eq!(work(Stage::Expression1, &last).work.flops, 12 * 8);
    // Geometry 50; as written 40 for each of 288 entries.
    assert_eq!(
        work(Stage::Lhs, &last).nominal_flops,
        2 * (50 + 288 * 40 + 6)
    );
    assert_eq!(
        work(Stage::Lhs, &first).work.flops,
        2 * (50 + 8 * (90 + 21 * 9 + 36) + 36)
    );
    assert_eq!(
        work(Stage::Rhs, &last).nominal_flops,
        2 * (50 + 8 * (60 + 6 * 43) + 6)
    );
    assert_eq!(
        work(Stage::Rhs1, &last).nominal_flops,
        2 * (50 + 8 * 36 + 6)
    );
}

#[test]
fn kernels_get_the_vectors_of_their_stage() {
    let bound = |stage: Stage, step: usize| {
        let mut vectors = Vector::ALL;
        let bound = stage.bind(&steps()[step].schedule, &mut vectors)?;
        Some([*bound.input, *bound.copy, *bound.output])
    };
    assert_eq!(bound(Stage::Zero, 0), None);
    let [load, copy, rhs] = [Vector::Load, Vector::Copy, Vector::Rhs];
    assert_eq!(bound(Stage::Rhs1, 0), Some([Vector::F, Vector::F, load]));
    assert_eq!(bound(Stage::Expression2, 0), Some([load, load, copy]));
    assert_eq!(bound(Stage::Rhs, 0), Some([load, copy, rhs]));
    assert_eq!(bound(Stage::Rhs, 2), Some([load, load, rhs]));
    assert_eq!(bound(Stage::Action, 2), Some([load, load, Vector::Lhs]));
    assert_eq!(bound(Stage::Expression1, 2), Some([load, load, Vector::F]));
}
