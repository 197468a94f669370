//! `femto mesh info`

use crate::case::MeshSource;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::solve::mesh::{in_file, turned, unjoined};
use clap::Args;
use femto::element::MapKind;
use femto::element::quadrature;
use femto::fem::geometry::{CornerWarning, Geometry};
use femto::fem::mesh::{self, MeshSummary};
use femto::fem::space::{Block, SpaceParams};
use femto::problem::ProblemError;
use serde_json::{Value, json};
use std::fmt::{Display, Formatter};
use std::path::PathBuf;

/// Describe a mesh file: cells, groups, extent, kinds of geometry, bad elements.
#[derive(Debug, Args)]
pub(in crate::command) struct Info {
    /// The mesh: Gmsh 1.0 to 4.1, ASCII or binary, or Triangle's .ele with the .node beside it.
    file: PathBuf,
    /// Quadrature points along each axis at which elements are checked.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=32))]
    points_1d: u8,
}

impl Info {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let mut progress = Progress::new(!console.is_json());
        progress.stage(format!("reading {}", self.file.display()));
        let mut mesh = mesh::Mesh::read(&self.file)?;
        let turned = mesh.turn_left_handed();
        progress.stage("checking the elements");
        let points = quadrature::gauss(self.points_1d.into()).points;
        let report = Report {
            summary: mesh.summary(),
            turned,
            elements: Elements::of(&mesh, &points).map_err(|error| {
                let in_file = in_file(&MeshSource::File(self.file.clone()), &error.cells());
                format!("{error}{in_file}")
            }),
        };
        progress.finish();
        console.report(&report, || report.to_json(&self.file.display().to_string()))?;
        match report.elements {
            Ok(_) => Ok(()),
            Err(message) => Err(Failure::Unusable { message }),
        }
    }
}

struct Report {
    summary: MeshSummary,
    /// Number of cells that were turned.
    turned: usize,
    /// The cells that can carry unknowns, or why nothing can be solved on them.
    elements: Result<Elements, String>,
}

/// A space of degree 1 on the cells that can carry unknowns, and those that are only bad at corners.
pub(super) fn checked(
    mesh: &mesh::Mesh,
    points_1d: &[f64],
) -> Result<(Vec<Block>, Vec<CornerWarning>), Box<ProblemError>> {
    let geometries = Geometry::of_shapes(mesh).map_err(ProblemError::from)?;
    let mut warnings = Vec::new();
    for geometry in &geometries {
        warnings.extend(geometry.check(points_1d).map_err(ProblemError::from)?);
    }
    let blocks = Block::all(mesh, geometries, SpaceParams::default());
    Ok((blocks.map_err(ProblemError::from)?, warnings))
}

/// The cells that can carry unknowns.
struct Elements {
    /// Number of cells of each kind.
    kinds: [(&'static str, usize); 4],
    /// Number and layers of the columns that the prisms form.
    columns: Option<[usize; 2]>,
    warnings: Vec<CornerWarning>,
    /// Notes about cells that touch without being joined.
    unjoined: Vec<String>,
    /// Number of parts without common vertices.
    parts: usize,
}

impl Elements {
    fn of(mesh: &mesh::Mesh, points_1d: &[f64]) -> Result<Self, Box<ProblemError>> {
        let (blocks, warnings) = checked(mesh, points_1d)?;
        let count = |kind| {
            let kinds = blocks.iter().flat_map(|block| block.geometry.kinds());
            kinds.filter(|&&other| other == kind).count()
        };
        let kinds = [
            ("affine", MapKind::Affine),
            ("multilinear", MapKind::Multilinear),
            ("extruded", MapKind::Extruded),
            ("curved", MapKind::Curved),
        ];
        let columns = blocks.iter().find_map(|block| block.geometry.columns());
        Ok(Self {
            kinds: kinds.map(|(name, kind)| (name, count(kind))),
            columns: columns.map(|it| [it.count, it.layers]),
            warnings,
            unjoined: unjoined(&blocks),
            parts: Block::parts(&blocks).count,
        })
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}", self.summary)?;
        if let Some(turned) = turned(self.turned) {
            writeln!(f, "warning {turned}")?;
        }
        match &self.elements {
            Ok(Elements {
                kinds,
                columns,
                warnings,
                unjoined,
                parts,
            }) => {
                let kinds = kinds.map(|(name, count)| format!("{count} {name}"));
                write!(f, "maps    {}", kinds.join(", "))?;
                if let Some([count, layers]) = columns {
                    write!(f, "\ncolumns {count} of {layers} prisms")?;
                }
                if *parts > 1 {
                    write!(f, "\nparts   {parts}, which share no vertices")?;
                }
                for warning in unjoined {
                    write!(f, "\nwarning {warning}")?;
                }
                let shown = 5;
                for warning in warnings.iter().take(shown) {
                    write!(f, "\nwarning {warning}")?;
                }
                match warnings.len().saturating_sub(shown) {
                    0 => Ok(()),
                    more => write!(f, "\nwarning {more} more like this"),
                }
            }
            Err(error) => write!(f, "unusable: {error}"),
        }
    }
}

impl Report {
    fn to_json(&self, file: &str) -> Value {
        let MeshSummary {
            nodes,
            unused_nodes,
            bounding_box,
            blocks,
            groups,
            periodic,
        } = &self.summary;
        let block = |b: &mesh::BlockSummary| json!({ "type": b.cell_type, "cells": b.cells, "in_no_group": b.untagged });
        let group = |g: &mesh::GroupSummary| {
            json!({
                "dimension": g.group.dimension,
                "number": g.group.number,
                "name": g.group.name,
                "cells": g.cells,
            })
        };
        let mut json = json!({
            "file": file,
            "nodes": nodes,
            "unused_nodes": unused_nodes,
            "bounding_box": bounding_box.map(|(lower, upper)| json!({ "lower": lower, "upper": upper })),
            "blocks": blocks.iter().map(block).collect::<Value>(),
            "groups": groups.iter().map(group).collect::<Value>(),
            "periodic_nodes": periodic,
            "turned": self.turned,
            "elements": self.elements.as_ref().map_or_else(
                |message| json!({ "unusable": message }),
                Elements::to_json,
            ),
        });
        if let Err(message) = &self.elements {
            json["error"] = json!(message);
        }
        json
    }
}

impl Elements {
    fn to_json(&self) -> Value {
        let mut json: Value = self
            .kinds
            .iter()
            .map(|&(name, count)| (name.to_owned(), json!(count)))
            .collect();
        let warnings = self.warnings.iter().map(ToString::to_string);
        json["parts"] = json!(self.parts);
        json["columns"] = json!(
            self.columns
                .map(|[count, layers]| json!({ "count": count, "layers": layers }))
        );
        json["warnings"] = warnings.chain(self.unjoined.iter().cloned()).collect();
        json
    }
}
