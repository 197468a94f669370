//! Exact work of sum factorisation: bytes and flops, from the sizes alone.
//!
//! Two counts of flops are kept apart. The *nominal* count is the field's (Świrydowicz et al. 2019, table 2 and
//! §5): every product of a full 1-D matrix. The *scheduled* count is what the host loops do, with
//! the even-odd decomposition and the geometry recomputed where it is not stored; bounds are made
//! from it.

use super::Storage;
use crate::family::fields::{FieldKind, Fields};
use crate::form::{Inspection, MAX_FIELDS};
use femto_element::tables::TensorTables;

/// Sizes of an operator on an element, and the storage of its geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes along an axis.
    pub nodes_1d: usize,
    /// Points along an axis.
    pub points_1d: usize,
    /// The points are the nodes.
    pub collocated: bool,
    /// Number of components.
    pub components: usize,
    /// Values enter or leave the form.
    pub values: bool,
    /// Gradients enter or leave the form.
    pub gradients: bool,
    /// The form reads the position.
    pub position: bool,
    /// The storage of the geometry.
    pub storage: Storage,
    /// Auxiliary fields.
    pub fields: Fields,
    /// Bit i: field i is at the nodes, and the form reads its gradient.
    pub field_gradients: u8,
    /// Operations of f0 and f1 at one point, see [`Inspection::ops`].
    pub form_flops: u64,
}

impl Shape {
    /// The shape of an inspected form on an element, where its auxiliary fields are constant per
    /// element.
    pub fn new(basis: &TensorTables, inspection: &Inspection, storage: Storage) -> Self {
        Self {
            nodes_1d: basis.nodes_1d,
            points_1d: basis.points_1d,
            collocated: basis.collocated,
            components: inspection.components,
            values: inspection.values(),
            gradients: inspection.gradients(),
            position: inspection.reads_position,
            storage,
            fields: Fields::new(
                &[FieldKind::Cell; MAX_FIELDS][..inspection.auxiliary.min(MAX_FIELDS)],
            ),
            field_gradients: 0,
            form_flops: inspection.flops(),
        }
    }

    /// The same with auxiliary fields of these kinds.
    pub fn with_fields(self, inspection: &Inspection, fields: Fields) -> Self {
        let read = |field: &usize| inspection.reads_field_gradient(*field);
        let read = fields.of(FieldKind::Nodal).filter(read);
        let field_gradients = read.fold(0, |mask, field| mask | 1 << field);
        Self {
            fields,
            field_gradients,
            // The Jacobian is needed for these too.
            gradients: self.gradients || field_gradients != 0,
            ..self
        }
    }

    /// Nominal flops of one element: for one component
    /// BK1 4(gq³ + g²q² + g³q) + g³, BK5 12q⁴ + 15q³, BK3 4(gq³ + g²q² + g³q) + 12g⁴ + 15g³, with
    /// q = `nodes_1d`, g = `points_1d`; 4 flops a point more where the form has a mass term beside
    /// the stiffness term (Świrydowicz et al. 2019).
    pub fn nominal_flops(&self) -> u64 {
        let (q, g) = (self.nodes_1d as u64, self.points_1d as u64);
        let interpolation = if self.collocated {
            0
        } else {
            4 * (g * q.pow(3) + g * g * q * q + g.pow(3) * q)
        };
        let points = match (self.values, self.gradients) {
            (true, true) => 12 * g.pow(4) + 19 * g.pow(3),
            (false, true) => 12 * g.pow(4) + 15 * g.pow(3),
            (_, false) => g.pow(3),
        };
        self.components as u64 * (interpolation + points)
    }

    /// Flops of one element as the host loops schedule them.
    pub fn scheduled_flops(&self) -> u64 {
        let (q, g) = (self.nodes_1d as u64, self.points_1d as u64);
        let forward = contraction_flops(q, g, false) * (q * q + q * g + g * g);
        let back = contraction_flops(g, q, false) * (q * q + q * g + g * g);
        let interpolation = if self.collocated { 0 } else { forward + back };
        // Three axes forward and back; all but the first product of the way back is added.
        let added = if self.values { 3 } else { 2 };
        let differentiation = if self.gradients {
            6 * g * g * contraction_flops(g, g, true) + added * g.pow(3)
        } else {
            0
        };
        let interpolation_in = if self.collocated { 0 } else { forward };
        let differentiation_in = 3 * g * g * contraction_flops(g, g, true);
        // Three scalings and 15 flops bring a gradient to the element.
        let fields = self.fields.count(FieldKind::Nodal) as u64 * interpolation_in
            + u64::from(self.field_gradients.count_ones()) * (differentiation_in + 18 * g.pow(3));
        self.components as u64 * (interpolation + differentiation) + fields + self.stage_flops()
    }

