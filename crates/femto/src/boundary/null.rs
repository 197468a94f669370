//! The data of a boundary on the null device: every operation is noted with its exact work. Values and sums
//! are zero.

use super::{BoundaryOps, FacetTables, Points};
use crate::operator::OperatorError;
use femto_kernel::boundary::PointFunction;
use femto_kernel::expr::Program;
use femto_kernel::roofline::Work;
use femto_platform::device::null::{Launch, Null, NullBuffer};
use femto_platform::device::{Buffer, DeviceError};

fn note(null: &Null, name: &str, work: Work) {
    null.record(Launch {
        name: name.to_owned(),
        bytes_read: work.bytes_read,
        bytes_written: work.bytes_written,
        flops: work.flops,
    });
}

impl BoundaryOps for Null {
    fn values(
        &self,
        function: &Program,
        at: &Points<'_, NullBuffer<f64>>,
        values: &mut NullBuffer<f64>,
    ) -> Result<(), OperatorError> {
        at.check(values)?;
        let work = PointFunction::new(function)?.work(values.len());
        note(self, "values", work);
        Ok(())
    }

    fn facet_sums(
        &self,
        tables: &FacetTables<Self>,
        values: &NullBuffer<f64>,
        sums: &mut NullBuffer<f64>,
    ) -> Result<(), DeviceError> {
        tables.check(values, sums)?;
        note(self, "facets", tables.sizes().work());
        Ok(())
    }
}
