//! The facets of elements: faces of solids, edges of cells in the plane.

use femto_element::Cell;

use super::NONE;
use super::chains::Chains;

/// A facet, met by one or two cells.
pub(in crate::space) struct Facet {
    /// The vertices other than the lowest, ascending; [`NONE`] beyond their number.
    pub(super) rest: [u32; 3],
    /// The vertex opposite to the lowest, of a quadrilateral; else [`NONE`].
    pub(super) opposite: u32,
    /// facets·element + local facet, of the first and second element, or [`NONE`].
    pub(super) sides: [u32; 2],
}

impl Facet {
    /// The lowest of a facet's vertices, and the facet. Corners are in the order of the facet's own vertices. Sorts by
    /// minima and maxima alone: branches on vertex numbers would be mispredicted.
    #[inline]
    pub(super) fn new(corners: &[u32], side: u32) -> (u32, Self) {
        let (lowest, rest, opposite) = match *corners {
            [a, b] => (a.min(b), [a.max(b), NONE, NONE], NONE),
            [a, b, c] => {
                let (low, high) = (a.min(b), a.max(b));
                let rest = [low.max(high.min(c)), high.max(c), NONE];
                (low.min(c), rest, NONE)
            }
            [a, b, c, d] => {
                // A quadrilateral is its two diagonals; the one with the lowest vertex first.
                let (ad, bc) = ([a.min(d), a.max(d)], [b.min(c), b.max(c)]);
                let swap = bc[0] < ad[0];
                let [lowest, opposite] = if swap { bc } else { ad };
                let [low, high] = if swap { ad } else { bc };
                let rest = [
                    low.min(opposite),
                    low.max(high.min(opposite)),
                    high.max(opposite),
                ];
                (lowest, rest, opposite)
            }
            _ => (NONE, [NONE; 3], NONE),
        };
        let facet = Self {
            rest,
            opposite,
            sides: [side, NONE],
        };
        (lowest, facet)
    }

    /// Its shape.
    pub(super) fn cell(&self) -> Cell {
        match self.rest {
            [_, NONE, _] => Cell::Line,
            [_, _, NONE] => Cell::Triangle,
            _ => Cell::Quadrilateral,
        }
    }

    /// Adds the side of a second element; the sides that do not go together if it cannot.
    pub(super) fn join(&mut self, new: &Self) -> Result<(), [u32; 3]> {
        if self.opposite != new.opposite || self.sides[1] != NONE {
            return Err([self.sides[0], new.sides[0], self.sides[1]]);
        }
        self.sides[1] = new.sides[0];
        Ok(())
    }
}

/// The sides of the facet with these vertices, in the order of its own, among facets by ranges of the lowest vertex.
pub(super) fn sides(parts: &[Chains<Facet>], vertices: &[u32]) -> Option<[u32; 2]> {
    let (lowest, facet) = Facet::new(vertices, NONE);
    let part = parts.iter().find(|part| part.vertices.contains(&lowest))?;
    let same = |other: &Facet| other.rest == facet.rest && other.opposite == facet.opposite;
    Some(part.links[part.find(lowest, same)?].1.sides)
}

/// The places of a facet's vertices going round it, as files list them.
pub(super) fn around(cell: Cell) -> &'static [usize] {
    cell.gmsh_order().vertices
}
