//! `femto mesh box`

use crate::case::{BoxSource, Deformation, Expression};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;
use femto::fem::mesh::gmsh::{self, Encoding, Version};
use femto::fem::mesh::{Mesh, MeshError};
use femto::platform::files::write_atomic;
use serde_json::json;
use std::path::PathBuf;

/// Generate a box of hexahedra, possibly deformed, as a Gmsh file.
///
/// The sides are the groups xmin, xmax, ymin, ymax, zmin, zmax; the hexahedra are the group domain.
#[derive(Debug, Args)]
pub(in crate::command) struct GenerateBox {
    /// The file to write.
    file: PathBuf,
    /// Cells along x, y, z.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], required = true)]
    cells: Vec<usize>,
    /// The corner with the smallest coordinates.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [0.0; 3])]
    #[arg(allow_negative_numbers = true)]
    lower: Vec<f64>,
    /// The opposite corner.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [1.0; 3])]
    #[arg(allow_negative_numbers = true)]
    upper: Vec<f64>,
    /// New positions of the mesh nodes: three functions of x, y, z, such as \"x + 0.1*sin(pi*y)\" y z.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], value_parser = Expression::parse)]
    #[arg(allow_hyphen_values = true)]
    deform: Vec<Expression>,
    /// 1 for cells with 8 nodes, 2 for cells with 27 nodes, which can be curved.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    geometry_degree: u8,
    /// Version of the file format.
    #[arg(long, value_enum, default_value_t = Format::V41)]
    format: Format,
    /// Write text instead of little-endian binary.
    #[arg(long)]
    ascii: bool,
}

/// A version of Gmsh's format.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    #[value(name = "2.2")]
    V22,
    #[value(name = "4.1")]
    V41,
}

impl GenerateBox {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let mut progress = Progress::new(!console.is_json());
        progress.stage("mesh");
        let mesh = self.source().build()?;
        progress.stage(format!("writing {}", self.file.display()));
        let bytes = self.encode(&mesh)?;
        write_atomic(&self.file, &bytes)?;
        progress.finish();
        let (file, cells) = (self.file.display(), mesh.blocks[0].len());
        let (nodes, size) = (mesh.coordinates.len(), bytes.len());
        console.report(
            format_args!("{file}: {cells} hexahedra, {nodes} nodes, {size} bytes"),
            || json!({ "file": file.to_string(), "cells": cells, "nodes": nodes, "bytes": size }),
        )
    }

    fn source(&self) -> BoxSource {
        BoxSource {
            mesh: AnyBox {
                cell: Cell::Hexahedron,
                cells: per_axis(&self.cells).unwrap_or_default().into(),
                lower: per_axis(&self.lower).unwrap_or_default().into(),
                upper: per_axis(&self.upper).unwrap_or_default().into(),
                geometry_degree: self.geometry_degree.into(),
                irregular: None,
            },
            deformation: per_axis(&self.deform).map(Deformation::new),
        }
    }

    fn encode(&self, mesh: &Mesh) -> Result<Vec<u8>, MeshError> {
        let version = match self.format {
            Format::V22 => Version::V2_2,
            Format::V41 => Version::V4_1,
        };
        let encoding = match self.ascii {
            true => Encoding::Ascii,
            false => Encoding::LittleEndian,
        };
        let mut bytes = Vec::new();
        gmsh::write(mesh, &mut bytes, version, encoding).map_err(|source| MeshError::Io {
            file: self.file.display().to_string(),
            source,
        })?;
        Ok(bytes)
    }
}

/// One value per axis; the argument parser has already counted them.
fn per_axis<T: Clone>(list: &[T]) -> Option<[T; 3]> {
    list.to_vec().try_into().ok()
}
