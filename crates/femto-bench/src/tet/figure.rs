//! The figures of both texts: work per second by step with both rooflines, all kernels from best to worst, rate against
//! size, and predicted against measured rates; from new or stored rows.

use super::Stored;
use crate::figure::{self, COLOURS, Drawing, Panels, dots};
use crate::{BenchError, Record};
use kuva::plot::LinePlot;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The values of a record that the figures use.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Point {
    stored: String,
    step: Option<usize>,
    degree: usize,
    elements: usize,
    sides: usize,
    precision: String,
    device_name: String,
    rate: f64,
    flops: f64,
    flop_rate: f64,
    bound_seconds: f64,
    fma_seconds: f64,
    roofline_copy: Option<f64>,
    roofline_cache: Option<f64>,
    seconds: f64,
}

impl Point {
    /// The point of a measured record; `None` for records of other benchmarks.
    pub fn of(record: &Record) -> Option<Self> {
        serde_json::from_value(serde_json::to_value(record).ok()?).ok()
    }

    fn has_factors(&self) -> bool {
        self.stored == Stored::Factors.name()
    }
}

/// Draws all points with one right-hand side into an SVG or PNG file, with a column for each precision.
///
/// # Errors
/// There are none; the file cannot be written.
pub fn draw(points: &[Point], path: &Path) -> Result<(), BenchError> {
    figure::draw(points, drawing, path)
}

/// A line of a panel: its name, and its points.
type Line = (String, Vec<(f64, f64)>);

/// A panel; without lines it is left out.
struct Panel {
    title: String,
    x: &'static str,
    y: &'static str,
    lines: Vec<Line>,
}

pub(crate) fn drawing(points: &[Point]) -> Drawing {
    let mut columns: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.sides == 1) {
        columns.entry(&point.precision).or_default().push(point);
    }
    let mut figure = Panels::default();
    let panels: [fn(&[&Point]) -> Panel; 5] = [
        |points| steps(points, true),
        |points| steps(points, false),
        ranking,
        sizes,
        predictions,
    ];
    let mut rows = 0;
    for panel in panels {
        let row: Vec<Panel> = columns.values().map(|points| panel(points)).collect();
        if row.iter().all(|panel| panel.lines.is_empty()) {
            continue;
        }
        for (column, (panel, precision)) in row.into_iter().zip(columns.keys()).enumerate() {
            if !panel.lines.is_empty() {
                figure.add(rows * columns.len() + column, panel.plot(precision));
            }
        }
        rows += 1;
    }
    let devices = points.iter().map(|it| it.device_name.as_str());
    figure.drawing((rows, columns.len()), devices)
}

impl Panel {
    fn plot(self, precision: &str) -> (Vec<Plot>, Layout) {
        let plot = |(index, (name, points)): (usize, Line)| {
            let colour = match name.starts_with(ROOFLINE) {
                true => "black",
                false => COLOURS[index % COLOURS.len()],
            };
            if points.len() == 1 {
                return dots(points.into_iter(), colour).with_legend(name).into();
            }
            let line = LinePlot::new().with_data(points).with_stroke_width(1.5);
            let line = line.with_color(colour);
            let line = match name.ends_with(CACHE) {
                true => line.with_dashed(),
                false => line,
            };
            line.with_legend(name).into()
        };
        let plots: Vec<Plot> = self.lines.into_iter().enumerate().map(plot).collect();
        let layout = Layout::auto_from_plots(&plots)
            .with_title(format!("{}, {precision}", self.title))
            .with_x_label(self.x)
            .with_y_label(self.y)
            .with_y_axis_min(0.0);
        // Ranks may be hundreds.
        let layout = match self.x {
            RANKS => layout,
            _ => layout.with_x_tick_step(1.0),
        };
        (plots, layout)
    }
}

const ROOFLINE: &str = "roofline";
const RANKS: &str = "place from best to worst";
const CACHE: &str = "accesses to caches";

