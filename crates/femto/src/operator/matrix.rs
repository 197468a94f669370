//! The sparse matrix of an operator, from its products with unit E-vectors.
//!
//! The product with the E-vector that is one at the same node of all elements has that column of all element matrices:
//! as many products as an element has unknowns give the matrix of any form, on any cells and device.

use super::any_operator::read;
use super::facets::FacetTerm;
use super::{Backend, Bound as _, BoundShape, Operator, OperatorError};
use crate::elements::places;
use crate::vector::csr::parts;
use crate::vector::{Csr, SparseMatrix, VectorOps};
use crate::{Host, Number};
use femto_fem::space::{Layout, Space};
use femto_kernel::scalar::Precision;
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::MOST_COMPONENTS;
use femto_platform::device::Device;
use rayon::prelude::*;
use std::ops::Range;

/// Bytes on the host for each entry of a matrix while it is made: value and column, twice more in what is made of it, and its
/// place in the list of neighbours.
const BYTES: u64 = 40;

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// A, with its terms on facets. Entries are the pairs of unknowns that share an element, also where they are zero.
    ///
    /// # Errors
    /// A form that is not linear, a matrix that does not fit the host, or a device's error.
    pub fn matrix(&self) -> Result<Csr, OperatorError> {
        if !self.is_linear() {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        self.assembled(&self.facets, self.shapes[0].space.components())
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
        let matrix = self.assembled(&[], if is_common { 1 } else { components })?;
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
    ) -> Result<Csr, OperatorError> {
        self.device.enter(|| {
            let host = Host::with_threads(1)?.info().memory_bytes;
            // Of two lists of neighbours at a time; elements have some pairs of nodes in common.
            let pairs = self.shapes.iter().map(|BoundShape { space, .. }| {
                space.elements() as u64 * (space.nodes_per_element() as u64).pow(2)
            });
            check(
                "the host",
                pairs.sum::<u64>() * 2 * size_of::<u32>() as u64,
                host,
            )?;
            let places = Places::new(self.shapes.iter().map(|shape| shape.space.scalar()))?;
            let neighbours = places.neighbours();
            let entries = neighbours.entries() * components.pow(2);
            check("the host", entries as u64 * BYTES, host)?;
            let length = |node| neighbours.row_columns(node).len() * components.pow(2);
            let lengths: Vec<usize> = (0..neighbours.rows()).map(length).collect();
            let mut values = vec![0.0; entries];
            let mut rows = NodeRows {
                neighbours: &neighbours,
                components,
                rows: parts(&mut values, &lengths),
            };
            for (shape, own) in self.shapes.iter().zip(&places.of_spaces) {
                rows.add(self, shape, (&places, own.clone()))?;
            }
            let space = &self.shapes[0].space;
            for term in facets {
                for shape in &term.operator.shapes {
                    let node = |&node: &u32| {
                        let entry = term.entries_on_host[shape.space.entry(node as usize, 0)];
                        space.node_of(entry as usize).0 as u32
                    };
                    let nodes = shape.space.listed_nodes().iter().map(node).collect();
                    let places = Places::of_facets(nodes, space.nodes());
                    let all = 0..places.nodes.len();
                    rows.add(&term.operator, shape, (&places, all))?;
                }
            }
            Ok(csr(values, &neighbours, (space, components)))
        })
    }
}

/// The nodes of elements.
struct Places {
    /// `[element][node]`, of one space after the other.
    nodes: Vec<u32>,
    /// The part of each space.
    of_spaces: Vec<Range<usize>>,
    /// The nodes of its elements.
    per_element: Vec<usize>,
    /// The places of each node in `nodes`.
    of_node: Csr<()>,
}

impl Places {
    fn new(spaces: impl Iterator<Item = Space>) -> Result<Self, OperatorError> {
        let spaces: Vec<Space> = spaces.collect();
        let (mut nodes, mut of_spaces) = (Vec::new(), Vec::new());
        for space in &spaces {
            let first = nodes.len();
            nodes.extend(space.listed_nodes());
            of_spaces.push(first..nodes.len());
        }
        let bytes = size_of_val(&nodes[..]) as u64;
        check("32-bit indices", bytes, Some(u64::from(u32::MAX) * 4))?;
        Ok(Self {
            of_spaces,
            per_element: spaces.iter().map(Space::nodes_per_element).collect(),
            of_node: places(&spaces),
            nodes,
        })
    }

