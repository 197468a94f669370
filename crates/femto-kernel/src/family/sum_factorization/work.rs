//! Exact work of sum factorisation: bytes and flops, from the sizes alone.
//!
//! Two counts of flops are kept apart. The *nominal* count is the field's (Świrydowicz et al. 2019, table 2
//! and §5): every product of a full 1-D matrix. The *scheduled* count is that of the host loops, with the
//! even-odd decomposition and recomputed geometry if it is not stored; bounds use this one.

use super::{Storage, entries};
use crate::family::fields::{FieldKind, Fields};
use crate::form::{Inspection, MAX_FIELDS};
use femto_element::tables::TensorTables;

/// Sizes of an operator on an element, and the storage of its geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Dimension of the cell: 3 for hexahedra, 2 for quadrilaterals.
    pub dim: usize,
    /// Nodes along an axis.
    pub nodes_1d: usize,
    /// Points along an axis.
    pub points_1d: usize,
    /// Whether the points are the nodes.
    pub collocated: bool,
    /// Number of components.
    pub components: usize,
    /// Whether the form uses values.
    pub values: bool,
    /// Whether the form uses gradients.
    pub gradients: bool,
    /// Whether the form reads the position.
    pub position: bool,
    /// The storage of the geometry.
    pub storage: Storage,
    /// Auxiliary fields.
    pub fields: Fields,
    /// Bit i: whether field i is at the nodes and the form reads its gradient.
    pub field_gradients: u8,
    /// Number of run-time parameters.
    pub parameters: usize,
    /// Whether the form reads the time or parameters.
    pub reads_context: bool,
    /// Operations of f0 and f1 at one point, see [`Inspection::ops`].
    pub form_flops: u64,
    /// Powers, exponentials and the like among them.
    pub form_calls: u64,
}

/// How the metric of a multilinear map of hexahedra is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Metric {
    /// Whether columns of the Jacobian are known along a pencil, not polynomials of its adjugate.
    pub(super) columns: bool,
    /// Whether all components are multiplied by one symmetric matrix, not by J⁻ᵀ and back.
    pub(super) matrix: bool,
    /// Whether what the points of a layer have in common is computed once.
    pub(super) layers: bool,
}

/// Most points of a row for which the host keeps the columns of J. Polynomials take more operations up to five; columns of
/// five were not tried.
pub(super) const COLUMNS: usize = 4;

/// Components that the host takes together, by one symmetric matrix: 36 flops, and 15 for each, in place of 33 for each.
pub(super) const TOGETHER: usize = 3;

impl Shape {
    /// The shape of an inspected form on an element, with auxiliary fields constant per element.
    pub fn new(basis: &TensorTables, inspection: &Inspection, storage: Storage) -> Self {
        Self {
            dim: basis.cell.dim(),
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
            parameters: inspection.parameters,
            reads_context: inspection.reads_time || inspection.parameters > 0,
            form_flops: inspection.flops(),
            form_calls: inspection.ops.special as u64,
        }
    }

    /// The same shape with auxiliary fields of these kinds.
    pub fn with_fields(self, inspection: &Inspection, fields: Fields) -> Self {
        let read = |field: &usize| inspection.reads_field_gradient(*field);
        let read = fields.of(FieldKind::Nodal).filter(read);
        let field_gradients = read.fold(0, |mask, field| mask | 1 << field);
        Self {
            fields,
            field_gradients,
            // These need the Jacobian too.
            gradients: self.gradients || field_gradients != 0,
            ..self
        }
    }

    /// Points of an element.
    pub fn points(&self) -> usize {
        self.points_1d.pow(self.dim as u32)
    }

    /// Pencils of points along one axis.
    pub fn pencils(&self) -> usize {
        self.points() / self.points_1d
    }

    /// Nominal flops of one element: for one component of a hexahedron BK1 4(gq³ + g²q² + g³q) + g³, BK5
    /// 12q⁴ + 15q³, BK3 4(gq³ + g²q² + g³q) + 12g⁴ + 15g³, with q = `nodes_1d`, g = `points_1d`; 4 more
    /// flops per point if the form has a mass term besides the stiffness term (Świrydowicz et al. 2019).
    /// For a quadrilateral 4(gq² + g²q) + g², 8q³ + 6q² and 4(gq² + g²q) + 8g³ + 6g²: the same products
    /// along two axes, and a symmetric 2 × 2 matrix per point.
    pub fn nominal_flops(&self) -> u64 {
        let (g, d, points) = (self.points_1d as u64, self.dim as u64, self.points() as u64);
        let interpolation = if self.collocated {
            0
        } else {
            4 * g * self.interpolated() * self.nodes_1d as u64
        };
        let stiffness = 4 * d * g * points + d * (2 * d - 1) * points;
        let at_points = match (self.values, self.gradients) {
            (true, true) => stiffness + 4 * points,
            (false, true) => stiffness,
            (_, false) => points,
        };
        self.components as u64 * (interpolation + at_points)
    }

