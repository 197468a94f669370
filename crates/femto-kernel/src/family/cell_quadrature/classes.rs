//! Classes of a symmetric tetrahedron as `matrix_units_of_classes.c` uses them.

use crate::family::batch::Classes;
use crate::family::fragments::{Fragments, TILE};
use crate::scalar::Precision;
use femto_element::Symmetry;
use femto_element::tables::DenseTables;

/// Classes of a tetrahedron, and the warps of a block: one for each.
pub(super) const CLASSES: usize = 4;

/// A missing entry in a list of orbits.
const NONE: u16 = u16::MAX;

/// Sizes of the classes of a tetrahedron's nodes and points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassSizes {
    /// Sums over orbits of nodes: of the first class, which are its orbits, and of each other class.
    pub sums: [usize; 2],
    /// Orbits of points.
    pub point_orbits: usize,
}

impl ClassSizes {
    /// Those of an element; `None` if it is not a symmetric tetrahedron.
    pub(super) fn of(element: &DenseTables) -> Option<Self> {
        let classes = of_tetrahedron(element)?;
        Some(Self {
            sums: [0, 1].map(|class| classes.nodes.sums(class).len()),
            point_orbits: classes.points.orbits.len(),
        })
    }

    /// Tiles of sums of the first class, and of each other.
    pub(super) fn sum_tiles(&self) -> [usize; 2] {
        self.sums.map(|sums| sums.div_ceil(TILE))
    }

    /// Tiles of the sums of all classes.
    pub(super) fn all_tiles(&self) -> usize {
        let [first, other] = self.sum_tiles();
        first + (CLASSES - 1) * other
    }

    /// Tiles of orbits of points.
    pub(super) fn point_tiles(&self) -> usize {
        self.point_orbits.div_ceil(TILE)
    }
}

fn of_tetrahedron(element: &DenseTables) -> Option<Classes> {
    Classes::of(element).filter(|it| it.nodes.classes == CLASSES)
}

/// For each axis of the classes a row of J⁻¹, and another with its factor, whose sum is the row along the axis.
pub(super) fn axis_parts(element: &DenseTables) -> Option<[(usize, usize, f64); 3]> {
    of_tetrahedron(element).map(|it| it.axis_parts())
}

/// The right factors, and the lists of orbits; `None` if the element is not a symmetric tetrahedron.
pub(super) fn tables_of_classes(
    element: &DenseTables,
    precision: Precision,
) -> Option<(Vec<f64>, Vec<u16>)> {
    let classes = of_tetrahedron(element)?;
    Some((fragments(element, &classes, precision), orbits(&classes)))
}

fn fragments(element: &DenseTables, classes: &Classes, precision: Precision) -> Vec<f64> {
    let (nodes, points) = (&classes.nodes, &classes.points.orbits);
    let sums: Vec<_> = (0..CLASSES).map(|class| nodes.sums(class)).collect();
    // Of a basis function at the first point of an orbit: its value, or its derivative along the axis of a class.
    let entry = |orbit: usize, row: usize, node: usize| {
        let q = points[orbit][0];
        match row.checked_sub(1) {
            None => element.value(q, node),
            Some(axis) => {
                let mut reference = [0.0; 3];
                reference.copy_from_slice(element.gradient(q, node));
                classes.derivatives(reference)[axis]
            }
        }
    };
    let of_sum = |orbit, row, sum: &[(usize, f64)]| -> f64 {
        let parts = sum.iter();
        parts
            .map(|&(node, sign)| sign * entry(orbit, row, node))
            .sum()
    };
    let mut all = Fragments::new(precision);
    for turn in (0..points.len()).step_by(TILE) {
        for to_points in [true, false] {
            for sums in &sums {
                for first in (0..sums.len()).step_by(TILE) {
                    for row in 0..=element.dim {
                        let at = |orbit: usize, n: usize| match sums.get(n) {
                            Some(sum) if orbit < points.len() => {
                                // Sums of u have all four nodes of an orbit, those of v add to each node once.
                                let share = if to_points { CLASSES } else { sum.len() };
                                of_sum(orbit, row, sum) / share as f64
                            }
                            _ => 0.0,
                        };
                        all.add(|r, c| match to_points {
                            true => at(turn + c, first + r),
                            false => at(turn + r, first + c),
                        });
                    }
                }
            }
        }
    }
    all.numbers
}

