//! The data of a boundary: values of functions at points, and integrals of such values over facets.
//!
//! A [`PointFunction`] is a function of position and time; its oracle is
//! [`Program::evaluate`](crate::expr::Program::evaluate). A [`FacetSums`] integrates values at the points
//! of facets against basis functions, and is the oracle of the kernel of [`source::facets`]. Every
//! node has its sum, taken in an order that the tables fix, so that results have the same bits for any
//! number of threads.

mod function;
pub mod source;

pub use function::PointFunction;

use crate::roofline::Work;

/// The integrals of the basis functions φ of some nodes times a function g over facets.
///
/// A contribution is what one facet adds to one node: a facet, and the row of the basis table that is φ there.
///
/// ```text
/// sums[n] = Σ_{contributions (f, r) of n} Σ_p basis[r][p] weights[f][p] g[f][p]
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FacetSums<'a> {
    /// Points of a facet.
    pub points: usize,
    /// Where the contributions of each node begin, and after the last where they end, `[node + 1]`.
    pub offsets: &'a [u32],
    /// Facet and row of each contribution, `[contribution][2]`.
    pub contributions: &'a [u32],
    /// `[row][point]`
    pub basis: &'a [f64],
    /// Quadrature weights times area factors, `[facet][point]`.
    pub weights: &'a [f64],
}

impl FacetSums<'_> {
    /// The sums of the nodes from number `first` on, as many as `sums` has, of the values
    /// `[facet][point]`.
    ///
    /// # Panics
    /// If a table is too short.
    pub fn sum(&self, values: &[f64], first: usize, sums: &mut [f64]) {
        let points = self.points;
        for (ends, sum) in self.offsets[first..].windows(2).zip(sums) {
            *sum = 0.0;
            let (contributions, _) = self.contributions.as_chunks::<2>();
            for &[facet, row] in &contributions[ends[0] as usize..ends[1] as usize] {
                let (facet, row) = (facet as usize * points, row as usize * points);
                for p in 0..points {
                    *sum += self.basis[row + p] * (self.weights[facet + p] * values[facet + p]);
                }
            }
        }
    }

    /// How long the tables are.
    pub fn sizes(&self) -> FacetSizes {
        FacetSizes {
            points: self.points,
            nodes: self.offsets.len().saturating_sub(1),
            contributions: self.contributions.len() / 2,
            basis: self.basis.len(),
            weights: self.weights.len(),
        }
    }
}

/// How long the tables of a [`FacetSums`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FacetSizes {
    /// Points of a facet.
    pub points: usize,
    /// Nodes with a sum.
    pub nodes: usize,
    /// Contributions of all nodes.
    pub contributions: usize,
    /// Entries of the basis table.
    pub basis: usize,
    /// Points of all facets.
    pub weights: usize,
}

impl FacetSizes {
    /// The work of the sums of all nodes: the tables and the values are read, the sums written; for each
    /// contribution and point two products and a sum.
    pub fn work(&self) -> Work {
        let numbers = self.basis + 2 * self.weights;
        let indices = self.nodes + 1 + 2 * self.contributions;
        Work {
            bytes_read: (numbers * size_of::<f64>() + indices * size_of::<u32>()) as u64,
            bytes_written: (self.nodes * size_of::<f64>()) as u64,
            flops: (3 * self.contributions * self.points) as u64,
            shared_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two facets with two points each, on a line of three nodes.
    #[test]
    fn shares_of_a_node_are_added() {
        let sums = FacetSums {
            points: 2,
            offsets: &[0, 1, 3, 4],
            contributions: &[0, 0, 0, 1, 1, 0, 1, 1],
            basis: &[0.75, 0.25, 0.25, 0.75],
            weights: &[0.5, 0.5, 1.0, 1.0],
        };
        let values = [1.0, 2.0, 3.0, 4.0];
        let mut all = [f64::NAN; 3];
        sums.sum(&values, 0, &mut all);
        let wanted = [0.375 + 0.25, (0.125 + 0.75) + (2.25 + 1.0), 0.75 + 3.0];
        assert_eq!(all, wanted);
        let mut last = [f64::NAN; 2];
        sums.sum(&values, 1, &mut last);
        assert_eq!(last, wanted[1..]);
        let work = sums.sizes().work();
        assert_eq!(work.bytes_read, (4 + 4 + 4) * 8 + (4 + 8) * 4);
        assert_eq!((work.bytes_written, work.flops), (24, 4 * 2 * 3));
    }
}
