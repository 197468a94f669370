//! Quadrature rules.
//!
//! On the reference line `[-1, 1]`, whose tensor products are rules on quadrilaterals and hexahedra:
//!
//! | rule | points | exact to degree | endpoints |
//! |---|---|---|---|
//! | [`gauss`] | n ≥ 1 | 2n - 1 | no |
//! | [`gauss_lobatto`] | n ≥ 2 | 2n - 3 | yes |
//!
//! On the reference triangle and tetrahedron: [`simplex_rule`]. On any cell: [`rule`].
//!
//! Points and weights come from Newton's method on Legendre polynomials in double-double arithmetic, so
//! that they are correct to within one unit in the last place for any number of points.

mod conical;
mod double_double;
mod jacobi;
mod simplex;

use double_double::Double;
use jacobi::jacobi;
pub use simplex::{MAX_SIMPLEX_RULE_DEGREE, simplex_rule};

use crate::cell::Cell;
use crate::{Degree, Symmetry};
use std::f64::consts::PI;

/// A quadrature rule on `[-1, 1]`: ∫ f dx ≈ Σ weights\[i\] f(points\[i\]).
///
/// Points ascend; the rule is exactly symmetric: `points[n-1-i] == -points[i]` and
/// `weights[n-1-i] == weights[i]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule1d {
    /// Positions, `[points]`, ascending.
    pub points: Vec<f64>,
    /// Weights, `[points]`; they sum to 2.
    pub weights: Vec<f64>,
}

/// Why a rule does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuadratureError {
    /// A Gauss–Lobatto rule contains both ends of the interval.
    #[error(
        "a Gauss–Lobatto rule has both end points, so at least 2 points; {found} were asked for"
    )]
    TooFewLobattoPoints {
        /// Requested number of points.
        found: usize,
    },
    /// There is no simplex of this dimension.
    #[error("quadrature on a simplex of dimension {found}: supported are 1, 2 and 3")]
    SimplexDimension {
        /// Requested dimension.
        found: usize,
    },
    /// A rule on a simplex would have too many points.
    #[error(
        "quadrature of degree {found} on a simplex: supported is up to {MAX_SIMPLEX_RULE_DEGREE}"
    )]
    SimplexDegree {
        /// Requested degree.
        found: usize,
    },
}

/// A quadrature rule on a cell: ∫ f dξ ≈ Σ weights\[i\] f(points\[i\]), with positive weights and points inside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rule {
    /// Positions, `[points][3]`; coordinates beyond the dimension are zero.
    pub points: Vec<[f64; 3]>,
    /// Weights, `[points]`; they sum to the volume of the reference cell.
    pub weights: Vec<f64>,
    /// The degree to which the rule is exact; on tensor products, along each axis.
    pub degree: usize,
}

impl Rule {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether the rule has no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The approximation of ∫ f dξ.
    pub fn integrate(&self, f: impl Fn([f64; 3]) -> f64) -> f64 {
        let pairs = self.points.iter().zip(&self.weights);
        pairs.map(|(&x, w)| w * f(x)).sum()
    }

    /// The product of rules along each axis, exact to `degree` or more, lexicographic.
    pub fn product(lines: &[Rule1d], degree: usize) -> Self {
        let point = Self {
            points: vec![[0.0; 3]],
            weights: vec![1.0],
            degree,
        };
        let axes = lines.iter().enumerate();
        axes.fold(point, |base, (axis, line)| times_line(&base, line, axis))
    }

    /// The points orbit by orbit of the cell's symmetry, largest orbits first; as they are if the rule is not symmetric.
    fn by_orbits(self, cell: Cell) -> Self {
        let Some(symmetry) = Symmetry::of_points(cell, &self.points) else {
            return self;
        };
        let order = symmetry.order();
        Self {
            points: order.iter().map(|&point| self.points[point]).collect(),
            weights: order.iter().map(|&point| self.weights[point]).collect(),
            degree: self.degree,
        }
    }

    fn push(&mut self, point: [f64; 3], weight: f64) {
        self.points.push(point);
        self.weights.push(weight);
    }
}

/// A rule on a cell that is exact to a degree (on tensor products along each axis): [`simplex_rule`] or
/// products of [`gauss`], points lexicographic; a conical product on pyramids.
///
/// # Errors
/// A degree above [`MAX_SIMPLEX_RULE_DEGREE`].
pub fn rule(cell: Cell, degree: impl Into<Degree>) -> Result<Rule, QuadratureError> {
    let degree = degree.into();
    if degree.most() > MAX_SIMPLEX_RULE_DEGREE {
        let found = degree.most();
        return Err(QuadratureError::SimplexDegree { found });
    }
    let lines = cell.steps(degree).map(|exact| gauss(exact / 2 + 1));
    match cell {
        Cell::Triangle | Cell::Tetrahedron => simplex_rule(cell.dim(), degree.horizontal),
        Cell::Prism => Ok(times_line(
            &simplex_rule(2, degree.horizontal)?,
            &lines[2],
            2,
        )),
        Cell::Pyramid => Ok(conical::pyramid(degree.horizontal)),
        Cell::Point | Cell::Line | Cell::Quadrilateral | Cell::Hexahedron => {
            let exact = 2 * lines.iter().map(Rule1d::len).min().unwrap_or(0);
            Ok(Rule::product(&lines[..cell.dim()], exact.saturating_sub(1)))
        }
    }
}

