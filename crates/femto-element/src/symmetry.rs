//! The symmetry of simplices: values at nodes or points as sums over orbits, in classes that operators keep apart.
//!
//! Permutations of vertices that are their own inverses and commute map a simplex to itself: on tetrahedra the three pairs
//! of exchanges, v ↦ v xor g with g = 1, 2, 3, on triangles the exchange of vertices 0 and 1. A function is of class c if
//! permutation g multiplies it by χ_c(g) = (−1)^|c & g|. Every function is a sum of one of each class; functions of two classes are
//! orthogonal, and so are their derivatives along suitable axes: along an axis that is of class a itself, functions of
//! class c have derivatives of class c xor a. In a basis of each class matrices have blocks, a quarter of the numbers on
//! tetrahedra and half of them on triangles, as those of even and odd functions have on lines. (A. Bossavit, "Symmetry,
//! groups and boundary value problems", 1986, has it for any group.)

use crate::{Cell, Degree};
use core::ops::Range;

/// Permutations of the vertices of a simplex, and what they make of axes and of nodes, or of points.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetry {
    /// Number of permutations, and of classes: 4, 2, or 1 without symmetry.
    pub classes: usize,
    /// The axes along which derivatives are taken, in reference coordinates, `[axis][reference axis]`.
    pub axes: Vec<[f64; 3]>,
    /// The class of each axis.
    pub axis_classes: Vec<usize>,
    /// The orbits of nodes: the images of a node under permutation g, `[orbit][g]`, those of the most nodes first. There are one,
    /// two or four different ones. Points have orbits likewise.
    pub orbits: Vec<[usize; 4]>,
}

impl Symmetry {
    /// No symmetry: one class, the reference axes, an orbit for each node.
    pub fn none(dim: usize, nodes: usize) -> Self {
        let unit = |axis: usize| [0, 1, 2].map(|d| if d == axis { 1.0 } else { 0.0 });
        Self {
            classes: 1,
            axes: (0..dim).map(unit).collect(),
            axis_classes: vec![0; dim],
            orbits: (0..nodes).map(|node| [node; 4]).collect(),
        }
    }

    /// That of a triangle or tetrahedron with the nodes of a degree; of another cell none.
    pub fn of(cell: Cell, degree: impl Into<Degree>) -> Self {
        let degree = degree.into();
        let lattice = cell.lattice(degree);
        // Those of warp & blend have the symmetry of the lattice.
        let position =
            |steps: &[usize; 3]| steps.map(|step| step as f64 / degree.most().max(1) as f64);
        let positions: Vec<_> = lattice.iter().map(position).collect();
        Self::of_points(cell, &positions).unwrap_or_else(|| Self::none(cell.dim(), lattice.len()))
    }

    /// That of points on a triangle or tetrahedron; `None` if they do not have it, or the cell does not.
    pub fn of_points(cell: Cell, points: &[[f64; 3]]) -> Option<Self> {
        let (classes, axis_classes, axes) = match cell {
            Cell::Triangle => (2, vec![1, 0], vec![[1.0, 0.0, 0.0], [-1.0, 2.0, 0.0]]),
            Cell::Tetrahedron => {
                // Vertex v has weight χ_c(v) in the axis of class c; vertex 0 is the origin.
                let axis = |c: usize| [1, 2, 3].map(|vertex| character(c, vertex));
                (4, vec![1, 2, 3], (1..=3).map(axis).collect())
            }
            _ => return None,
        };
        let image = |[x, y, z]: [f64; 3], g: usize| {
            let old = [1.0 - x - y - z, x, y, z];
            let vertex = |v: usize| if v < classes { v ^ g } else { v };
            let new = [1, 2, 3].map(|v| old[vertex(v)]);
            let is_it = |point: &[f64; 3]| (0..3).all(|d| (point[d] - new[d]).abs() < 1e-10);
            points.iter().position(is_it)
        };
        let mut orbits: Vec<[usize; 4]> = Vec::new();
        for (n, &point) in points.iter().enumerate() {
            let mut orbit = [n; 4];
            for (g, own) in orbit.iter_mut().enumerate() {
                *own = image(point, g % classes)?;
            }
            if orbit.iter().all(|&image| n <= image) {
                orbits.push(orbit);
            }
        }
        orbits.sort_by_key(|orbit| core::cmp::Reverse(size(orbit)));
        Some(Self {
            classes,
            axes,
            axis_classes,
            orbits,
        })
    }

    /// That of some of the points alone, numbered from the first of them; `None` if they do not have it.
    pub fn within(&self, points: &Range<usize>) -> Option<Self> {
        let is_within = |orbit: &&[usize; 4]| orbit.iter().any(|point| points.contains(point));
        let own = self.orbits.iter().filter(is_within);
        let numbered = |orbit: &[usize; 4]| {
            let all = orbit.iter().all(|point| points.contains(point));
            all.then(|| orbit.map(|point| point - points.start))
        };
        Some(Self {
            orbits: own.map(numbered).collect::<Option<_>>()?,
            ..self.clone()
        })
    }

