//! Boundary data on the host.

use super::{BoundaryOps, FacetTables, Points};
use crate::operator::OperatorError;
use femto_kernel::boundary::FacetSums;
use femto_kernel::expr::{GraphError, Program, ProgramError, Values};
use femto_platform::device::DeviceError;
use femto_platform::device::host::{Host, HostBuffer};
use rayon::prelude::*;

/// Points that one task evaluates a function at.
const POINTS: usize = 4096;

/// Nodes that one task sums for.
const NODES: usize = 256;

impl BoundaryOps for Host {
    fn values(
        &self,
        function: &Program,
        at: &Points<'_, HostBuffer<f64>>,
        values: &mut HostBuffer<f64>,
    ) -> Result<(), OperatorError> {
        at.check(values)?;
        let (positions, _) = at.positions.as_chunks::<3>();
        let inputs = Values {
            time: at.time,
            parameters: &[],
        };
        let parts = values.par_chunks_mut(POINTS);
        let evaluated = parts
            .zip(positions.par_chunks(POINTS))
            .try_for_each(|(values, positions)| function.evaluate(positions, &inputs, values));
        match evaluated {
            Err(ProgramError::MissingInput { input }) => {
                Err(GraphError::MissingInput { input }.into())
            }
            Err(ProgramError::Shape { found, points, .. }) => {
                let what = "values at points";
                let expected = points;
                Err(DeviceError::LengthMismatch {
                    what,
                    found,
                    expected,
                }
                .into())
            }
            Ok(()) => Ok(()),
        }
    }

    fn facet_sums(
        &self,
        tables: &FacetTables<Self>,
        values: &HostBuffer<f64>,
        sums: &mut HostBuffer<f64>,
    ) -> Result<(), DeviceError> {
        tables.check(values, sums)?;
        let all = FacetSums {
            points: tables.sizes.points,
            offsets: &tables.offsets,
            contributions: &tables.contributions,
            basis: &tables.basis,
            weights: &tables.weights,
        };
        let parts = sums.par_chunks_mut(NODES).enumerate();
        parts.for_each(|(part, sums)| all.sum(values, part * NODES, sums));
        Ok(())
    }
}