fn orbits(classes: &Classes) -> Vec<u16> {
    let (nodes, points) = (&classes.nodes, &classes.points);
    let slots = nodes.orbits.len().next_multiple_of(TILE);
    let mut places = places(nodes, slots);
    let mut all = Vec::new();
    for slot in 0..slots {
        match nodes.orbits.get(slot) {
            Some(orbit) => all.extend(orbit.map(|node| node as u16)),
            None => all.extend([NONE; CLASSES]),
        }
        all.extend(places.each_mut().map(|places| places[slot]));
    }
    for orbit in &points.orbits {
        let is_new = |g: usize| !orbit[..g].contains(&orbit[g]);
        let point = |g: usize| if is_new(g) { orbit[g] as u16 } else { NONE };
        all.extend([0, 1, 2, 3].map(point));
    }
    let missing = points.orbits.len().next_multiple_of(TILE) - points.orbits.len();
    all.extend(vec![NONE; missing * CLASSES]);
    all
}

/// The place of each slot's sum in each class, `[class][slot]`: of the orbits that have one, then what fills up the last tile.
fn places(nodes: &Symmetry, slots: usize) -> [Vec<u16>; CLASSES] {
    [0, 1, 2, 3].map(|class| {
        let sums = nodes.sums(class);
        let mut rest = sums.len()..sums.len().next_multiple_of(TILE);
        let place = |slot: usize| {
            let orbit = nodes.orbits.get(slot);
            let own = orbit.and_then(|orbit| sums.iter().position(|sum| sum[0].0 == orbit[0]));
            own.or_else(|| rest.next())
                .map_or(NONE, |place| place as u16)
        };
        (0..slots).map(place).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_element::basis::LagrangeBasis;
    use femto_element::quadrature::rule;

    fn tables(cell: Cell, degree: usize) -> DenseTables {
        let basis = LagrangeBasis::new(cell, degree).unwrap();
        DenseTables::new(&basis, &rule(cell, 2 * degree).unwrap())
    }

    /// Each place of the tiles has one slot, and each point is in one place.
    #[test]
    fn slots_fill_the_tiles_of_all_classes() {
        for degree in 2..=8 {
            let element = tables(Cell::Tetrahedron, degree);
            let sizes = ClassSizes::of(&element).unwrap();
            let (_, orbits) = tables_of_classes(&element, Precision::Fp64).unwrap();
            let slots = sizes.sum_tiles()[0] * TILE;
            let (nodes, points) = orbits.split_at(8 * slots);
            for class in 0..CLASSES {
                let places = nodes.chunks(8).map(|slot| slot[CLASSES + class]);
                let mut places: Vec<_> = places.filter(|&place| place != NONE).collect();
                places.sort_unstable();
                let tiles = sizes.sum_tiles()[class.min(1)];
                assert_eq!(places, Vec::from_iter(0..(tiles * TILE) as u16));
            }
            assert_eq!(points.len(), sizes.point_tiles() * TILE * CLASSES);
            let mut points: Vec<_> = points.iter().filter(|&&point| point != NONE).collect();
            points.sort_unstable();
            assert!(points.into_iter().copied().eq(0..element.points as u16));
        }
    }

    #[test]
    fn other_cells_have_no_classes_here() {
        assert_eq!(ClassSizes::of(&tables(Cell::Triangle, 6)), None);
        assert_eq!(ClassSizes::of(&tables(Cell::Prism, 2)), None);
    }
}
