//! Ladders as the figures of Świrydowicz et al. 2019: work per second against degree, a line per step, and
//! the two rooflines; from new or stored rows.

use crate::figure::{self, COLOURS, Drawing, Panels};
use crate::{BenchError, Record};
use femto_kernel::family::hex_published::ladder::Step;
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Numbers of nodes around 5e7 that are called large.
const LARGE: std::ops::Range<usize> = 48_000_000..52_000_000;

/// The values of a record that a figure uses.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Point {
    step: String,
    pub(crate) benchmark: String,
    threads: Threads,
    number: usize,
    change: String,
    pub(crate) degree: usize,
    precision: String,
    pub(crate) elements: usize,
    nodes: usize,
    device_name: String,
    flop_rate: f64,
    /// Absent if the copy did not fit the memory.
    pub(crate) roofline_copy: Option<f64>,
    roofline_shared: Option<f64>,
    /// Absent in older files.
    roofline_shared_ansatz: Option<f64>,
}

impl Point {
    /// The point of a measured record; `None` for records of other benchmarks.
    pub fn of(record: &Record) -> Option<Self> {
        serde_json::from_value(serde_json::to_value(record).ok()?).ok()
    }

    /// Its ladder, such as `bk5/layers`.
    pub fn ladder(&self) -> &str {
        let parts = self.step.rsplit_once('/');
        parts.map_or(&self.step, |(ladder, _)| ladder)
    }

    /// Whether it belongs to one of these steps.
    pub fn is_of(&self, steps: &[Step]) -> bool {
        steps.iter().any(|step| step.to_string() == self.step)
    }
}

/// Draws all points into an SVG or PNG file, with a panel for each ladder and size.
///
/// # Errors
/// There are none; the file cannot be written.
pub fn draw(points: &[Point], path: &Path) -> Result<(), BenchError> {
    figure::draw(points, drawing, path)
}

/// The panel of a row: precision and size are the figure's rows, ladders its columns.
type PanelKey = ((String, Size), Column);

/// A benchmark's ladder of layers, or of cubes.
type Column = (String, Threads);

/// The two kinds of ladders, in the order of the figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Threads {
    Layers,
    Cubes,
}

/// The distinguished sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    Elements(usize),
    Large,
}

pub(crate) fn drawing(points: &[Point]) -> Drawing {
    let mut panels: BTreeMap<PanelKey, Vec<&Point>> = BTreeMap::new();
    for point in points {
        let size = match LARGE.contains(&point.nodes) {
            true => Size::Large,
            false => Size::Elements(point.elements),
        };
        let column = (point.benchmark.clone(), point.threads);
        let key = ((point.precision.clone(), size), column);
        panels.entry(key).or_default().push(point);
    }
    let mut rows: Vec<_> = panels.keys().map(|(row, _)| row.clone()).collect();
    let mut columns: Vec<_> = panels.keys().map(|(_, column)| column.clone()).collect();
    rows.dedup();
    columns.sort();
    columns.dedup();
    let cell = |(row, column): &PanelKey| {
        let index = |found: Option<usize>| found.unwrap_or_default();
        let row = index(rows.iter().position(|it| it == row));
        row * columns.len() + index(columns.iter().position(|it| it == column))
    };
    let mut figure = Panels::default();
    for (key, points) in &panels {
        figure.add(cell(key), panel((key, points)));
    }
    let devices = points.iter().map(|it| it.device_name.as_str());
    figure.drawing((rows.len(), columns.len()), devices)
}

