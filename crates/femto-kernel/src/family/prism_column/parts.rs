//! What λ u, κ ∇u with coefficients that are constant in each prism consist of: on horizontal layers matrices of the triangle
//! and of the line, on others the triangle's points and the line's polynomials.

use super::tables::{InPlane, Tables};
use crate::family::{ElementOperator, MOST_CONSTANT_BYTES};
use femto_element::Layering;
use femto_element::basis::lagrange::interpolation;
use femto_element::basis::nodes::gll;
use femto_element::quadrature::gauss;
use femto_element::tables::BasisAtPoints;

/// The parts of an operator λ u, κ ∇u.
#[derive(Clone, Debug)]
pub(super) enum Parts<R> {
    /// At degree 1 along both; on horizontal layers devices take [`Parts::Level`], which is faster there.
    Linear(LinearSums<R>),
    /// On horizontal layers.
    Level(FactorMatrices<R>),
    /// On layers that slope, of higher degrees.
    Sloped(LineModes<R>),
}

/// The most unknowns of a prism for which modes are faster than points, by measurement on an H200.
const MOST_UNKNOWNS: usize = 80;

impl Parts<f64> {
    /// The parts of an operator for the host, if it consists of them.
    pub(super) fn on_host(operator: &ElementOperator, tables: &Tables) -> Option<Self> {
        match operator.layering {
            _ if !consists_of_parts(operator) => None,
            _ if tables.degree == 1 => LinearSums::new(tables).map(Self::Linear),
            Layering::Level => Some(Self::Level(FactorMatrices::new(tables))),
            _ => LineModes::new(tables).map(Self::Sloped),
        }
    }

    /// The parts of an operator for a device, if it consists of them.
    pub(super) fn on_device(operator: &ElementOperator, tables: &Tables) -> Option<Self> {
        let unknowns = tables.nodes() * operator.inspection.components;
        let parts = match operator.layering {
            _ if !consists_of_parts(operator) => None,
            Layering::Level => Some(Self::Level(FactorMatrices::new(tables))),
            _ if tables.degree == 1 => LinearSums::new(tables).map(Self::Linear),
            _ if unknowns > MOST_UNKNOWNS => None,
            _ => LineModes::new(tables).map(Self::Sloped),
        };
        parts.filter(|it| 8 * it.numbers(tables).len() <= MOST_CONSTANT_BYTES)
    }

    /// The numbers that kernels read.
    pub(super) fn numbers(&self, tables: &Tables) -> Vec<f64> {
        let [nodes, points] = tables.triangle;
        match self {
            Self::Level(it) => [&*it.triangle, &*it.line].concat(),
            Self::Linear(it) => [&*it.points, &*it.cubic, &*it.mass, &*it.norms].concat(),
            Self::Sloped(it) => {
                let triangle = &tables.numbers[..3 * points * (nodes + 1)];
                [triangle, &*it.coefficients, &*it.norms].concat()
            }
        }
    }
}

/// Whether an operator is λ u, κ ∇u with coefficients that are taken once for each prism.
fn consists_of_parts(operator: &ElementOperator) -> bool {
    operator.inspection.coefficients.is_some() && operator.fold_coefficients
}

impl<R: Copy> Parts<R> {
    /// All numbers in another precision.
    pub(super) fn convert<T>(&self, to: impl Fn(R) -> T) -> Parts<T> {
        let all = |numbers: &[R]| numbers.iter().map(|&number| to(number)).collect();
        match self {
            Self::Level(it) => Parts::Level(FactorMatrices {
                triangle: all(&it.triangle),
                line: all(&it.line),
            }),
            Self::Linear(it) => Parts::Linear(LinearSums {
                points: all(&it.points),
                cubic: all(&it.cubic),
                mass: all(&it.mass),
                norms: all(&it.norms),
            }),
            Self::Sloped(it) => Parts::Sloped(LineModes {
                coefficients: all(&it.coefficients),
                norms: all(&it.norms),
            }),
        }
    }
}

