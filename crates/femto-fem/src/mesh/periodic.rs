//! Joining periodic sides by their positions.

use std::collections::{BTreeSet, HashMap};

use super::ordering::{bounding_box, rounding};
use super::{Coordinates, Mesh, MeshError, PeriodicSides};

/// Tolerance for the position of a partner node, as a fraction of the mesh's extent.
const TOLERANCE: f64 = 1e-8;

impl Mesh {
    /// Makes functions periodic from the group of facets `first` to `second`, given by name or number,
    /// which must be its translation.
    ///
    /// # Errors
    /// A group that is missing or empty; sides that are the same, or not a translation of each other.
    pub fn join_sides(&mut self, first: &str, second: &str) -> Result<(), MeshError> {
        self.check_lists()?;
        let dimension = self.dimension().saturating_sub(1);
        let groups = [
            self.group(dimension, first)?,
            self.group(dimension, second)?,
        ];
        let wrong = |why| MeshError::NoSides {
            first: first.to_owned(),
            second: second.to_owned(),
            why,
        };
        if groups[0] == groups[1] {
            return Err(wrong("they are the same group"));
        }
        let nodes = groups.map(|group| self.nodes_of(dimension, group));
        let boxes = nodes.each_ref().map(|nodes| {
            let positions = nodes.iter().map(|&node| self.coordinates.at(node as usize));
            bounding_box(&positions.collect::<Vec<_>>())
        });
        let shift = [0, 1, 2].map(|a| {
            let [(from, until), (to, end)] = boxes;
            0.5 * ((to[a] - from[a]) + (end[a] - until[a]))
        });
        let tolerance = self.tolerance();
        let pairs = |[from, to]: [usize; 2], shift: [f64; 3]| {
            let there = Nearby::new(&nodes[to], &self.coordinates, tolerance);
            let partner = |&node: &u32| {
                let x = self.coordinates.at(node as usize);
                let wanted = [0, 1, 2].map(|a| x[a] + shift[a]);
                let found = there.find(wanted).map(|other| [node, other]);
                found.ok_or(MeshError::UnlikeSides {
                    sides: Box::new([from, to].map(|side| [first, second][side].to_owned())),
                    position: x,
                    shift,
                })
            };
            nodes[from].iter().map(partner).collect::<Result<_, _>>()
        };
        let mut back: Vec<[u32; 2]> = pairs([1, 0], shift.map(|along| -along))?;
        let nodes: Vec<[u32; 2]> = pairs([0, 1], shift)?;
        back.iter_mut().for_each(|pair| pair.reverse());
        back.sort_unstable();
        if back != nodes {
            return Err(wrong(
                "some of their nodes are at the same position, as on cracks and on parts that are not merged",
            ));
        }
        self.periodic.push(PeriodicSides { nodes });
        Ok(())
    }

    /// The first of the [periodic sides](Mesh::periodic), if any, that nodes moved since they were joined have made
    /// unlike its partner: by distances from four of its nodes.
    pub fn unlike_sides(&self) -> Option<usize> {
        let tolerance = 4.0 * self.tolerance();
        let distance = |from: u32, to: u32| {
            let [from, to] = [from, to].map(|node| self.position(node));
            (0..3)
                .map(|axis| to[axis] - from[axis])
                .fold(0.0, f64::hypot)
        };
        let differ = |sides: &PeriodicSides| {
            let nodes = &sides.nodes;
            let mut from = (0..4).filter_map(|quarter| nodes.get(quarter * nodes.len() / 4));
            from.any(|from| {
                nodes.iter().any(|to| {
                    let [one, other] = [0, 1].map(|side| distance(from[side], to[side]));
                    let difference = (one - other).abs();
                    difference.is_nan() || difference > tolerance
                })
            })
        };
        self.periodic.iter().position(differ)
    }

    /// The first of the [periodic sides](Mesh::periodic), if any, that is not a translation of its partner.
    pub fn turned_sides(&self) -> Option<usize> {
        let tolerance = 4.0 * self.tolerance();
        let shift = |pair: &[u32; 2]| {
            let [from, to] = pair.map(|node| self.position(node));
            [0, 1, 2].map(|axis| to[axis] - from[axis])
        };
        let is_turned = |sides: &PeriodicSides| {
            let mut shifts = sides.nodes.iter().map(shift);
            let first = shifts.next().unwrap_or_default();
            let differs = |shift: [f64; 3]| (0..3).any(|a| (shift[a] - first[a]).abs() > tolerance);
            shifts.any(differs)
        };
        self.periodic.iter().position(is_turned)
    }

    fn tolerance(&self) -> f64 {
        rounding(self.coordinates.bounding_box(), TOLERANCE)
    }

    /// Of a node; NaN if it is missing.
    fn position(&self, node: u32) -> [f64; 3] {
        let position = self.coordinates.get(node as usize);
        position.unwrap_or([f64::NAN; 3])
    }

    /// The mesh nodes of a group's cells, ascending.
    fn nodes_of(&self, dimension: usize, group: i32) -> Vec<u32> {
        let mut nodes = BTreeSet::new();
        for (place, block) in self.blocks.iter().enumerate() {
            if block.cell_type.dimension() == dimension {
                let own = (0..block.len())
                    .filter(|&cell| self.groups_of(place, cell).any(|other| other == group));
                nodes.extend(own.flat_map(|cell| block.cell(cell).each()));
            }
        }
        nodes.into_iter().collect()
    }
}

/// Nodes by position.
struct Nearby<'a> {
    coordinates: &'a Coordinates,
    tolerance: f64,
    /// By the grid square containing them.
    nodes: HashMap<[i64; 3], Vec<u32>>,
}

impl<'a> Nearby<'a> {
    fn new(of: &[u32], coordinates: &'a Coordinates, tolerance: f64) -> Self {
        let mut nearby = Self {
            coordinates,
            tolerance,
            nodes: HashMap::new(),
        };
        for &node in of {
            let square = nearby.square(coordinates.at(node as usize));
            nearby.nodes.entry(square).or_default().push(node);
        }
        nearby
    }

    /// Squares are so large that the neighbourhood of a position, within the tolerance, meets at most two
    /// along each axis.
    fn square(&self, x: [f64; 3]) -> [i64; 3] {
        x.map(|x| (x / (4.0 * self.tolerance)).floor() as i64)
    }

    /// A node at a position, if any.
    fn find(&self, x: [f64; 3]) -> Option<u32> {
        let distance = |node: &u32| {
            let there = self.coordinates.at(*node as usize);
            let along = (0..3).map(|a| (there[a] - x[a]).abs());
            along.fold(0.0, f64::max)
        };
        let corners = (0..8).map(|corner: usize| {
            let sides = [corner & 1, corner >> 1 & 1, corner >> 2];
            let at = [0, 1, 2].map(|a| x[a] + self.tolerance * [-1.0, 1.0][sides[a]]);
            self.square(at)
        });
        let nodes = corners.filter_map(|square| self.nodes.get(&square));
        let nodes = nodes
            .flatten()
            .filter(|node| distance(node) <= self.tolerance);
        nodes
            .min_by(|a, b| distance(a).total_cmp(&distance(b)))
            .copied()
    }
}