fn panel((key, points): (&PanelKey, &Vec<&Point>)) -> (Vec<Plot>, Layout) {
    let ((precision, size), (benchmark, threads)) = key;
    let mut plots = Vec::new();
    let mut steps: BTreeMap<usize, Vec<&Point>> = BTreeMap::new();
    for point in points {
        steps.entry(point.number).or_default().push(point);
    }
    for (&number, points) in &steps {
        let colour = COLOURS[(number + COLOURS.len() - 1) % COLOURS.len()];
        let change = points.first().map_or("", |point| point.change.as_str());
        let line = line(points, |point| Some(point.flop_rate))
            .with_color(colour)
            .with_legend(format!("{number} {}", shortened(change)));
        let dots = tera(points, |point| Some(point.flop_rate));
        plots.push(line.into());
        plots.push(figure::dots(dots.into_iter(), colour).into());
    }
    let fastest = fastest(points);
    let copy = line(&fastest, |point| point.roofline_copy);
    let shared = line(&fastest, |point| point.roofline_shared);
    let ansatz = line(&fastest, |point| point.roofline_shared_ansatz);
    plots.push(
        copy.with_color("black")
            .with_legend("roofline: a copy of as many bytes")
            .into(),
    );
    plots.push(
        shared
            .with_color("black")
            .with_dashed()
            .with_legend("roofline: shared memory as measured, fastest step")
            .into(),
    );
    if fastest
        .iter()
        .any(|point| point.roofline_shared_ansatz.is_some())
    {
        plots.push(
            ansatz
                .with_color("#757575")
                .with_dashed()
                .with_legend("roofline: shared memory by 128 bytes a cycle, fastest step")
                .into(),
        );
    }
    let size = match size {
        Size::Large => "5e7 nodes".to_owned(),
        Size::Elements(elements) => format!("{elements} elements"),
    };
    let threads = match threads {
        Threads::Layers => "layers",
        Threads::Cubes => "cubes",
    };
    let title = format!(
        "{} {threads}, {size}, {precision}",
        benchmark.to_uppercase()
    );
    let layout = Layout::auto_from_plots(&plots)
        .with_title(title)
        .with_x_label("degree N")
        .with_y_label("TFLOP/s")
        .with_x_tick_step(1.0)
        .with_x_axis_min(1.0)
        .with_x_axis_max(15.0)
        .with_y_axis_min(0.0);
    (plots, layout)
}

/// The fastest step of each degree.
fn fastest<'a>(points: &[&'a Point]) -> Vec<&'a Point> {
    let mut best: BTreeMap<usize, &Point> = BTreeMap::new();
    for point in points {
        let found = best.entry(point.degree).or_insert(point);
        if point.flop_rate > found.flop_rate {
            *found = point;
        }
    }
    best.into_values().collect()
}

fn line(points: &[&Point], rate: impl Fn(&Point) -> Option<f64>) -> LinePlot {
    figure::line(tera(points, rate).into_iter())
}

/// Degrees, and rates in 10¹² per second.
fn tera(points: &[&Point], rate: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    let at = |point: &&Point| Some((point.degree as f64, rate(point)? * 1e-12));
    points.iter().filter_map(at).collect()
}

/// The first words of a change.
fn shortened(change: &str) -> &str {
    let end = change.find([',', ';']).unwrap_or(change.len());
    &change[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(threads: Threads, number: usize, degree: usize, elements: usize) -> Point {
        Point {
            step: format!("bk5/layers/{number}"),
            benchmark: "bk5".to_owned(),
            threads,
            number,
            change: "u in registers, and more".to_owned(),
            degree,
            precision: "fp64".to_owned(),
            elements,
            nodes: elements * (degree + 1).pow(3),
            device_name: "a device".to_owned(),
            flop_rate: 1e12 * number as f64,
            roofline_copy: Some(5e12),
            roofline_shared: (number > 1).then_some(4e12),
            roofline_shared_ansatz: (number > 1).then_some(3e12),
        }
    }

    #[test]
    fn a_panel_for_each_ladder_and_size_a_line_for_each_step() {
        let mut points = Vec::new();
        for degree in [2, 1, 3] {
            for number in [1, 2] {
                points.push(point(Threads::Layers, number, degree, 512));
                points.push(point(Threads::Cubes, number, degree, 512));
                points.push(point(
                    Threads::Layers,
                    number,
                    degree,
                    50_000_000 / (degree + 1).pow(3),
                ));
            }
        }
        let text = drawing(&points).svg();
        for part in [
            "a device",
            "BK5 layers, 512 elements, fp64",
            "BK5 cubes, 512 elements, fp64",
            "BK5 layers, 5e7 nodes, fp64",
            "2 u in registers",
            "degree N",
            "TFLOP/s",
            "roofline: a copy",
            "roofline: shared",
        ] {
            assert!(text.contains(part), "{part} is missing");
        }
        assert_eq!(text.matches("roofline: a copy").count(), 3);
        assert!(!text.contains("BK5 cubes, 5e7"));
    }

    #[test]
    fn the_shared_roofline_is_that_of_the_fastest_step() {
        let points = [
            point(Threads::Layers, 1, 2, 9),
            point(Threads::Layers, 3, 2, 9),
        ];
        let points: Vec<&Point> = points.iter().collect();
        assert_eq!(fastest(&points), [points[1]]);
        assert_eq!(
            tera(&fastest(&points), |point| point.roofline_shared),
            [(2.0, 4.0)]
        );
    }

    #[test]
    fn nothing_to_draw_is_an_empty_figure() {
        assert!(drawing(&[]).svg().contains("<svg"));
    }
}
