//! Exact work of cell_quadrature: bytes and flops, from sizes and schedule.
//!
//! [`work`] counts a schedule's actual work; [`knepley`] is Knepley et al.'s own model, used in the reports
//! of its benchmark.

pub mod knepley;

use super::classes::CLASSES;
use super::schedule::{MatrixUnits, Schedule};
use super::{ClassSizes, FieldKind, Shape, Storage};
use crate::family::fragments::TILE;
use crate::family::{Scatter, Vectors};
use crate::roofline::Work;
use crate::scalar::Precision;
use femto_element::tables::DenseTables;

/// Numbers of cells, nodes and list entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cells.
    pub cells: usize,
    /// Nodes of the space, for L-vectors.
    pub nodes: usize,
    /// Vertices whose coordinates are read, for geometry from vertices.
    pub vertices: usize,
    /// Entries in the blocks' lists of nodes; these three for the block-local schedule.
    pub entries: usize,
    /// Places in the blocks' fans.
    pub slots: usize,
    /// Places that have a node.
    pub filled: usize,
}

/// Bytes of an index of a node, of an entry in a block, of a vertex.
const INDEX: usize = 4;
const SHORT: usize = 2;

/// Work of one application. Each memory location is read once: neighbours find shared data in caches.
pub fn work(
    shape: &Shape,
    schedule: &Schedule,
    vectors: Vectors,
    precision: Precision,
    counts: Counts,
) -> Work {
    let numbers = precision.bytes();
    let Counts {
        cells,
        nodes,
        vertices,
        entries,
        slots,
        ..
    } = counts;
    let nodal = shape.fields_of(FieldKind::Nodal);
    let (mut of_cell, mut of_vectors, mut written) = (0, 0, 0);
    of_cell += numbers * shape.geometry_numbers();
    of_cell += numbers * shape.fields_of(FieldKind::Cell);
    of_cell += numbers * shape.points * shape.fields_of(FieldKind::Points);
    match vectors {
        Vectors::Element { .. } => {
            of_cell += numbers * (shape.unknowns() + nodal * shape.nodes);
            written += cells * numbers * shape.unknowns();
        }
        Vectors::Nodal { scatter, .. } => {
            of_vectors += nodes * numbers * (shape.components + nodal);
            let (tables, contributions) = match schedule {
                Schedule::BlockLocal(_) => {
                    of_vectors += entries * (INDEX + SHORT) + slots * 2 * SHORT;
                    (0, entries)
                }
                _ => (shape.nodes * INDEX, cells * shape.nodes),
            };
            of_cell += tables;
            let values = match scatter {
                Scatter::Atomic => nodes,
                Scatter::Deterministic => contributions,
            };
            written += values * numbers * shape.components;
        }
    }
    if let Some(classes) = classes(shape, schedule) {
        // Of each orbit of nodes, these and the places of their sums; of each orbit of points, these.
        let orbits = 2 * classes.sum_tiles()[0] + classes.point_tiles();
        of_vectors += SHORT * CLASSES * TILE * orbits;
    }
    if let Schedule::MatrixUnits(_) = schedule {
        of_vectors += numbers * fragment_numbers(shape, schedule, precision);
    }
    if shape.storage == Storage::Vertices {
        of_vectors += vertices * numbers * shape.dim;
        let own = vectors.scatter().is_none() || !shape.degree_one;
        of_cell += usize::from(own) * (shape.dim + 1) * INDEX;
    }
    Work {
        bytes_read: (cells * of_cell + of_vectors) as u64,
        bytes_written: written as u64,
        flops: cells as u64 * flops(shape, schedule),
        shared_bytes: (numbers * shared_numbers(shape, schedule, counts)) as u64,
        ..Work::default()
    }
}

/// Numbers of the right factors that matrix units read, in single precision two for each entry.
fn fragment_numbers(shape: &Shape, schedule: &Schedule, precision: Precision) -> usize {
    let values = shape.reads_values || shape.fields_of(FieldKind::Nodal) > 0;
    let slopes = shape.reads_gradients || shape.field_gradients;
    let rows = usize::from(values) + shape.dim * usize::from(slopes) + shape.fluxes();
    let tiles = match classes(shape, schedule) {
        Some(it) => it.all_tiles() * it.point_tiles(),
        None => shape.nodes.div_ceil(TILE) * shape.points.div_ceil(TILE),
    };
    let of_entry = match precision {
        Precision::Fp64 => 1,
        Precision::Fp32 => 2,
    };
    rows * tiles * TILE * TILE * of_entry
}

