//! Extrusion of plane meshes, with heights given by expressions.

use super::Expression;
use femto::fem::mesh::{Layers, Mesh, MeshError};
use femto::kernel::expr::{Input, Registers};
use std::cell::RefCell;

/// Layers between a bottom and a top.
#[derive(Clone, Debug)]
pub struct Extrusion {
    /// The levels.
    pub layers: Layers,
    /// Height of the bottom, a function of x and y.
    pub bottom: Expression,
    /// Height of the top.
    pub top: Expression,
}

impl Extrusion {
    /// Number of layers.
    pub fn layers(&self) -> usize {
        self.layers.levels.len() - 1
    }

    /// The columns over a plane mesh.
    ///
    /// # Errors
    /// As [`Mesh::extrude`].
    pub fn of(&self, plane: &Mesh) -> Result<Mesh, MeshError> {
        plane.extrude(&self.layers, height(&self.bottom), height(&self.top))
    }
}

/// An expression as a function in the plane, for use on one thread.
fn height(expression: &Expression) -> impl Fn([f64; 2]) -> f64 {
    let program = expression.program();
    let registers: RefCell<Registers<f64, 1>> = RefCell::new(program.registers(0.0));
    move |x| {
        let mut height = 0.0;
        let input = |i: usize, lane: &mut [f64; 1]| {
            lane[0] = match program.inputs()[i] {
                Input::Position(axis @ 0..2) => x[usize::from(axis)],
                _ => 0.0,
            };
        };
        program.run(&mut registers.borrow_mut(), input, |_, lane| {
            height = lane[0]
        });
        height
    }
}
