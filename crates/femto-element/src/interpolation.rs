//! Interpolation from the basis of one degree on a cell to the nodes of another.

use crate::basis::{BasisError, LagrangeBasis};
use crate::{Cell, Degree};

/// The values of a cell's functions of one degree at the nodes of another: one matrix, applied along each
/// of the `axes`.
///
/// On tensor products the matrix is that of the line. On other cells there is one axis, and the matrix takes
/// all nodes at once.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpolation {
    /// Number of axes.
    pub axes: usize,
    /// Nodes along an axis of the degree that is evaluated.
    pub from: usize,
    /// Nodes along an axis of the other.
    pub to: usize,
    /// `[to][from]`
    pub matrix: Vec<f64>,
}

impl Interpolation {
    /// From functions of degree `from` to the nodes of degree `to`.
    ///
    /// # Errors
    /// A cell without bases, or a degree out of range.
    pub fn new(
        cell: Cell,
        from: impl Into<Degree>,
        to: impl Into<Degree>,
    ) -> Result<Self, BasisError> {
        let (from, to) = (from.into(), to.into());
        let is_product = cell.is_tensor_product() && from.is_uniform() && to.is_uniform();
        let (axes, of) = match is_product {
            true => (cell.dim(), Cell::Line),
            false => (1, cell),
        };
        // Also refuses degrees that the line has and the cell has not.
        [from, to]
            .into_iter()
            .try_for_each(|degree| crate::basis::check(cell, degree))?;
        let (from, to) = (LagrangeBasis::new(of, from)?, LagrangeBasis::new(of, to)?);
        Ok(Self {
            axes,
            from: from.nodes().len(),
            to: to.nodes().len(),
            matrix: from.at(to.nodes()).interp,
        })
    }

    /// Nodes of a cell of the degree that is evaluated.
    pub fn from_nodes(&self) -> usize {
        self.from.pow(self.axes as u32)
    }

    /// Nodes of a cell of the other.
    pub fn to_nodes(&self) -> usize {
        self.to.pow(self.axes as u32)
    }

    /// The transpose, from values at the nodes of degree `to` to those of degree `from`.
    pub fn transposed(&self) -> Self {
        let entry = |n: usize| self.matrix[n % self.to * self.from + n / self.to];
        Self {
            axes: self.axes,
            from: self.to,
            to: self.from,
            matrix: (0..self.matrix.len()).map(entry).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_lower_degree_are_kept() {
        let polynomial = |[x, y, z]: [f64; 3], degree: i32| {
            (0.3 + x - 0.5 * y + 0.25 * z).powi(degree) - (y + 2.0 * z).powi(degree - 1)
        };
        for cell in [Cell::Line, Cell::Triangle, Cell::Tetrahedron] {
            for (low, high) in [(1, 2), (1, 3), (2, 4), (4, 8)] {
                let nodes = |degree| LagrangeBasis::new(cell, degree).unwrap().nodes().to_vec();
                let up = Interpolation::new(cell, low, high).unwrap();
                let flat = |mut x: [f64; 3]| {
                    x[cell.dim()..].fill(0.0);
                    polynomial(x, low as i32)
                };
                let values: Vec<f64> = nodes(low).into_iter().map(flat).collect();
                for (row, node) in up.matrix.chunks_exact(up.from).zip(nodes(high)) {
                    let value: f64 = row.iter().zip(&values).map(|(a, b)| a * b).sum();
                    assert!((value - flat(node)).abs() < 1e-12, "{cell:?} {low} {high}");
                }
                assert_eq!(up.transposed().transposed(), up);
            }
        }
    }

    #[test]
    fn tensor_products_have_an_axis_for_each_dimension() {
        let up = Interpolation::new(Cell::Hexahedron, 2, 4).unwrap();
        assert_eq!((up.axes, up.from, up.to), (3, 3, 5));
        assert_eq!((up.from_nodes(), up.to_nodes()), (27, 125));
        assert!(Interpolation::new(Cell::Triangle, 1, 9).is_err());
        assert!(Interpolation::new(Cell::Pyramid, 1, 3).is_err());
    }
}
