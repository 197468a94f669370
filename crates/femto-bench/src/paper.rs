//! The figures and tables of published texts, measured anew on a device.
//!
//! [`Paper::make`] measures what a text measured and writes, into one folder, the rows as CSV files and each figure as
//! SVG, PNG and CSV. Rates above a roofline stay so.

use crate::figure::Drawing;
use crate::report::{CeilingsFrom, Progress, Report, RunOptions, write_csv};
use crate::{BenchError, Sampling, helmholtz, ladder, simplices, tet};
use femto::AnyDevice;
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::Accelerator;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A published text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// Świrydowicz, Chalmers, Karakus, Warburton 2019.
    Hexahedra,
    /// Karakus, Warburton et al. 2018, monolithic kernels.
    Tetrahedra,
    /// Karakus, Warburton et al. 2018, to precompute or not.
    ElementMatrices,
    /// Knepley, Rupp, Terrel 2016.
    Simplices,
    /// Weigl, Savitski, Chua 2014.
    Prisms,
}

/// What is measured, where it is not as published.
#[derive(Clone, Debug, Default)]
pub struct PaperParams {
    /// Degrees, of hexahedra and tetrahedra.
    pub degrees: Vec<usize>,
    /// Numbers of elements; of simplices, the least number of cells of a mesh; of prisms, of triangles.
    pub elements: Vec<usize>,
    /// Number and length of samples.
    pub sampling: Sampling,
    /// Whether ceilings of an earlier measurement do, if there are any.
    pub kept_ceilings: bool,
}

/// What was made.
#[derive(Default)]
pub struct Made {
    /// The files, in order.
    pub files: Vec<PathBuf>,
    /// The measurements; they may have failures.
    pub reports: Vec<Report>,
}

impl Made {
    /// Adds a report, whose table was not written if it has no rows.
    pub(crate) fn add(&mut self, report: Report) {
        self.files
            .retain(|file| Some(file.as_path()) != report.unwritten());
        self.reports.push(report);
    }
}

impl Paper {
    /// All texts.
    pub const ALL: [Self; 5] = [
        Self::Hexahedra,
        Self::Tetrahedra,
        Self::ElementMatrices,
        Self::Simplices,
        Self::Prisms,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hexahedra => "hexahedra",
            Self::Tetrahedra => "tetrahedra",
            Self::ElementMatrices => "element-matrices",
            Self::Simplices => "simplices",
            Self::Prisms => "prisms",
        }
    }

    /// Authors, title and year.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Hexahedra => {
                "Świrydowicz, Chalmers, Karakus, Warburton, Acceleration of tensor-product operations for high-order \
                 finite element methods, 2019"
            }
            Self::Tetrahedra => {
                "Karakus, Warburton et al., Finite Element Stiffness Matrix Action: monolithic kernel optimization on \
                 Titan V, 2018"
            }
            Self::ElementMatrices => {
                "Karakus, Warburton et al., Finite Element Stiffness Matrix Action: to precompute or not to precompute, \
                 2018"
            }
            Self::Simplices => {
                "Knepley, Rupp, Terrel, Finite Element Integration with Quadrature on the GPU, 2016"
            }
            Self::Prisms => "Weigl, Savitski, Chua, Helmholtz Challenge, 2014",
        }
    }

    /// Whether it measures several degrees.
    pub const fn has_degrees(self) -> bool {
        !matches!(self, Self::Simplices | Self::Prisms)
    }

    /// Measures, and writes figures and tables into a folder, which is made if it is missing.
    ///
    /// # Errors
    /// No ceilings; a file that cannot be written. Measurements that fail are in the reports.
    pub fn make(
        self,
        device: &Accelerator,
        folder: &Path,
        params: &PaperParams,
        progress: &mut dyn Progress,
    ) -> Result<Made, BenchError> {
        std::fs::create_dir_all(folder).map_err(|source| BenchError::Folder {
            path: folder.to_owned(),
            source,
        })?;
        let mut press = Press {
            device,
            folder,
            params,
            progress,
            made: Made::default(),
        };
        match self {
            Self::Hexahedra => ladder::paper::make(&mut press)?,
            Self::Tetrahedra => press.tetrahedra()?,
            Self::ElementMatrices => press.element_matrices()?,
            Self::Simplices => simplices::paper::make(&mut press)?,
            Self::Prisms => press.prisms()?,
        }
        Ok(press.made)
    }
}

/// A paper in the making.
pub(crate) struct Press<'a> {
    pub(crate) device: &'a Accelerator,
    folder: &'a Path,
    pub(crate) params: &'a PaperParams,
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) made: Made,
}

