//! Classes of nodes: their matrices, and sums over orbits.

use super::rows::RowBlocks;
use crate::family::affine_simplex::{Matrices, Symmetry};
use crate::scalar::{Lanes, Real};

/// The matrices of a class of nodes.
pub(super) struct Class<R> {
    /// Derivatives along each axis, of the class that they are, `[axis and rank][sum]`.
    pub(super) slopes: RowBlocks<R>,
    /// Their transpose, then M, `[sum][axis and rank, then sum]`.
    pub(super) back: RowBlocks<R>,
    /// Its start in the kernel's `Scratch::columns`, and of each axis' derivatives.
    pub(super) start: usize,
    pub(super) starts: Vec<usize>,
}

impl<R: Real> Class<R> {
    pub(super) fn new(matrices: &Matrices, class: usize, start: usize) -> Self {
        let symmetry = &matrices.symmetry;
        let sums = symmetry.sums(class).len();
        // Derivatives of functions of this class are of that class along an axis.
        let of = |axis: usize| symmetry.before(axis, class);
        let (mut rows, mut starts) = (Vec::new(), Vec::new());
        for axis in 0..matrices.axes() {
            starts.push(start + rows.len());
            rows.extend((0..matrices.ranks[of(axis)]).map(|rank| (axis, rank)));
        }
        let slope = |row: usize, sum: usize| {
            let (axis, rank) = rows[row];
            matrices.derivatives[of(axis)][axis][rank * sums + sum]
        };
        let masses = matrices.masses.get(class);
        let back = |sum: usize, column: usize| match column.checked_sub(rows.len()) {
            None => slope(column, sum),
            Some(other) => masses.map_or(0.0, |mass| mass[sum * sums + other]),
        };
        let columns = rows.len() + masses.map_or(0, |_| sums);
        Self {
            slopes: RowBlocks::new((rows.len(), sums), slope),
            back: RowBlocks::new((sums, columns), back),
            start,
            starts,
        }
    }

    /// Its numbers in the kernel's `Scratch::columns`.
    pub(super) fn columns(&self) -> usize {
        self.back.columns
    }
}

/// Derivatives of one class along all axes.
pub(super) struct Flux {
    pub(super) rank: usize,
    /// Their starts in the kernel's `Scratch::columns`, `[axis]`.
    pub(super) starts: Vec<usize>,
}

/// The orbits of nodes, and where their sums are.
pub(super) struct Orbits {
    /// Those of four nodes, which have a sum in each class.
    quads: Vec<[usize; 4]>,
    /// Those of two, with their sum and difference: nodes, then places of the sums.
    pairs: Vec<([usize; 2], [usize; 2])>,
    /// Those of one node.
    singles: Vec<(usize, usize)>,
    /// The first sum of each class.
    pub(super) starts: Vec<usize>,
}

impl Orbits {
    pub(super) fn new(symmetry: &Symmetry) -> Self {
        let (mut starts, mut sums) = (Vec::new(), Vec::new());
        for class in 0..symmetry.classes {
            starts.push(sums.len());
            sums.extend(symmetry.sums(class));
        }
        let (mut quads, mut pairs, mut singles) = (Vec::new(), Vec::new(), Vec::new());
        for &orbit in &symmetry.orbits {
            let has_it = |&place: &usize| sums[place].iter().any(|it| it.0 == orbit[0]);
            let places: Vec<usize> = (0..sums.len()).filter(has_it).collect();
            match places[..] {
                [place] => singles.push((orbit[0], place)),
                [plus, minus] => pairs.push(([0, 1].map(|n| sums[plus][n].0), [plus, minus])),
                _ => quads.push(orbit),
            }
        }
        Self {
            quads,
            pairs,
            singles,
            starts,
        }
    }

    /// The sums of nodal values.
    #[inline(always)]
    pub(super) fn gather<L: Lanes>(&self, u: &[L], sums: &mut [L]) {
        if let [first, second, third, fourth] = self.starts[..] {
            for (o, orbit) in self.quads.iter().enumerate() {
                let [a, b, c, d] = sums_of_four(orbit.map(
                    #[inline(always)]
                    |node| u[node],
                ));
                (sums[first + o], sums[second + o]) = (a, b);
                (sums[third + o], sums[fourth + o]) = (c, d);
            }
        }
        for &([a, b], [plus, minus]) in &self.pairs {
            (sums[plus], sums[minus]) = (u[a] + u[b], u[a] - u[b]);
        }
        for &(node, place) in &self.singles {
            sums[place] = u[node];
        }
    }

    /// The transpose of [`Self::gather`].
    #[inline(always)]
    pub(super) fn scatter<L: Lanes>(&self, sums: &[L], v: &mut [L]) {
        if let [first, second, third, fourth] = self.starts[..] {
            for (o, &[a, b, c, d]) in self.quads.iter().enumerate() {
                let places = [first + o, second + o, third + o, fourth + o];
                [v[a], v[b], v[c], v[d]] = sums_of_four(places.map(
                    #[inline(always)]
                    |place| sums[place],
                ));
            }
        }
        for &([a, b], [plus, minus]) in &self.pairs {
            (v[a], v[b]) = (sums[plus] + sums[minus], sums[plus] - sums[minus]);
        }
        for &(node, place) in &self.singles {
            v[node] = sums[place];
        }
    }
}

/// Σ_g χ_c(g) x_g for each class c.
#[inline(always)]
fn sums_of_four<L: Lanes>([a, b, c, d]: [L; 4]) -> [L; 4] {
    let (plus, minus) = ([a + b, c + d], [a - b, c - d]);
    [
        plus[0] + plus[1],
        minus[0] + minus[1],
        plus[0] - plus[1],
        minus[0] - minus[1],
    ]
}
