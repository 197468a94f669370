//! The Jacobian at a point from stored geometry.

use crate::family::batch::{Batch, LOCAL_NODES, to_lanes};
use crate::family::cell_quadrature::{Shape, Storage};
use crate::scalar::{Lanes, Real};

/// The map at a point, or at all points of an affine cell.
#[derive(Clone, Copy)]
pub(super) struct Map<L, const D: usize> {
    /// J⁻¹, `[reference][physical]`.
    pub(super) inverse: [[L; D]; D],
    pub(super) determinant: L,
    /// J, `[physical][reference]`, and vertex 0; on affine cells if positions are read.
    jacobian: [[L; D]; D],
    origin: [L; D],
}

impl<L: Lanes, const D: usize> Map<L, D> {
    /// A place for a map.
    pub(super) fn none(zero: L) -> Self {
        Self {
            inverse: [[zero; D]; D],
            determinant: zero,
            jacobian: [[zero; D]; D],
            origin: [zero; D],
        }
    }
}

/// Reads maps from stored geometry, for any form.
pub(super) struct Maps<L: Lanes, const D: usize> {
    pub(super) token: L::Token,
    pub(super) shape: Shape,
    /// Reference positions of the points, `[point][axis]`.
    pub(super) positions: Vec<L::Real>,
}

impl<L: Lanes, const D: usize> Maps<L, D> {
    /// The map of a batch's affine cells.
    #[inline(always)]
    pub(super) fn constant(&self, batch: &Batch<L::Real>) -> Map<L, D> {
        match self.shape.storage {
            Storage::Vertices => self.of_vertices(batch),
            _ => self.stored(batch),
        }
    }

    #[inline(always)]
    fn zero(&self) -> L {
        L::splat(self.token, L::Real::from_f64(0.0))
    }

    #[inline(always)]
    pub(super) fn load(&self, packed: &[L::Real], number: usize) -> L {
        L::load(self.token, &packed[number * L::WIDTH..][..L::WIDTH])
    }

    /// The map at point `q`, if it is not constant.
    #[inline(always)]
    pub(super) fn at(&self, batch: &Batch<L::Real>, q: usize) -> Map<L, D> {
        let first = q * self.shape.map_numbers();
        let zero = self.zero();
        let mut jacobian = [[zero; D]; D];
        for row in 0..D {
            for column in 0..D {
                jacobian[row][column] = self.load(batch.geometry, first + row * D + column);
            }
        }
        let (inverse, determinant) = invert(&jacobian);
        Map {
            inverse,
            determinant,
            jacobian,
            origin: [zero; D],
        }
    }

    /// The position of point `q`.
    #[inline(always)]
    pub(super) fn position(&self, batch: &Batch<L::Real>, map: &Map<L, D>, q: usize) -> [L; D] {
        let mut x = map.origin;
        if self.shape.storage == Storage::Jacobians {
            let first = q * self.shape.map_numbers() + D * D;
            for (d, x) in x.iter_mut().enumerate() {
                *x = self.load(batch.geometry, first + d);
            }
            return x;
        }
        for d in 0..D {
            for r in 0..D {
                let xi = L::splat(self.token, self.positions[q * D + r]);
                x[d] = map.jacobian[d][r].mul_add(xi, x[d]);
            }
        }
        x
    }

    /// The map from the vertices' coordinates.
    #[inline(always)]
    fn of_vertices(&self, batch: &Batch<L::Real>) -> Map<L, D> {
        let table = batch.vertices.table;
        let origin = self.vertex(batch, &table[..L::WIDTH]);
        let mut jacobian = [origin; D];
        for column in 0..D {
            let end = self.vertex(batch, &table[(column + 1) * L::WIDTH..][..L::WIDTH]);
            for row in 0..D {
                jacobian[row][column] = end[row] - origin[row];
            }
        }
        let (inverse, determinant) = invert(&jacobian);
        Map {
            inverse,
            determinant,
            jacobian,
            origin,
        }
    }

    /// The coordinates of one vertex of each lane.
    #[inline(always)]
    fn vertex(&self, batch: &Batch<L::Real>, table: &[u16]) -> [L; D] {
        match D {
            2 => self.vertex_of::<2>(batch, table),
            _ => self.vertex_of::<4>(batch, table),
        }
    }

    /// As [`Self::vertex`], from rows of R coordinates.
    #[inline(always)]
    fn vertex_of<const R: usize>(&self, batch: &Batch<L::Real>, table: &[u16]) -> [L; D] {
        let (rows, _) = batch.vertices.coordinates.as_chunks::<R>();
        let Some(rows) = rows.first_chunk::<LOCAL_NODES>() else {
            return [self.zero(); D];
        };
        let all = to_lanes::<L, R>(
            self.token,
            #[inline(always)]
            |lane| rows[usize::from(table[lane])],
        );
        core::array::from_fn(
            #[inline(always)]
            |axis| all[axis],
        )
    }

    /// The map from the inverse Jacobian and its determinant.
    #[inline(always)]
    fn stored(&self, batch: &Batch<L::Real>) -> Map<L, D> {
        let zero = self.zero();
        let mut inverse = [[zero; D]; D];
        for row in 0..D {
            for column in 0..D {
                inverse[row][column] = self.load(batch.geometry, row * D + column);
            }
        }
        let determinant = self.load(batch.geometry, D * D);
        let (mut jacobian, mut origin) = ([[zero; D]; D], [zero; D]);
        if self.shape.position {
            jacobian = invert(&inverse).0;
            for (d, origin) in origin.iter_mut().enumerate() {
                *origin = self.load(batch.geometry, D * D + 1 + d);
            }
        }
        Map {
            inverse,
            determinant,
            jacobian,
            origin,
        }
    }
}

/// Inverse and determinant of a matrix with 2 or 3 rows.
#[inline(always)]
fn invert<L: Lanes, const D: usize>(m: &[[L; D]; D]) -> ([[L; D]; D], L) {
    let mut cofactors = *m;
    if D == 2 {
        for r in 0..D {
            for c in 0..D {
                let minor = m[1 - r][1 - c];
                cofactors[r][c] = if (r + c) % 2 == 0 { minor } else { -minor };
            }
        }
    } else {
        for r in 0..D {
            for c in 0..D {
                let (r1, r2, c1, c2) = ((r + 1) % D, (r + 2) % D, (c + 1) % D, (c + 2) % D);
                cofactors[r][c] = m[r1][c1].mul_add(m[r2][c2], -(m[r1][c2] * m[r2][c1]));
            }
        }
    }
    let mut determinant = m[0][0] * cofactors[0][0];
    for c in 1..D {
        determinant = m[0][c].mul_add(cofactors[0][c], determinant);
    }
    let reciprocal = determinant.constant(1.0) / determinant;
    let mut inverse = cofactors;
    for r in 0..D {
        for c in 0..D {
            inverse[r][c] = cofactors[c][r] * reciprocal;
        }
    }
    (inverse, determinant)
}
