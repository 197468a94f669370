//! Lattices: the nodes of a degree on a cell, as steps along its axes.

use super::{Cell, NodeOrder, Reference};
use crate::Degree;

impl Cell {
    /// Steps from one end of each axis to the other on the nodes of a degree: vertically along the last axis of a product
    /// with a line, horizontally along all others.
    pub fn steps(self, degree: impl Into<Degree>) -> [usize; 3] {
        let degree = degree.into();
        let is_vertical = |axis: usize| self.has_vertical() && axis + 1 == self.dim();
        [0, 1, 2].map(|axis| match is_vertical(axis) {
            true => degree.vertical,
            false => degree.horizontal,
        })
    }

    /// The degree on a facet, along its own axes.
    pub fn facet_degree(self, degree: impl Into<Degree>, facet: usize) -> Degree {
        let (degree, own) = (degree.into(), self.facets()[facet].vertices);
        let along = |end: Option<&usize>| end.map(|&end| self.steps_between(degree, [own[0], end]));
        let horizontal = along(own.get(1)).unwrap_or(degree.horizontal);
        Degree::new(horizontal, along(own.get(2)).unwrap_or(horizontal))
    }

    /// Positions in [steps](Cell::steps) from the origin, `[nodes][3]`, in femto's order: lexicographic for tensor
    /// products, otherwise by entities.
    pub fn lattice(self, degree: impl Into<Degree>) -> Vec<[usize; 3]> {
        let n = degree.into();
        let Reference {
            lexicographic,
            edges,
            ..
        } = self.reference();
        if *lexicographic {
            return self.all_steps(n).collect();
        }
        let vertices: Vec<usize> = (0..self.vertices()).collect();
        let faces: Vec<&[usize]> = match self.dim() {
            3 => self.facets().iter().map(|facet| facet.vertices).collect(),
            _ => Vec::new(),
        };
        let mut all = self.on_skeleton(n, &vertices, edges);
        all.extend(faces.iter().flat_map(|face| self.inside_facet(n, face)));
        all.extend(self.interior(n));
        all
    }

    /// The index of a position in [`Cell::lattice`]; `None` if the cell does not have it.
    pub fn lattice_places(self, degree: impl Into<Degree>) -> impl Fn([usize; 3]) -> Option<usize> {
        let degree = degree.into();
        let n = degree.most();
        let at = move |[i, j, k]: [usize; 3]| (k * (n + 1) + j) * (n + 1) + i;
        let mut places = vec![None; (n + 1).pow(self.dim() as u32)];
        for (place, steps) in self.lattice(degree).into_iter().enumerate() {
            places[at(steps)] = Some(place);
        }
        move |steps| match steps.iter().all(|&m| m <= n) {
            true => *places.get(at(steps))?,
            false => None,
        }
    }

    /// The indices of a facet's nodes in [`Cell::lattice`], in the facet's own femto order.
    pub fn facet_nodes(self, degree: impl Into<Degree>, facet: usize) -> Vec<usize> {
        let degree = degree.into();
        let on_facet = self.facet_lattice(degree, facet).into_iter();
        // Nodes of facets are nodes of the cell.
        on_facet.filter_map(self.lattice_places(degree)).collect()
    }