/// Matrices of the bases of the factors, integrated by the rules of the factors.
#[derive(Clone, Debug)]
pub(super) struct FactorMatrices<R> {
    /// Of the triangle, ∫ of φ_t φ_s, ∂φ_t ∂φ_s along ξ and along η, and mixed, ∂_ξ φ_t ∂_η φ_s + ∂_η φ_t ∂_ξ φ_s,
    /// `[t][s][4]`.
    pub(super) triangle: Vec<R>,
    /// Of the line, ∫ of φ_k φ_l and φ'_k φ'_l, `[k][l][2]`.
    pub(super) line: Vec<R>,
}

impl FactorMatrices<f64> {
    fn new(tables: &Tables) -> Self {
        let in_plane = InPlane(tables);
        let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
        let pairs = |n: usize| (0..n * n).map(move |pair| (pair / n, pair % n));
        let triangle = pairs(nt).flat_map(|(t, s)| {
            (0..qt).fold([0.0; 4], |sums, q| {
                let ((u, [u0, u1, _]), (v, [v0, v1, _])) = (in_plane.at(q, t), in_plane.at(q, s));
                let products = [u * v, u0 * v0, u1 * v1, u0 * v1 + u1 * v0];
                [0, 1, 2, 3].map(|n| sums[n] + in_plane.weight(q) * products[n])
            })
        });
        let values = &tables.numbers[3 * qt * (nt + 1)..];
        let (slopes, weights) = (&values[qz * nz..], &values[2 * qz * nz..]);
        let line = pairs(nz).flat_map(|(k, l)| {
            (0..qz).fold([0.0; 2], |sums, q| {
                let products = [values, slopes].map(|of| of[q * nz + k] * of[q * nz + l]);
                [0, 1].map(|n| sums[n] + weights[q] * products[n])
            })
        });
        Self {
            triangle: triangle.collect(),
            line: line.collect(),
        }
    }
}

/// Sums over points of the triangle at degree 1: entries 00, 11, 22, 01, 02, 12 of symmetric matrices over its corners.
#[derive(Clone, Debug)]
pub(super) struct LinearSums<R> {
    /// ξ, η and the weight times φ_t φ_s, `[point][2 + entry]`.
    pub(super) points: Vec<R>,
    /// ∫ φ_t φ_s φ_c, `[entry][c]`.
    pub(super) cubic: Vec<R>,
    /// ∫ φ_t φ_s, `[entry]`.
    pub(super) mass: Vec<R>,
    /// ∫ 1 and ∫ ζ² over the line.
    pub(super) norms: Vec<R>,
}

/// The corners of entries.
const ENTRIES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [0, 2], [1, 2]];

impl LinearSums<f64> {
    fn new(tables: &Tables) -> Option<Self> {
        let norms = norms(tables)?;
        let in_plane = InPlane(tables);
        let points: Vec<[f64; 8]> = (0..tables.triangle[1])
            .map(|q| {
                let phi = [0, 1, 2].map(|t| in_plane.at(q, t).0);
                let products = ENTRIES.map(|[t, s]| in_plane.weight(q) * (phi[t] * phi[s]));
                let [xx, yy, zz, xy, xz, yz] = products;
                [phi[1], phi[2], xx, yy, zz, xy, xz, yz]
            })
            .collect();
        let sum = |entry: usize, of: &dyn Fn(&[f64; 8]) -> f64| {
            let terms = points.iter().map(|point| point[2 + entry] * of(point));
            terms.sum::<f64>()
        };
        let cubic = (0..6).flat_map(|entry| {
            [
                sum(entry, &|point| 1.0 - point[0] - point[1]),
                sum(entry, &|point| point[0]),
                sum(entry, &|point| point[1]),
            ]
        });
        Some(Self {
            cubic: cubic.collect(),
            mass: (0..6).map(|entry| sum(entry, &|_| 1.0)).collect(),
            points: points.concat(),
            norms,
        })
    }
}

