//! The oracle: outputs of all stages from closed forms of the element matrices, without quadrature.

use super::host::right_hand_side;
use super::{Columns, Stage};

/// A cell's matrix, `[node][node]`.
type Matrix = [[f64; 6]; 6];

/// The output of every stage, computed serially.
///
/// Of a prism with base area a and height d, node 2c + b:
///
/// M = (a d / 72) (1 + δ_cc′) (1 + δ_bb′),
/// K = a ∇λ_c·∇λ_c′ (d / 6) (1 + δ_bb′) ± (a / 12 d) (1 + δ_cc′), with + if b = b′.
#[derive(Clone, Debug)]
pub struct Oracle {
    f: Output,
    load: Output,
    rhs: Output,
    lhs: Output,
    action: Output,
}

/// What a stage should write.
#[derive(Clone, Debug)]
pub struct Output {
    /// `[node]`
    pub values: Vec<f64>,
    /// The largest Σ_k |A_jk u_k| of a row j of a cell, or the largest value: rounding errors are relative to it. Rows
    /// of K cancel, so that the values of `rhs` and `lhs` may be much smaller.
    pub scale: f64,
}

impl Output {
    /// The largest difference from the oracle relative to the scale; NaN counts as infinite.
    pub fn error(&self, found: &[f64]) -> f64 {
        if found.len() != self.values.len() {
            return f64::INFINITY;
        }
        let pairs = found.iter().zip(&self.values);
        pairs.fold(0.0, |most: f64, (found, wanted)| {
            let error = (found - wanted).abs() / self.scale;
            if error.is_nan() {
                f64::INFINITY
            } else {
                most.max(error)
            }
        })
    }

    fn zeros(columns: &Columns) -> Self {
        Self {
            values: vec![0.0; columns.nodes()],
            scale: f64::MIN_POSITIVE,
        }
    }

    /// Adds a cell's A u.
    fn add(&mut self, nodes: [usize; 6], matrices: &[&Matrix], u: [f64; 6]) {
        for (j, node) in nodes.into_iter().enumerate() {
            let rows = matrices.iter().map(|matrix| matrix[j]);
            let terms = rows
                .flat_map(|row| row.into_iter().zip(u))
                .map(|(a, u)| a * u);
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| {
                (sum + term, size + term.abs())
            });
            self.values[node] += sum;
            self.scale = self.scale.max(size);
        }
    }
}

impl Oracle {
    /// For f of [`Stage::Expression1`].
    pub fn new(columns: &Columns) -> Self {
        let nodes = 0..columns.nodes();
        let f = nodes.map(|node| right_hand_side(columns.position(node)));
        Self::of(columns, f.collect())
    }

    /// For any f, `[node]`.
    fn of(columns: &Columns, f: Vec<f64>) -> Self {
        let [mut load, mut rhs, mut lhs, mut action] = [(); 4].map(|()| Output::zeros(columns));
        for nodes in cells(columns) {
            let (mass, _) = matrices(columns, nodes);
            load.add(nodes, &[&mass], nodes.map(|n| f[n]));
        }
        for nodes in cells(columns) {
            let (mass, stiffness) = matrices(columns, nodes);
            let own = nodes.map(|n| load.values[n]);
            rhs.add(nodes, &[&stiffness], own);
            lhs.add(nodes, &[&mass, &stiffness], [1.0; 6]);
            action.add(nodes, &[&mass, &stiffness], own);
        }
        let scale = f
            .iter()
            .fold(f64::MIN_POSITIVE, |most, f| most.max(f.abs()));
        Self {
            f: Output { values: f, scale },
            load,
            rhs,
            lhs,
            action,
        }
    }

    /// The output of a stage; `None` for [`Stage::Zero`], which has several, all zero.
    pub fn output(&self, stage: Stage) -> Option<&Output> {
        match stage {
            Stage::Zero => None,
            Stage::Expression1 => Some(&self.f),
            Stage::Rhs1 | Stage::Expression2 => Some(&self.load),
            Stage::Rhs => Some(&self.rhs),
            Stage::Lhs => Some(&self.lhs),
            Stage::Action => Some(&self.action),
        }
    }
}

fn cells(columns: &Columns) -> impl Iterator<Item = [usize; 6]> {
    let layers = columns.layers();
    let column = move |triangle| (0..layers).map(move |layer| columns.cell(triangle, layer));
    (0..columns.triangles()).flat_map(column)
}

/// M and K of the cell with these nodes.
fn matrices(columns: &Columns, nodes: [usize; 6]) -> (Matrix, Matrix) {
    let x = nodes.map(|node| columns.position(node));
    let height = x[1][2] - x[0][2];
    // The side opposite of each corner: ∇λ is normal to it, of length |side| / 2a.
    let side = |c: usize| {
        let (from, to) = (x[2 * ((c + 1) % 3)], x[2 * ((c + 2) % 3)]);
        [to[0] - from[0], to[1] - from[1]]
    };
    let sides = [0, 1, 2].map(side);
    let area = 0.5 * (sides[0][0] * sides[1][1] - sides[0][1] * sides[1][0]).abs();
    let both = |a: usize, b: usize| 1.0 + f64::from(u8::from(a == b));
    let of = |entry: &dyn Fn([usize; 2], [usize; 2]) -> f64| -> Matrix {
        core::array::from_fn(|m| core::array::from_fn(|n| entry([m / 2, m % 2], [n / 2, n % 2])))
    };
    let mass = of(&|[c, b], [e, g]| area * height / 72.0 * both(c, e) * both(b, g));
    let stiffness = of(&|[c, b], [e, g]| {
        let products = sides[c][0] * sides[e][0] + sides[c][1] * sides[e][1];
        let across = products / (4.0 * area) * (height / 6.0) * both(b, g);
        let along = area / (12.0 * height) * both(c, e);
        across + if b == g { along } else { -along }
    });
    (mass, stiffness)
}