impl Press<'_> {
    fn path(&mut self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        self.made.files.push(path.clone());
        path
    }

    /// Options of a run whose rows go to a file.
    pub(crate) fn rows(&mut self, name: &str) -> RunOptions {
        // The same for all runs of a paper.
        let of_run = |report: &Report| {
            report
                .ceilings
                .first()
                .map(|(_, found)| CeilingsFrom::Run(*found))
        };
        let before = self.made.reports.iter().find_map(of_run);
        RunOptions {
            ceilings: before.unwrap_or(match self.params.kept_ceilings {
                true => CeilingsFrom::Kept,
                false => CeilingsFrom::Measurement,
            }),
            csv: Some(self.path(name)),
            ..RunOptions::default()
        }
    }

    /// Rows of numbers as a CSV file.
    pub(crate) fn table(&mut self, name: &str, rows: &[impl Serialize]) -> Result<(), BenchError> {
        write_csv(&self.path(name), |writer| {
            rows.iter().try_for_each(|row| writer.serialize(row))
        })
    }

    /// A figure as SVG and PNG, and its points as CSV.
    pub(crate) fn figure(
        &mut self,
        name: &str,
        drawing: &Drawing,
        points: &[impl Serialize],
    ) -> Result<(), BenchError> {
        self.table(&format!("{name}.csv"), points)?;
        for extension in ["svg", "png"] {
            drawing.write(&self.path(&format!("{name}.{extension}")))?;
        }
        Ok(())
    }

    pub(crate) fn degrees(&self, published: std::ops::RangeInclusive<usize>) -> Vec<usize> {
        match &self.params.degrees[..] {
            [] => published.collect(),
            degrees => degrees.to_vec(),
        }
    }

    pub(crate) fn elements(&self, published: &[usize]) -> Vec<usize> {
        match &self.params.elements[..] {
            [] => published.to_vec(),
            elements => elements.to_vec(),
        }
    }

    /// The steps at the published number of elements, and the last of them at 1000 · 2^m.
    fn tetrahedra(&mut self) -> Result<(), BenchError> {
        let steps: Vec<usize> = (0..=10).collect();
        let series: Vec<usize> = (0..=9).map(|m| 1000 << m).collect();
        self.simplicial("steps", tet::Stored::Factors, &steps, &[320_000])?;
        self.simplicial("sizes", tet::Stored::Factors, &steps[10..], &series)
    }

    /// Likewise; at degree 8 a matrix has 218 kB.
    fn element_matrices(&mut self) -> Result<(), BenchError> {
        let series: Vec<usize> = (0..=7).map(|m| 1000 << m).collect();
        self.simplicial("steps", tet::Stored::Full, &[0, 1, 2], &[100_000])?;
        self.simplicial("sizes", tet::Stored::Full, &[1], &series)
    }

    fn simplicial(
        &mut self,
        name: &str,
        stored: tet::Stored,
        steps: &[usize],
        elements: &[usize],
    ) -> Result<(), BenchError> {
        let sweep = tet::Sweep {
            stored: vec![stored],
            steps: steps.to_vec(),
            degrees: self.degrees(1..=8),
            elements: self.elements(elements),
            precisions: vec![Precision::Fp64, Precision::Fp32],
            sides: vec![1],
            tuning: tet::Tuning::default(),
            sampling: self.params.sampling,
        };
        let options = self.rows(&format!("{name}-rows.csv"));
        let report = tet::run_all(self.device, &sweep, &options, self.progress)?;
        let points = report.records.iter().filter_map(tet::figure::Point::of);
        let points: Vec<_> = points.collect();
        self.made.add(report);
        self.figure(name, &tet::figure::drawing(&points), &points)
    }

    /// The stages of every step: a table.
    fn prisms(&mut self) -> Result<(), BenchError> {
        let devices = [AnyDevice::from(self.device.clone())];
        for triangles in self.elements(&[helmholtz::SMALL]) {
            let sweep = helmholtz::Sweep {
                triangles,
                layers: helmholtz::Columns::LAYERS,
                steps: helmholtz::steps(),
                variants: helmholtz::Variant::ALL.to_vec(),
                stages: helmholtz::Stage::ALL.to_vec(),
                sampling: self.params.sampling,
            };
            let options = self.rows(&format!("stages-{triangles}.csv"));
            let report = helmholtz::run_all(&devices, &sweep, &options, self.progress)?;
            self.made.add(report);
        }
        Ok(())
    }
}
