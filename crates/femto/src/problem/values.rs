//! Values of functions at points, by the device where they have programs.

use super::device_task::DeviceTask;
use super::{Discretization, Function, ProblemError};
use crate::boundary::Points;
use crate::operator::Backend;
use crate::vector::VectorOps;
use femto_kernel::expr::Program;

/// The values `[component][point]` of functions, which errors call `what`.
pub(super) struct Values<'a> {
    pub(super) on: &'a Discretization<'a>,
    pub(super) what: &'a str,
    /// `[component]`
    pub(super) functions: &'a [&'a dyn Function],
    pub(super) positions: &'a [[f64; 3]],
}

impl DeviceTask for Values<'_> {
    type Output = Vec<Vec<f64>>;

    fn on<B: Backend + VectorOps<f64>>(&self, device: &B) -> Result<Self::Output, ProblemError> {
        let functions = self.functions.iter().copied();
        let programs: Vec<Option<Program>> = functions.clone().map(varying).collect();
        if self.positions.is_empty() || programs.iter().all(Option::is_none) {
            return functions.map(|f| self.on_host(f)).collect();
        }
        let positions = device.upload(self.positions.as_flattened())?;
        let at = Points {
            positions: &positions,
            time: self.on.time,
        };
        let mut memory = device.zeros(self.positions.len())?;
        let values_of = |(f, program): (&dyn Function, &Option<Program>)| {
            let Some(program) = program else {
                return self.on_host(f);
            };
            device.values(program, &at, &mut memory)?;
            let mut values = vec![0.0; self.positions.len()];
            device.read(&memory, &mut values)?;
            match values.iter().all(|value| value.is_finite()) {
                true => Ok(values),
                // It is the host that names the place.
                false => self.on_host(f),
            }
        };
        functions.zip(&programs).map(values_of).collect()
    }
}

impl Values<'_> {
    fn on_host(&self, f: &dyn Function) -> Result<Vec<f64>, ProblemError> {
        self.on.evaluate(&self.what, f, self.positions)
    }
}

/// The program of a function that is not known to be constant.
pub(super) fn varying(f: &dyn Function) -> Option<Program> {
    match f.as_constant() {
        Some(_) => None,
        None => f.as_program(),
    }
}