/// The product of a rule with one along another axis, the slowest in the result; it is exact to the degree of the
/// base, or of Gauss's rule if that is lower.
fn times_line(base: &Rule, line: &Rule1d, axis: usize) -> Rule {
    let mut product = Rule {
        degree: base.degree.min((2 * line.len()).saturating_sub(1)),
        ..Rule::default()
    };
    for (x, weight) in line.points.iter().zip(&line.weights) {
        for (&point, base_weight) in base.points.iter().zip(&base.weights) {
            let mut point = point;
            point[axis] = *x;
            product.push(point, weight * base_weight);
        }
    }
    product
}

impl Rule1d {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether the rule has no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The approximation of ∫ f dx over `[-1, 1]`.
    pub fn integrate(&self, f: impl Fn(f64) -> f64) -> f64 {
        self.points
            .iter()
            .zip(&self.weights)
            .map(|(&x, &w)| w * f(x))
            .sum()
    }

    /// The symmetric rule whose points in the right half are given by `right_half`, called with
    /// 0, 1, ... from the largest point down and returning (point, weight).
    fn mirrored(points: usize, right_half: impl Fn(usize) -> (f64, f64)) -> Self {
        let mut rule = Self {
            points: vec![0.0; points],
            weights: vec![0.0; points],
        };
        for left in 0..points.div_ceil(2) {
            let right = points - 1 - left;
            let (x, w) = right_half(left);
            let x = if left == right { 0.0 } else { x };
            (rule.points[left], rule.points[right]) = (-x, x);
            (rule.weights[left], rule.weights[right]) = (w, w);
        }
        rule
    }
}

/// The Gauss–Legendre rule with this many points, exact for polynomials of degree `2 points - 1`.
///
/// The points x are the roots of the Legendre polynomial P_n; the weights are `2 / ((1 - x²) P_n'(x)²)`
/// (Abramowitz & Stegun 1964, 25.4.29). Newton's method starts from `cos(π (i + 3/4) / (n + 1/2))` (ibid.,
/// 22.16.6, first term). With zero points the rule is empty.
pub fn gauss(points: usize) -> Rule1d {
    let n = points as f64;
    Rule1d::mirrored(points, |i| {
        let guess = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
        let x = newton(guess, |x| {
            let (value, derivative) = jacobi(points, 0, x);
            value / derivative
        });
        let (_, derivative) = jacobi(points, 0, x);
        let one_minus_x2 = Double::from(1.0) - x * x;
        let weight = Double::from(2.0) / (one_minus_x2 * derivative * derivative);
        (x.round(), weight.round())
    })
}

/// The Gauss–Lobatto rule with this many points, exact for polynomials of degree `2 points - 3`.
///
/// With m = points - 1 the points are ±1 and the roots of P_m', the weights
/// `2 / (m (m + 1) P_m(x)²)` (Abramowitz & Stegun 1964, 25.4.32). Newton's method runs on
/// `q(x) = (1 - x²) P_m'(x)`, whose derivative is `-m (m + 1) P_m(x)` by Legendre's equation, from
/// the Chebyshev points `cos(π i / m)`.
///
/// # Errors
/// Fewer than 2 points.
pub fn gauss_lobatto(points: usize) -> Result<Rule1d, QuadratureError> {
    if points < 2 {
        return Err(QuadratureError::TooFewLobattoPoints { found: points });
    }
    let m = points - 1;
    let m_m1 = Double::from(m as f64) * Double::from(points as f64);
    let weight = |value: Double| (Double::from(2.0) / (m_m1 * value * value)).round();
    Ok(Rule1d::mirrored(points, |i| {
        if i == 0 {
            return (1.0, weight(Double::from(1.0)));
        }
        let guess = (PI * i as f64 / m as f64).cos();
        let x = newton(guess, |x| {
            let (value, derivative) = jacobi(m, 0, x);
            let q = (Double::from(1.0) - x * x) * derivative;
            Double::from(0.0) - q / (m_m1 * value)
        });
        (x.round(), weight(jacobi(m, 0, x).0))
    }))
}

/// Newton's method from `guess` until the step is far below the last bit of an f64.
fn newton(guess: f64, step: impl Fn(Double) -> Double) -> Double {
    let mut x = Double::from(guess);
    // Quadratic convergence from guesses good to 1e-2: five steps suffice, twenty are never used.
    for _ in 0..20 {
        let dx = step(x);
        x = x - dx;
        if dx.round().abs() < 1e-20 {
            break;
        }
    }
    x
}
