//! What figures have in common: rows of stored tables, colours, and panels in a grid.

use crate::BenchError;
use femto_fem::io::write_file;
use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use kuva::render::render::Scene;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Colours of lines, in order; ladders have at most 13 steps.
pub(crate) const COLOURS: [&str; 13] = [
    "#9e9e9e", "#c5b0d5", "#17becf", "#bcbd22", "#e377c2", "#8c564b", "#9467bd", "#ff7f0e",
    "#2ca02c", "#1f77b4", "#d62728", "#004d40", "#000080",
];

/// Width and height of a panel.
const PANEL: (f64, f64) = (860.0, 480.0);

/// The rows of a file written with `--csv`, as points of a figure.
///
/// # Errors
/// [`BenchError::Unreadable`], [`BenchError::NoTable`]
pub fn read_rows<P: DeserializeOwned>(path: &Path) -> Result<Vec<P>, BenchError> {
    let no_table = |source: csv::Error| {
        let path = path.to_owned();
        match source.is_io_error() {
            true => BenchError::Unreadable { path, source },
            false => BenchError::NoTable { path, source },
        }
    };
    let mut reader = csv::Reader::from_path(path).map_err(no_table)?;
    let rows = reader.deserialize().collect::<Result<_, _>>();
    rows.map_err(no_table)
}

/// Draws rows into an SVG or PNG file.
///
/// # Errors
/// There are none; the file cannot be written.
pub(crate) fn draw<P>(
    rows: &[P],
    drawing: fn(&[P]) -> Drawing,
    path: &Path,
) -> Result<(), BenchError> {
    match rows.is_empty() {
        true => Err(BenchError::NoRows),
        false => drawing(rows).write(path),
    }
}

/// A line through points, by their first coordinate.
pub(crate) fn line(points: impl Iterator<Item = (f64, f64)>) -> LinePlot {
    let mut points: Vec<(f64, f64)> = points.collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    LinePlot::new().with_data(points).with_stroke_width(1.5)
}

/// A dot for each point.
pub(crate) fn dots(points: impl Iterator<Item = (f64, f64)>, colour: &str) -> ScatterPlot {
    let points: Vec<(f64, f64)> = points.collect();
    ScatterPlot::new()
        .with_data(points)
        .with_color(colour)
        .with_size(2.5)
}

/// Panels in the cells of a grid.
#[derive(Default)]
pub(crate) struct Panels {
    cells: Vec<Vec<usize>>,
    plots: Vec<Vec<Plot>>,
    layouts: Vec<Layout>,
}

impl Panels {
    /// Adds a panel.
    pub(crate) fn add(&mut self, cell: usize, (plots, layout): (Vec<Plot>, Layout)) {
        self.cells.push(vec![cell]);
        self.plots.push(plots);
        self.layouts.push(layout);
    }

    /// The figure, with these rows and columns; its title names the devices.
    pub(crate) fn drawing<'d>(
        self,
        (rows, columns): (usize, usize),
        devices: impl Iterator<Item = &'d str>,
    ) -> Drawing {
        let mut devices: Vec<&str> = devices.collect();
        devices.sort_unstable();
        devices.dedup();
        let figure = Figure::new(rows.max(1), columns.max(1))
            .with_structure(self.cells)
            .with_plots(self.plots)
            .with_layouts(self.layouts)
            .with_title(devices.join(", "))
            .with_cell_size(PANEL.0, PANEL.1);
        Drawing(figure.render())
    }
}

/// The kinds of files that figures have.
#[derive(Clone, Copy)]
enum Format {
    Svg,
    Png,
}

impl Format {
    /// By a file's extension.
    fn of(path: &Path) -> Result<Self, BenchError> {
        let extension = path.extension().and_then(|it| it.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(BenchError::FigureFormat(path.to_owned())),
        }
    }
}

/// Checks that figures can be written to a file of this name.
///
/// # Errors
/// [`BenchError::FigureFormat`]
pub fn check_figure(path: &Path) -> Result<(), BenchError> {
    Format::of(path).map(|_| ())
}

/// A figure to be written.
pub(crate) struct Drawing(Scene);

impl Drawing {
    #[cfg(test)]
    pub(crate) fn svg(&self) -> String {
        SvgBackend.render_scene(&self.0)
    }

    /// Writes it as SVG or PNG, by the file's extension.
    ///
    /// # Errors
    /// Another extension; the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), BenchError> {
        let bytes = match Format::of(path)? {
            Format::Svg => SvgBackend.render_scene(&self.0).into_bytes(),
            Format::Png => RasterBackend::new()
                .render_scene(&self.0)
                .map_err(BenchError::Figure)?,
        };
        Ok(write_file(path, &bytes)?)
    }
}
