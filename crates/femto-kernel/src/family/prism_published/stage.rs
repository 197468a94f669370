//! The stages, and the nodal vectors between them.

use super::Schedule;
use core::fmt;

/// A nodal vector, `[node]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vector {
    /// f, the analytic right-hand side at the nodes.
    F,
    /// M f, the load: w₁ of `rhs`.
    Load,
    /// The copy of the load: w₀ of `rhs`.
    Copy,
    /// The output of `rhs`.
    Rhs,
    /// The output of `lhs`, in either form.
    Lhs,
}

impl Vector {
    /// All of them; a vector's place in this list is its number, `vector as usize`.
    pub const ALL: [Self; 5] = [Self::F, Self::Load, Self::Copy, Self::Rhs, Self::Lhs];

    /// The vectors that stages add to, set to zero by [`Stage::Zero`]. (The original zeroes only the load.)
    pub const SUMS: [Self; 3] = [Self::Load, Self::Rhs, Self::Lhs];
}

/// A stage of the Challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Sets the vectors of [`Vector::SUMS`] to zero.
    Zero,
    /// f = (1 + 12π²) cos 2πx cos 2πy cos 2πz at the nodes.
    Expression1,
    /// M f, which the authors call interpolation.
    Rhs1,
    /// The copy w₀ = w₁ of the load.
    Expression2,
    /// Σ ∫ φ (w₁ − w₀) + ∇φ·∇w₁, so K w₁ up to rounding.
    Rhs,
    /// As published: the row sums of A = M + K of each cell, added to the nodes.
    Lhs,
    /// The true action (M + K) w₁ by the same loops.
    Action,
}

impl Stage {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Zero,
        Self::Expression1,
        Self::Rhs1,
        Self::Expression2,
        Self::Rhs,
        Self::Lhs,
        Self::Action,
    ];

    /// The Challenge, in order.
    pub const CHALLENGE: [Self; 6] = [
        Self::Zero,
        Self::Expression1,
        Self::Rhs1,
        Self::Expression2,
        Self::Rhs,
        Self::Lhs,
    ];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Expression1 => "expression_1",
            Self::Rhs1 => "rhs_1",
            Self::Expression2 => "expression_2",
            Self::Rhs => "rhs",
            Self::Lhs => "lhs",
            Self::Action => "action",
        }
    }

    /// The kernel; `None` for [`Stage::Zero`], which is a fill of memory.
    pub const fn entry(self) -> Option<&'static str> {
        match self {
            Self::Zero => None,
            _ => Some(self.name()),
        }
    }

    /// The vector that it writes or adds to; `None` for [`Stage::Zero`], which has several.
    pub const fn output(self) -> Option<Vector> {
        match self {
            Self::Zero => None,
            Self::Expression1 => Some(Vector::F),
            Self::Rhs1 => Some(Vector::Load),
            Self::Expression2 => Some(Vector::Copy),
            Self::Rhs => Some(Vector::Rhs),
            Self::Lhs | Self::Action => Some(Vector::Lhs),
        }
    }

    /// The vectors bound to a kernel's arguments under a schedule, from all of [`Vector::ALL`]; `None` for a stage
    /// without a kernel.
    pub fn bind<'a, B>(
        self,
        schedule: &Schedule,
        vectors: &'a mut [B; Vector::ALL.len()],
    ) -> Option<Bound<'a, B>> {
        let output = self.output()? as usize;
        let (below, rest) = vectors.split_at_mut(output);
        let (target, above) = rest.split_first_mut()?;
        let other = |vector: Vector| {
            let index = vector as usize;
            match index < output {
                true => below.get(index),
                false => above.get(index.checked_sub(output + 1)?),
            }
        };
        let input = match self {
            Self::Rhs1 => Vector::F,
            _ => Vector::Load,
        };
        let copy = match self {
            Self::Rhs if schedule.copy => Vector::Copy,
            _ => input,
        };
        Some(Bound {
            input: other(input)?,
            copy: other(copy)?,
            output: target,
        })
    }

    /// Whether it loops over cells and adds to their nodes.
    pub const fn is_sum(self) -> bool {
        matches!(self, Self::Rhs1 | Self::Rhs | Self::Lhs | Self::Action)
    }
}

/// The vectors of a kernel's arguments; a kernel that reads fewer gets others in their place.
#[derive(Debug)]
pub struct Bound<'a, B> {
    /// `g_in`
    pub input: &'a B,
    /// `g_copy`
    pub copy: &'a B,
    /// `g_out`
    pub output: &'a mut B,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
