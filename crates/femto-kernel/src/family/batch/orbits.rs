//! Sums over orbits of nodes or points, which operators keep apart.

use crate::scalar::Lanes;
use femto_element::Symmetry;

/// The orbits of nodes or of points, and where their sums are.
#[derive(Debug)]
pub(crate) struct Orbits {
    /// Those of four, which have a sum in each class, the sums of a class one after the other.
    quads: Vec<[usize; 4]>,
    /// The first sum of each of four classes.
    starts: [usize; 4],
    /// Those of two, with their sum and difference: nodes, then places of the sums.
    pairs: Vec<([usize; 2], [usize; 2])>,
    /// Those of one node.
    singles: Vec<(usize, usize)>,
}

impl Orbits {
    /// With the sums of a class from its place in `starts`.
    pub(crate) fn new(symmetry: &Symmetry, starts: &[usize]) -> Self {
        let mut first = [0; 4];
        first[..starts.len()].copy_from_slice(starts);
        let mut made = Self {
            quads: Vec::new(),
            starts: first,
            pairs: Vec::new(),
            singles: Vec::new(),
        };
        let sums = (0..symmetry.classes).flat_map(|class| {
            let sums = symmetry.sums(class).into_iter().zip(starts[class]..);
            sums.collect::<Vec<_>>()
        });
        let sums: Vec<_> = sums.collect();
        for &orbit in &symmetry.orbits {
            let own = sums.iter().filter(|(sum, _)| sum[0].0 == orbit[0]);
            let own: Vec<_> = own.collect();
            match own[..] {
                [(sum, place)] => made.singles.push((sum[0].0, *place)),
                [(sum, plus), (_, minus)] => {
                    made.pairs.push(([sum[0].0, sum[1].0], [*plus, *minus]));
                }
                _ => made.quads.push(orbit),
            }
        }
        made
    }

    /// The sums of values.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(&self, u: &[L], sums: &mut [L]) {
        let [first, second, third, fourth] = self.starts;
        for (o, orbit) in self.quads.iter().enumerate() {
            let [a, b, c, d] = sums_of_four(orbit.map(
                #[inline(always)]
                |node| u[node],
            ));
            (sums[first + o], sums[second + o]) = (a, b);
            (sums[third + o], sums[fourth + o]) = (c, d);
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
    pub(crate) fn scatter<L: Lanes>(&self, sums: &[L], v: &mut [L]) {
        let starts = self.starts;
        for (o, &[a, b, c, d]) in self.quads.iter().enumerate() {
            [v[a], v[b], v[c], v[d]] = sums_of_four(starts.map(
                #[inline(always)]
                |start| sums[start + o],
            ));
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
