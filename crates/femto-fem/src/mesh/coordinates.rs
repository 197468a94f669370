//! The positions of mesh nodes: listed, or on vertical lines by heights.

use super::ordering::box_around;
use crate::parallel;
use std::sync::Arc;

/// The positions of the nodes of a mesh, `[nodes]`, in the length unit of the file. Clones share them.
#[derive(Clone, Debug)]
pub enum Coordinates {
    /// `[nodes][3]`.
    Listed(Arc<Vec<[f64; 3]>>),
    /// On vertical lines: those of columns.
    Lines(Arc<Lines>),
}

/// Nodes on vertical lines, numbered line by line from bottom to top.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// Where the lines stand in the plane, `[lines][2]`.
    pub(crate) plane: Vec<[f64; 2]>,
    /// Nodes of a line.
    pub(crate) levels: usize,
    /// Heights of the nodes, `[lines][levels]`.
    pub(crate) heights: Vec<f64>,
}

impl Coordinates {
    /// Listed positions, as lines if those of so many `levels` each are.
    pub(crate) fn folded(all: Vec<[f64; 3]>, levels: Option<usize>) -> Self {
        let in_plane = |x: &[f64; 3]| [x[0], x[1]];
        let is_line = |line: &[[f64; 3]]| line.iter().all(|x| in_plane(x) == in_plane(&line[0]));
        let levels = levels.filter(|&levels| {
            let line = |number: usize| &all[number * levels..][..levels];
            all.len().is_multiple_of(levels)
                && parallel::all(all.len() / levels, |number| is_line(line(number)))
        });
        let Some(levels) = levels else {
            return Self::from(all);
        };
        Self::Lines(Arc::new(Lines {
            plane: all.iter().step_by(levels).map(in_plane).collect(),
            levels,
            heights: all.iter().map(|x| x[2]).collect(),
        }))
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Self::Listed(all) => all.len(),
            Self::Lines(lines) => lines.heights.len(),
        }
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Listed(all) => size_of_val(&all[..]),
            Self::Lines(lines) => size_of_val(&lines.plane[..]) + size_of_val(&lines.heights[..]),
        }
    }

    /// The position of a node.
    ///
    /// # Panics
    /// If there are not as many nodes.
    #[inline(always)]
    pub fn at(&self, node: usize) -> [f64; 3] {
        match self {
            Self::Listed(all) => all[node],
            Self::Lines(lines) => {
                let [x, y] = lines.plane[node / lines.levels];
                [x, y, lines.heights[node]]
            }
        }
    }

    /// The position of a node, if there is one of this number.
    pub fn get(&self, node: usize) -> Option<[f64; 3]> {
        (node < self.len()).then(|| self.at(node))
    }

    /// All positions.
    pub fn iter(&self) -> impl Iterator<Item = [f64; 3]> {
        (0..self.len()).map(|node| self.at(node))
    }

    /// The smallest and the largest coordinates.
    pub(crate) fn bounding_box(&self) -> ([f64; 3], [f64; 3]) {
        box_around(self.len(), |node| self.at(node))
    }

    /// The listed positions, to be changed: those on lines are listed.
    pub fn to_mut(&mut self) -> &mut Vec<[f64; 3]> {
        if let Self::Lines(_) = self {
            *self = Self::from(parallel::map(self.len(), |node| self.at(node)));
        }
        match self {
            Self::Listed(all) => Arc::make_mut(all),
            Self::Lines(_) => unreachable!("they were listed"),
        }
    }
}

impl Default for Coordinates {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<[f64; 3]>> for Coordinates {
    fn from(all: Vec<[f64; 3]>) -> Self {
        Self::Listed(Arc::new(all))
    }
}

/// Whether nodes are at the same positions, however they are kept.
impl PartialEq for Coordinates {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}