/// The classes of a schedule with matrix units.
fn classes(shape: &Shape, schedule: &Schedule) -> Option<ClassSizes> {
    match schedule {
        Schedule::MatrixUnits(it) => it.classes(shape),
        _ => None,
    }
}

/// Flops of one cell for a schedule; sums and products with table entries that are zero or one count like
/// the others.
pub fn flops(shape: &Shape, schedule: &Schedule) -> u64 {
    let evaluations = evaluations(shape, schedule);
    let flops = match schedule {
        Schedule::Transposition(_) | Schedule::PointAtATime(_) => {
            // Threads of the same cell recompute its map.
            evaluations * (map_flops(shape) + per_map(shape) + per_point(shape))
                + shape.points * tested_by_tables(shape)
        }
        Schedule::CellPerThread(_) | Schedule::BlockLocal(_) | Schedule::MatrixUnits(_) => {
            let maps = if shape.map_is_constant() {
                1
            } else {
                shape.points
            };
            let gradients = if shape.degree_one { maps } else { shape.points };
            let tested = if shape.degree_one {
                let (c, d) = (shape.components, shape.dim);
                let values = 2 * c * shape.nodes * usize::from(shape.writes_values);
                let gradients = c * d * usize::from(shape.writes_gradients);
                // The fluxes of all points are summed, then added to one vertex each and subtracted from
                // the first.
                shape.points * values + (shape.points + 1) * gradients
            } else {
                shape.points * tested_by_tables(shape)
            };
            maps * map_flops(shape)
                + gradients * per_map(shape)
                + shape.points * per_point(shape)
                + tested
        }
    };
    match classes(shape, schedule) {
        None => flops as u64,
        Some(classes) => {
            let of_node = SUMS_OF_FOUR * classes.sums[0];
            let of_row = (2 * shape.nodes + SUMS_OF_FOUR) * classes.point_orbits;
            by_classes(shape, flops as u64, of_node, |_| of_row)
        }
    }
}

/// Additions of an orbit of four.
const SUMS_OF_FOUR: usize = 8;

/// Flops of one cell between sums over orbits: those of a function's sums at the nodes, and of its values or derivatives at all
/// points, are given.
fn by_classes(
    shape: &Shape,
    all: u64,
    of_nodes: usize,
    of_row: impl Fn(Option<usize>) -> usize,
) -> u64 {
    let (c, fields) = (shape.components, shape.fields_of(FieldKind::Nodal));
    let values = c * (usize::from(shape.reads_values) + usize::from(shape.writes_values)) + fields;
    let gradients = c * (usize::from(shape.reads_gradients) + usize::from(shape.writes_gradients))
        + fields * usize::from(shape.field_gradients);
    let row = 2 * shape.nodes * shape.points;
    let axes = (0..shape.dim).map(|axis| of_row(Some(axis)));
    let saved = values * row.saturating_sub(of_row(None))
        + gradients * (shape.dim * row).saturating_sub(axes.sum());
    // J⁻¹ along the axes of the classes.
    let maps = if shape.map_is_constant() {
        1
    } else {
        shape.points
    };
    let added = (2 * c + fields) * of_nodes + 2 * shape.dim * shape.dim * maps;
    (all + added as u64).saturating_sub(saved as u64)
}

/// Flops of one cell by the host's loops, which multiply sums over orbits where the element is symmetric.
pub(super) fn host_flops(shape: &Shape, element: &DenseTables) -> u64 {
    let all = flops(shape, &Schedule::usual(shape));
    let Some(classes) = super::host::classes(element) else {
        return all;
    };
    by_classes(shape, all, classes.node_flops(), |row| {
        classes.row_flops(row)
    })
}

/// Evaluations of the form for a cell.
fn evaluations(shape: &Shape, schedule: &Schedule) -> usize {
    match schedule {
        Schedule::Transposition(it) => shape.points * it.thread_components(shape),
        Schedule::PointAtATime(_) => shape.points * shape.nodes,
        Schedule::CellPerThread(_) | Schedule::BlockLocal(_) | Schedule::MatrixUnits(_) => {
            shape.points
        }
    }
}

