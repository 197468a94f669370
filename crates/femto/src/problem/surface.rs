//! Integrals over a group of boundary facets, by the device.

use super::device_task::DeviceTask;
use super::facets::Facets;
use super::values::varying;
use super::{Discretization, Function, ProblemError};
use crate::boundary::{FacetTables, Points};
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use femto_fem::space::BoundaryFace;
use femto_kernel::boundary::FacetSums;
use rayon::prelude::*;

/// The facets of a group: where their points are, and which nodes they have.
pub(super) struct Surface<'a> {
    facets: &'a Facets,
    /// `[facet][point]`
    positions: Vec<[f64; 3]>,
    /// Quadrature weights times area factors, `[facet][point]`.
    weights: Vec<f64>,
    /// The L-vector nodes, ascending.
    pub(super) nodes: Vec<usize>,
    /// As in [`FacetSums`].
    offsets: Vec<u32>,
    /// As in [`FacetSums`].
    contributions: Vec<u32>,
}

impl<'a> Surface<'a> {
    pub(super) fn new(
        on: &Discretization<'_>,
        facets: &'a Facets,
        faces: &[BoundaryFace],
    ) -> Result<Self, OperatorError> {
        let points = faces.par_iter().flat_map_iter(|face| {
            let (cell, number) = (face.cell as usize, usize::from(face.face));
            let at = on.geometry.facet_at_points(cell, number, &facets.points);
            at.into_iter().zip(&facets.weights).map(|(point, weight)| {
                let [x, y, z] = point.area_normal;
                (point.position, weight * (x * x + y * y + z * z).sqrt())
            })
        });
        let (positions, weights) = points.unzip();
        let found = faces.len().saturating_mul(facets.nodes(0).len());
        if u32::try_from(found).is_err() {
            return Err(OperatorError::TooManyFacetNodes { found });
        }
        // Node, facet and row of each contribution.
        let all = faces.par_iter().enumerate().flat_map_iter(|(index, face)| {
            let nodes = on.facet_nodes(facets, face).zip(0..);
            nodes.map(move |(node, row)| [node as u32, index as u32, row])
        });
        let mut all: Vec<[u32; 3]> = all.collect();
        all.par_sort_unstable();
        let (mut nodes, mut offsets, mut end) = (Vec::new(), vec![0], 0);
        for contributions in all.chunk_by(|a, b| a[0] == b[0]) {
            end += contributions.len() as u32;
            nodes.push(contributions[0][0] as usize);
            offsets.push(end);
        }
        Ok(Self {
            facets,
            positions,
            weights,
            nodes,
            offsets,
            contributions: all
                .iter()
                .flat_map(|&[_, facet, row]| [facet, row])
                .collect(),
        })
    }

    fn sums(&self) -> FacetSums<'_> {
        FacetSums {
            points: self.facets.points.len(),
            offsets: &self.offsets,
            contributions: &self.contributions,
            basis: &self.facets.basis,
            weights: &self.weights,
        }
    }
}

/// ∫ φ g for each node of a surface, `[component][node]`, where errors call g `what`.
pub(super) struct Fluxes<'a> {
    pub(super) on: &'a Discretization<'a>,
    pub(super) what: &'a str,
    /// `[component]`
    pub(super) g: &'a [&'a dyn Function],
    pub(super) surface: &'a Surface<'a>,
}

impl DeviceTask for Fluxes<'_> {
    type Output = Vec<Vec<f64>>;

    fn on<B: Backend + VectorOps<f64>>(&self, device: &B) -> Result<Self::Output, ProblemError> {
        let surface = self.surface;
        let tables = FacetTables::new(device, &surface.sums())?;
        let positions = device.upload(surface.positions.as_flattened())?;
        let at = Points {
            positions: &positions,
            time: self.on.time,
        };
        let mut values = device.zeros(surface.positions.len())?;
        let mut sums = device.zeros(surface.nodes.len())?;
        let sums_of = |&g: &&dyn Function| {
            let mut found = vec![0.0; surface.nodes.len()];
            let on_host = || self.on.evaluate(&self.what, g, &surface.positions);
            match (g.as_constant(), varying(g)) {
                (Some(0.0), _) => return Ok(found),
                (Some(value), _) if value.is_finite() => device.fill(value, &mut values)?,
                (_, Some(program)) => device.values(&program, &at, &mut values)?,
                _ => device.write(&on_host()?, &mut values)?,
            }
            device.facet_sums(&tables, &values, &mut sums)?;
            device.read(&sums, &mut found)?;
            if found.iter().any(|sum| !sum.is_finite()) {
                // It is the host that names the place.
                on_host()?;
            }
            Ok(found)
        };
        self.g.iter().map(sums_of).collect()
    }
}
