//! The forms of the battery.

use crate::common::forms::{Busy, Conduction, Interpreted, Nothing, Orthotropic, TimesZero};
use femto::kernel::family::fields::FieldKind;
use femto::kernel::form::{Componentwise, LinearElasticity, Mass, Poisson, ScreenedPoisson};
use femto::operator::{AnyForm, Typed};

/// A form in two or three dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Physics {
    Mass,
    Poisson,
    Screened,
    /// Screened Poisson with λ per cell.
    ScreenedPerCell,
    /// Nonlinear, with all kinds of fields and inputs.
    Busy,
    /// As `Busy`, a system of as many components as dimensions.
    BusySystem,
    /// With a nodal coefficient.
    Conduction,
    /// With a field for each axis; these differ, so that coefficients cannot be folded.
    Orthotropic,
    /// As `Orthotropic`, but all fields are the same, so that they can.
    Isotropic,
    ComponentwiseMass,
    ComponentwisePoisson,
    ComponentwiseScreened,
    Elasticity,
    Nothing,
    TimesZero,
}

impl Physics {
    /// The form. A few are compiled for the host, the others interpreted.
    pub(crate) fn form(self, dim: usize) -> Box<dyn AnyForm> {
        match dim {
            2 => self.with_dim::<2>(),
            _ => self.with_dim::<3>(),
        }
    }

    fn with_dim<const D: usize>(self) -> Box<dyn AnyForm> {
        let screened = ScreenedPoisson { lambda: Some(2.5) };
        match self {
            Self::Mass => Box::new(Interpreted::<_, D, 1>::new(Mass)),
            Self::Poisson => Box::new(Interpreted::<_, D, 1>::new(Poisson)),
            Self::Screened => Box::new(Typed::<_, D, 1>(screened)),
            Self::ScreenedPerCell => Box::new(Interpreted::<_, D, 1>::new(ScreenedPoisson {
                lambda: None,
            })),
            Self::Busy => Box::new(Typed::<_, D, 1>(Busy)),
            Self::BusySystem => Box::new(Typed::<_, D, D>(Busy)),
            Self::Conduction => Box::new(Interpreted::<_, D, 1>::new(Conduction)),
            Self::Orthotropic | Self::Isotropic => {
                Box::new(Interpreted::<_, D, 1>::new(Orthotropic))
            }
            Self::ComponentwiseMass => {
                Box::new(Interpreted::<_, D, D>::new(Componentwise::<_, D>(Mass)))
            }
            Self::ComponentwisePoisson => {
                Box::new(Interpreted::<_, D, D>::new(Componentwise::<_, D>(Poisson)))
            }
            Self::ComponentwiseScreened => {
                Box::new(Interpreted::<_, D, D>::new(Componentwise::<_, D>(screened)))
            }
            Self::Elasticity => Box::new(Interpreted::<_, D, D>::new(
                LinearElasticity::<D>::from_young(2.0, 0.3),
            )),
            Self::Nothing => Box::new(Interpreted::<_, D, 1>::new(Nothing)),
            Self::TimesZero => Box::new(Interpreted::<_, D, 1>::new(TimesZero)),
        }
    }

    pub(crate) fn components(self, dim: usize) -> usize {
        match self {
            Self::BusySystem
            | Self::ComponentwiseMass
            | Self::ComponentwisePoisson
            | Self::ComponentwiseScreened
            | Self::Elasticity => dim,
            _ => 1,
        }
    }

    /// The kinds of its auxiliary fields.
    pub(crate) fn fields(self) -> &'static [FieldKind] {
        match self {
            Self::ScreenedPerCell => &[FieldKind::Cell],
            Self::Busy | Self::BusySystem | Self::Conduction => {
                &[FieldKind::Cell, FieldKind::Nodal, FieldKind::Points]
            }
            Self::Orthotropic | Self::Isotropic => &[FieldKind::Cell; 3],
            _ => &[],
        }
    }

    pub(crate) fn is_linear(self) -> bool {
        !matches!(self, Self::Busy | Self::BusySystem)
    }

    pub(crate) fn is_symmetric(self) -> bool {
        self.is_linear() && !matches!(self, Self::Orthotropic | Self::Isotropic)
    }

    /// Whether constants are in its null space.
    pub(crate) fn ignores_constants(self) -> bool {
        matches!(
            self,
            Self::Poisson
                | Self::Conduction
                | Self::ComponentwisePoisson
                | Self::Elasticity
                | Self::Nothing
                | Self::TimesZero
        )
    }

    /// Whether it is ∫ φ u, of every component.
    pub(crate) fn is_mass(self) -> bool {
        matches!(self, Self::Mass | Self::ComponentwiseMass)
    }
}
