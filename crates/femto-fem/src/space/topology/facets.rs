//! The facets of elements: faces of solids, edges of plane cells.

use femto_element::Cell;

use super::NONE;
use super::chains::Chains;

/// A facet of one or two cells.
pub(in crate::space) struct Facet {
    /// The vertices other than the lowest, ascending; [`NONE`] beyond their number.
    pub(super) rest: [u32; 3],
    /// For a quadrilateral the vertex opposite the lowest; otherwise [`NONE`].
    pub(super) opposite: u32,
    /// facets·element + local facet, for the first and second element, or [`NONE`].
    pub(super) sides: [u32; 2],
}

impl Facet {
    /// The lowest of a facet's vertices, and the facet. Corners are in the order of the facet's own
    /// vertices. Sorts only by minima and maxima: branches on vertex numbers would be mispredicted.
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
                // A quadrilateral is stored as its two diagonals, the one with the lowest vertex first.
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

    /// Adds the side of a second element; if that fails, returns the sides that conflict.
    pub(super) fn join(&mut self, new: &Self) -> Result<(), [u32; 3]> {
        if self.opposite != new.opposite || self.sides[1] != NONE {
            return Err([self.sides[0], new.sides[0], self.sides[1]]);
        }
        self.sides[1] = new.sides[0];
        Ok(())
    }
}

/// Whether a facet's right-handed direction, in the order of its own vertices, `own` of a cell's, is that from its
/// lowest vertex to the lower one of the neighbours.
pub(super) fn ascends(vertices: &[u32], own: &[usize]) -> bool {
    let at = |n: usize| vertices[own[n]];
    match own.len() {
        2 => at(0) < at(1),
        3 => (at(0) < at(1)) ^ (at(1) < at(2)) ^ (at(0) < at(2)),
        _ => {
            // Going round: 0, 1, 3, 2.
            let round = [at(0), at(1), at(3), at(2)];
            let lowest = (1..4).fold(0, |low, n| if round[n] < round[low] { n } else { low });
            round[(lowest + 1) % 4] < round[(lowest + 3) % 4]
        }
    }
}

/// The sides of the facet with these vertices, in its own order, among facets in ranges of the lowest
/// vertex.
pub(super) fn sides(parts: &[Chains<Facet>], vertices: &[u32]) -> Option<[u32; 2]> {
    let (lowest, facet) = Facet::new(vertices, NONE);
    let part = parts.get(parts.partition_point(|part| part.vertices.end <= lowest))?;
    let same = |other: &Facet| other.rest == facet.rest && other.opposite == facet.opposite;
    Some(part.links[part.find(lowest, &facet.rest, same)?].1.sides)
}

/// The order of a facet's vertices going round it, as in files.
pub(super) fn around(cell: Cell) -> &'static [usize] {
    cell.gmsh_order().vertices
}