/// The points of the size that has most of them, or of the largest of these, and its number of elements.
fn commonest<'p>(points: &[&'p Point]) -> (Vec<&'p Point>, usize) {
    let mut sizes: BTreeMap<usize, Vec<&Point>> = BTreeMap::new();
    for point in points {
        sizes.entry(point.elements).or_default().push(point);
    }
    let most = sizes.into_iter().max_by_key(|(_, points)| points.len());
    most.map_or((Vec::new(), 0), |(elements, points)| (points, elements))
}

/// The best of some points by a key.
fn best<'p, K: Ord>(
    points: impl Iterator<Item = &'p Point>,
    key: impl Fn(&Point) -> K,
) -> BTreeMap<K, &'p Point> {
    let mut best: BTreeMap<K, &Point> = BTreeMap::new();
    for point in points {
        let found = best.entry(key(point)).or_insert(point);
        if point.rate > found.rate {
            *found = point;
        }
    }
    best
}

/// Work per second against degree: a line for each step, femto's own, and the rooflines of the fastest step.
fn steps(points: &[&Point], factors: bool) -> Panel {
    let (points, elements) = commonest(points);
    let points = points.into_iter().filter(|it| it.has_factors() == factors);
    let points: Vec<&Point> = points.collect();
    let mut lines: Vec<Line> = Vec::new();
    let best_of = best(points.iter().copied(), |it| {
        // Own schedules after all steps.
        (it.step.unwrap_or(usize::MAX), it.stored.clone(), it.degree)
    });
    for ((step, stored, degree), point) in best_of {
        let name = match step {
            usize::MAX => format!("own, {stored}"),
            step => format!("step {step}"),
        };
        let at = (degree as f64, point.flop_rate * 1e-12);
        match lines.last_mut() {
            Some(line) if line.0 == name => line.1.push(at),
            _ => lines.push((name, vec![at])),
        }
    }
    let published = points.iter().copied().filter(|it| it.step.is_some());
    let fastest: Vec<&Point> = best(published, |it| it.degree).into_values().collect();
    let mut roofline = |name: &str, rate: fn(&Point) -> Option<f64>| {
        let at = |it: &&Point| Some((it.degree as f64, rate(it)? * 1e-12));
        let line: Vec<(f64, f64)> = fastest.iter().filter_map(at).collect();
        if !line.is_empty() {
            lines.push((format!("{ROOFLINE}: {name}"), line));
        }
    };
    roofline("a copy of as many bytes, FMA", |it| {
        Some(it.roofline_copy?.min(it.flops / it.fma_seconds))
    });
    // Entries of stored matrices are read once, from memory: none.
    roofline(CACHE, |it| it.roofline_cache);
    let stored = if factors { "factors" } else { "matrices" };
    Panel {
        title: format!("Stored {stored}, {elements} elements"),
        x: "degree N",
        y: "TFLOP/s",
        lines,
    }
}

/// Work per second of all kernels with factors from best to worst, a line for each degree.
fn ranking(points: &[&Point]) -> Panel {
    let (points, elements) = commonest(points);
    let mut degrees: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for point in points.iter().filter(|it| it.has_factors()) {
        let rates = degrees.entry(point.degree).or_default();
        rates.push(point.flop_rate * 1e-12);
    }
    degrees.retain(|_, rates| rates.len() > 1);
    let line = |(degree, mut rates): (usize, Vec<f64>)| {
        rates.sort_by(|a, b| b.total_cmp(a));
        let places = (1..=rates.len()).map(|place| place as f64);
        (format!("N = {degree}"), places.zip(rates).collect())
    };
    Panel {
        title: format!("All kernels with factors, {elements} elements"),
        x: RANKS,
        y: "TFLOP/s",
        lines: degrees.into_iter().map(line).collect(),
    }
}

