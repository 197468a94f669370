//! Collecting and classifying simplices.

use super::Simplices;
use crate::mesh::CellBlock;
use femto_element::MapKind;
use femto_element::{CellType, basis::Matrix};
use rayon::prelude::*;

impl Simplices {
    /// Appends a block of simplices, whose nodes exist, and the kind of each one's map.
    pub(in crate::geometry) fn append(
        &mut self,
        block: &CellBlock,
        coordinates: &[[f64; 3]],
        kinds: &mut Vec<MapKind>,
    ) {
        let first = kinds.len();
        let vertices = self.dim + 1;
        let per_cell = block.cell_type.nodes();
        let cells = || block.nodes.par_chunks_exact(per_cell).with_min_len(4096);
        self.vertices.reserve(block.len() * vertices);
        for cell in block.nodes.chunks_exact(per_cell) {
            self.vertices.extend_from_slice(&cell[..vertices]);
        }
        if block.cell_type.order() == 1 {
            kinds.resize(first + block.len(), MapKind::Affine);
        } else {
            let lift = Lift::new(block.cell_type, self.terms);
            let kind = |cell: &[u32]| lift.kind(&lift.coefficients(coordinates, cell));
            kinds.par_extend(cells().map(kind));
            self.append_curved(block, coordinates, &kinds[first..], &lift);
        }
        if !self.curved_index.is_empty() {
            self.curved_index.resize(kinds.len(), 0);
        }
    }

    fn append_curved(
        &mut self,
        block: &CellBlock,
        coordinates: &[[f64; 3]],
        kinds: &[MapKind],
        lift: &Lift,
    ) {
        let is_curved = |kind: &MapKind| *kind == MapKind::Curved;
        if self.curved_index.is_empty() && !kinds.iter().any(is_curved) {
            return;
        }
        let before = self.vertices.len() / (self.dim + 1) - kinds.len();
        self.curved_index.resize(before, 0);
        let mut next = (self.curved.len() / self.terms.len()) as u32;
        for kind in kinds {
            self.curved_index.push(next);
            next += u32::from(is_curved(kind));
        }
        let cells = block.nodes.par_chunks_exact(block.cell_type.nodes());
        let curved = cells.zip(kinds).filter(|(_, kind)| is_curved(kind));
        let coefficients = curved.flat_map_iter(|(cell, _)| lift.coefficients(coordinates, cell));
        let coefficients: Vec<[f64; 3]> = coefficients.collect();
        self.curved.extend(coefficients);
    }
}

/// From nodes of one order to monomial coefficients.
struct Lift {
    /// `[terms of the order][nodes]`
    from_nodes: Matrix,
    /// Number of terms kept, at least those of the order.
    terms: usize,
    /// Number of terms of degree 0 and 1.
    affine: usize,
}

impl Lift {
    fn new(cell_type: CellType, terms: &[[u8; 3]]) -> Self {
        let (nodes, order) = (cell_type.node_lattice(), cell_type.order());
        let mut values = Matrix::zeros(nodes.len(), nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let x = |a: usize| node[a] as f64 / order as f64;
            for (m, exponents) in terms[..nodes.len()].iter().enumerate() {
                let powers = (0..3).map(|a| x(a).powi(exponents[a].into()));
                values[(i, m)] = powers.product();
            }
        }
        Self {
            from_nodes: values.inverse(),
            terms: terms.len(),
            affine: cell_type.dimension() + 1,
        }
    }

    /// Coefficients of the map of a cell with these mesh nodes, in Gmsh's order, `[terms][3]`.
    fn coefficients(&self, coordinates: &[[f64; 3]], cell: &[u32]) -> Vec<[f64; 3]> {
        let origin = coordinates[cell[0] as usize];
        let mut coefficients = vec![[0.0; 3]; self.terms];
        for (m, coefficient) in coefficients.iter_mut().take(cell.len()).enumerate() {
            for (weight, &node) in self.from_nodes.row(m).iter().zip(cell) {
                let x = coordinates[node as usize];
                for c in 0..3 {
                    coefficient[c] += weight * (x[c] - origin[c]);
                }
            }
        }
        coefficients[0] = origin;
        coefficients
    }

    /// Affine if all other terms are below 1e-10 of the cell's smallest extent, or below the rounding of
    /// its coordinates; never with NaN. Gmsh puts nodes on straight sides only to a few 1e-12, which third
    /// differences amplify.
    fn kind(&self, coefficients: &[[f64; 3]]) -> MapKind {
        let size = |v: &[f64; 3]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let extents = coefficients[1..self.affine].iter().map(size);
        let extent = extents.fold(f64::INFINITY, f64::min);
        // Third differences of rounded positions are off by tens of units in the last place.
        let tolerance = 1e-10 * extent + 64.0 * f64::EPSILON * size(&coefficients[0]);
        let negligible = |v: &[f64; 3]| v.iter().all(|x| x.abs() <= tolerance);
        match coefficients[self.affine..].iter().all(negligible) {
            true => MapKind::Affine,
            false => MapKind::Curved,
        }
    }
}
