//! The other data levels, their work, and why they were not chosen.

use crate::operator::DataLevel;
use femto_kernel::roofline::{Bound, Work};
use serde::Serialize;
use std::fmt::{self, Display};

/// A data level that was not chosen.
#[derive(Clone, Debug, Serialize)]
pub struct Alternative {
    /// The data level.
    pub data_level: &'static str,
    /// Bytes one application would move.
    pub bytes: u64,
    /// Flops one application would do.
    pub flops: u64,
    /// The shortest time the ceilings would allow, in seconds.
    pub bound_seconds: Option<f64>,
    /// Why it was not chosen, in words.
    pub reason: String,
}

/// One application at a data level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) level: DataLevel,
    pub(super) work: Work,
    pub(super) bound: Option<Bound>,
}

impl Alternative {
    /// Describes `other`, given the level chosen instead and the reason.
    pub(super) fn new((chosen, why): (&Candidate, &str), other: &Candidate) -> Self {
        Self {
            data_level: other.level.name(),
            bytes: other.work.bytes(),
            flops: other.work.flops,
            bound_seconds: other.bound.map(|bound| bound.seconds),
            reason: reason(chosen, why, other),
        }
    }
}

impl Display for Alternative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not {}: {}", self.data_level, self.reason)
    }
}

fn reason(chosen: &Candidate, why: &str, other: &Candidate) -> String {
    if other.work == chosen.work {
        return "it is the same here, as no cell's geometry would be kept in another way"
            .to_owned();
    }
    let (bytes, flops) = (other.work.bytes(), other.work.flops);
    let amounts = format!(
        "it moves {} ({:.4} GB) and does {} ({:.4} GFLOP)",
        times(bytes, chosen.work.bytes(), "bytes"),
        bytes as f64 * 1e-9,
        times(flops, chosen.work.flops, "flops"),
        flops as f64 * 1e-9
    );
    let bound = |bound: Bound| format!("{:.3} ms, set by {}", bound.seconds * 1e3, bound.limit);
    match (chosen.bound, other.bound) {
        (Some(taken), Some(left)) if left.seconds < taken.seconds => format!(
            "{amounts}; its bound would be lower, {}, against {}: {why}",
            bound(left),
            bound(taken)
        ),
        (Some(taken), Some(left)) => format!(
            "{amounts}; its bound is {}, against {}",
            bound(left),
            bound(taken)
        ),
        _ => format!("{amounts}; {why}, and there are no measured ceilings to compare bounds with"),
    }
}

/// "2.31 times the bytes", "as many bytes".
fn times(amount: u64, of: u64, things: &str) -> String {
    match amount == of {
        true => format!("as many {things}"),
        false => format!("{:.2} times the {things}", amount as f64 / of as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_kernel::roofline::{Ceilings, bound};
    use femto_kernel::scalar::Precision;

    const CEILINGS: Ceilings = Ceilings {
        copy: 10e9,
        read: 10e9,
        write: 10e9,
        fma_fp64: 20e9,
        fma_fp32: 40e9,
        shared: None,
    };

    fn candidate(level: DataLevel, bytes_read: u64, flops: u64) -> Candidate {
        let work = Work {
            bytes_read,
            flops,
            ..Work::default()
        };
        Candidate {
            level,
            work,
            bound: Some(bound(&work, &CEILINGS, Precision::Fp64)),
        }
    }

    fn text(chosen: &Candidate, other: &Candidate) -> String {
        Alternative::new((chosen, "it was the rule"), other).to_string()
    }

    #[test]
    fn a_higher_bound_is_the_reason() {
        let vertices = candidate(DataLevel::OnTheFly, 20_000_000, 44_000_000);
        let factors = candidate(DataLevel::Partial, 62_000_000, 30_800_000);
        assert_eq!(
            text(&vertices, &factors),
            "not partial: it moves 3.10 times the bytes (0.0620 GB) and does 0.70 times the flops \
             (0.0308 GFLOP); its bound is 6.200 ms, set by memory, against 2.200 ms, set by \
             arithmetic"
        );
    }

    #[test]
    fn a_lower_bound_is_admitted() {
        let vertices = candidate(DataLevel::OnTheFly, 20_000_000, 80_000_000);
        let factors = candidate(DataLevel::Partial, 25_000_000, 40_000_000);
        assert_eq!(
            text(&vertices, &factors),
            "not partial: it moves 1.25 times the bytes (0.0250 GB) and does 0.50 times the flops \
             (0.0400 GFLOP); its bound would be lower, 2.500 ms, set by memory, against 4.000 ms, \
             set by arithmetic: it was the rule"
        );
        let asked = candidate(DataLevel::Partial, 40_000_000, 10_000_000);
        let other = candidate(DataLevel::OnTheFly, 20_000_000, 10_000_000);
        assert_eq!(
            text(&asked, &other),
            "not on_the_fly: it moves 0.50 times the bytes (0.0200 GB) and does as many flops \
             (0.0100 GFLOP); its bound would be lower, 2.000 ms, set by memory, against 4.000 ms, \
             set by memory: it was the rule"
        );
    }

    #[test]
    fn without_a_difference_or_a_ceiling_it_says_so() {
        let mut vertices = candidate(DataLevel::OnTheFly, 20, 80);
        let mut factors = candidate(DataLevel::Partial, 20, 80);
        assert_eq!(
            text(&vertices, &factors),
            "not partial: it is the same here, as no cell's geometry would be kept in another way"
        );
        factors.work.bytes_read = 30;
        (vertices.bound, factors.bound) = (None, None);
        let text = text(&vertices, &factors);
        assert!(text.starts_with("not partial: it moves 1.50 times the bytes"));
        assert!(text.ends_with("there are no measured ceilings to compare bounds with"));
    }
}
