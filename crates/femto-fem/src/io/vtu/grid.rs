//! The grids that can be written.

use super::super::IoError;
use super::{MAX_DEGREE, node_order};
use crate::reference::MAX_SIMPLEX_DEGREE;

/// VTK_LAGRANGE_TRIANGLE, VTK_LAGRANGE_TETRAHEDRON, VTK_LAGRANGE_HEXAHEDRON.
const CELL_TYPES: [u8; 3] = [69, 71, 72];

/// Points and hexahedra to be written.
#[derive(Clone, Copy, Debug)]
pub struct VtuGrid<'a> {
    /// Polynomial degree of the cells, in each direction.
    pub degree: usize,
    /// Positions, `[points][3]`.
    ///
    /// VTK's Lagrange cells have **equispaced** nodes: evaluate geometry and fields there (see
    /// [`super::equispaced`]), not at the GLL nodes. For discontinuous fields give each cell its own
    /// points.
    pub points: &'a [[f64; 3]],
    /// Points of each cell, `[cells][k][j][i]` with `degree + 1` nodes in each direction.
    pub cells: &'a [u32],
}

/// Points and triangles or tetrahedra to be written.
#[derive(Clone, Copy, Debug)]
pub struct VtuSimplexGrid<'a> {
    /// Dimension of the cells: 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Polynomial degree of the cells.
    pub degree: usize,
    /// Positions, `[points][3]`, of **equispaced** nodes: see
    /// [`crate::reference::simplex::equispaced`], whose order is that of the points of a cell.
    pub points: &'a [[f64; 3]],
    /// Points of each cell, `[cells][nodes]`, in the order of [`crate::reference::cell`].
    pub cells: &'a [u32],
}

/// A grid that can be written; only this module's types are.
pub trait Grid: sealed::Sealed {
    #[doc(hidden)]
    fn parts(&self) -> Result<Parts<'_>, IoError>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::VtuGrid<'_> {}
    impl Sealed for super::VtuSimplexGrid<'_> {}
}

/// What every grid is made of.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parts<'a> {
    pub(super) degree: usize,
    pub(super) points: &'a [[f64; 3]],
    /// `[cells][nodes]`, in femto's order.
    nodes: &'a [u32],
    /// VTK's number of the cell type.
    pub(super) cell_type: u8,
    /// For every node in VTK's order its place in femto's.
    pub(super) order: Vec<usize>,
}

impl Grid for VtuGrid<'_> {
    fn parts(&self) -> Result<Parts<'_>, IoError> {
        check_degree(self.degree, MAX_DEGREE)?;
        Ok(Parts {
            degree: self.degree,
            points: self.points,
            nodes: self.cells,
            cell_type: CELL_TYPES[2],
            order: node_order::vtk_to_lexicographic(self.degree),
        })
    }
}

impl Grid for VtuSimplexGrid<'_> {
    fn parts(&self) -> Result<Parts<'_>, IoError> {
        check_degree(self.degree, MAX_SIMPLEX_DEGREE)?;
        if !(2..=3).contains(&self.dim) {
            return Err(IoError::Dimension { found: self.dim });
        }
        Ok(Parts {
            degree: self.degree,
            points: self.points,
            nodes: self.cells,
            cell_type: CELL_TYPES[self.dim - 2],
            order: node_order::vtk_to_simplex(self.dim, self.degree),
        })
    }
}

fn check_degree(degree: usize, max: usize) -> Result<(), IoError> {
    match (1..=max).contains(&degree) {
        true => Ok(()),
        false => Err(IoError::Degree { degree, max }),
    }
}

impl Parts<'_> {
    /// Checks the arrays against each other and returns the number of cells.
    pub(super) fn cells(&self) -> Result<usize, IoError> {
        let nodes_per_cell = self.order.len();
        if !self.nodes.len().is_multiple_of(nodes_per_cell) {
            return Err(IoError::CellArray {
                found: self.nodes.len(),
                nodes_per_cell,
                degree: self.degree,
            });
        }
        let points = self.points.len();
        let missing = |&point: &u32| point as usize >= points;
        if let Some(at) = self.nodes.iter().position(missing) {
            return Err(IoError::PointIndex {
                cell: at / nodes_per_cell,
                point: self.nodes[at],
                points,
            });
        }
        Ok(self.nodes.len() / nodes_per_cell)
    }

    /// The points of each cell in VTK's order, `[cells][nodes_per_cell]`.
    pub(super) fn connectivity(&self) -> Vec<i64> {
        self.nodes
            .chunks_exact(self.order.len())
            .flat_map(|cell| self.order.iter().map(|&node| i64::from(cell[node])))
            .collect()
    }
}
