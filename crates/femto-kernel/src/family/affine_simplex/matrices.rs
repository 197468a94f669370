//! The matrices of the reference cell, and the factors of a cell.

use crate::family::CellMap;
use crate::form::Inspection;
use femto_element::tables::DenseTables;

/// Largest part of a column outside the span of others that is rounding, relative to the longest column.
const ROUNDING: f64 = 1e-10;

/// The matrices of the reference cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// Dimension of the cell.
    pub dim: usize,
    /// Nodes of the cell.
    pub nodes: usize,
    /// S_ab, row-major, `[a][b][row][column]`; empty without stiffness.
    pub stiffness: Vec<Vec<f64>>,
    /// M, row-major; `None` without mass.
    pub mass: Option<Vec<f64>>,
    /// Derivatives D̂_a with S_ab = D̂_aᵀ D̂_b and as few rows as possible, `[a][rank][column]`.
    pub derivatives: Vec<f64>,
    /// Rows of each D̂_a: the dimension of the polynomials of one degree less, if the rule has as many points.
    pub rank: usize,
}

impl Matrices {
    /// Those that a form λ u, κ ∇u needs.
    pub fn new(tables: &DenseTables, inspection: &Inspection) -> Self {
        Self::with(
            tables,
            inspection.reads_values && inspection.writes_values,
            inspection.gradients(),
        )
    }

    /// With or without mass and stiffness.
    pub fn with(tables: &DenseTables, mass: bool, stiffness: bool) -> Self {
        let DenseTables {
            dim, nodes, points, ..
        } = *tables;
        let root = |point: usize| tables.weights[point].sqrt();
        // Columns of W^½ D, `[a][node][point]`, and of W^½ B, `[node][point]`.
        let slope = |a: usize, node: usize| -> Vec<f64> {
            let at = |point: usize| root(point) * tables.grad[(point * nodes + node) * dim + a];
            (0..points).map(at).collect()
        };
        let value = |node: usize| -> Vec<f64> {
            let at = |point: usize| root(point) * tables.interp[point * nodes + node];
            (0..points).map(at).collect()
        };
        let values: Vec<Vec<f64>> = if mass {
            (0..nodes).map(value).collect()
        } else {
            Vec::new()
        };
        let axes = if stiffness { dim } else { 0 };
        let slopes: Vec<Vec<Vec<f64>>> = (0..axes)
            .map(|a| (0..nodes).map(|node| slope(a, node)).collect())
            .collect();
        let pairs = (0..axes).flat_map(|a| (0..axes).map(move |b| (a, b)));
        let basis = orthonormal(slopes.iter().flatten());
        let derivatives = slopes.iter().flat_map(|columns| product(&basis, columns));
        Self {
            dim,
            nodes,
            stiffness: pairs
                .map(|(a, b)| product(&slopes[a], &slopes[b]))
                .collect(),
            mass: mass.then(|| product(&values, &values)),
            derivatives: derivatives.collect(),
            rank: basis.len(),
        }
    }

    /// Whether the form has gradients.
    pub fn has_stiffness(&self) -> bool {
        !self.stiffness.is_empty()
    }

    /// The number of factors of a cell, and of matrices with S_ab and S_ba added up.
    pub fn factors(&self) -> usize {
        pairs(self.dim) * usize::from(self.has_stiffness()) + usize::from(self.mass.is_some())
    }

    /// The matrices, `[matrix][row][column]`: with `symmetric`, S_ab + S_ba for a < b in place of both.
    pub fn all(&self, symmetric: bool) -> Vec<Vec<f64>> {
        let dim = self.dim;
        let mut all = Vec::new();
        if self.has_stiffness() {
            for a in 0..dim {
                for b in 0..dim {
                    let own = &self.stiffness[a * dim + b];
                    let other = &self.stiffness[b * dim + a];
                    match (symmetric, a.cmp(&b)) {
                        (true, std::cmp::Ordering::Less) => {
                            all.push(own.iter().zip(other).map(|(x, y)| x + y).collect());
                        }
                        (true, std::cmp::Ordering::Greater) => {}
                        _ => all.push(own.clone()),
                    }
                }
            }
        }
        all.extend(self.mass.clone());
        all
    }

