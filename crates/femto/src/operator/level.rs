//! Data levels, and the rule of the automatic one.

use core::ops::RangeInclusive;
use femto_kernel::family::Scatter;
use femto_platform::device::DeviceKind;

/// The amount of stored geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DataLevel {
    /// The level measured to be faster on this kind of device, by a fixed rule: `Partial` for forms λ u, κ ∇u on hexahedra
    /// of degree 1, and on accelerators for forms λ u of degree 2 to 5, and of degree 1 unless sums are atomic; otherwise
    /// `OnTheFly`.
    #[default]
    Automatic,
    /// As little as possible: the map coefficients of affine and multilinear cells, from which Jacobians
    /// are recomputed in every application. Curved cells keep data at their points, or what `Partial` stores.
    OnTheFly,
    /// Factors at every quadrature point (one set per affine cell); on hexahedra of degree 1 the numbers of the cell's
    /// matrix for forms λ u, κ ∇u.
    Partial,
    /// A dense matrix for each element, assembled by products at the level `Automatic`; of linear forms only.
    Element,
    /// The sparse matrix of all cells, assembled likewise; terms on facets are beside it. Of linear forms only.
    Sparse,
}

/// The degrees at which accelerators read geometry at the points faster than they recompute it, for forms without
/// gradients: BP1 on an H200, fp64 (`benches/runs/2026-11-21-nvidia-h200/bp.csv`). At degree 1 they do so unless
/// sums are atomic (`benches/runs/2026-11-25-nvidia-h200/vectors`).
const STORED_MASS: RangeInclusive<usize> = 1..=5;

/// A level and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChosenLevel {
    /// Never `Automatic`.
    pub level: DataLevel,
    reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Asked,
    SingleFactors,
    FewNumbers,
    LeastMemory,
    MeasuredFaster,
}

/// Inputs for choosing a level.
#[derive(Clone, Copy, Debug)]
pub struct LevelInputs {
    /// The device's kind.
    pub device: DeviceKind,
    /// Degree of the space.
    pub degree: usize,
    /// Whether the form is λ u, κ ∇u on cells whose family stores few numbers for it, which are faster to read than others to
    /// compute (not all are affine), and the operator is not applied only once.
    pub few_numbers: bool,
    /// Whether the form is λ u on all cells.
    pub mass: bool,
    /// Whether factors are stored in single precision.
    pub single_factors: bool,
    /// How L-vectors are summed.
    pub scatter: Scatter,
}

impl DataLevel {
    /// All levels.
    pub const ALL: [Self; 5] = [
        Self::Automatic,
        Self::OnTheFly,
        Self::Partial,
        Self::Element,
        Self::Sparse,
    ];

    /// Whether the operator is kept as matrices.
    pub const fn stores_matrices(self) -> bool {
        matches!(self, Self::Element | Self::Sparse)
    }

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Automatic => "automatic",
            Self::OnTheFly => "on_the_fly",
            Self::Partial => "partial",
            Self::Element => "element",
            Self::Sparse => "sparse",
        }
    }

    /// The level to use.
    pub fn choose(self, on: &LevelInputs) -> ChosenLevel {
        let accelerator = on.device.is_accelerator();
        let recomputed = on.degree == 1 && on.scatter == Scatter::Atomic;
        let stored = STORED_MASS.contains(&on.degree) && !recomputed;
        let (level, reason) = match self {
            Self::OnTheFly | Self::Partial | Self::Element | Self::Sparse => (self, Reason::Asked),
            Self::Automatic if on.single_factors => (Self::Partial, Reason::SingleFactors),
            Self::Automatic if on.few_numbers => (Self::Partial, Reason::FewNumbers),
            Self::Automatic if accelerator && on.mass && stored => {
                (Self::Partial, Reason::MeasuredFaster)
            }
            Self::Automatic => (Self::OnTheFly, Reason::LeastMemory),
        };
        ChosenLevel { level, reason }
    }
}

impl ChosenLevel {
    /// A level that was asked for.
    pub(super) fn asked(level: DataLevel) -> Self {
        let reason = Reason::Asked;
        Self { level, reason }
    }

    /// The reason for it, in words.
    pub fn why(self) -> String {
        let level = self.level.name();
        match self.reason {
            Reason::Asked => format!("{level} was asked for"),
            Reason::SingleFactors => {
                "factors in single precision were asked for, and partial is the level that stores \
                 factors"
                    .to_owned()
            }
            Reason::FewNumbers => "femto takes partial for forms λ u, κ ∇u on hexahedra of degree 1 that are not affine, whose \
                                   matrices have few numbers: it was measured to be faster"
                .to_owned(),
            Reason::LeastMemory => {
                "femto takes on_the_fly unless partial is asked for, because it holds the least \
                 memory, and a fixed rule gives the same numbers on every device of a kind"
                    .to_owned()
            }
            Reason::MeasuredFaster => format!(
                "femto takes partial for forms λ u of degree 2 to {}, and of degree 1 if sums are not \
                 atomic, on accelerators, because it was measured to be faster there",
                STORED_MASS.end()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_is_for_mass_at_low_degree_on_accelerators() {
        let choice = |device, degree, mass, scatter| LevelInputs {
            device,
            degree,
            few_numbers: false,
            mass,
            single_factors: false,
            scatter,
        };
        for device in DeviceKind::ALL {
            let accelerator = device == DeviceKind::Cuda || device == DeviceKind::OpenCl;
            for degree in 1..=15 {
                for (mass, scatter) in [
                    (false, Scatter::Atomic),
                    (true, Scatter::Atomic),
                    (true, Scatter::Deterministic),
                ] {
                    let chosen = choice(device, degree, mass, scatter);
                    let chosen = DataLevel::Automatic.choose(&chosen);
                    let least = if scatter == Scatter::Atomic { 2 } else { 1 };
                    let stored = accelerator && mass && (least..6).contains(&degree);
                    let wanted = [DataLevel::OnTheFly, DataLevel::Partial][usize::from(stored)];
                    assert_eq!(chosen.level, wanted, "{device:?} {degree} {mass}");
                    assert_eq!(chosen.why().contains("measured"), stored);
                }
            }
        }
    }

    #[test]
    fn few_numbers_are_stored_everywhere() {
        for device in DeviceKind::ALL {
            let chosen = DataLevel::Automatic.choose(&LevelInputs {
                device,
                degree: 1,
                few_numbers: true,
                mass: false,
                single_factors: false,
                scatter: Scatter::Atomic,
            });
            assert_eq!(chosen.level, DataLevel::Partial);
            assert!(chosen.why().contains("degree 1"));
        }
    }

    #[test]
    fn what_is_asked_for_is_taken_and_single_factors_are_stored() {
        let mut choice = LevelInputs {
            device: DeviceKind::Cuda,
            degree: 2,
            few_numbers: false,
            mass: true,
            single_factors: false,
            scatter: Scatter::Atomic,
        };
        for level in [DataLevel::OnTheFly, DataLevel::Partial, DataLevel::Element] {
            let chosen = level.choose(&choice);
            assert_eq!(chosen.level, level);
            assert_eq!(chosen.why(), format!("{} was asked for", level.name()));
        }
        choice = LevelInputs {
            degree: 9,
            mass: false,
            single_factors: true,
            ..choice
        };
        let chosen = DataLevel::Automatic.choose(&choice);
        assert_eq!(chosen.level, DataLevel::Partial);
        assert!(chosen.why().contains("single precision"));
    }
}