/// Flops of a map from its stored form.
fn map_flops(shape: &Shape) -> usize {
    let d = shape.dim;
    // Determinant and reciprocal, cofactors, their scaling.
    let inverse = if d == 2 { 3 + 1 + 4 } else { 5 + 1 + 9 * 3 + 9 };
    let jacobian = match shape.storage {
        Storage::Vertices => d * d,
        Storage::Affine | Storage::Jacobians => 0,
    };
    match (shape.storage, shape.position) {
        (Storage::Affine, false) => 0,
        _ => jacobian + inverse,
    }
}

/// Flops per map, which at degree 1 include the gradients.
fn per_map(shape: &Shape) -> usize {
    let d = shape.dim;
    let reference = if shape.degree_one {
        d
    } else {
        2 * d * shape.nodes
    };
    let gradient = reference + d * (2 * d - 1);
    let of_solution = shape.components * usize::from(shape.reads_gradients);
    let of_fields = shape.fields_of(FieldKind::Nodal) * usize::from(shape.field_gradients);
    (of_solution + of_fields) * gradient
}

/// Flops at a point, except for gradients and testing.
fn per_point(shape: &Shape) -> usize {
    let (c, d) = (shape.components, shape.dim);
    let values = c * usize::from(shape.reads_values) + shape.fields_of(FieldKind::Nodal);
    let position = match shape.storage {
        Storage::Jacobians => 0,
        _ => 2 * d * d * usize::from(shape.position),
    };
    let scaled = usize::from(shape.writes_values) + 2 * d * d * usize::from(shape.writes_gradients);
    2 * shape.nodes * values + position + shape.form_flops as usize + 1 + c * scaled
}

/// Flops at a point of testing with all basis functions.
fn tested_by_tables(shape: &Shape) -> usize {
    2 * shape.unknowns() * shape.fluxes()
}

/// Numbers moved to and from shared memory, except tables.
fn shared_numbers(shape: &Shape, schedule: &Schedule, counts: Counts) -> usize {
    let nodal = shape.fields_of(FieldKind::Nodal) * shape.nodes;
    let map = if shape.map_is_constant() {
        shape.map_numbers()
    } else {
        0
    };
    let unknowns = shape.unknowns();
    let row = map + unknowns + nodal;
    match schedule {
        Schedule::Transposition(_) => {
            let tested = shape.points * shape.components * shape.fluxes();
            let read = evaluations(shape, schedule) * row + tested * shape.nodes;
            counts.cells * (row + read + tested)
        }
        Schedule::CellPerThread(it) if it.staged => counts.cells * 2 * (row + unknowns),
        Schedule::CellPerThread(_) | Schedule::PointAtATime(_) => 0,
        Schedule::MatrixUnits(it) => {
            let (c, nodal) = (shape.components, shape.fields_of(FieldKind::Nodal));
            let of_tiles = match it.classes(shape) {
                Some(it) => {
                    // Sums are written, and read for each tile of orbits; v is written and read.
                    let of_sums = 2 * c + shape.functions() * (1 + it.point_tiles());
                    let values = c * usize::from(shape.reads_values) + nodal;
                    let slopes = c * usize::from(shape.reads_gradients)
                        + nodal * usize::from(shape.field_gradients);
                    let read = values + shape.dim * slopes;
                    let exchanged = 2 * CLASSES * (read + c * shape.fluxes());
                    of_sums * it.all_tiles() + exchanged * it.point_tiles()
                }
                None => {
                    let [nodes, points] =
                        [shape.nodes, shape.points].map(|count| count.div_ceil(TILE));
                    // Nodal values are written, and read for each tile of points; fluxes are read by each warp.
                    shape.functions() * nodes * (1 + points)
                        + points * c * shape.fluxes() * (1 + it.warps as usize)
                }
            };
            let maps = match shape.map_is_constant() {
                true => MatrixUnits::map_numbers(shape) * (1 + shape.points),
                false => 0,
            };
            counts.cells * (maps + of_tiles * TILE)
        }
        Schedule::BlockLocal(_) => {
            let axes = match shape.storage {
                Storage::Vertices => shape.dim,
                _ => 0,
            };
            let c = shape.components;
            let entry = axes + c + shape.fields_of(FieldKind::Nodal);
            // For each place, a node is read, and its sum is written and read.
            counts.entries * entry + counts.filled * (entry + 2 * c)
        }
    }
}

#[cfg(test)]
mod tests;
