//! Collecting and classifying simplices, prisms and pyramids.

use super::TermMaps;
use crate::mesh::{CellBlock, CellNodes, Columns, Coordinates};
use crate::parallel;
use femto_element::MapKind;
use femto_element::{CellType, basis::Matrix};

impl TermMaps {
    /// Which prisms of these blocks are in columns and have the map through their vertices, as have all others of their columns:
    /// `[cells]`.
    pub(in crate::geometry) fn are_extruded(
        &self,
        columns: &Columns,
        blocks: &[&CellBlock],
        coordinates: &Coordinates,
    ) -> Vec<bool> {
        let count = blocks.iter().map(|block| block.len()).sum();
        let are_all = columns.count * columns.layers == count;
        let mut extruded = vec![are_all; count];
        if !are_all {
            let cells = (0..columns.count).flat_map(|column| columns.cells(column));
            cells.for_each(|cell| extruded[cell as usize] = true);
        }
        if blocks.iter().all(|block| block.cell_type.order() == 1) {
            return extruded;
        }
        let parts = parallel::split(&mut extruded, blocks.iter().map(|it| it.len()));
        for (block, own) in blocks.iter().zip(parts) {
            if block.cell_type.order() > 1 {
                let lift = Lift::new(block.cell_type, &self.terms);
                parallel::each(own, |cell, is| {
                    let cell = block.cell(cell);
                    *is = *is && lift.is_of_vertices(&lift.coefficients(coordinates, &cell));
                });
            }
        }
        let is_mixed = extruded.iter().any(|&is| is) && extruded.iter().any(|&is| !is);
        for column in (0..columns.count).filter(|_| is_mixed) {
            if !columns.cells(column).all(|cell| extruded[cell as usize]) {
                columns
                    .cells(column)
                    .for_each(|cell| extruded[cell as usize] = false);
            }
        }
        extruded
    }

    /// Appends a block of cells, whose nodes exist, and the kind of each one's map, given which are
    /// [extruded](Self::are_extruded), if any.
    pub(in crate::geometry) fn append(
        &mut self,
        (block, extruded): (&CellBlock, &[bool]),
        coordinates: &Coordinates,
        kinds: &mut Vec<MapKind>,
    ) {
        let first = kinds.len();
        self.vertices.append(self.vertices_of(block));
        let extruded = extruded.get(first..first + block.len()).unwrap_or(&[]);
        if !extruded.is_empty() && extruded.iter().all(|&is| is) {
            kinds.resize(first + block.len(), MapKind::Extruded);
        } else if block.cell_type.order() == 1 && self.cell.is_simplex() {
            kinds.resize(first + block.len(), MapKind::Affine);
        } else {
            let lift = Lift::new(block.cell_type, &self.terms);
            let kind = |cell: usize| match extruded.get(cell) {
                Some(true) => MapKind::Extruded,
                _ => lift.kind(&lift.coefficients(coordinates, &block.cell(cell))),
            };
            kinds.resize(first + block.len(), MapKind::Affine);
            parallel::each(&mut kinds[first..], |cell, it| *it = kind(cell));
            self.append_curved(block, coordinates, &kinds[first..], &lift);
        }
        if !self.curved_index.is_empty() {
            self.curved_index.resize(kinds.len(), 0);
        }
    }

    /// The nodes at the vertices of a block's cells, in the cell's own order.
    fn vertices_of(&self, block: &CellBlock) -> CellNodes {
        let (vertices, places) = (self.cell.vertices(), self.cell.gmsh_order().vertices);
        // Gmsh's order is also that of prisms of order 1.
        let are_all = block.cell_type.nodes() == vertices && places.is_sorted();
        if let (CellNodes::Columns(_), true) = (&block.nodes, are_all) {
            return block.nodes.clone();
        }
        let mut all = vec![0; block.len() * vertices];
        parallel::chunks(&mut all, vertices, |cell, row| {
            for (&place, &node) in places.iter().zip(&*block.cell(cell)) {
                row[place] = node;
            }
        });
        all.into()
    }

    fn append_curved(
        &mut self,
        block: &CellBlock,
        coordinates: &Coordinates,
        kinds: &[MapKind],
        lift: &Lift,
    ) {
        let is_curved = |kind: &MapKind| *kind == MapKind::Curved;
        if self.curved_index.is_empty() && !kinds.iter().any(is_curved) {
            return;
        }
        let before = self.vertices.len() / self.cell.vertices() - kinds.len();
        self.curved_index.resize(before, 0);
        let mut next = (self.curved.len() / self.terms.len()) as u32;
        for kind in kinds {
            self.curved_index.push(next);
            next += u32::from(is_curved(kind));
        }
        let mut coefficients = parallel::gather(block.len(), |cell, coefficients| {
            if is_curved(&kinds[cell]) {
                coefficients.extend(lift.coefficients(coordinates, &block.cell(cell)));
            }
        });
        self.curved.append(&mut coefficients);
    }
}

