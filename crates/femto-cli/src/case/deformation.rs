//! Maps of positions, given by expressions.

use femto::kernel::expr::{Input, Registers};
use femto::problem::Expression;
use std::cell::RefCell;

/// A map from positions to positions, given by three expressions.
#[derive(Clone, Debug)]
pub struct Deformation {
    coordinates: [Expression; 3],
}

impl Deformation {
    /// The map to (x, y, z), each given as a function of the old position.
    pub fn new(coordinates: [Expression; 3]) -> Self {
        Self { coordinates }
    }

    /// The map as a function, for use on one thread.
    pub fn as_function(&self) -> impl Fn([f64; 3]) -> [f64; 3] {
        let programs = self.coordinates.each_ref().map(|along| {
            let registers: Registers<f64, 1> = along.program().registers(0.0);
            (along.program(), RefCell::new(registers))
        });
        move |x| {
            programs.each_ref().map(|(program, registers)| {
                let mut moved = 0.0;
                let input = |i: usize, lane: &mut [f64; 1]| {
                    if let Input::Position(axis @ 0..3) = program.inputs()[i] {
                        lane[0] = x[usize::from(axis)];
                    }
                };
                program.run(&mut registers.borrow_mut(), input, |_, lane| {
                    moved = lane[0];
                });
                moved
            })
        }
    }
}
