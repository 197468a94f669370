//! Integrals over elements and boundary faces, and values at constrained nodes: what the right-hand
//! side of a problem is made of.

use super::contract::{from_points, tensor_weights};
use super::elements::collect;
use super::{Function, ProblemError};
use crate::Quadrature;
use femto_fem::geometry::{Geometry, GeometryAtPoints};
use femto_fem::reference::cell::{HEX_FACE_AXES, hex_face_axis_side};
use femto_fem::space::{BoundaryFace, Space};
use rayon::prelude::*;
use std::fmt::Display;
use std::ops::Range;

/// Boundary faces that one task works on.
const FACES: usize = 256;

/// A scalar space with its geometry, a quadrature rule, and the time at which functions are taken.
///
/// Results are in double precision and have the same bits for any number of threads.
#[derive(Clone, Copy, Debug)]
pub struct Discretization<'a> {
    /// The space, of one component.
    pub space: &'a Space,
    /// The geometry that the space was made with.
    pub geometry: &'a Geometry,
    /// The quadrature rule along each axis.
    pub quadrature: Quadrature,
    /// What functions get as time.
    pub time: f64,
}

impl Discretization<'_> {
    /// ∫ φ f for every basis function φ: an L-vector.
    ///
    /// # Errors
    /// A space of several components, a quadrature rule that does not exist for the degree, a value
    /// that is not finite.
    pub fn source(&self, f: &dyn Function) -> Result<Vec<f64>, ProblemError> {
        self.check_scalar()?;
        if f.as_constant() == Some(0.0) {
            return Ok(vec![0.0; self.space.nodes()]);
        }
        let basis = self.quadrature.basis(self.space.degree())?;
        let weights = tensor_weights(&basis.weights, 3);
        let give = |elements: Range<usize>| {
            let mut at = GeometryAtPoints::default();
            let points = elements.len() * weights.len();
            let (mut positions, mut factors) =
                (Vec::with_capacity(points), Vec::with_capacity(points));
            for element in elements {
                let cell = self.space.cells()[element] as usize;
                self.geometry.at_points(cell, &basis.points, &mut at);
                positions.extend_from_slice(&at.position);
                factors.extend(at.determinant.iter().zip(&weights).map(|(det, w)| w * det));
            }
            let values = self.evaluate(&"the source", f, &positions)?;
            Ok(from_points::<3>(&basis, products(factors, &values)))
        };
        let add = |sum: &mut f64, value| *sum += value;
        collect(self.space, weights.len(), give, add)
    }

    /// Adds ∫ φ g over the boundary faces of the group `tag` to the L-vector `b`.
    ///
    /// # Errors
    /// A space of several components, a group that is not there, a quadrature rule that does not
    /// exist for the degree, a value that is not finite.
    ///
    /// # Panics
    /// If `b` is no L-vector.
    pub fn neumann(&self, tag: &str, g: &dyn Function, b: &mut [f64]) -> Result<(), ProblemError> {
        self.check_scalar()?;
        assert_eq!(b.len(), self.space.nodes(), "an L-vector");
        let faces = self.space.boundary().tagged(tag)?;
        let basis = self.quadrature.basis(self.space.degree())?;
        let weights = tensor_weights(&basis.weights, 2);
        let integrate = |faces: &[BoundaryFace]| {
            let points = faces.len() * weights.len();
            let (mut positions, mut factors) =
                (Vec::with_capacity(points), Vec::with_capacity(points));
            for face in faces {
                let (cell, number) = (face.cell as usize, usize::from(face.face));
                let at = self.geometry.face_at_points(cell, number, &basis.points);
                for (point, weight) in at.iter().zip(&weights) {
                    let [x, y, z] = point.area_normal;
                    positions.push(point.position);
                    factors.push(weight * (x * x + y * y + z * z).sqrt());
                }
            }
            let what = format_args!("the flux on `{tag}`");
            let values = self.evaluate(&what, g, &positions)?;
            Ok(from_points::<2>(&basis, products(factors, &values)))
        };
        let integrals = faces.par_chunks(FACES).map(integrate);
        let integrals = integrals.collect::<Result<Vec<Vec<f64>>, ProblemError>>()?;
        for (faces, integrals) in faces.chunks(FACES).zip(&integrals) {
            for (index, face) in faces.iter().enumerate() {
                let values = integrals[index..].iter().step_by(faces.len());
                for (node, value) in self.face_nodes(face).zip(values) {
                    b[node] += value;
                }
            }
        }
        Ok(())
    }

    /// The values at the constrained nodes, the tail of an L-vector, `[nodes - free_nodes]`: those
    /// of the function of the first group in the list that has the node, by nodal interpolation;
    /// zero at nodes of none of the groups.
    ///
    /// # Errors
    /// A space of several components, a group that is not there, a value that is not finite.
    pub fn boundary_values(
        &self,
        groups: &[(&str, &dyn Function)],
    ) -> Result<Vec<f64>, ProblemError> {
        self.check_scalar()?;
        let free = self.space.free_nodes();
        let mut values = vec![0.0; self.space.constrained_nodes().len()];
        let mut decided = vec![false; values.len()];
        let positions = self.space.constrained_positions(self.geometry);
        for (tag, function) in groups {
            let mut nodes = Vec::new();
            for face in self.space.boundary().tagged(tag)? {
                let constrained = self
                    .face_nodes(face)
                    .filter_map(|node| node.checked_sub(free));
                nodes.extend(constrained.filter(|&n| !std::mem::replace(&mut decided[n], true)));
            }
            let at: Vec<[f64; 3]> = nodes.iter().map(|&node| positions[node]).collect();
            let what = format_args!("the boundary value on `{tag}`");
            let found = self.evaluate(&what, *function, &at)?;
            for (node, value) in nodes.into_iter().zip(found) {
                values[node] = value;
            }
        }
        Ok(values)
    }

    /// Fails unless the space has one component.
    pub(super) fn check_scalar(&self) -> Result<(), ProblemError> {
        match self.space.components() {
            1 => Ok(()),
            components => Err(ProblemError::Components { components }),
        }
    }

    /// The L-vector nodes on a face, lexicographic, the lower axis fastest.
    fn face_nodes(&self, face: &BoundaryFace) -> impl Iterator<Item = usize> {
        let nodes = self.space.element_nodes(face.element as usize);
        let n = self.space.nodes_1d();
        let strides = [1, n, n * n];
        let (axis, side) = hex_face_axis_side(usize::from(face.face));
        let [u, v] = HEX_FACE_AXES[usize::from(face.face)].map(|axis| strides[axis]);
        let first = side * (n - 1) * strides[axis];
        (0..n * n).map(move |m| nodes[first + m % n * u + m / n * v] as usize)
    }

    /// The values of `f`, which errors call `what`, at `positions`.
    pub(super) fn evaluate(
        &self,
        what: &dyn Display,
        f: &dyn Function,
        positions: &[[f64; 3]],
    ) -> Result<Vec<f64>, ProblemError> {
        let mut values = vec![0.0; positions.len()];
        f.evaluate(positions, self.time, &mut values);
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(point) => Err(ProblemError::NotFinite {
                what: what.to_string(),
                value: values[point],
                position: positions[point],
            }),
        }
    }
}

fn products(mut factors: Vec<f64>, values: &[f64]) -> Vec<f64> {
    for (factor, value) in factors.iter_mut().zip(values) {
        *factor *= value;
    }
    factors
}
