//! Knepley, Rupp, Terrel 2016: table 2, and figures 4 and 5.

use super::{Selection, Sweep, run_all};
use crate::figure::{COLOURS, Drawing, Panels, dots, line};
use crate::paper::Press;
use crate::{BenchError, Record};
use femto::AnyDevice;
use femto_kernel::scalar::Precision;
use femto_platform::device::Device;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use serde::Serialize;

/// The triangles of 66 049 unknowns, and meshes below and above.
const CELLS: [usize; 4] = [8_192, 131_072, 1_000_000, 4_000_000];

/// The fastest of the published blocks and batches.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Point {
    form: String,
    dim: usize,
    precision: &'static str,
    cells: usize,
    blocks_per_batch: Option<u64>,
    batches_per_chunk: Option<u64>,
    flop_rate: f64,
}

pub(crate) fn make(press: &mut Press<'_>) -> Result<(), BenchError> {
    let devices = [AnyDevice::from(press.device.clone())];
    let mut points = Vec::new();
    for cells in press.elements(&CELLS) {
        let sweep = Sweep {
            cells,
            precisions: vec![Precision::Fp32, Precision::Fp64],
            selection: Selection::Table2,
            sampling: press.params.sampling,
        };
        let options = press.rows(&format!("table-2-{cells}.csv"));
        let report = run_all(&devices, &sweep, &options, press.progress)?;
        for record in &report.records {
            keep_fastest(&mut points, record);
        }
        press.made.add(report);
    }
    for (name, form) in [("figure-4", "poisson"), ("figure-5", "elasticity")] {
        let own = points.iter().filter(|it| it.form == form);
        let own: Vec<Point> = own.cloned().collect();
        let drawing = draw(&own, form, &press.device.info().name);
        press.figure(name, &drawing, &own)?;
    }
    Ok(())
}

/// Keeps the fastest record of a form, dimension, precision and mesh.
fn keep_fastest(points: &mut Vec<Point>, record: &Record) {
    let (Some(flop_rate), Some(dim), Some(cells)) = (
        record.number("knepley_flop_rate"),
        record.number("dim"),
        record.number("cells"),
    ) else {
        return;
    };
    let point = Point {
        form: record.text("form"),
        dim: dim as usize,
        precision: record.precision.name(),
        cells: cells as usize,
        blocks_per_batch: record.get("blocks_per_batch").as_u64(),
        batches_per_chunk: record.get("batches_per_chunk").as_u64(),
        flop_rate,
    };
    let same = |it: &&mut Point| {
        (&it.form, it.dim, it.precision, it.cells)
            == (&point.form, point.dim, point.precision, point.cells)
    };
    match points.iter_mut().find(same) {
        Some(known) if known.flop_rate >= flop_rate => {}
        Some(known) => *known = point,
        None => points.push(point),
    }
}

/// Work per second against the number of cells, a line for each dimension and precision.
fn draw(points: &[Point], form: &str, device: &str) -> Drawing {
    let mut plots: Vec<Plot> = Vec::new();
    let kinds = [(2, "fp32"), (2, "fp64"), (3, "fp32"), (3, "fp64")];
    for (index, (dim, precision)) in kinds.into_iter().enumerate() {
        let own = points
            .iter()
            .filter(|it| it.dim == dim && it.precision == precision);
        let own = own.map(|it| (it.cells as f64, it.flop_rate * 1e-9));
        let colour = COLOURS[7 + index];
        let line = line(own.clone())
            .with_color(colour)
            .with_legend(format!("{dim}-D, {precision}"));
        plots.push(line.into());
        plots.push(dots(own, colour).into());
    }
    let layout = Layout::auto_from_plots(&plots)
        .with_title(format!("{form}, degree 1, by thread transposition"))
        .with_x_label("cells")
        .with_y_label("GFLOP/s by equation 7")
        .with_log_x()
        .with_y_axis_min(0.0);
    let mut panels = Panels::default();
    panels.add(0, (plots, layout));
    panels.drawing((1, 1), [device].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_a_line_for_each_dimension_and_precision() {
        let point = |dim, precision, cells| Point {
            form: "poisson".to_owned(),
            dim,
            precision,
            cells,
            blocks_per_batch: Some(16),
            batches_per_chunk: Some(4),
            flop_rate: 1e12,
        };
        let points = [
            point(2, "fp32", 100),
            point(2, "fp32", 1000),
            point(3, "fp64", 100),
        ];
        let text = draw(&points, "poisson", "a device").svg();
        for part in ["a device", "poisson", "2-D, fp32", "3-D, fp64", "cells"] {
            assert!(text.contains(part), "{part} is missing");
        }
    }
}
