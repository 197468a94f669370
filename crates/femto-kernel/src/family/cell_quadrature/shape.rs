//! Sizes of an operator on one cell, from its form and tables.

use super::{ClassSizes, FieldKind, Fields, Storage};
use crate::family::MOST_CONSTANT_BYTES;
use crate::form::Inspection;
use crate::scalar::Precision;
use femto_element::tables::DenseTables;

/// Sizes of a cell, and the inputs and outputs of a form on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Dimension of the space, 2 or 3.
    pub dim: usize,
    /// Nodes of a cell, N_b of Knepley et al.
    pub nodes: usize,
    /// Points of a cell, N_q of Knepley et al.
    pub points: usize,
    /// Number of components, N_comp of Knepley et al.
    pub components: usize,
    /// Whether the basis is that of degree 1, see [`DenseTables::is_degree_one`].
    pub degree_one: bool,
    /// Whether the nodes of cells may be permuted evenly: at degree 1, with a rotation-invariant rule and
    /// without fields at its points.
    pub vertex_order_invariant: bool,
    /// Whether the form reads values of the solution.
    pub reads_values: bool,
    /// Whether the form reads gradients of the solution.
    pub reads_gradients: bool,
    /// Whether f0 is not zero.
    pub writes_values: bool,
    /// Whether f1 is not zero.
    pub writes_gradients: bool,
    /// Whether the form reads the position.
    pub position: bool,
    /// Whether the form reads gradients of auxiliary fields in the solution's space.
    pub field_gradients: bool,
    /// Auxiliary fields.
    pub fields: Fields,
    /// Number of run-time parameters.
    pub parameters: usize,
    /// Sizes of its classes, if it is a tetrahedron whose nodes and points are symmetric.
    pub classes: Option<ClassSizes>,
    /// The storage of the geometry.
    pub storage: Storage,
    /// Flops of f0 and f1 at one point.
    pub form_flops: u64,
}

impl Shape {
    /// The shape of an inspected form on a cell.
    pub fn new(
        element: &DenseTables,
        inspection: &Inspection,
        fields: Fields,
        storage: Storage,
    ) -> Self {
        let nodal = |field: usize| fields.kinds()[field] == FieldKind::Nodal;
        let gradient = |field: usize| nodal(field) && inspection.reads_field_gradient(field);
        Self {
            dim: element.dim,
            nodes: element.nodes,
            points: element.points,
            components: inspection.components,
            degree_one: element.is_degree_one(),
            vertex_order_invariant: element.is_degree_one()
                && element.is_symmetric()
                && fields.count(FieldKind::Points) == 0,
            reads_values: inspection.reads_values,
            reads_gradients: inspection.reads_gradients,
            writes_values: inspection.writes_values,
            writes_gradients: inspection.writes_gradients,
            position: inspection.reads_position,
            field_gradients: (0..fields.len()).any(gradient),
            fields,
            parameters: inspection.parameters,
            classes: ClassSizes::of(element),
            storage,
            form_flops: inspection.flops(),
        }
    }

    /// Whether the map is constant in each cell.
    #[inline]
    pub fn map_is_constant(&self) -> bool {
        self.storage != Storage::Jacobians
    }

    /// Numbers by which values and derivatives of a test function are multiplied at a point.
    #[inline]
    pub fn fluxes(&self) -> usize {
        usize::from(self.writes_values) + self.dim * usize::from(self.writes_gradients)
    }

    /// Unknowns of a cell, N_bt of Knepley et al.
    #[inline]
    pub fn unknowns(&self) -> usize {
        self.components * self.nodes
    }

    /// Numbers of one map: at a point, or of the cell.
    #[inline]
    pub fn map_numbers(&self) -> usize {
        let (d, position) = (self.dim, usize::from(self.position));
        match self.storage {
            Storage::Vertices => (d + 1) * d,
            Storage::Affine => d * d + 1 + d * position,
            Storage::Jacobians => d * d + d * position,
        }
    }

    /// Numbers of geometry stored for each cell.
    #[inline]
    pub fn geometry_numbers(&self) -> usize {
        match self.storage {
            Storage::Vertices => 0,
            Storage::Affine => self.map_numbers(),
            Storage::Jacobians => self.points * self.map_numbers(),
        }
    }

    /// Numbers of the tables: values and derivatives of the basis, weights, positions.
    pub fn table_numbers(&self) -> usize {
        self.points * (self.nodes * (1 + self.dim) + 1 + self.dim)
    }

    /// Whether the tables fit constant memory; otherwise they are kernel arguments.
    pub fn has_constant_tables(&self, precision: Precision) -> bool {
        self.table_numbers() * precision.bytes() <= MOST_CONSTANT_BYTES
    }

    /// Components and auxiliary fields in the solution's space.
    #[inline]
    pub fn functions(&self) -> usize {
        self.components + self.fields_of(FieldKind::Nodal)
    }

    /// Number of auxiliary fields of a kind.
    #[inline]
    pub fn fields_of(&self, kind: FieldKind) -> usize {
        self.fields.count(kind)
    }
}
