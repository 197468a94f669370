//! `femto mesh extrude`

use super::output::Output;
use crate::case::{Expression, Extrusion};
use crate::console::Console;
use crate::failure::Failure;
use crate::files::check_separate;
use crate::progress::Progress;
use crate::solve::needs::check_mesh_of_layers;
use clap::Args;
use femto::fem::mesh::{Layers, Mesh};
use std::path::PathBuf;

/// Extrude a mesh of triangles and quadrilaterals to columns of prisms and hexahedra.
///
/// The facets below and above are the groups bottom and top; groups of the plane's cells and boundary edges become
/// groups of solids and of the facets over the edges.
#[derive(Debug, Args)]
pub(in crate::command) struct Extrude {
    /// The mesh, in the plane or a surface: a Gmsh file, or Triangle's .ele with the .node beside it.
    plane: PathBuf,
    /// Number of layers.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    layers: u32,
    /// Height of each layer in units of the one below.
    #[arg(long, default_value_t = 1.0, value_parser = positive, allow_negative_numbers = true)]
    ratio: f64,
    /// Height of the bottom, a function of x and y, and of z where the mesh is a surface, such as a terrain.
    #[arg(long, default_value = "0", value_parser = height, allow_hyphen_values = true)]
    bottom: Expression,
    /// Height of the top, likewise.
    #[arg(long, default_value = "1", value_parser = height, allow_hyphen_values = true)]
    top: Expression,
    /// Make periodic sides of the plane mesh ordinary boundaries.
    #[arg(long)]
    no_periodic: bool,
    #[command(flatten)]
    output: Output,
}

impl Extrude {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        check_separate(self.output.file(), &Mesh::files(&self.plane))?;
        let mut progress = Progress::new(!console.is_json());
        progress.stage("mesh");
        let mut plane = Mesh::read(&self.plane)?;
        plane.turn_clockwise();
        if self.no_periodic {
            plane.periodic.clear();
        }
        check_mesh_of_layers(&plane, self.layers)?;
        let extrusion = Extrusion {
            layers: Layers::graded(self.layers as usize, self.ratio),
            bottom: self.bottom.clone(),
            top: self.top.clone(),
        };
        self.output.write(&extrusion.of(&plane)?, progress, console)
    }
}

/// A positive number.
fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|number: &f64| *number > 0.0 && number.is_finite());
    number.ok_or_else(|| "not a positive number".to_owned())
}

/// A function of the position.
fn height(text: &str) -> Result<Expression, String> {
    Expression::parse(text).map_err(|error| error.to_string())
}
