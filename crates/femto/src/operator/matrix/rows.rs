//! The rows of a sparse matrix, added up from the matrices of elements.

use super::check;
use crate::Number;
use crate::elements::places;
use crate::operator::facets::FacetTerm;
use crate::operator::{Backend, Bound as _, BoundShape, Operator, OperatorError, UnitVectors};
use crate::vector::csr::RowSums;
use crate::vector::{Csr, VectorOps};
use femto_fem::space::Space;

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

/// Adds the row of a component of a node, from all elements with the node.
pub(super) fn add_row<T: Number>(
    parts: &[(&Incidence, &ElementMatrices<T>)],
    space: &Space,
    (node, component): (usize, usize),
    sums: &mut RowSums<f64>,
) {
    for (incidence, matrices) in parts {
        let per_element = incidence.per_element;
        for (element, own) in incidence.elements_with(node) {
            let at = element * matrices.element_len + component * per_element + own;
            let columns = matrices.columns.chunks_exact(per_element);
            for (d, columns) in columns.enumerate() {
                for (&other, column) in incidence.nodes_of(element).iter().zip(columns) {
                    let entry = space.entry(other as usize, d) as u32;
                    sums.add_product(entry, 1.0, column[at].to_f64());
                }
            }
        }
    }
}

/// About how many pairs of nodes share an element.
pub(super) fn pairs(incidences: &[Incidence]) -> u64 {
    const SAMPLES: usize = 10_000;
    let nodes = incidences[0].places.rows();
    // Odd, unlike the periods of many numberings.
    let every = (nodes / SAMPLES) | 1;
    let (mut near, mut found, mut count) = (RowSums::<()>::new(nodes), Vec::new(), 0);
    for node in (0..nodes).step_by(every) {
        for incidence in incidences {
            let elements = incidence.elements_with(node);
            let others = elements.flat_map(|(element, _)| incidence.nodes_of(element));
            others.for_each(|&other| near.add_product(other, (), ()));
        }
        near.take(&mut found);
        count += found.len() as u64;
        found.clear();
    }
    count * every as u64
}