    /// Number of pencils contracted by an interpolation along one axis after the other: q² + q g + g², or
    /// q + g.
    fn interpolated(&self) -> u64 {
        let (q, g, last) = (self.nodes_1d as u64, self.points_1d as u64, self.dim - 1);
        (0..=last)
            .map(|done| q.pow((last - done) as u32) * g.pow(done as u32))
            .sum()
    }

    /// Flops of one element, as scheduled in the host loops.
    pub fn scheduled_flops(&self) -> u64 {
        if !self.storage.is_factors() {
            return self.pencil_flops(Metric::default());
        }
        if self.storage == Storage::Entries {
            return self.entry_flops();
        }
        // The factors are found once for some components.
        let groups = (0..self.components).step_by(TOGETHER);
        let flops = groups.map(|first| {
            let group = Self {
                components: (self.components - first).min(TOGETHER),
                ..*self
            };
            let by = Metric {
                columns: self.points_1d <= COLUMNS,
                matrix: group.components == TOGETHER,
                layers: true,
            };
            match self.is_whole() {
                true => group.layered_flops(by),
                false => group.pencil_flops(by),
            }
        });
        flops.sum()
    }

    /// Flops of one element of degree 1 by the numbers of its matrix.
    pub(super) fn entry_flops(&self) -> u64 {
        self.components as u64 * entries::flops(self.values, self.gradients)
    }

    /// Whether the host's loops have whole elements of degree 1 in registers; those for SSE2 do not.
    pub(super) fn is_whole(&self) -> bool {
        let of_elements = matches!(self.storage, Storage::ElementFactors | Storage::MapFactors);
        of_elements && self.nodes_1d == 2 && (2..=3).contains(&self.points_1d)
    }

    /// Flops of such an element, there and back: values at the nodes to coefficients, these to numbers on layers, on rows
    /// and at points.
    fn layered_flops(&self, by: Metric) -> u64 {
        let (layers, rows, points) = (
            self.points_1d as u64,
            self.pencils() as u64,
            self.points() as u64,
        );
        // 3 · 8 additions and 8 products, twice. There and back numbers are linear in a coordinate; where values are not
        // wanted, neither is u at the origin.
        let (of_layer, of_row, of_point) = match (self.values, self.gradients) {
            (true, true) => (8 + 16, 8 + 14, 6 + 10),
            (false, true) => (6 + 13, 6 + 11, 4 + 7),
            (_, false) => (8 + 12, 4 + 6, 2 + 3),
        };
        let of_component = 2 * 32 + layers * of_layer + rows * of_row + points * of_point;
        self.components as u64 * of_component + self.stage_flops(by)
    }

    /// Flops of one element by contractions of pencils.
    pub(super) fn pencil_flops(&self, by: Metric) -> u64 {
        let (q, g) = (self.nodes_1d as u64, self.points_1d as u64);
        let (d, pencils, points) = (self.dim as u64, self.pencils() as u64, self.points() as u64);
        let forward = contraction_flops(q, g, false) * self.interpolated();
        let back = contraction_flops(g, q, false) * self.interpolated();
        let interpolation = if self.collocated { 0 } else { forward + back };
        let differentiation_in = d * pencils * contraction_flops(g, g, true);
        // All axes forward and back; all but the first product on the way back are added.
        let added = if self.values { d } else { d - 1 };
        let differentiation = if self.gradients {
            2 * differentiation_in + added * points
        } else {
            0
        };
        let interpolation_in = if self.collocated { 0 } else { forward };
        let fields = self.fields.count(FieldKind::Nodal) as u64 * interpolation_in
            + u64::from(self.field_gradients.count_ones())
                * (differentiation_in + self.field_gradient_flops());
        self.components as u64 * (interpolation + differentiation) + fields + self.stage_flops(by)
    }