    /// Of facets, with these nodes of the cells' space.
    fn of_facets(nodes: Vec<u32>, count: usize) -> Self {
        let row = |place: usize, row: &mut Vec<(u32, ())>| row.push((nodes[place], ()));
        Self {
            of_node: Csr::by_rows((nodes.len(), count), row).transposed(),
            of_spaces: Vec::new(),
            per_element: Vec::new(),
            nodes,
        }
    }

    /// The nodes that share an element with each node, itself included.
    fn neighbours(&self) -> Csr<()> {
        let size = (self.of_node.rows(), self.of_node.rows());
        Csr::by_rows(size, |node, entries| {
            for &place in self.of_node.row_columns(node) {
                let place = place as usize;
                let space = self.of_spaces.partition_point(|own| own.end <= place);
                let (first, per_element) = (self.of_spaces[space].start, self.per_element[space]);
                let element = first + (place - first) / per_element * per_element;
                let nodes = &self.nodes[element..][..per_element];
                entries.extend(nodes.iter().map(|&node| (node, ())));
            }
            entries.sort_unstable();
            entries.dedup();
        })
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

/// The rows of a matrix, by nodes.
struct NodeRows<'a> {
    neighbours: &'a Csr<()>,
    components: usize,
    /// `[node][component][neighbour][its component]`
    rows: Vec<&'a mut [f64]>,
}

impl NodeRows<'_> {
    /// Adds the matrices of an operator's elements of one shape, whose nodes are a part of `places`.
    fn add<T: Number, D: Backend + VectorOps<T>>(
        &mut self,
        operator: &Operator<T, D>,
        shape: &BoundShape<T, D>,
        (places, part): (&Places, Range<usize>),
    ) -> Result<(), OperatorError> {
        let (device, context) = (&operator.device, &operator.context());
        let (components, neighbours) = (self.components, self.neighbours);
        let per_element = shape.space.nodes_per_element();
        let numbers = shape.space.components() * per_element;
        let nodes = &places.nodes[part.clone()];
        let mut e = vec![T::default(); shape.space.element_dofs()];
        let [mut unit, mut product] = [device.zeros(e.len())?, device.zeros(e.len())?];
        for column in 0..components * per_element {
            let (d, of_column) = (column / per_element, column % per_element);
            e.par_chunks_exact_mut(numbers).for_each(|element| {
                element.fill(T::default());
                element[column] = T::from_f64(1.0);
            });
            device.write(&e, &mut unit)?;
            shape.bound.apply_elements(context, &unit, &mut product)?;
            device.read(&product, &mut e)?;
            let rows = self.rows.par_iter_mut().enumerate();
            rows.for_each(|(node, rows)| {
                let beside = neighbours.row_columns(node);
                let own = places.of_node.row_columns(node).iter();
                let own = own.map(|&place| place as usize);
                for place in own.filter(|place| part.contains(place)) {
                    let place = place - part.start;
                    let (element, own) = (place / per_element, place % per_element);
                    let other = nodes[element * per_element + of_column];
                    let at = beside.partition_point(|&node| node < other) * components + d;
                    let rows = rows.chunks_exact_mut(beside.len() * components);
                    for (c, row) in rows.enumerate() {
                        row[at] += e[element * numbers + c * per_element + own].to_f64();
                    }
                }
            });
        }
        Ok(())
    }
}

/// The matrix with the values of [`NodeRows`], of some components of a space.
fn csr(values: Vec<f64>, neighbours: &Csr<()>, (space, components): (&Space, usize)) -> Csr {
    let nodes = neighbours.rows();
    let size = nodes * components;
    let of_node = |row: usize| neighbours.row_columns(row / components);
    let lengths: Vec<usize> = (0..size)
        .map(|row| of_node(row).len() * components)
        .collect();
    let interleaved = Csr::of_values(size, (&lengths, values), |row| {
        let beside = of_node(row).iter();
        beside.flat_map(|&node| (0..components as u32).map(move |d| node * components as u32 + d))
    });
    if components == 1 || space.layout() == Layout::Interleaved {
        return interleaved;
    }
    Csr::by_rows((size, size), |row, entries| {
        let (node, c) = space.node_of(row);
        let own = interleaved.row(node * components + c);
        entries.extend(own.map(|(column, value)| {
            let (node, d) = (column as usize / components, column as usize % components);
            (space.entry(node, d) as u32, value)
        }));
        entries.sort_unstable_by_key(|entry| entry.0);
    })
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
}