/// Legendre polynomials in place of the line's basis.
#[derive(Clone, Debug)]
pub(super) struct LineModes<R> {
    /// The coefficient of P_j in φ_k, `[j][k]`.
    pub(super) coefficients: Vec<R>,
    /// ∫ P_j² by the line's rule, `[j]`.
    pub(super) norms: Vec<R>,
}

impl LineModes<f64> {
    /// `None` if the polynomials are not orthogonal for the rule.
    fn new(tables: &Tables) -> Option<Self> {
        let nz = tables.line[0];
        let exact = gauss(nz);
        let basis = interpolation(&gll(tables.degree.vertical), &exact.points);
        let coefficient = |j: usize, k: usize| {
            let terms = (0..nz)
                .map(|b| exact.weights[b] * legendre(nz, exact.points[b])[j] * basis.row(b)[k]);
            (j as f64 + 0.5) * terms.sum::<f64>()
        };
        let places = (0..nz).flat_map(|j| (0..nz).map(move |k| (j, k)));
        Some(Self {
            norms: norms(tables)?,
            coefficients: places.map(|(j, k)| coefficient(j, k)).collect(),
        })
    }
}

/// ∫ P_j² by the line's rule, `[j]`, if the polynomials are orthogonal for it.
fn norms(tables: &Tables) -> Option<Vec<f64>> {
    let ([nt, qt], [nz, qz]) = (tables.triangle, tables.line);
    let line = &tables.numbers[3 * qt * (nt + 1) + 2 * qz * nz..];
    let (weights, positions) = (&line[..qz], &line[qz..][..qz]);
    let product = |i: usize, j: usize| -> f64 {
        let points = weights.iter().zip(positions);
        let terms = points.map(|(weight, &x)| {
            let all = legendre(nz, x);
            weight * all[i] * all[j]
        });
        terms.sum()
    };
    let mut others = (0..nz).flat_map(|i| (0..i).map(move |j| (i, j)));
    let are_orthogonal = others.all(|(i, j)| product(i, j).abs() <= 1e-13);
    are_orthogonal.then(|| (0..nz).map(|j| product(j, j)).collect())
}

/// P_0 to P_{count-1} at a place: (j + 1) P_{j+1} = (2 j + 1) x P_j - j P_{j-1}.
fn legendre(count: usize, x: f64) -> Vec<f64> {
    let mut all = vec![1.0, x];
    for j in 1..count.max(2) - 1 {
        let n = j as f64;
        all.push(((2.0 * n + 1.0) * x * all[j] - n * all[j - 1]) / (n + 1.0));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_element::basis::LagrangeBasis;
    use femto_element::quadrature::rule;
    use femto_element::tables::DenseTables;

    fn tables(degree: usize, exact: usize) -> Tables {
        let basis = LagrangeBasis::new(Cell::Prism, degree).expect("a degree");
        let rule = rule(Cell::Prism, exact).expect("a rule");
        Tables::new(&DenseTables::new(&basis, &rule)).expect("a product")
    }

    #[test]
    fn legendre_polynomials_keep_their_norms() {
        for degree in 1..=8 {
            let modes = LineModes::new(&tables(degree, 2 * degree)).expect("orthogonal");
            for (j, norm) in modes.norms.iter().enumerate() {
                assert!((norm - 2.0 / (2 * j + 1) as f64).abs() < 1e-13);
            }
        }
        assert!(LineModes::new(&tables(4, 4)).is_none());
    }

    #[test]
    fn sums_of_degree_1_are_those_of_the_triangle() {
        let sums = LinearSums::new(&tables(1, 4)).expect("orthogonal");
        for (entry, [t, s]) in ENTRIES.into_iter().enumerate() {
            let mass = (1.0 + f64::from(t == s)) / 24.0;
            assert!((sums.mass[entry] - mass).abs() < 1e-15);
            let cubic: f64 = sums.cubic[3 * entry..][..3].iter().sum();
            assert!((cubic - mass).abs() < 1e-15);
        }
    }
}