    /// Flops of one hexahedron with gradients at Gauss points by contractions of layers of nodes, then of pencils of
    /// points, there and back.
    pub(super) fn layer_flops(&self, by: Metric) -> u64 {
        let (q, g) = (self.nodes_1d as u64, self.points_1d as u64);
        let both = |odd: bool| contraction_flops(q, g, odd) + contraction_flops(g, q, odd);
        let (interp, grad, values) = (both(false), both(true), u64::from(self.values));
        // Values and derivatives along η of q columns; of the g rows of the former values and derivatives along ξ, of
        // the others values. On the way back the two are added, on rows and on columns.
        let of_layer = q * (interp + grad) + g * (2 * interp + grad) + g * q + q * q;
        let of_pencil = (2 + values) * interp + grad + values * q;
        let of_component = q * of_layer + g * g * of_pencil;
        let (interp, grad) = (
            contraction_flops(q, g, false),
            contraction_flops(q, g, true),
        );
        let of_field = q * (q + g) * interp + g * g * interp;
        let of_gradient = q * (q * grad + g * (interp + grad))
            + g * g * (2 * interp + grad)
            + self.field_gradient_flops();
        self.components as u64 * of_component
            + self.fields.count(FieldKind::Nodal) as u64 * of_field
            + u64::from(self.field_gradients.count_ones()) * of_gradient
            + self.stage_flops(by)
    }

    /// Room for what threads with a layer of nodes exchange at a point of each layer, in numbers: values and two derivatives
    /// of `components`, of fields only if the form reads a gradient of any.
    pub(super) fn exchanged(&self, components: usize) -> usize {
        let of_field = if self.field_gradients == 0 { 1 } else { 3 };
        3 * components + of_field * self.fields.count(FieldKind::Nodal)
    }

    /// Flops of the physical gradient of a field at all points: d scalings and d (2d − 1) flops each.
    fn field_gradient_flops(&self) -> u64 {
        2 * (self.dim * self.dim * self.points()) as u64
    }

    /// Flops of one hexahedron of degree 1 if a thread has all of it, there and back: values at the nodes to coefficients,
    /// these to numbers on pencils, those to numbers at points.
    pub(super) fn whole_element_flops(&self, by: Metric) -> u64 {
        let (pencils, points) = (self.pencils() as u64, self.points() as u64);
        // 3 · 8 additions and 8 products, twice; for a pencil there and back, and for a point.
        let (of_pencil, of_point) = match (self.values, self.gradients) {
            (true, true) => (16 + 22, 6 + 10),
            (false, true) => (12 + 17, 4 + 7),
            (_, false) => (12 + 14, 2 + 3),
        };
        let of_component = 2 * 32 + pencils * of_pencil + points * of_point;
        self.components as u64 * of_component + self.stage_flops(by)
    }