    /// The positions of [`Cell::lattice`] in another order.
    pub fn lattice_in(self, degree: impl Into<Degree>, order: &NodeOrder) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let n = degree.horizontal;
        if n == 0 {
            return vec![[0; 3]];
        }
        let mut all = self.on_skeleton(degree, order.vertices, order.edges);
        for facet in order.facets {
            all.extend(match order.recursive {
                true => self.triangle_inside_facet(n, facet),
                false => self.inside_facet(degree, facet),
            });
        }
        match order.recursive {
            true if n > self.dim() => {
                let smaller = self.lattice_in(n - self.dim() - 1, order).into_iter();
                let dim = self.dim();
                all.extend(smaller.map(|at| [0, 1, 2].map(|a| at[a] + usize::from(a < dim))));
            }
            true => {}
            false => all.extend(self.interior(degree)),
        }
        all
    }

    /// The position at given [steps](Cell::steps) from the origin, of equal length.
    pub fn position(self, degree: impl Into<Degree>, steps: [usize; 3]) -> [f64; 3] {
        let lower = self.reference().lower;
        let ends = self.steps(degree).map(|end| end.max(1) as f64);
        [0, 1, 2].map(|a| match a < self.dim() {
            true => lower[a] + (1.0 - lower[a]) * (steps[a] as f64 / ends[a]),
            false => 0.0,
        })
    }

    /// Positions inside an edge, from its first vertex to its second.
    pub fn inside_edge(self, degree: impl Into<Degree>, ends: [usize; 2]) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let inside = 1..self.steps_between(degree, ends);
        let at = |m: usize| self.away_from(degree, &ends, [m, 0, 0]);
        inside.map(at).collect()
    }

    /// Positions inside a facet with these vertices, towards the second vertex fastest.
    pub fn inside_facet(self, degree: impl Into<Degree>, vertices: &[usize]) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let [first, second] =
            [1, 2].map(|m| self.steps_between(degree, [vertices[0], vertices[m]]));
        let triangle = vertices.len() == 3;
        let at = |p: usize, q: usize| self.away_from(degree, vertices, [p, q, 0]);
        let along = move |q: usize| 1..first.saturating_sub(if triangle { q } else { 0 });
        (1..second)
            .flat_map(|q| along(q).map(move |p| at(p, q)))
            .collect()
    }

    /// Positions inside a triangular facet, in VTK's order of the triangle that they form.
    fn triangle_inside_facet(self, n: usize, vertices: &[usize]) -> Vec<[usize; 3]> {
        if n < 3 {
            return Vec::new();
        }
        let inside = Self::Triangle.lattice_in(n - 3, Self::Triangle.vtk_order());
        let at = |[p, q, _]: [usize; 3]| self.away_from(n.into(), vertices, [p + 1, q + 1, 0]);
        inside.into_iter().map(at).collect()
    }

    /// Steps between the ends of an edge.
    fn steps_between(self, degree: Degree, ends: [usize; 2]) -> usize {
        let [start, end] = ends.map(|vertex| self.corner(vertex));
        let steps = self.steps(degree).into_iter().enumerate();
        let apart = steps.filter(|&(axis, _)| start[axis] != end[axis]);
        apart.map(|(_, steps)| steps).next().unwrap_or(0)
    }

    /// The position that is this many steps from the first of some vertices towards each of the next ones.
    fn away_from(self, degree: Degree, vertices: &[usize], steps: [usize; 3]) -> [usize; 3] {
        let corner = |m: usize| self.corner(vertices[m]);
        let (origin, ends) = (corner(0), self.steps(degree));
        [0, 1, 2].map(|axis| {
            let towards = steps.iter().zip(1..).filter(|it| *it.0 > 0);
            let (mut there, mut back) = (ends[axis] * origin[axis], 0);
            for (steps, m) in towards {
                there += steps * corner(m)[axis];
                back += steps * origin[axis];
            }
            there - back
        })
    }

    /// Positions on a facet, in the facet's own femto order.
    pub fn facet_lattice(self, degree: impl Into<Degree>, facet: usize) -> Vec<[usize; 3]> {
        let (degree, own) = (degree.into(), self.facets()[facet]);
        let on_facet = own
            .cell
            .lattice(self.facet_degree(degree, facet))
            .into_iter();
        let at = |steps| self.away_from(degree, own.vertices, steps);
        on_facet.map(at).collect()
    }

    /// Positions inside the cell, ξ fastest.
    pub fn interior(self, degree: impl Into<Degree>) -> Vec<[usize; 3]> {
        let degree = degree.into();
        let Reference { contains, dim, .. } = self.reference();
        let less = degree.map(|n| n.saturating_sub(1));
        let inside = |steps: &[usize; 3]| {
            *dim > 0 && steps[..*dim].iter().all(|&m| m > 0) && contains(less, *steps)
        };
        self.all_steps(degree).filter(inside).collect()
    }

    /// The position of a vertex.
    pub fn steps_to(self, degree: impl Into<Degree>, vertex: usize) -> [usize; 3] {
        let (corner, ends) = (self.corner(vertex), self.steps(degree));
        [0, 1, 2].map(|axis| corner[axis] * ends[axis])
    }

    fn corner(self, vertex: usize) -> [usize; 3] {
        self.reference().corners[vertex].map(usize::from)
    }

    /// All positions of the cell, ξ fastest.
    pub(super) fn all_steps(self, degree: Degree) -> impl Iterator<Item = [usize; 3]> {
        let Reference { contains, dim, .. } = self.reference();
        let ends = self.steps(degree);
        let range = move |axis: usize| 0..if *dim > axis { ends[axis] + 1 } else { 1 };
        let all = range(2).flat_map(move |k| range(1).map(move |j| [j, k]));
        let all = all.flat_map(move |[j, k]| range(0).map(move |i| [i, j, k]));
        all.filter(move |&steps| contains(degree, steps))
    }

    /// Positions at the vertices and inside the edges.
    fn on_skeleton(
        self,
        degree: Degree,
        vertices: &[usize],
        edges: &[[usize; 2]],
    ) -> Vec<[usize; 3]> {
        let at_vertex = |&vertex: &usize| self.steps_to(degree, vertex);
        let mut all: Vec<[usize; 3]> = vertices.iter().map(at_vertex).collect();
        all.extend(
            edges
                .iter()
                .flat_map(|&ends| self.inside_edge(degree, ends)),
        );
        all
    }
}
