//! The mesh nodes of cells: listed, or in columns by those at the bottom.

use femto_element::CellType;

use crate::few::{Few, in_column};
use crate::parallel;

/// The mesh nodes of the cells of a block, in Gmsh's node order for their type.
#[derive(Clone, Debug)]
pub enum CellNodes {
    /// `[cells][nodes_per_cell]`.
    Listed(Vec<u32>),
    /// Cells of order 1 in columns, numbered column by column from bottom to top.
    Columns(ColumnNodes),
}

/// The mesh nodes of columns of prisms or hexahedra, or of the quadrilaterals over edges: those above a node at the bottom
/// have the numbers that follow its own, level by level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnNodes {
    /// Nodes of the plane cell, or of the edge, at the bottom of each column, `[columns][nodes of a base]`.
    pub(crate) lowest: Vec<u32>,
    /// Nodes of a base: 2 of an edge, 3 of a triangle, 4 of a quadrilateral.
    pub(crate) per_base: usize,
    /// Cells of a column.
    pub(crate) layers: usize,
}

/// The mesh nodes of one cell.
pub type NodesOfCell<'a> = Few<'a, 8>;

impl ColumnNodes {
    /// Folds a list of prisms or hexahedra into columns; `None` if it is not one of columns of equal height, at least two.
    fn of_list(nodes: &[u32], per_cell: usize) -> Option<Self> {
        let per_base = match per_cell {
            6 | 8 => per_cell / 2,
            _ => return None,
        };
        let cells = || nodes.chunks_exact(per_cell);
        let is_above = |low: &[u32], high: &[u32]| {
            let mut pairs = low.iter().zip(high);
            pairs.all(|(low, &high)| low.checked_add(1) == Some(high))
        };
        let follows = cells().zip(cells().skip(1));
        let layers = 1 + follows
            .take_while(|(low, high)| is_above(low, high))
            .count();
        if layers < 2 || !nodes.len().is_multiple_of(layers * per_cell) {
            return None;
        }
        let column = |number: usize| &nodes[number * layers * per_cell..][..layers * per_cell];
        let count = nodes.len() / (layers * per_cell);
        let is_column = |number: usize| {
            let column = column(number);
            let (low, high) = column[..per_cell].split_at(per_base);
            let follows = column.iter().zip(&column[per_cell..]);
            is_above(low, high)
                && follows.fold(true, |all, (low, &high)| {
                    all & (low.wrapping_add(1) == high)
                })
        };
        parallel::all(count, is_column).then(|| Self {
            lowest: parallel::gather(count, |number, lowest| {
                lowest.extend_from_slice(&column(number)[..per_base]);
            }),
            per_base,
            layers,
        })
    }

    /// Whether cells of this type are in columns like these.
    pub(crate) fn are_of(&self, cell_type: CellType) -> bool {
        let (order, dim) = (cell_type.order(), cell_type.dimension());
        let is_upright = dim == if self.per_base == 2 { 2 } else { 3 };
        order == 1 && is_upright && cell_type.nodes() == 2 * self.per_base
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.lowest.len() / self.per_base
    }

    /// The nodes of a cell.
    #[inline(always)]
    fn cell(&self, index: usize) -> NodesOfCell<'static> {
        let (column, layer) = in_column(index, self.layers);
        let base = &self.lowest[column * self.per_base..][..self.per_base];
        let mut nodes = [0; 8];
        let (low, high) = nodes.split_at_mut(self.per_base);
        for (n, &node) in base.iter().enumerate() {
            low[n] = node + layer;
            // Gmsh's quadrilaterals, hexahedra's faces too, go round; others have their upper vertices in the same order.
            high[if self.per_base == 2 { 1 - n } else { n }] = node + layer + 1;
        }
        NodesOfCell::Own(nodes, 2 * self.per_base)
    }
}

impl CellNodes {
    /// The nodes of listed solids of order 1, as columns if they are.
    pub(crate) fn folded(nodes: Vec<u32>, per_cell: usize) -> Self {
        match ColumnNodes::of_list(&nodes, per_cell) {
            Some(columns) => Self::Columns(columns),
            None => Self::Listed(nodes),
        }
    }

    /// Cells of a column, of cells in columns.
    pub fn layers(&self) -> Option<usize> {
        match self {
            Self::Listed(_) => None,
            Self::Columns(columns) => Some(columns.layers),
        }
    }

    /// How many there are, those of each cell counted.
    pub fn len(&self) -> usize {
        match self {
            Self::Listed(nodes) => nodes.len(),
            Self::Columns(columns) => columns.lowest.len() * 2 * columns.layers,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Listed(nodes) => size_of_val(&nodes[..]),
            Self::Columns(columns) => size_of_val(&columns.lowest[..]),
        }
    }

    /// The nodes of a cell, given the number of each one's nodes.
    #[inline(always)]
    pub fn cell(&self, index: usize, per_cell: usize) -> NodesOfCell<'_> {
        match self {
            Self::Listed(nodes) => NodesOfCell::Listed(&nodes[index * per_cell..][..per_cell]),
            Self::Columns(columns) => columns.cell(index),
        }
    }

    /// All nodes that cells have, each at least once.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        let (list, lines, levels) = match self {
            Self::Listed(nodes) => (&nodes[..], &[][..], 0),
            Self::Columns(columns) => (&[][..], &columns.lowest[..], columns.layers as u32 + 1),
        };
        let in_lines = lines
            .iter()
            .flat_map(move |&node| node..node.saturating_add(levels));
        list.iter().copied().chain(in_lines)
    }

    /// The listed nodes, to be changed: columns are listed cell by cell.
    pub fn to_mut(&mut self) -> &mut Vec<u32> {
        if let Self::Columns(columns) = self {
            let cells = 0..columns.columns() * columns.layers;
            *self = Self::Listed(cells.flat_map(|cell| columns.cell(cell).to_vec()).collect());
        }
        match self {
            Self::Listed(nodes) => nodes,
            Self::Columns(_) => unreachable!("they were listed"),
        }
    }

    /// Appends the nodes of other cells.
    pub(crate) fn append(&mut self, other: Self) {
        match (self, other) {
            (own, other) if own.is_empty() => *own = other,
            (Self::Columns(own), Self::Columns(other))
                if (own.layers, own.per_base) == (other.layers, other.per_base) =>
            {
                own.lowest.extend(other.lowest);
            }
            (own, mut other) => own.to_mut().append(other.to_mut()),
        }
    }
}

/// Whether cells have the same nodes, however they are kept.
impl PartialEq for CellNodes {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Listed(own), Self::Listed(other)) => own == other,
            (Self::Columns(own), Self::Columns(other)) if own == other => true,
            _ => self.len() == other.len() && self.clone().to_mut() == other.clone().to_mut(),
        }
    }
}

impl Default for CellNodes {
    fn default() -> Self {
        Self::Listed(Vec::new())
    }
}

impl FromIterator<u32> for CellNodes {
    fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
        Self::Listed(nodes.into_iter().collect())
    }
}

impl From<Vec<u32>> for CellNodes {
    fn from(nodes: Vec<u32>) -> Self {
        Self::Listed(nodes)
    }
}
