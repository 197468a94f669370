//! The mesh of a case.

use super::deformation::Deformation;
use super::document::{Document, Located};
use super::error::CaseError;
use super::section::Value;
use super::{BoxSource, Expression, Extrusion, MeshSource};
use femto::element::Cell;
use femto::fem::mesh::Layers;
use femto::fem::mesh::boxes::AnyBox;

/// Pairs of groups.
pub(super) type Pairs = Vec<Located<[String; 2]>>;

/// The mesh, its layers if it is extruded, and the periodic sides if the case gives them.
pub(super) fn mesh(
    section: &Value<'_>,
    document: &Document,
) -> Result<(MeshSource, Option<Extrusion>, Option<Pairs>), CaseError> {
    let section = section.section(&["file", "box", "extrude", "periodic"])?;
    let source = match section.either(["file", "box"])? {
        ("file", file) => MeshSource::File(document.resolve(file.text()?)),
        (_, description) => MeshSource::Box(Box::new(box_source(&description)?)),
    };
    let pair = |pair: &Value<'_>| {
        let sides = pair.per_axis::<_, 2>(Value::tag)?;
        Ok(pair.located(sides.map(|side| side.value)))
    };
    let pairs = |list: Value<'_>| list.list()?.iter().map(pair).collect();
    let layers = section.optional("extrude");
    let layers = layers.as_ref().map(|it| extrusion(it, &source));
    let layers = layers.transpose()?;
    let periodic = section.optional("periodic").map(pairs).transpose()?;
    Ok((source, layers, periodic))
}

fn extrusion(section: &Value<'_>, source: &MeshSource) -> Result<Extrusion, CaseError> {
    let section = section.section(&["layers", "levels", "ratio", "bottom", "top"])?;
    let layers = match section.either(["layers", "levels"])? {
        ("layers", layers) => {
            let ratio = match section.optional("ratio") {
                Some(ratio) => ratio.positive_number()?,
                None => 1.0,
            };
            let levels = Layers::graded(layers.integer(1..=MAX_LAYERS)?, ratio).levels;
            match (section.optional("ratio"), levels.is_sorted_by(|a, b| a < b)) {
                (Some(ratio), false) => {
                    return Err(ratio.out_of_range("nearer to 1: some layers would have no height"));
                }
                _ => Layers { levels },
            }
        }
        (_, levels) => {
            if let Some(ratio) = section.optional("ratio") {
                return Err(ratio.meaningless("`levels` has the height of every layer"));
            }
            let numbers = levels.list()?;
            let numbers: Vec<f64> = numbers
                .iter()
                .map(Value::number)
                .collect::<Result<_, _>>()?;
            if numbers.len() < 2 {
                return Err(levels.out_of_range("at least two numbers, from 0 to 1"));
            }
            Layers { levels: numbers }
        }
    };
    let height = |key, default| match (section.optional(key), source) {
        (Some(height), MeshSource::File(_)) => height.expression(),
        (Some(height), MeshSource::Box(_)) => height.plane_expression(),
        (None, _) => Ok(Expression::constant(default)),
    };
    Ok(Extrusion {
        layers,
        bottom: height("bottom", 0.0)?,
        top: height("top", 1.0)?,
    })
}

/// More layers than any mesh can have with 32-bit numbers and a few columns.
const MAX_LAYERS: usize = 1_000_000;

fn box_source(section: &Value<'_>) -> Result<BoxSource, CaseError> {
    let section = section.section(&[
        "cell",
        "cells",
        "lower",
        "upper",
        "geometry_degree",
        "irregular",
        "deformation",
    ])?;
    let choices = AnyBox::CELLS.map(|cell| (cell.name(), cell));
    let cell = match section.optional("cell") {
        Some(cell) => cell.choice(&choices)?,
        None => Cell::Hexahedron,
    };
    let corner = |key, default: f64| match section.optional(key) {
        Some(corner) => along_axes(&corner, cell, Value::number),
        None => Ok(vec![default; cell.dim()]),
    };
    let cells = section.required("cells")?;
    let mesh = AnyBox {
        cell,
        cells: along_axes(&cells, cell, |cells| cells.integer(1..=usize::MAX))?,
        lower: corner("lower", 0.0)?,
        upper: corner("upper", 1.0)?,
        geometry_degree: match section.optional("geometry_degree") {
            Some(degree) => degree.integer(1..=cell.max_map_order())?,
            None => 1,
        },
        irregular: match section.optional("irregular") {
            Some(seed) if cell.is_tensor_product() => {
                return Err(seed.meaningless(
                    "only boxes of triangles, tetrahedra, prisms or pyramids have it",
                ));
            }
            Some(seed) => Some(seed.integer(0..=usize::MAX)? as u64),
            None => None,
        },
    };
    Ok(BoxSource {
        mesh,
        deformation: match section.optional("deformation") {
            Some(map) => {
                let read = match cell.dim() {
                    2 => Value::plane_expression,
                    _ => Value::expression,
                };
                let mut along = along_axes(&map, cell, read)?.into_iter();
                let mut next = || along.next().unwrap_or(Expression::constant(0.0));
                Some(Deformation([next(), next(), next()]))
            }
            None => None,
        },
    })
}

/// An array with one element per axis of a cell.
fn along_axes<'a, T>(
    value: &Value<'a>,
    cell: Cell,
    read: impl Fn(&Value<'a>) -> Result<T, CaseError>,
) -> Result<Vec<T>, CaseError> {
    match cell.dim() {
        2 => value.per_axis::<T, 2>(read).map(Vec::from),
        _ => value.per_axis::<T, 3>(read).map(Vec::from),
    }
}
