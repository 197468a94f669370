//! The rows of a sparse matrix, added up from the matrices of elements.

use super::check;
use crate::Number;
use crate::elements::places;
use crate::operator::facets::FacetTerm;
use crate::operator::{Backend, Bound as _, BoundShape, Operator, OperatorError, UnitVectors};
use crate::vector::{Csr, VectorOps};
use femto_fem::space::{Layout, Space};

/// Elements of a shape, cells or facets, and the nodes of the space that they have.
pub(super) struct Incidence {
    per_element: usize,
    /// `[element][node]`
    nodes: Vec<u32>,
    /// The places of each node in `nodes`.
    places: Csr<()>,
}

impl Incidence {
    pub(super) fn of_cells(space: &Space) -> Result<Self, OperatorError> {
        let space = space.scalar();
        let bytes = (space.element_dofs() * size_of::<u32>()) as u64;
        check("32-bit indices", bytes, Some(u64::from(u32::MAX) * 4))?;
        Ok(Self {
            per_element: space.nodes_per_element(),
            nodes: space.listed_nodes(),
            places: places([&space]),
        })
    }

    /// The elements of one shape of a term on facets of cells in a space.
    pub(super) fn of_facets<T: Number, D: Backend>(
        space: &Space,
        term: &FacetTerm<T, D>,
        shape: &BoundShape<T, D>,
    ) -> Self {
        let node = |&node: &u32| {
            let entry = term.entries_on_host[shape.space.entry(node as usize, 0)];
            space.node_of(entry as usize).0 as u32
        };
        let nodes: Vec<u32> = shape.space.listed_nodes().iter().map(node).collect();
        let row = |place: usize, row: &mut Vec<(u32, ())>| row.push((nodes[place], ()));
        Self {
            per_element: shape.space.nodes_per_element(),
            places: Csr::by_rows((nodes.len(), space.nodes()), row).transposed(),
            nodes,
        }
    }

    /// The element and the number in it of each place of a node.
    fn elements_with(&self, node: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let places = self.places.row_columns(node).iter();
        places.map(|&place| {
            (
                place as usize / self.per_element,
                place as usize % self.per_element,
            )
        })
    }

    /// The nodes of an element.
    fn nodes_of(&self, element: usize) -> &[u32] {
        &self.nodes[element * self.per_element..][..self.per_element]
    }
}

/// The matrices of the elements of a shape, by columns.
pub(super) struct ElementMatrices<T> {
    /// The products with unit vectors, `[component][node]`: each an E-vector `[element][component][node]`.
    columns: Vec<Vec<T>>,
    /// Numbers of an element in E-vectors.
    element_len: usize,
}

impl<T: Number> ElementMatrices<T> {
    pub(super) fn new<D: Backend + VectorOps<T>>(
        operator: &Operator<T, D>,
        shape: &BoundShape<T, D>,
        components: usize,
    ) -> Result<Self, OperatorError> {
        let per_element = shape.space.nodes_per_element();
        let units = UnitVectors {
            columns: components * per_element,
            numbers: shape.space.components() * per_element,
            elements: shape.space.elements(),
        };
        let (device, context) = (&operator.device, &operator.context());
        Ok(Self {
            columns: shape.bound.unit_products(device, context, units)?,
            element_len: units.numbers,
        })
    }
}

/// The nodes that share an element with a node, itself included.
#[derive(Default)]
pub(super) struct Neighbours {
    node: Option<usize>,
    /// Ascending.
    nodes: Vec<u32>,
    /// The position in `nodes` of each node of each element with the node.
    ranks: Vec<u32>,
    /// Nodes and their positions in `ranks`.
    keys: Vec<u64>,
}

impl Neighbours {
    pub(super) fn find(&mut self, node: usize, incidences: &[Incidence]) {
        if self.node.replace(node) == Some(node) {
            return;
        }
        self.keys.clear();
        for incidence in incidences {
            for (element, _) in incidence.elements_with(node) {
                let first = self.keys.len() as u64;
                let nodes = (first..).zip(incidence.nodes_of(element));
                let keys = nodes.map(|(position, &node)| u64::from(node) << 32 | position);
                self.keys.extend(keys);
            }
        }
        self.keys.sort_unstable();
        self.nodes.clear();
        self.ranks.resize(self.keys.len(), 0);
        for &key in &self.keys {
            let node = (key >> 32) as u32;
            if self.nodes.last() != Some(&node) {
                self.nodes.push(node);
            }
            self.ranks[key as u32 as usize] = self.nodes.len() as u32 - 1;
        }
    }

    /// Writes the row of a component of the node that was found.
    pub(super) fn row<T: Number>(
        &self,
        parts: &[(&Incidence, &ElementMatrices<T>)],
        space: &Space,
        (node, component): (usize, usize),
        entries: &mut Vec<(u32, f64)>,
    ) {
        let (components, count) = (space.components(), self.nodes.len());
        // Columns ascend in both layouts.
        let [of_node, of_component] = match space.layout() {
            Layout::Interleaved => [components, 1],
            Layout::Blocked => [1, count],
        };
        entries.resize(count * components, (0, 0.0));
        for (rank, &other) in self.nodes.iter().enumerate() {
            for d in 0..components {
                let column = space.entry(other as usize, d) as u32;
                entries[rank * of_node + d * of_component].0 = column;
            }
        }
        let mut ranks = &self.ranks[..];
        for (incidence, matrices) in parts {
            let per_element = incidence.per_element;
            for (element, own) in incidence.elements_with(node) {
                let (of_element, rest) = ranks.split_at(per_element);
                ranks = rest;
                let at = element * matrices.element_len + component * per_element + own;
                let columns = matrices.columns.chunks_exact(per_element);
                for (d, columns) in columns.enumerate() {
                    for (&rank, column) in of_element.iter().zip(columns) {
                        let entry = rank as usize * of_node + d * of_component;
                        entries[entry].1 += column[at].to_f64();
                    }
                }
            }
        }
    }

    /// About how many neighbours all nodes have together.
    pub(super) fn estimate(incidences: &[Incidence]) -> u64 {
        const EVERY: usize = 97;
        let nodes = incidences[0].places.rows();
        let every = if nodes < 100 * EVERY { 1 } else { EVERY };
        let mut own = Self::default();
        let counts = (0..nodes).step_by(every).map(|node| {
            own.find(node, incidences);
            own.nodes.len() as u64
        });
        counts.sum::<u64>() * every as u64
    }
}
