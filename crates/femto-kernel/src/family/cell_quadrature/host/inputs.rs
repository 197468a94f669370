//! Inputs of a form at the points of a batch.

use super::HostKernel;
use super::map::Map;
use crate::family::batch::Batch;
use crate::family::cell_quadrature::FieldKind;
use crate::form::MAX_FIELDS;
use crate::scalar::Lanes;

/// Inputs of a form besides the solution, in arrays of the maximum size.
pub(super) struct Inputs<L, const D: usize> {
    /// `[field]`
    pub(super) a: [L; MAX_FIELDS],
    /// `[field][axis]`
    pub(super) grad_a: [[L; D]; MAX_FIELDS],
    pub(super) x: [L; D],
    pub(super) time: L,
    /// `[parameter]`
    pub(super) parameters: [L; MAX_FIELDS],
}

impl<L: Lanes, F, const D: usize, const C: usize> HostKernel<L, F, D, C> {
    #[inline(always)]
    pub(super) fn splat(&self, value: L::Real) -> L {
        L::splat(self.token, value)
    }

    #[inline(always)]
    pub(super) fn zero(&self) -> L {
        self.maps.zero()
    }

    /// Inputs of a form that reads nothing.
    pub(super) fn no_inputs(&self) -> Inputs<L, D> {
        let zero = self.zero();
        Inputs {
            a: [zero; MAX_FIELDS],
            grad_a: [[zero; D]; MAX_FIELDS],
            x: [zero; D],
            time: zero,
            parameters: [zero; MAX_FIELDS],
        }
    }

    /// Sets the inputs that are the same at all points. The others are overwritten at each point, or stay
    /// zero.
    #[inline(always)]
    pub(super) fn inputs_of(&self, batch: &Batch<L::Real>, inputs: &mut Inputs<L, D>) {
        let zero = self.zero();
        inputs.time = zero.constant(batch.context.time);
        for (own, &value) in inputs.parameters.iter_mut().zip(batch.context.parameters) {
            *own = zero.constant(value);
        }
        for (n, field) in self.shape.fields.of(FieldKind::Cell).enumerate() {
            inputs.a[field] = self.maps.load(batch.auxiliary, n);
        }
    }

    /// Sets the inputs at point `q` from values at the nodes of a cell, `nodes` for each component and
    /// field.
    #[inline(always)]
    pub(super) fn inputs_at(
        &self,
        batch: &Batch<L::Real>,
        (nodal, nodes): (&[L], usize),
        map: &Map<L, D>,
        q: usize,
        inputs: &mut Inputs<L, D>,
    ) {
        if self.shape.position {
            inputs.x = self.maps.position(batch, map, q);
        }
        if self.shape.fields.is_empty() {
            return;
        }
        for (n, field) in self.shape.fields.of(FieldKind::Nodal).enumerate() {
            let values = &nodal[(C + n) * nodes..][..nodes];
            inputs.a[field] = self.value(values, q);
            if self.shape.field_gradients {
                inputs.grad_a[field] = physical(&self.reference_gradient(values, q), map);
            }
        }
        for (n, field) in self.shape.fields.of(FieldKind::Points).enumerate() {
            inputs.a[field] = self.maps.load(batch.points, n * self.shape.points + q);
        }
    }

    /// The value at point `q` from values at the nodes.
    #[inline(always)]
    pub(super) fn value(&self, values: &[L], q: usize) -> L {
        let nodes = values.len();
        let row = &self.interp[q * nodes..][..nodes];
        let mut sum = self.zero();
        for (value, &entry) in values.iter().zip(row) {
            sum = value.mul_add(self.splat(entry), sum);
        }
        sum
    }

    /// Reference derivatives at point `q`.
    #[inline(always)]
    pub(super) fn reference_gradient(&self, values: &[L], q: usize) -> [L; D] {
        if self.shape.degree_one {
            return differences(values);
        }
        let mut gradient = [self.zero(); D];
        let nodes = self.shape.nodes;
        let (rows, _) = self.grad[q * nodes * D..][..nodes * D].as_chunks::<D>();
        for (value, row) in values.iter().zip(rows) {
            for r in 0..D {
                gradient[r] = value.mul_add(self.splat(row[r]), gradient[r]);
            }
        }
        gradient
    }
}

/// Reference derivatives at degree 1.
#[inline(always)]
pub(super) fn differences<L: Lanes, const D: usize>(values: &[L]) -> [L; D] {
    let mut differences = [values[0]; D];
    for r in 0..D {
        differences[r] = values[r + 1] - values[0];
    }
    differences
}

/// The physical gradient from the reference gradient.
#[inline(always)]
pub(super) fn physical<L: Lanes, const D: usize>(reference: &[L; D], map: &Map<L, D>) -> [L; D] {
    let mut gradient = *reference;
    for d in 0..D {
        gradient[d] = reference[0] * map.inverse[0][d];
        for r in 1..D {
            gradient[d] = reference[r].mul_add(map.inverse[r][d], gradient[d]);
        }
    }
    gradient
}