/// The best rate against size, a line for each route and degree; left out for one size.
fn sizes(points: &[&Point]) -> Panel {
    let mut lines: BTreeMap<(bool, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let key = |it: &Point| (!it.has_factors(), it.degree, it.elements);
    for ((is_matrix, degree, elements), point) in best(points.iter().copied(), key) {
        let at = ((elements as f64 / 1000.0).log2(), point.rate * 1e-9);
        lines.entry((is_matrix, degree)).or_default().push(at);
    }
    lines.retain(|_, line| line.len() > 1);
    let name = |((is_matrix, degree), line)| match is_matrix {
        true => (format!("matrices, N = {degree}"), line),
        false => (format!("factors, N = {degree}"), line),
    };
    Panel {
        title: "The best against size".to_owned(),
        x: "k, of 1000·2^k elements",
        y: "Gnodes/s",
        lines: lines.into_iter().map(name).collect(),
    }
}

/// The best rate of both routes against degree, beside its bound.
fn predictions(points: &[&Point]) -> Panel {
    let (points, elements) = commonest(points);
    let mut lines = Vec::new();
    for factors in [true, false] {
        let own = points.iter().copied();
        let own = best(own.filter(|it| it.has_factors() == factors), |it| it.degree);
        let line = |rate: fn(&Point) -> f64| -> Vec<(f64, f64)> {
            let at = own.values().map(|it| (it.degree as f64, rate(it) * 1e-9));
            at.collect()
        };
        if !own.is_empty() {
            let route = if factors { "factors" } else { "matrices" };
            let predicted = line(|it| it.rate * it.seconds / it.bound_seconds);
            lines.push((format!("{route}, predicted"), predicted));
            lines.push((format!("{route}, measured"), line(|it| it.rate)));
        }
    }
    Panel {
        title: format!("Predicted and measured, {elements} elements"),
        x: "degree N",
        y: "Gnodes/s",
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(stored: Stored, step: Option<usize>, degree: usize, elements: usize) -> Point {
        let seconds = 2.0 + degree as f64 - step.map_or(1.0, |step| step as f64 / 10.0);
        Point {
            stored: stored.name().to_owned(),
            step,
            degree,
            elements,
            sides: 1,
            precision: "fp64".to_owned(),
            device_name: "a device".to_owned(),
            rate: 1e9 / seconds,
            flops: 1e12,
            flop_rate: 1e12 / seconds,
            bound_seconds: 0.5,
            fma_seconds: 0.125,
            roofline_copy: Some(4e12),
            roofline_cache: step.map(|_| 2e12),
            seconds,
        }
    }

    #[test]
    fn panels_have_the_lines_of_both_texts() {
        let mut points = Vec::new();
        for degree in 1..=3 {
            for elements in [1000, 2000, 4000] {
                points
                    .extend([0, 1, 10].map(|n| point(Stored::Factors, Some(n), degree, elements)));
                points.push(point(Stored::Factors, None, degree, elements));
                points.push(point(Stored::Full, Some(0), degree, elements));
                points.push(point(Stored::Triangle, None, degree, elements));
            }
        }
        let text = drawing(&points).svg();
        for part in [
            "a device",
            "Stored factors, 4000 elements, fp64",
            "Stored matrices, 4000 elements, fp64",
            "own, triangle",
            "place from best to worst",
            "against size",
            "matrices, predicted",
        ] {
            assert!(text.contains(part), "{part} is missing");
        }
        let all: Vec<&Point> = points.iter().collect();
        let names: Vec<String> = steps(&all, true).lines.into_iter().map(|it| it.0).collect();
        assert_eq!(
            names,
            [
                "step 0",
                "step 1",
                "step 10",
                "own, factors",
                "roofline: a copy of as many bytes, FMA",
                "roofline: accesses to caches",
            ]
        );
        assert_eq!(sizes(&all).lines[0].1.len(), 3);
        // Four kernels of each degree on the largest mesh.
        assert_eq!(ranking(&all).lines[2].1.len(), 4);
        let lines = predictions(&all).lines;
        assert_eq!(lines[0].1[0], (1.0, 2.0));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_figure() {
        assert!(drawing(&[]).svg().contains("<svg"));
    }
}
