//! Auxiliary fields, position and context at the points of a batch.

use super::metric::load;
use super::stage::{BatchData, Strided};
use crate::family::fields::{FieldKind, Fields};
use crate::form::MAX_FIELDS;
use crate::scalar::{Lanes, Real};

/// The sources of a form's auxiliary fields.
pub(crate) struct FieldSources {
    /// Fields constant per element.
    cell: Vec<usize>,
    /// Fields at the nodes, and whether their gradient is read.
    nodal: Vec<(usize, bool)>,
    /// Fields at the points.
    points: Vec<usize>,
}

impl FieldSources {
    /// For fields with gradients read as marked by the bits of `gradients`.
    pub(crate) fn new(fields: &Fields, gradients: u8) -> Self {
        let nodal = fields.of(FieldKind::Nodal);
        Self {
            cell: fields.of(FieldKind::Cell).collect(),
            nodal: nodal.map(|i| (i, gradients >> i & 1 == 1)).collect(),
            points: fields.of(FieldKind::Points).collect(),
        }
    }

    /// Number of fields at the nodes.
    pub(crate) fn nodal(&self) -> usize {
        self.nodal.len()
    }

    /// Whether the gradient of the n-th field at the nodes is read.
    pub(crate) fn differentiates(&self, n: usize) -> bool {
        self.nodal.get(n).is_some_and(|&(_, gradient)| gradient)
    }

    /// Fields constant per element.
    pub(crate) fn of_cells(&self) -> impl Iterator<Item = usize> {
        self.cell.iter().copied()
    }

    /// Fields at the nodes.
    pub(crate) fn at_nodes(&self) -> impl Iterator<Item = usize> {
        self.nodal.iter().map(|&(field, _)| field)
    }

    /// Fields at the points.
    pub(crate) fn at_points(&self) -> impl Iterator<Item = usize> {
        self.points.iter().copied()
    }

    /// Whether any field varies between points.
    pub(crate) fn vary(&self) -> bool {
        !(self.nodal.is_empty() && self.points.is_empty())
    }

    /// The fields at the nodes whose gradient is read: index among fields at the nodes, and field.
    #[inline(always)]
    pub(crate) fn differentiated(&self) -> impl Iterator<Item = (usize, usize)> {
        let nodal = self.nodal.iter().enumerate();
        nodal.filter_map(|(n, &(field, gradient))| gradient.then_some((n, field)))
    }
}

/// Auxiliary fields, position, time and parameters at a point. The arrays have the maximum size, since
/// forms may name inputs that they do not use, for instance multiplied by zero, and that are therefore not
/// given.
pub(crate) struct Inputs<L, const D: usize> {
    pub(crate) a: [L; MAX_FIELDS],
    pub(crate) grad_a: [[L; D]; MAX_FIELDS],
    pub(crate) x: [L; D],
    pub(crate) time: L,
    pub(crate) parameters: [L; MAX_FIELDS],
}

impl<L: Lanes, const D: usize> Inputs<L, D> {
    /// Inputs that are the same at all points of a batch.
    #[inline(always)]
    pub(crate) fn new(token: L::Token, data: &BatchData<L::Real>, sources: &FieldSources) -> Self {
        let zero = L::splat(token, L::Real::from_f64(0.0));
        let mut inputs = Self {
            a: [zero; MAX_FIELDS],
            grad_a: [[zero; D]; MAX_FIELDS],
            x: [zero; D],
            time: zero.constant(data.context.time),
            parameters: [zero; MAX_FIELDS],
        };
        for (&field, lanes) in sources
            .cell
            .iter()
            .zip(data.auxiliary.chunks_exact(L::WIDTH))
        {
            inputs.a[field] = L::load(token, lanes);
        }
        for (lane, &value) in inputs.parameters.iter_mut().zip(data.context.parameters) {
            *lane = L::splat(token, L::Real::from_f64(value));
        }
        inputs
    }

    /// Loads the fields at point `p` of the layers, which is `point` of the element.
    #[inline(always)]
    pub(crate) fn move_to(
        &mut self,
        token: L::Token,
        data: &BatchData<L::Real>,
        sources: &FieldSources,
        nodal: &Strided<L>,
        (p, point): (usize, usize),
    ) {
        for (n, &(field, _)) in sources.nodal.iter().enumerate() {
            self.a[field] = nodal.at(n, p);
        }
        for (n, &field) in sources.points.iter().enumerate() {
            self.a[field] = load(token, data.points, n * data.point_count + point);
        }
    }
}
