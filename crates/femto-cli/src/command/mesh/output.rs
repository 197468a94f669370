//! The Gmsh file that generated meshes are written to.

use super::info::checked;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use clap::{Args, ValueEnum};
use femto::element::quadrature::gauss;
use femto::fem::io::write_file;
use femto::fem::mesh::gmsh::{self, Encoding, Version};
use femto::fem::mesh::{Mesh, MeshError};
use serde_json::json;
use std::path::{Path, PathBuf};

/// A file to write.
#[derive(Debug, Args)]
pub(super) struct Output {
    /// The file to write, a name that ends in .msh.
    #[arg(value_parser = named_msh)]
    file: PathBuf,
    /// Version of the file format.
    #[arg(long, value_enum, default_value_t = Format::V41)]
    format: Format,
    /// Write text instead of little-endian binary.
    #[arg(long)]
    ascii: bool,
}

/// A name by which others know Gmsh's format.
fn named_msh(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path
        .extension()
        .is_some_and(|it| it.eq_ignore_ascii_case("msh"))
    {
        true => Ok(path),
        false => Err("the file is in Gmsh's format: give it a name that ends in .msh".to_owned()),
    }
}

/// A version of Gmsh's format.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    #[value(name = "2.2")]
    V22,
    #[value(name = "4.1")]
    V41,
}

impl Output {
    /// The file to write.
    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    /// Writes a mesh and reports its size, unless nothing could be solved on it.
    pub(super) fn write(
        &self,
        mesh: &Mesh,
        mut progress: Progress,
        console: Console,
    ) -> Result<(), Failure> {
        // Cases turn the cells of files too.
        let mut turned = mesh.clone();
        turned.turn_left_handed();
        checked(&turned, &gauss(3).points).map_err(Failure::Problem)?;
        let file = self.file.display();
        progress.stage(format!("writing {file}"));
        let bytes = self.encode(mesh)?;
        write_file(&self.file, &bytes)?;
        progress.finish();
        let own = mesh.blocks.iter();
        let own = own.filter(|block| block.cell_type.dimension() == mesh.dimension());
        let cells: usize = own.clone().map(|block| block.len()).sum();
        let shapes: Vec<&str> = own.map(|block| block.cell_type.cell().plural()).collect();
        let (shapes, nodes, size) = (shapes.join(" and "), mesh.coordinates.len(), bytes.len());
        console.report(
            format_args!("{file}: {cells} {shapes}, {nodes} nodes, {size} bytes"),
            || json!({ "file": file.to_string(), "cells": cells, "nodes": nodes, "bytes": size }),
        )
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