    /// Flops of the point-wise stage of one element.
    fn stage_flops(&self, by: Metric) -> u64 {
        let (d, c) = (self.dim as u64, self.components as u64);
        let (values, gradients) = (u64::from(self.values), u64::from(self.gradients));
        let (rows, points) = (self.pencils() as u64, self.points() as u64);
        let is_folded = self.storage.is_factors();
        // Products with stored factors: 15 flops for G ∇u, 1 for m u.
        let scaling = match by.matrix {
            true => 1 + 6 * gradients + values,
            false => 1 + c * (3 * gradients + values),
        };
        let factor = c * (15 * gradients + values);
        // A form: ∇u (d scalings, d (2d − 1) flops), back (the same), f0 times weight and determinant. With folded
        // coefficients ∇u is scaled once, by κ w / det J. By a matrix: its 6 inner products, two scaled vectors and a
        // scaling (the host scales the products, one flop less), 15 flops for a component.
        let of_gradients = match (is_folded, by.matrix) {
            (_, true) => 6 * 5 + 2 * 3 + 1 + 15 * c + 1,
            (true, false) => 33 * c + 1,
            (false, false) => 4 * d * d * c,
        };
        let of_values = c + 1 + u64::from(is_folded) * gradients;
        let form_flops = if is_folded { 0 } else { self.form_flops };
        let form = gradients * (of_gradients + 1) + values * of_values + 1 + form_flops;
        // A position, if it is read: one combination of vectors per row, one per point.
        let position = if self.position { 2 * d } else { 0 };
        // The weight of a row is a product of d − 1.
        let metric = |row: u64, point: u64| {
            rows * (row + d - 2 + position) + points * (point + position + form)
        };
        // Work common to the points of a layer is not counted.
        match (self.storage, self.gradients) {
            (Storage::Entries, _) => 0,
            (Storage::PointFactors, _) => points * factor,
            (Storage::ElementFactors, _) => points * (factor + scaling),
            (Storage::Affine, _) => metric(0, 0),
            // A determinant, 3 flops; signs are free.
            (Storage::Jacobians, _) if d == 2 => metric(0, 3),
            // Per row: a combination of vectors (4) and two determinants; per point: the combination of the
            // other column, and one Horner step.
            (Storage::Multilinear, true) if d == 2 => metric(4 + 2 * 3, 4 + 2),
            (Storage::Multilinear, false) if d == 2 => metric(4 + 2 * 3, 2),
            // Three cross products (9 flops each; one if only the determinant is needed) and a triple
            // product (5).
            (Storage::Jacobians, true) => metric(0, 3 * 9 + 5),
            (Storage::Jacobians, false) => metric(0, 9 + 5),
            // Per row: 3 combinations of vectors (6 flops each); per point: 2, 3 cross products (9) and a triple product.
            (Storage::Multilinear | Storage::MapFactors, true) if by.columns => {
                metric(3 * 6, 2 * 6 + 3 * 9 + 5)
            }
            // Per row: 3 combinations of vectors (6), 8 cross products (2 if only the determinant is
            // needed), sums, 4 inner products; per point: 4 vector and 2 scalar Horner steps.
            (Storage::Multilinear | Storage::MapFactors, true) => {
                metric(3 * 6 + 8 * 9 + 4 + 4 * 5, 4 * 6 + 4)
            }
            // A polynomial of degree 2 in ξ. Its coefficients are polynomials in η, whose coefficients are polynomials
            // in ζ.
            (Storage::MapFactors, false) => metric(3 * if by.layers { 4 } else { 16 }, 4),
            (Storage::Multilinear, false) => metric(3 * 6 + 2 * 9 + 1 + 4 * 5, 4),
        }
    }

    /// Length of an element's stored geometry, as written by
    /// [`HostPlan::pack`](super::host::HostPlan::pack).
    pub fn geometry_numbers(&self) -> u64 {
        let factors = 6 * u64::from(self.gradients) + u64::from(self.values);
        let (d, points) = (self.dim as u64, self.points() as u64);
        let position = d * u64::from(self.position);
        match self.storage {
            Storage::Affine => d * d + position,
            Storage::MapFactors if !self.gradients => 27,
            Storage::MapFactors => 22 + u64::from(self.values),
            Storage::Multilinear => d * ((1 << d) - 1) + position,
            Storage::Jacobians => (d * d + position) * points,
            Storage::ElementFactors => factors,
            Storage::PointFactors => factors * points,
            Storage::Entries => entries::count(self.values, self.gradients) as u64,
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
            dim: 3,
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
            parameters: 0,
            reads_context: false,
            form_flops: 0,
            form_calls: 0,
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
    fn quadrilaterals_have_two_axes() {
        let plane = |values, gradients, collocated| Shape {
            dim: 2,
            ..shape(values, gradients, collocated)
        };
        let interpolation = 4 * (9 * 64 + 81 * 8);
        assert_eq!(
            plane(true, false, false).nominal_flops(),
            interpolation + 81
        );
        assert_eq!(plane(false, true, true).nominal_flops(), 8 * 512 + 6 * 64);
        let shape = Shape {
            position: true,
            storage: Storage::Affine,
            ..plane(false, true, false)
        };
        let numbers = |storage| Shape { storage, ..shape }.geometry_numbers();
        assert_eq!(numbers(Storage::Affine), 4 + 2);
        assert_eq!(numbers(Storage::Multilinear), 6 + 2);
        assert_eq!(numbers(Storage::Jacobians), 81 * (4 + 2));
        // 17 pencils of 8 to 9 and back, 18 of 9 to 9 twice, added once; then ∇u, the form and back.
        let interpolation = 17 * (contraction_flops(8, 9, false) + contraction_flops(9, 8, false));
        let differentiation = 2 * 18 * contraction_flops(9, 9, true) + 81;
        let stage = 81 * (16 + 2 + 4) + 9 * 4;
        assert_eq!(
            shape.scheduled_flops(),
            interpolation + differentiation + stage
        );
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