    /// Writes the factors of a cell with λ and κ: G_ab for a ≤ b, then λ |J|, `[factors]`.
    pub fn pack(&self, map: CellMap, (lambda, kappa): (f64, f64), out: &mut [f64]) {
        let CellMap::Vertices(vertices) = map else {
            unreachable!("the map of a cell that is not an affine simplex");
        };
        let dim = self.dim;
        // Rows of J are edges from the first vertex: J[axis][d] = ∂x_d/∂ξ_axis.
        let edge = |axis: usize| [0, 1, 2].map(|d| vertices[axis + 1][d] - vertices[0][d]);
        let [r, s] = [edge(0), edge(1)];
        let t = if dim == 3 { edge(2) } else { [0.0, 0.0, 1.0] };
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [0, 1, 2].map(|d| a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3])
        };
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        // Cofactors: ∇ξ_axis = cofactors[axis] / det J.
        let cofactors = [cross(s, t), cross(t, r), cross(r, s)];
        let determinant = dot(r, cofactors[0]);
        let mut out = out.iter_mut();
        if self.has_stiffness() {
            for a in 0..dim {
                for b in a..dim {
                    if let Some(out) = out.next() {
                        *out = kappa * dot(cofactors[a], cofactors[b]) / determinant.abs();
                    }
                }
            }
        }
        if let Some(out) = out.next() {
            *out = lambda * determinant.abs();
        }
    }
}

/// Pairs a ≤ b of axes.
const fn pairs(dim: usize) -> usize {
    dim * (dim + 1) / 2
}

/// Inner products of columns, `[left][right]`.
fn product(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<f64> {
    let rows = left.iter();
    rows.flat_map(|left| right.iter().map(move |right| inner(left, right)))
        .collect()
}

fn inner(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(x, y)| x * y).sum()
}

/// An orthonormal basis of the span of columns: Gram–Schmidt, twice for each column.
fn orthonormal<'a>(columns: impl Iterator<Item = &'a Vec<f64>> + Clone) -> Vec<Vec<f64>> {
    let length = |column: &Vec<f64>| inner(column, column).sqrt();
    let longest = columns.clone().map(length).fold(0.0, f64::max);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let mut rest = column.clone();
        for _ in 0..2 {
            for own in &basis {
                let part = inner(own, &rest);
                for (rest, own) in rest.iter_mut().zip(own) {
                    *rest -= part * own;
                }
            }
        }
        let length = length(&rest);
        if length > ROUNDING * longest {
            basis.push(rest.iter().map(|x| x / length).collect());
        }
    }
    basis
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_element::basis::LagrangeBasis;
    use femto_element::quadrature::rule;

    fn tables(cell: Cell, degree: usize) -> DenseTables {
        let rule = rule(cell, 2 * degree).unwrap();
        DenseTables::in_space(
            &LagrangeBasis::new(cell, degree).unwrap(),
            &rule,
            cell.dim(),
        )
    }

    /// S_ab = D̂_aᵀ D̂_b, with as many rows as there are polynomials of one degree less.
    #[test]
    fn derivatives_are_factors_of_the_stiffness() {
        for cell in [Cell::Triangle, Cell::Tetrahedron] {
            for degree in 1..=8 {
                let it = Matrices::with(&tables(cell, degree), true, true);
                let (dim, nodes, rank) = (it.dim, it.nodes, it.rank);
                assert_eq!(
                    rank,
                    (degree..degree + dim).product::<usize>() / (1..=dim).product::<usize>()
                );
                for a in 0..dim {
                    for b in 0..dim {
                        let row = |axis: usize, r: usize| {
                            &it.derivatives[(axis * rank + r) * nodes..][..nodes]
                        };
                        for i in 0..nodes {
                            for j in 0..nodes {
                                let found: f64 =
                                    (0..rank).map(|r| row(a, r)[i] * row(b, r)[j]).sum();
                                let expected = it.stiffness[a * dim + b][i * nodes + j];
                                assert!((found - expected).abs() < 1e-12, "{cell:?} {degree}");
                            }
                        }
                    }
                }
            }
        }
    }

    /// Sums of M are the cell's volume, rows of S sum to zero.
    #[test]
    fn constants_have_a_volume_and_no_slope() {
        let it = Matrices::with(&tables(Cell::Tetrahedron, 5), true, true);
        assert_eq!(
            (it.factors(), it.all(true).len(), it.all(false).len()),
            (7, 7, 10)
        );
        let mass: f64 = it.mass.iter().flatten().sum();
        assert!((mass - 1.0 / 6.0).abs() < 1e-14);
        for row in it.all(true)[..6].iter().flat_map(|it| it.chunks_exact(56)) {
            assert!(row.iter().sum::<f64>().abs() < 1e-12);
        }
    }
}
