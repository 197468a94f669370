//! Evaluation of one batch: values to points, the form, points to values.

use super::{HostKernel, Scratch};
use crate::family::batch::{Batch, chunks, gather_any};
use crate::family::cell_quadrature::FieldKind;
use crate::form::MOST_POINTS;
use crate::scalar::Lanes;
use core::ops::Range;

impl<L: Lanes, const D: usize> HostKernel<L, D> {
    /// Reads the fields in the solution's space, after the components.
    #[inline(always)]
    pub(super) fn gather_fields(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        if self.nodal_fields > 0 {
            let places = batch.places(self.shape.nodes, self.nodal_fields);
            let first = self.shape.components * self.shape.nodes;
            let fields = &mut scratch.nodal[first..];
            gather_any(self.token, places, batch.nodal.numbers, fields);
            self.matrices.fields.prepare(fields, &mut scratch.spare);
        }
    }

    /// Sets the inputs that are the same at all points.
    #[inline(always)]
    pub(super) fn set_constants(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        let points = &mut scratch.points;
        points.set_context(batch.context.time, batch.context.parameters);
        for (n, field) in self.shape.fields.of(FieldKind::Cell).enumerate() {
            points.a[field] = [self.maps.load(batch.auxiliary, n); MOST_POINTS];
        }
        if self.shape.map_is_constant() {
            scratch.map = self.maps.constant(batch);
            points.inverse[0] = self.along_axes(&scratch.map.inverse);
        }
    }

    /// J⁻¹ along the axes of derivatives.
    #[inline(always)]
    fn along_axes(&self, inverse: &[[L; D]; D]) -> [[L; D]; D] {
        match &self.classes {
            None => *inverse,
            Some(classes) => classes.inverse(inverse),
        }
    }

    /// Sets maps and weights at a chunk's points, positions, and the fields that vary.
    #[inline(always)]
    pub(super) fn set_inputs(
        &self,
        batch: &Batch<L::Real>,
        chunk: &Range<usize>,
        scratch: &mut Scratch<L, D>,
    ) {
        let Scratch {
            nodal,
            points,
            map,
            spare,
            ..
        } = scratch;
        let constant = self.shape.map_is_constant();
        for (p, q) in chunk.clone().enumerate() {
            if !constant {
                *map = self.maps.at(batch, q);
                points.inverse[p] = self.along_axes(&map.inverse);
            }
            points.scales[p] = map.determinant * self.splat(self.weights[q]);
            if self.shape.position {
                let x = self.maps.position(batch, map, q);
                for d in 0..D {
                    points.x[d][p] = x[d];
                }
            }
        }
        if self.shape.fields.is_empty() {
            return;
        }
        let (_, fields) = nodal.split_at(self.shape.components * self.shape.nodes);
        let nodal = self.shape.fields.of(FieldKind::Nodal);
        for (field, nodal) in nodal.zip(fields.chunks_exact(self.shape.nodes)) {
            let (values, gradients) = (&mut points.a[field], &mut points.grad_a[field]);
            let matrix = &self.matrices.fields;
            matrix.to_points(self.token, chunk, nodal, Some(values), gradients, spare);
            if self.shape.field_gradients {
                points.set_gradients(field, chunk.len());
            }
        }
        for (n, field) in self.shape.fields.of(FieldKind::Points).enumerate() {
            for (p, q) in chunk.clone().enumerate() {
                let place = n * self.shape.points + q;
                points.a[field][p] = self.maps.load(batch.points, place);
            }
        }
    }

    /// Any element, any map.
    #[inline(always)]
    pub(super) fn evaluate(&self, batch: &Batch<L::Real>, scratch: &mut Scratch<L, D>) {
        scratch.out.fill(self.zero());
        self.set_constants(batch, scratch);
        for chunk in chunks(self.shape.points) {
            self.set_inputs(batch, &chunk, scratch);
            for c in 0..self.shape.components {
                self.set_solution(&chunk, c, scratch);
            }
            let form = &self.form;
            form.evaluate(self.token, chunk.len(), &mut scratch.points);
            for c in 0..self.shape.components {
                self.test(&chunk, c, scratch);
            }
        }
    }

    /// Sets values and gradients of a component of the solution at a chunk's points, as far as they are read.
    #[inline(always)]
    fn set_solution(&self, chunk: &Range<usize>, c: usize, scratch: &mut Scratch<L, D>) {
        let matrix = &self.matrices.solution;
        let nodal = &scratch.nodal[c * self.shape.nodes..][..self.shape.nodes];
        let points = &mut scratch.points;
        let values = self.shape.reads_values.then_some(&mut points.u[c]);
        let gradients = &mut points.grad_u[c];
        matrix.to_points(
            self.token,
            chunk,
            nodal,
            values,
            gradients,
            &mut scratch.spare,
        );
    }

    /// Adds what the form gave for a component at a chunk's points to the nodes.
    #[inline(always)]
    fn test(&self, chunk: &Range<usize>, c: usize, scratch: &mut Scratch<L, D>) {
        let matrix = &self.matrices.test;
        let points = &scratch.points;
        let values = self.shape.writes_values.then_some(&points.u[c]);
        let out = &mut scratch.out[c * self.shape.nodes..][..self.shape.nodes];
        let coefficients = (values, &points.grad_u[c][..]);
        matrix.add_to_nodes(self.token, chunk, coefficients, out, &mut scratch.spare);
    }
}
