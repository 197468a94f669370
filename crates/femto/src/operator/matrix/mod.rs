//! The sparse matrix of an operator, from its products with unit E-vectors.
//!
//! The product with the E-vector that is one at the same node of all elements has that column of all element matrices:
//! as many products as an element has unknowns give the matrix of any form, on any cells and device.

mod held;
mod rows;

use super::facets::FacetTerm;
use super::{Backend, BoundShape, Operator, OperatorError};
use crate::vector::csr::RowSums;
use crate::vector::{Csr, SparseMatrix, VectorOps, download_f64};
use crate::{Host, Number};
use femto_fem::space::{Layout, Space};
use femto_kernel::scalar::Precision;
use femto_kernel::vector::Strides;
use femto_kernel::vector::sparse::MOST_COMPONENTS;
use femto_platform::device::Device;
use held::Held;
use rows::{ElementMatrices, Incidence};

/// Bytes of an entry of a matrix on the host: value and column.
const ENTRY_BYTES: u64 = 12;

/// Bytes of an entry and of what is made of it: three more copies, and a little.
const BYTES: u64 = 52;

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
    /// A, with its terms on facets. Entries are the pairs of unknowns that share an element, also where they are zero.
    ///
    /// # Errors
    /// A form that is not linear, a matrix that does not fit the host, or a device's error.
    pub fn matrix(&self) -> Result<Csr, OperatorError> {
        self.matrix_without(&[])
    }

    /// [`Self::matrix`] with the rows and columns of the identity where `is_held`, `[dofs]`; nowhere if it is empty. Of a node that
    /// is held in part the zeros are entries too.
    pub(crate) fn matrix_without(&self, is_held: &[bool]) -> Result<Csr, OperatorError> {
        if !self.is_linear() {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        let components = self.shapes[0].space.components();
        self.assembled(&self.facets, components, is_held)
    }

    /// Where the matrix is that of the identity.
    pub(crate) fn held<'a>(&'a self, is_held: &'a [bool]) -> Held<'a> {
        Held::new(&self.shapes[0].space, is_held)
    }

    /// A on the device, without the terms on facets.
    pub(super) fn on_device(&self) -> Result<SparseMatrix<T, D>, OperatorError> {
        if !self.inspection().linear {
            return Err(OperatorError::MatricesOfNonlinear);
        }
        let space = &self.shapes[0].space;
        let components = space.components();
        // Components that are not coupled have a matrix in common.
        let is_common =
            self.inspection().coupled == 1 && (2..=MOST_COMPONENTS).contains(&components);
        let matrix = self.assembled(&[], if is_common { 1 } else { components }, &[])?;
        let block = match space.layout() {
            Layout::Interleaved if !is_common => [components; 2],
            _ => [1, 1],
        };
        let slicing = SparseMatrix::<T, D>::slicing(&self.device, &matrix, block);
        let available = self.device.info().memory_bytes;
        check("the device", slicing.bytes::<T>(), available)?;
        let mut matrix = SparseMatrix::sliced(&self.device, &matrix, &slicing)?;
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

    /// Fails unless a product with the matrix is that of the shapes: the kernels of E-vectors made it, which are not
    /// compared with the oracle for all forms.
    fn compare(&self, matrix: &SparseMatrix<T, D>) -> Result<(), OperatorError> {
        if !self.device.info().executes {
            return Ok(());
        }
        let (device, len) = (&self.device, self.sizes.dofs);
        let mut u = device.zeros(len)?;
        device.randomise(1, &mut u)?;
        let mut product = device.zeros(len)?;
        device.multiply_sparse(matrix, &u, false, &mut product)?;
        let found = download_f64(device, &product)?;
        self.apply_shapes(&u, &mut product)?;
        let wanted = download_f64(device, &product)?;
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

    /// The matrix for all components, or for one where they are not coupled.
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
            let entries = rows::pairs(&incidences) * components.pow(2) as u64;
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
            let held = Held::new(&space, is_held);
            let row = |sums: &mut RowSums<f64>, row: usize, entries: &mut Vec<(u32, f64)>| {
                held.write_row(row, entries, |entries| {
                    rows::add_row(&parts, &space, space.node_of(row), sums);
                    sums.take(entries);
                });
            };
            Ok(Csr::by_rows_with((size, size), || RowSums::new(size), row))
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

/// The most bytes in use at a time: by the lists and the matrix made from them, or by the matrix and what is then made
/// of it.
fn most_bytes(lists: u64, entries: u64) -> u64 {
    (lists + entries * ENTRY_BYTES).max(entries * BYTES)
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
            degree: 1.into(),
            components: 3,
            ..Default::default()
        };
        let space = Space::new(&mesh, &geometry, params).unwrap();
        let lists = 8 * 8 * 8 + 27 * 8;
        assert_eq!(list_bytes::<f64>(&space, 1), lists + 8 * 8 * 24 * 8);
        assert_eq!(list_bytes::<f32>(&space, 3), lists + 8 * 24 * 24 * 4);
        assert_eq!([most_bytes(100, 3), most_bytes(100, 10)], [156, 520]);
    }
}