/// From nodes of one order to coefficients of terms.
struct Lift {
    /// `[terms of the order][nodes]`
    from_nodes: Matrix,
    /// Number of terms kept, at least those of the order.
    terms: usize,
    /// Number of terms of degree 0 and 1.
    affine: usize,
    /// Number of terms of order 1.
    of_vertices: usize,
}

impl Lift {
    fn new(cell_type: CellType, terms: &[[usize; 4]]) -> Self {
        let (cell, order) = (cell_type.cell(), cell_type.order());
        let nodes = cell.lattice_in(order, cell.gmsh_order());
        let mut values = Matrix::zeros(nodes.len(), nodes.len());
        for (i, &node) in nodes.iter().enumerate() {
            let [x, y, z] = cell.position(order, node);
            for (m, &[a, b, c, d]) in terms[..nodes.len()].iter().enumerate() {
                // Terms with quotients are zero at the apex of a pyramid, their only singular point.
                let quotient = match z {
                    1.0 if d > 0 => 0.0,
                    _ => (1.0 - z).powi(-(d as i32)),
                };
                values[(i, m)] = x.powi(a as i32) * y.powi(b as i32) * z.powi(c as i32) * quotient;
            }
        }
        let from_all = values.inverse();
        let from_nodes = match cell_type.is_complete() {
            true => from_all,
            false => from_all.times(&completion(cell_type)),
        };
        Self {
            from_nodes,
            terms: terms.len(),
            affine: cell.dim() + 1,
            of_vertices: cell.vertices(),
        }
    }

    /// Coefficients of the map of a cell with these mesh nodes, in Gmsh's order, `[terms][3]`.
    fn coefficients(&self, coordinates: &Coordinates, cell: &[u32]) -> Vec<[f64; 3]> {
        let origin = coordinates.at(cell[0] as usize);
        let mut coefficients = vec![[0.0; 3]; self.terms];
        for (m, coefficient) in coefficients
            .iter_mut()
            .take(self.from_nodes.rows())
            .enumerate()
        {
            for (weight, &node) in self.from_nodes.row(m).iter().zip(cell) {
                let x = coordinates.at(node as usize);
                for c in 0..3 {
                    coefficient[c] += weight * (x[c] - origin[c]);
                }
            }
        }
        for c in 0..3 {
            coefficients[0][c] += origin[c];
        }
        coefficients
    }

    /// Affine if all other terms are below 1e-10 of the cell's smallest extent, or below the rounding of
    /// its coordinates; never with NaN. Gmsh puts nodes on straight sides only to a few 1e-12, which third
    /// differences amplify.
    fn kind(&self, coefficients: &[[f64; 3]]) -> MapKind {
        match self.is_negligible_from(coefficients, self.affine) {
            true => MapKind::Affine,
            false => MapKind::Curved,
        }
    }

    /// Whether the map is that through the vertices alone.
    fn is_of_vertices(&self, coefficients: &[[f64; 3]]) -> bool {
        self.is_negligible_from(coefficients, self.of_vertices)
    }

    /// Whether all terms from the `first` on are negligible, as above.
    fn is_negligible_from(&self, coefficients: &[[f64; 3]], first: usize) -> bool {
        let size = |v: &[f64; 3]| v.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
        let extents = coefficients[1..self.affine].iter().map(size);
        let extent = extents.fold(f64::INFINITY, f64::min);
        // Third differences of rounded positions are off by tens of units in the last place.
        let tolerance = 1e-10 * extent + 64.0 * f64::EPSILON * size(&coefficients[0]);
        let negligible = |v: &[f64; 3]| v.iter().all(|x| x.abs() <= tolerance);
        coefficients[first..].iter().all(negligible)
    }
}

/// The nodes of the complete cell of order 2 from those of a serendipity cell, `[complete nodes][nodes]`, both in
/// Gmsh's order. The missing nodes are centres of quadrilateral facets, on which the serendipity functions are -1/4
/// for the 4 vertices and 1/2 for the 4 edge nodes.
fn completion(cell_type: CellType) -> Matrix {
    let (cell, given) = (cell_type.cell(), cell_type.nodes());
    let all = cell.lattice_in(2, cell.gmsh_order());
    let mut completion = Matrix::zeros(all.len(), given);
    (0..given).for_each(|node| completion[(node, node)] = 1.0);
    for facet in 0..cell.facets().len() {
        let on_facet = cell.facet_lattice(2, facet);
        let place = |steps| all.iter().position(|&other| other == steps);
        let centre = on_facet.get(4).and_then(|&steps| place(steps));
        let Some(centre) = centre.filter(|&centre| centre >= given && on_facet.len() == 9) else {
            continue;
        };
        for (n, &steps) in on_facet.iter().enumerate() {
            if let Some(node) = place(steps).filter(|&node| node < given) {
                completion[(centre, node)] = if n % 2 == 0 { -0.25 } else { 0.5 };
            }
        }
    }
    completion
}