    /// The points orbit by orbit, largest orbits first.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        for orbit in &self.orbits {
            for (g, &point) in orbit.iter().enumerate() {
                if !orbit[..g].contains(&point) {
                    order.push(point);
                }
            }
        }
        order
    }

    /// The class of the functions whose derivatives along an axis are of a class.
    pub fn before(&self, axis: usize, class: usize) -> usize {
        class ^ self.axis_classes[axis]
    }

    /// The sums over orbits of a class, each with its factor for every node of the orbit, `[sum][(node, factor)]`. An orbit has
    /// none if its nodes cancel. The sum of orbit o, if it has four nodes, is the sum o in each class.
    pub fn sums(&self, class: usize) -> Vec<Vec<(usize, f64)>> {
        let of_orbit = |orbit: &[usize; 4]| -> Option<Vec<(usize, f64)>> {
            let mut sum: Vec<(usize, f64)> = Vec::new();
            for (g, &node) in orbit.iter().enumerate().take(self.classes) {
                let factor = character(class, g);
                match sum.iter().find(|it| it.0 == node) {
                    Some(it) if it.1 != factor => return None,
                    Some(_) => {}
                    None => sum.push((node, factor)),
                }
            }
            Some(sum)
        };
        self.orbits.iter().filter_map(of_orbit).collect()
    }

    /// The first sum of each class in a list of all.
    pub fn starts(&self) -> Vec<usize> {
        let before = |class: usize| (0..class).map(|class| self.sums(class).len()).sum();
        (0..self.classes).map(before).collect()
    }

    /// Additions that form all sums, or take them apart.
    pub fn additions(&self) -> usize {
        let of_orbit = |orbit: &[usize; 4]| match size(orbit) {
            4 => 8,
            2 => 2,
            _ => 0,
        };
        self.orbits.iter().map(of_orbit).sum()
    }

    /// Orbits of four nodes.
    pub fn quads(&self) -> usize {
        self.orbits.iter().filter(|orbit| size(orbit) == 4).count()
    }

    /// The volume that the axes span.
    pub fn volume(&self) -> f64 {
        let [a, b] = [self.axes[0], self.axes[1]];
        let c = self.axes.get(2).copied().unwrap_or([0.0, 0.0, 1.0]);
        let cross = [0, 1, 2].map(|d| {
            let (next, last) = ((d + 1) % 3, (d + 2) % 3);
            a[next] * b[last] - a[last] * b[next]
        });
        (cross[0] * c[0] + cross[1] * c[1] + cross[2] * c[2]).abs()
    }
}

/// χ_c(g): whether a function of class c changes its sign under permutation g.
fn character(class: usize, g: usize) -> f64 {
    match (class & g).count_ones() % 2 {
        0 => 1.0,
        _ => -1.0,
    }
}

/// The number of different nodes of an orbit.
fn size(orbit: &[usize; 4]) -> usize {
    let is_first = |&g: &usize| !orbit[..g].contains(&orbit[g]);
    (0..4).filter(is_first).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each node is in one orbit, and the sums are as many as the nodes.
    #[test]
    fn orbits_and_sums_have_all_nodes() {
        for (cell, classes) in [(Cell::Triangle, 2), (Cell::Tetrahedron, 4)] {
            for degree in 1..=8 {
                let it = Symmetry::of(cell, degree);
                let nodes = cell.lattice(degree).len();
                assert_eq!(it.classes, classes);
                let mut found: Vec<usize> = it.orbits.concat();
                found.sort_unstable();
                found.dedup();
                assert_eq!(found, Vec::from_iter(0..nodes), "{cell:?} {degree}");
                assert_eq!(it.orbits.iter().map(size).sum::<usize>(), nodes);
                let sums = (0..classes).map(|class| it.sums(class).len());
                assert_eq!(sums.sum::<usize>(), nodes, "{cell:?} {degree}");
            }
        }
    }

    #[test]
    fn classes_of_tetrahedra_have_a_quarter_of_the_nodes() {
        let classes = |degree: usize| {
            let it = Symmetry::of(Cell::Tetrahedron, degree);
            [0, 1, 2, 3].map(|class| it.sums(class).len())
        };
        assert_eq!(classes(7), [30; 4]);
        assert_eq!(classes(8), [45, 40, 40, 40]);
        assert_eq!(classes(4), [11, 8, 8, 8]);
        assert_eq!(Symmetry::of(Cell::Tetrahedron, 1).volume(), 4.0);
    }
}
