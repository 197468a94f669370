//! The sparse matrix of an operator, from its products with unit E-vectors.
//!
//! The product with the E-vector that is one at the same node of all elements has that column of all element matrices:
//! as many products as an element has unknowns give the matrix of any form, on any cells and device.

use super::any_operator::read;
use super::facets::FacetTerm;
use super::{Backend, Bound as _, BoundShape, Operator, OperatorError};
use crate::elements::places;
use crate::vector::{Csr, SparseMatrix, VectorOps};
use crate::{Host, Number};
use femto_fem::space::{Layout, Space};
use femto_kernel::scalar::Precision;
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::MOST_COMPONENTS;
use femto_platform::device::Device;
use rayon::prelude::*;

/// Bytes of an entry of a matrix on the host: value and column.
const ENTRY_BYTES: u64 = 12;

/// With twice more in what is made of the matrix.
const BYTES: u64 = 40;

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// A, with its terms on facets. Entries are the pairs of unknowns that share an element, also where they are zero.
    ///
    /// # Errors
    /// A form that is not linear, a matrix that does not fit the host, or a device's error.
    pub fn matrix(&self) -> Result<Csr, OperatorError> {
        self.matrix_without(&[])
    }

    /// [`Self::matrix`] with the rows and columns of the identity where `is_held`, `[dofs]`; nowhere if it is empty.
    pub(crate) fn matrix_without(&self, is_held: &[bool]) -> Result<Csr, OperatorError> {
        if !self.is_linear() {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        let components = self.shapes[0].space.components();
        self.assembled(&self.facets, components, is_held)
    }

    /// A on the device, without the terms on facets.
    pub(super) fn on_device(&self) -> Result<SparseMatrix<T, D>, OperatorError> {
        if !self.inspection().linear {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        let space = &self.shapes[0].space;
        let components = space.components();
        // Components that do not mix have a matrix in common.
        let is_common = !self.inspection().mixed && (2..=MOST_COMPONENTS).contains(&components);
        let matrix = self.assembled(&[], if is_common { 1 } else { components }, &[])?;
        let bytes = SparseMatrix::<T, D>::bytes_of(&matrix);
        check("the device", bytes, self.device.info().memory_bytes)?;
        let mut matrix = SparseMatrix::new(&self.device, &matrix)?;
        if is_common {
            matrix = matrix.of_components(Strides {
                components,
                node: space.entry(1, 0),
                component: space.entry(0, 1),
            });
        }
        self.compare(&matrix)?;
        Ok(matrix)
    }

    /// Fails unless a product with the matrix is that of the shapes: the kernels of E-vectors made it, which are not compared
    /// with the oracle for all forms.
    fn compare(&self, matrix: &SparseMatrix<T, D>) -> Result<(), OperatorError> {
        if !self.device.info().executes {
            return Ok(());
        }
        let (device, len) = (&self.device, self.sizes.dofs);
        let mut u = device.zeros(len)?;
        device.randomise(1, &mut u)?;
        let mut product = device.zeros(len)?;
        let [mut found, mut wanted] = [vec![0.0; len], vec![0.0; len]];
        device.multiply_sparse(matrix, &u, false, &mut product)?;
        read(device, &product, &mut found)?;
        self.apply_shapes(&u, &mut product)?;
        read(device, &product, &mut wanted)?;
        let size = largest(wanted.iter().copied());
        let difference = largest(
            found
                .iter()
                .zip(&wanted)
                .map(|(found, wanted)| found - wanted),
        );
        let allowed = match T::PRECISION {
            Precision::Fp64 => 1e-11,
            Precision::Fp32 => 3e-4,
        };
        // What is not finite in the operator is not in the matrix either.
        match difference <= allowed * size || !size.is_finite() {
            true => Ok(()),
            false => Err(OperatorError::SparseMatrixDiffers { difference, size }),
        }
    }

    /// The matrix of so many components: all, or one where they do not mix.
    fn assembled(
        &self,
        facets: &[FacetTerm<T, D>],
        components: usize,
        is_held: &[bool],
    ) -> Result<Csr, OperatorError> {
        self.device.enter(|| {
            let cells = self.shapes.iter().map(|shape| (self, shape, None));
            let facets = facets.iter().flat_map(|term| {
                let shapes = term.operator.shapes.iter();
                shapes.map(move |shape| (&term.operator, shape, Some(term)))
            });
            let parts: Vec<_> = cells.chain(facets).collect();
            let host = Host::with_threads(1)?.info().memory_bytes;
            let lists = parts.iter();
            let lists = lists.map(|(_, shape, _)| list_bytes::<T>(&shape.space, components));
            let lists = lists.sum();
            check("the host", lists, host)?;
            let space = &self.shapes[0].space;
            let incidence = |&(_, shape, term): &(_, &BoundShape<T, D>, Option<_>)| match term {
                None => Incidence::of_cells(&shape.space),
                Some(term) => Ok(Incidence::of_facets(space, term, shape)),
            };
            let incidences = parts.iter().map(incidence);
            let incidences = incidences.collect::<Result<Vec<_>, OperatorError>>()?;
            let entries = Neighbours::estimate(&incidences) * components.pow(2) as u64;
            check("the host", most_bytes(lists, entries), host)?;
            let matrices = parts
                .iter()
                .map(|(operator, shape, _)| ElementMatrices::new(operator, shape, components));
            let matrices = matrices.collect::<Result<Vec<_>, _>>()?;
            let parts: Vec<_> = incidences.iter().zip(&matrices).collect();
            let space = match components {
                1 => space.scalar(),
                _ => space.clone(),
            };
            let size = space.nodes() * components;
            let held = |entry: usize| is_held.get(entry) == Some(&true);
            let row = |neighbours: &mut Neighbours, row: usize, entries: &mut Vec<(u32, f64)>| {
                if held(row) {
                    return entries.push((row as u32, 1.0));
                }
                let (node, component) = space.node_of(row);
                neighbours.find(node, &incidences);
                neighbours.row(&parts, &space, (node, component), entries);
                if !is_held.is_empty() {
                    entries.retain(|entry| !held(entry.0 as usize));
                }
            };
            Ok(Csr::by_rows_with((size, size), Neighbours::default, row))
        })
    }
}

/// Bytes of the lists and the element matrices of a shape.
fn list_bytes<T: Number>(space: &Space, components: usize) -> u64 {
    let [elements, per_element] = [space.elements(), space.nodes_per_element()].map(|n| n as u64);
    let lists = elements * per_element * 2 * size_of::<u32>() as u64;
    let offsets = (space.nodes() * size_of::<usize>()) as u64;
    let numbers = per_element.pow(2) * (components * space.components() * T::BYTES) as u64;
    lists + offsets + elements * numbers
}

/// Bytes while a matrix with so many entries is made from lists of so many bytes, and of what is then made of it.
fn most_bytes(lists: u64, entries: u64) -> u64 {
    (lists + entries * ENTRY_BYTES).max(entries * BYTES)
}

/// Elements of a shape, cells or facets, and the nodes of the space that they have.
struct Incidence {
    per_element: usize,
    /// `[element][node]`
    nodes: Vec<u32>,
    /// The places of each node in `nodes`.
    places: Csr<()>,
}

impl Incidence {
    fn of_cells(space: &Space) -> Result<Self, OperatorError> {
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
    fn of_facets<T: Number, D: Backend>(
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
struct ElementMatrices<T> {
    /// The products with unit vectors, `[component][node]`: each an E-vector `[element][component][node]`.
    columns: Vec<Vec<T>>,
    /// Numbers of an element in E-vectors.
    element_len: usize,
}

impl<T: Number> ElementMatrices<T> {
    fn new<D: Backend + VectorOps<T>>(
        operator: &Operator<T, D>,
        shape: &BoundShape<T, D>,
        components: usize,
    ) -> Result<Self, OperatorError> {
        let (device, context) = (&operator.device, &operator.context());
        let per_element = shape.space.nodes_per_element();
        let element_len = shape.space.components() * per_element;
        let mut unit_on_host = vec![T::default(); shape.space.element_dofs()];
        let size = unit_on_host.len();
        let [mut unit, mut product] = [device.zeros(size)?, device.zeros(size)?];
        let column = |column: usize| {
            unit_on_host
                .par_chunks_exact_mut(element_len)
                .for_each(|element| {
                    element[column.saturating_sub(1)] = T::default();
                    element[column] = T::from_f64(1.0);
                });
            device.write(&unit_on_host, &mut unit)?;
            shape.bound.apply_elements(context, &unit, &mut product)?;
            let values = (0..size).into_par_iter().map(|_| T::default());
            let mut values: Vec<T> = values.collect();
            device.read(&product, &mut values)?;
            Ok(values)
        };
        let columns = (0..components * per_element).map(column);
        Ok(Self {
            columns: columns.collect::<Result<_, OperatorError>>()?,
            element_len,
        })
    }
}

/// The nodes that share an element with a node, itself included.
#[derive(Default)]
struct Neighbours {
    node: Option<usize>,
    /// Ascending.
    nodes: Vec<u32>,
    /// The position in `nodes` of each node of each element with the node.
    ranks: Vec<u32>,
    /// Nodes and their positions in `ranks`.
    keys: Vec<u64>,
}

impl Neighbours {
    fn find(&mut self, node: usize, incidences: &[Incidence]) {
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
    fn row<T: Number>(
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
    fn estimate(incidences: &[Incidence]) -> u64 {
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

/// The largest magnitude; NaN if there is one.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |largest, value| {
        let size = value.abs();
        if size > largest || size.is_nan() {
            size
        } else {
            largest
        }
    })
}

/// Fails if a matrix does not fit.
fn check(what: &'static str, bytes: u64, available: Option<u64>) -> Result<(), OperatorError> {
    match available {
        Some(available) if bytes > available => Err(OperatorError::SparseMatrixTooLarge {
            what,
            bytes,
            available,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(check("the host", 10, None), Ok(()));
        assert_eq!(check("the host", 10, Some(10)), Ok(()));
        let refused = check("the host", 11, Some(10)).unwrap_err();
        assert!(refused.is_of_input());
        let words = refused.to_string();
        assert!(words.contains("the host: it may take 11 bytes"), "{words}");
    }

    /// Columns are whole E-vectors, also of a matrix that components have in common.
    #[test]
    fn element_matrices_and_lists_are_counted() {
        let mesh = femto_fem::mesh::boxes::BoxMesh::unit_cube(2)
            .build(|x| x)
            .unwrap();
        let geometry = femto_fem::geometry::Geometry::new(&mesh).unwrap();
        let params = femto_fem::space::SpaceParams {
            degree: 1,
            components: 3,
            ..Default::default()
        };
        let space = Space::new(&mesh, &geometry, params).unwrap();
        let lists = 8 * 8 * 8 + 27 * 8;
        assert_eq!(list_bytes::<f64>(&space, 1), lists + 8 * 8 * 24 * 8);
        assert_eq!(list_bytes::<f32>(&space, 3), lists + 8 * 24 * 24 * 4);
        assert_eq!([most_bytes(100, 3), most_bytes(100, 10)], [136, 400]);
    }
}
