//! The facets of elements: faces of solids, edges of triangles.

use crate::reference::cell::{
    HEX_EDGES, HEX_FACES, TETRAHEDRON_EDGES, TETRAHEDRON_FACES, TRIANGLE_EDGES,
};

use super::NONE;
use super::chains::Chains;

/// Cells of one shape with V vertices, whose facets have K, one of them the lowest and R others.
pub(in crate::space) trait Cells<const V: usize, const K: usize, const R: usize> {
    /// Where Gmsh has the vertices of a cell.
    const GMSH: [usize; V];

    /// Vertices of each edge.
    const EDGES: &'static [[usize; 2]];

    /// Vertices of each facet.
    const FACETS: &'static [[usize; K]];

    /// The lowest of a facet's vertices, and the facet.
    fn facet(corners: [u32; K], side: u32) -> (u32, Facet<R>);

    /// A facet's corners in cyclic order.
    fn cyclic<T: Copy>(corners: [T; K]) -> [T; K] {
        corners
    }

    /// All facets of a mesh.
    fn all(parts: Vec<Chains<Facet<R>>>) -> Facets;
}

/// A facet, met by one or two cells.
pub(in crate::space) struct Facet<const R: usize> {
    /// The vertices other than the lowest, ascending.
    pub(super) rest: [u32; R],
    /// The vertex opposite to the lowest, of a quadrilateral; else [`NONE`].
    pub(super) opposite: u32,
    /// facets·element + local facet, of the first and second element, or [`NONE`].
    pub(super) sides: [u32; 2],
}

impl<const R: usize> Facet<R> {
    /// Adds the side of a second element; the sides that do not go together if it cannot.
    pub(super) fn join(&mut self, new: Self) -> Result<(), [u32; 3]> {
        if self.opposite != new.opposite || self.sides[1] != NONE {
            return Err([self.sides[0], new.sides[0], self.sides[1]]);
        }
        self.sides[1] = new.sides[0];
        Ok(())
    }
}

/// All facets, by ranges of the lowest vertex.
pub(in crate::space) enum Facets {
    Quadrilaterals(Vec<Chains<Facet<3>>>),
    Triangles(Vec<Chains<Facet<2>>>),
    Edges(Vec<Chains<Facet<1>>>),
}

impl Facets {
    /// The sides of the facet with these vertices, in cyclic order.
    pub(super) fn sides(&self, vertices: &[u32]) -> Option<[u32; 2]> {
        match (self, vertices) {
            (Self::Quadrilaterals(parts), &[a, b, c, d]) => find(
                parts,
                Hexahedra::facet(Hexahedra::cyclic([a, b, c, d]), NONE),
            ),
            (Self::Triangles(parts), &[a, b, c]) => find(parts, Tetrahedra::facet([a, b, c], NONE)),
            (Self::Edges(parts), &[a, b]) => find(parts, Triangles::facet([a, b], NONE)),
            _ => None,
        }
    }
}

fn find<const R: usize>(
    parts: &[Chains<Facet<R>>],
    (lowest, facet): (u32, Facet<R>),
) -> Option<[u32; 2]> {
    let part = parts.iter().find(|part| part.vertices.contains(&lowest))?;
    let same = |other: &Facet<R>| other.rest == facet.rest && other.opposite == facet.opposite;
    Some(part.links[part.find(lowest, same)?].1.sides)
}

pub(in crate::space) struct Hexahedra;

impl Cells<8, 4, 3> for Hexahedra {
    const GMSH: [usize; 8] = crate::reference::cell::HEX8_TO_LEXICOGRAPHIC;
    const EDGES: &'static [[usize; 2]] = &HEX_EDGES;
    const FACETS: &'static [[usize; 4]] = &HEX_FACES;

    /// Corners are lexicographic. Sorts by minima and maxima alone: branches on vertex numbers
    /// would be mispredicted.
    fn facet([a, b, c, d]: [u32; 4], side: u32) -> (u32, Facet<3>) {
        // A face is its two diagonals; the one with the lowest vertex first.
        let (ad, bc) = ([a.min(d), a.max(d)], [b.min(c), b.max(c)]);
        let swap = bc[0] < ad[0];
        let [lowest, opposite] = if swap { bc } else { ad };
        let [low, high] = if swap { ad } else { bc };
        let face = Facet {
            rest: [
                low.min(opposite),
                low.max(high.min(opposite)),
                high.max(opposite),
            ],
            opposite,
            sides: [side, NONE],
        };
        (lowest, face)
    }

    /// From lexicographic order to cyclic, and back.
    fn cyclic<T: Copy>([a, b, c, d]: [T; 4]) -> [T; 4] {
        [a, b, d, c]
    }

    fn all(parts: Vec<Chains<Facet<3>>>) -> Facets {
        Facets::Quadrilaterals(parts)
    }
}

pub(in crate::space) struct Tetrahedra;

impl Cells<4, 3, 2> for Tetrahedra {
    const GMSH: [usize; 4] = [0, 1, 2, 3];
    const EDGES: &'static [[usize; 2]] = &TETRAHEDRON_EDGES;
    const FACETS: &'static [[usize; 3]] = &TETRAHEDRON_FACES;

    fn facet([a, b, c]: [u32; 3], side: u32) -> (u32, Facet<2>) {
        let (low, high) = (a.min(b), a.max(b));
        let facet = Facet {
            rest: [low.max(high.min(c)), high.max(c)],
            opposite: NONE,
            sides: [side, NONE],
        };
        (low.min(c), facet)
    }

    fn all(parts: Vec<Chains<Facet<2>>>) -> Facets {
        Facets::Triangles(parts)
    }
}

pub(in crate::space) struct Triangles;

impl Cells<3, 2, 1> for Triangles {
    const GMSH: [usize; 3] = [0, 1, 2];
    const EDGES: &'static [[usize; 2]] = &TRIANGLE_EDGES;
    const FACETS: &'static [[usize; 2]] = &TRIANGLE_EDGES;

    fn facet([a, b]: [u32; 2], side: u32) -> (u32, Facet<1>) {
        let facet = Facet {
            rest: [a.max(b)],
            opposite: NONE,
            sides: [side, NONE],
        };
        (a.min(b), facet)
    }

    fn all(parts: Vec<Chains<Facet<1>>>) -> Facets {
        Facets::Edges(parts)
    }
}