    /// Flops of the point-wise stage of one element.
    fn stage_flops(&self) -> u64 {
        let (g, c) = (self.points_1d as u64, self.components as u64);
        let (values, gradients) = (u64::from(self.values), u64::from(self.gradients));
        let (rows, points) = (g * g, g.pow(3));
        // Products with stored factors: 15 flops for G ∇u, 1 for m u.
        let scaling = 1 + c * (3 * gradients + values);
        let factor = c * (15 * gradients + values);
        // A form: ∇u (3 scalings, 15 flops), back (the same), f0 times weight and determinant.
        let form = c * (36 * gradients + values) + values + gradients + 1 + self.form_flops;
        // A position, where it is read: one combination of vectors a row, one a point.
        let position = if self.position { 6 } else { 0 };
        let metric =
            |row: u64, point: u64| rows * (row + 1 + position) + points * (point + position + form);
        // What the points of a layer share is not counted.
        match (self.storage, self.gradients) {
            (Storage::PointFactors, _) => points * factor,
            (Storage::ElementFactors, _) => points * (factor + scaling),
            (Storage::Affine, _) => metric(0, 0),
            // Three cross products (9 flops each; one for the determinant alone) and a triple
            // product (5).
            (Storage::Jacobians, true) => metric(0, 3 * 9 + 5),
            (Storage::Jacobians, false) => metric(0, 9 + 5),
            // Per row: 3 combinations of vectors (6), 8 cross products (2 for the determinant
            // alone), sums, 4 inner products; per point: 4 vector and 2 scalar Horner steps.
            (Storage::Trilinear, true) => metric(3 * 6 + 8 * 9 + 4 + 4 * 5, 4 * 6 + 4),
            (Storage::Trilinear, false) => metric(3 * 6 + 2 * 9 + 1 + 4 * 5, 4),
        }
    }

    /// Numbers of stored geometry per element, as [`HexPlan::pack`](super::host::HexPlan::pack) writes
    /// them.
    pub fn geometry_numbers(&self) -> u64 {
        let factors = 6 * u64::from(self.gradients) + u64::from(self.values);
        let points = (self.points_1d as u64).pow(3);
        let position = 3 * u64::from(self.position);
        match self.storage {
            Storage::Affine => 9 + position,
            Storage::Trilinear => 21 + position,
            Storage::Jacobians => (9 + position) * points,
            Storage::ElementFactors => factors,
            Storage::PointFactors => factors * points,
        }
    }
}

/// Flops of one pencil by even-odd decomposition; `odd` for an antisymmetric matrix.
fn contraction_flops(inputs: u64, outputs: u64, odd: bool) -> u64 {
    let fold = 2 * (inputs / 2);
    let pairs = (outputs / 2) * (2 * inputs + 2);
    let middle = match (outputs % 2, odd) {
        (0, _) => 0,
        (_, false) => 2 * inputs.div_ceil(2),
        (_, true) => 2 * (inputs / 2),
    };
    fold + pairs + middle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(values: bool, gradients: bool, collocated: bool) -> Shape {
        let (nodes_1d, components) = (8, 1);
        Shape {
            nodes_1d,
            points_1d: if collocated { 8 } else { 9 },
            collocated,
            components,
            values,
            gradients,
            position: false,
            storage: Storage::PointFactors,
            fields: Fields::default(),
            field_gradients: 0,
            form_flops: 0,
        }
    }

    /// The formulas of Świrydowicz et al. 2019 at N = 7, evaluated by hand.
    #[test]
    fn nominal_flops_are_the_published_ones() {
        assert_eq!(
            shape(true, false, false).nominal_flops(),
            4 * (4608 + 5184 + 5832) + 729
        );
        assert_eq!(
            shape(false, true, true).nominal_flops(),
            12 * 4096 + 15 * 512
        );
        let bk3 = 4 * (4608 + 5184 + 5832) + 12 * 6561 + 19 * 729;
        assert_eq!(shape(true, true, false).nominal_flops(), bk3);
    }

    #[test]
    fn even_odd_does_about_half() {
        for (values, gradients) in [(true, false), (true, true)] {
            let shape = shape(values, gradients, false);
            let ratio = shape.scheduled_flops() as f64 / shape.nominal_flops() as f64;
            assert!(0.55 < ratio && ratio < 0.75, "{ratio}");
        }
        assert_eq!(contraction_flops(2, 3, false), 2 + 6 + 2);
        assert_eq!(contraction_flops(3, 3, true), 2 + 8 + 2);
    }
}
