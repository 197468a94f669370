//! Maps of positions, given by expressions.

use femto::problem::Expression;

/// A map from positions to positions, given by three expressions.
#[derive(Clone, Debug)]
pub struct Deformation(pub [Expression; 3]);

impl Deformation {
    /// The new place of a position.
    pub fn of(&self, x: [f64; 3]) -> [f64; 3] {
        self.0.each_ref().map(|along| along.at(x))
    }
}
