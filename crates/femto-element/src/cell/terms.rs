//! The functions of a degree on a cell, as sums of simple terms.

use super::Cell;

impl Cell {
    /// Exponents (a, b, c, d) of the terms ξ^a η^b ζ^c (1 - ζ)^-d that span the functions of a degree, `[nodes][4]`:
    /// one for each position of [`Cell::lattice`]. Constants and linear functions come first, and the terms of a
    /// lower degree before others.
    ///
    /// d = min(a, b) on pyramids, otherwise zero. On pyramids this is the space of M. Bergot, G. Cohen and
    /// M. Duruflé, "Higher-order finite elements for hybrid meshes using new nodal pyramidal elements", J. Sci.
    /// Comput. 42 (2010), §2.2, which has complete polynomials on every facet.
    pub fn terms(self, degree: usize) -> Vec<[usize; 4]> {
        let contains = self.reference().contains;
        let lowest = |steps: [usize; 3]| (0..=degree).find(|&n| contains(n.into(), steps));
        let quotient = |[a, b, c]: [usize; 3]| match self {
            Self::Pyramid => [a, b, c, a.min(b)],
            _ => [a, b, c, 0],
        };
        let mut terms: Vec<_> = self.all_steps(degree.into()).collect();
        terms.sort_by_key(|&steps| (lowest(steps), steps.iter().sum::<usize>()));
        terms.into_iter().map(quotient).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_low_degrees_come_first() {
        for cell in Cell::ALL {
            let all = cell.terms(3);
            for degree in 1..=3 {
                let count = cell.lattice(degree).len();
                assert_eq!(all[..count], cell.terms(degree), "{cell:?} {degree}");
            }
            let linear = &all[..=cell.dim()];
            let sum = |[a, b, c, d]: &[usize; 4]| a + b + c + d;
            assert!(linear.iter().all(|term| sum(term) <= 1), "{cell:?}");
            assert!(all[1 + cell.dim()..].iter().all(|term| sum(term) > 1));
        }
        assert_eq!(Cell::Pyramid.terms(1)[4], [1, 1, 0, 1]);
    }
}
