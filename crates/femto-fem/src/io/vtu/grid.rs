//! Grids for VTU files.

use super::super::IoError;
use femto_element::{Cell, Degree, basis};

/// Points and cells of an output grid.
#[derive(Clone, Debug)]
pub struct VtuGrid<'a> {
    /// Polynomial degree of the cells; for tensor products, along each axis.
    pub degree: Degree,
    /// Positions, `[points][3]`.
    ///
    /// VTK's Lagrange cells have **equispaced** nodes: evaluate geometry and fields there (see
    /// [`equispaced`](femto_element::basis::nodes::equispaced)), not at the GLL nodes. For discontinuous fields give
    /// each cell its own points.
    pub points: &'a [[f64; 3]],
    /// By shape, the points of each cell, `[cells][nodes]`, in femto's node order.
    pub cells: Vec<(Cell, &'a [u32])>,
}

impl VtuGrid<'_> {
    /// Checks the arrays against each other and returns the number of cells.
    pub(super) fn count(&self) -> Result<usize, IoError> {
        let (mut count, points) = (0, self.points.len());
        for &(cell, cells) in &self.cells {
            basis::check(cell, self.degree)?;
            if !cell.is_in_vtk(self.degree) {
                return Err(IoError::NotInVtk {
                    degree: self.degree,
                });
            }
            let nodes_per_cell = cell.lattice(self.degree).len();
            if !cells.len().is_multiple_of(nodes_per_cell) {
                return Err(IoError::CellArray {
                    found: cells.len(),
                    nodes_per_cell,
                    degree: self.degree,
                });
            }
            let missing = |&point: &u32| point as usize >= points;
            if let Some(at) = cells.iter().position(missing) {
                return Err(IoError::PointIndex {
                    cell: count + at / nodes_per_cell,
                    point: cells[at],
                    points,
                });
            }
            count += cells.len() / nodes_per_cell;
        }
        Ok(count)
    }

    /// The degrees along VTK's axes, `[cells][3]`, if cells cannot tell them from their number of points: VTK's array
    /// `HigherOrderDegrees`.
    pub(super) fn degrees(&self) -> Option<Vec<i32>> {
        let of_shape = |&(cell, cells): &(Cell, &[u32])| {
            let count = cells.len() / cell.lattice(self.degree).len();
            let along = cell.steps(self.degree).map(|degree| degree as i32);
            along.repeat(count)
        };
        let degrees = || self.cells.iter().flat_map(of_shape).collect();
        (!self.degree.is_uniform()).then(degrees)
    }

    /// The points of each cell in VTK's order, `[cells][nodes]`, the end of each cell, and its type.
    pub(super) fn arrays(&self) -> (Vec<i64>, Vec<i64>, Vec<u8>) {
        let (mut connectivity, mut offsets, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for &(cell, cells) in &self.cells {
            let order = vtk_order(cell, self.degree);
            for nodes in cells.chunks_exact(cell.lattice(self.degree).len()) {
                connectivity.extend(order.iter().map(|&node| i64::from(nodes[node])));
                offsets.push(connectivity.len() as i64);
                types.push(cell.vtk_type(self.degree));
            }
        }
        (connectivity, offsets, types)
    }
}

/// For every node of VTK's cell, in order, its number in femto's.
fn vtk_order(cell: Cell, degree: Degree) -> Vec<usize> {
    let order = cell.lattice_in(degree, cell.vtk_order()).into_iter();
    // femto's order has all positions of VTK's.
    order.filter_map(cell.lattice_places(degree)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_written_once() {
        for cell in [Cell::Quadrilateral, Cell::Hexahedron] {
            for degree in 1..=15_usize {
                let mut order = vtk_order(cell, degree.into());
                order.sort_unstable();
                let nodes = (degree + 1).pow(cell.dim() as u32);
                assert!(order.into_iter().eq(0..nodes), "{cell:?} degree {degree}");
            }
        }
    }

    #[test]
    fn shapes_follow_each_other() {
        let grid = VtuGrid {
            degree: 1.into(),
            points: &[[0.0; 3]; 5],
            cells: vec![
                (Cell::Quadrilateral, &[0, 1, 2, 3]),
                (Cell::Triangle, &[1, 4, 3, 0, 1, 4]),
            ],
        };
        assert_eq!(grid.count().unwrap(), 3);
        let (connectivity, offsets, types) = grid.arrays();
        assert_eq!(connectivity, [0, 1, 3, 2, 1, 4, 3, 0, 1, 4]);
        assert_eq!(offsets, [4, 7, 10]);
        // VTK_LAGRANGE_QUADRILATERAL, VTK_LAGRANGE_TRIANGLE.
        assert_eq!(types, [70, 69, 69]);
    }

    #[test]
    fn simplices_are_permuted_as_vtk_does() {
        assert_eq!(vtk_order(Cell::Triangle, 1.into()), [0, 1, 2]);
        assert_eq!(vtk_order(Cell::Triangle, 2.into()), [0, 1, 2, 3, 5, 4]);
        // VTK goes round the triangle, so edge 2-0 backwards.
        assert_eq!(
            vtk_order(Cell::Triangle, 3.into()),
            [0, 1, 2, 3, 4, 7, 8, 6, 5, 9]
        );
        let quadratic = vtk_order(Cell::Tetrahedron, 2.into());
        assert_eq!(quadratic, [0, 1, 2, 3, 4, 6, 5, 7, 8, 9]);
        let mut cubic = vtk_order(Cell::Tetrahedron, 3.into());
        assert_eq!(cubic[16..], [17, 19, 18, 16]);
        cubic.sort_unstable();
        assert!(cubic.into_iter().eq(0..20));
    }

    #[test]
    fn low_degrees_of_tensor_products_are_the_classic_cells() {
        assert_eq!(
            vtk_order(Cell::Hexahedron, 1.into()),
            [0, 1, 3, 2, 4, 5, 7, 6]
        );
        // The last two are swapped in files of version 2.2.
        let quadratic = [
            0, 2, 8, 6, 18, 20, 26, 24, 1, 5, 7, 3, 19, 23, 25, 21, 9, 11, 15, 17,
        ];
        assert_eq!(vtk_order(Cell::Hexahedron, 2.into())[..20], quadratic);
        // Edges 2-3 and 0-3 go along the axes, not round the cell.
        let cubic = [0, 3, 15, 12, 1, 2, 7, 11, 13, 14, 4, 8, 5, 6, 9, 10];
        assert_eq!(vtk_order(Cell::Quadrilateral, 3.into()), cubic);
    }
}
