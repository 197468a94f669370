//! Świrydowicz et al. 2019: table 2, figure 1, and figure 3 with its kin for BK5 and BK3.

use super::figure::{self, Point};
use super::{Sweep, run_all};
use crate::figure::{COLOURS, Drawing, Panels, line};
use crate::paper::Press;
use crate::{BenchError, Size};
use femto_kernel::family::hex_published::ladder::{Benchmark, Step, Threads, ladder, steps};
use femto_kernel::scalar::Precision;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use serde::Serialize;
use std::collections::BTreeMap;

/// Numbers of elements of the two meshes.
const ELEMENTS: [usize; 2] = [512, 4096];

const BENCHMARKS: [Benchmark; 3] = [Benchmark::Bk1, Benchmark::Bk5, Benchmark::Bk3];

/// Their ladders.
const LADDERS: [(Benchmark, Threads); 5] = [
    (Benchmark::Bk1, Threads::Layers),
    (Benchmark::Bk5, Threads::Layers),
    (Benchmark::Bk5, Threads::Cubes),
    (Benchmark::Bk3, Threads::Layers),
    (Benchmark::Bk3, Threads::Cubes),
];

/// A row of table 2: numbers of an element.
#[derive(Serialize)]
struct Counted {
    benchmark: &'static str,
    degree: usize,
    numbers_read: u64,
    numbers_written: u64,
    flops: u64,
}

/// A point of figure 1.
#[derive(Clone, Copy, Serialize)]
struct Roofline {
    benchmark: &'static str,
    elements: usize,
    degree: usize,
    roofline_copy: f64,
}

pub(crate) fn make(press: &mut Press<'_>) -> Result<(), BenchError> {
    let degrees = press.degrees(1..=15);
    press.table("table-2.csv", &table_2(&degrees))?;
    let sizes = press.elements(&ELEMENTS).into_iter();
    let sweep = Sweep {
        steps: steps(),
        degrees,
        sizes: sizes.map(Size::Elements).collect(),
        precisions: vec![Precision::Fp64],
        sampling: press.params.sampling,
    };
    let options = press.rows("rows.csv");
    let report = run_all(press.device, &sweep, &options, press.progress)?;
    let points: Vec<Point> = report.records.iter().filter_map(Point::of).collect();
    let device = report.records.first().map(|it| it.device.name.clone());
    press.made.add(report);

    let rooflines = rooflines(&points);
    let drawing = draw_rooflines(&rooflines, device.as_deref().unwrap_or_default());
    press.figure("figure-1", &drawing, &rooflines)?;
    for (benchmark, threads) in LADDERS {
        let steps: Vec<Step> = ladder(benchmark, threads);
        for elements in press.elements(&ELEMENTS) {
            let own = points.iter();
            let own = own.filter(|it| it.elements == elements && it.is_of(&steps));
            let own: Vec<Point> = own.cloned().collect();
            let name = format!("{}-{}-{elements}", benchmark.name(), threads.name());
            press.figure(&name, &figure::drawing(&own), &own)?;
        }
    }
    Ok(())
}

fn table_2(degrees: &[usize]) -> Vec<Counted> {
    let mut rows = Vec::new();
    for benchmark in BENCHMARKS {
        let any_step = ladder(benchmark, Threads::Layers)[0];
        rows.extend(degrees.iter().map(|&degree| {
            let work = any_step.work(degree as u32, Precision::Fp64, 1);
            Counted {
                benchmark: benchmark.name(),
                degree,
                numbers_read: work.bytes_read / 8,
                numbers_written: work.bytes_written / 8,
                flops: work.flops,
            }
        }));
    }
    rows
}

/// The rooflines of equation 12, which are those of a benchmark, whatever the step.
fn rooflines(points: &[Point]) -> Vec<Roofline> {
    let mut found = BTreeMap::new();
    for (place, benchmark) in BENCHMARKS.map(Benchmark::name).into_iter().enumerate() {
        let own = points.iter().filter(|it| it.benchmark == benchmark);
        found.extend(own.filter_map(|it| {
            let roofline = Roofline {
                benchmark,
                elements: it.elements,
                degree: it.degree,
                roofline_copy: it.roofline_copy?,
            };
            Some(((place, it.elements, it.degree), roofline))
        }));
    }
    found.into_values().collect()
}

/// A panel for each size, a line for each benchmark.
fn draw_rooflines(points: &[Roofline], device: &str) -> Drawing {
    let mut sizes: Vec<usize> = points.iter().map(|it| it.elements).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut panels = Panels::default();
    for (cell, &elements) in sizes.iter().enumerate() {
        let mut plots: Vec<Plot> = Vec::new();
        for (index, benchmark) in BENCHMARKS.map(Benchmark::name).into_iter().enumerate() {
            let own = points
                .iter()
                .filter(|it| it.elements == elements && it.benchmark == benchmark);
            let line = line(own.map(|it| (it.degree as f64, it.roofline_copy * 1e-12)))
                .with_color(COLOURS[8 + index])
                .with_legend(benchmark.to_uppercase());
            plots.push(line.into());
        }
        let layout = Layout::auto_from_plots(&plots)
            .with_title(format!(
                "rooflines by a copy of as many bytes, {elements} elements"
            ))
            .with_x_label("degree N")
            .with_y_label("TFLOP/s")
            .with_x_tick_step(1.0)
            .with_y_axis_min(0.0);
        panels.add(cell, (plots, layout));
    }
    panels.drawing((1, sizes.len()), [device].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Świrydowicz et al. 2019, table 2, N = 1, 7.
    #[test]
    fn table_2_is_the_published_one() {
        let rows = table_2(&[1, 7]);
        let flops: Vec<u64> = rows.iter().map(|it| it.flops).collect();
        assert_eq!(flops, [483, 63_225, 312, 56_832, 1941, 155_079]);
        let at_7 = |row: usize| 8 * (rows[row].numbers_read + rows[row].numbers_written);
        assert_eq!([at_7(1), at_7(3), at_7(5)], [14_024, 36_864, 49_016]);
    }

    #[test]
    fn figure_1_has_a_line_for_each_benchmark() {
        let point = |benchmark, degree| Roofline {
            benchmark,
            elements: 512,
            degree,
            roofline_copy: 1e12,
        };
        let points = [
            point("bk1", 1),
            point("bk1", 2),
            point("bk5", 1),
            point("bk5", 2),
        ];
        let text = draw_rooflines(&points, "a device").svg();
        for part in ["a device", "512 elements", "BK1", "BK5", "degree N"] {
            assert!(text.contains(part), "{part} is missing");
        }
    }
}
