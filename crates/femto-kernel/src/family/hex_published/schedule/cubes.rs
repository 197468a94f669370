//! BK5 and BK3 with one thread per point of an element.

use super::plan::text;
use super::{Common, Memory, Plan, SharedAccesses, Sizes};
use crate::dialect::KernelFile;

/// Storage of partial derivatives and of the fluxes computed from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Partials {
    /// Partial derivatives in global arrays.
    #[default]
    Global,
    /// Partial derivatives in registers; the fluxes with the temporaries.
    Registers,
    /// Partial derivatives in registers and the three fluxes in three shared cubes.
    Shared,
}

/// Intermediate results in global memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CubeTemporaries {
    /// Everything that threads exchange.
    #[default]
    Global,
    /// Results between interpolation, differentiation and projection; within these parts, shared memory is
    /// used.
    BetweenParts,
    /// None.
    Shared,
}

/// The knobs of the cubes; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cubes {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether there is one launch instead of three: interpolation, differentiation, projection. Collocated
    /// operators have only the second.
    pub one_launch: bool,
    /// Whether a point's factors are loaded into registers before use.
    pub factors_in_registers: bool,
    /// Whether the values to be differentiated are in a shared cube.
    pub values_in_shared: bool,
    /// Storage of partial derivatives and fluxes.
    pub partials: Partials,
    /// Intermediate results in global memory.
    pub temporaries: CubeTemporaries,
}

fn collocated(sizes: Sizes) -> bool {
    sizes.nodes_1d == sizes.points_1d
}

impl Cubes {
    fn all_global(&self) -> bool {
        self.temporaries == CubeTemporaries::Global
    }

    /// Whether fluxes pass through one shared cube, one after the other.
    fn exchange(&self) -> bool {
        self.partials == Partials::Registers && !self.all_global()
    }
}

impl Plan for Cubes {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        let between = self.temporaries == CubeTemporaries::BetweenParts;
        vec![
            (self.one_launch, "one_launch"),
            (self.factors_in_registers, "factors_in_registers"),
            (self.values_in_shared, "values_in_shared"),
            (
                self.partials == Partials::Registers,
                "partials_in_registers",
            ),
            (self.partials == Partials::Shared, "partials_in_shared"),
            (between, "global_between_parts"),
            (
                self.temporaries == CubeTemporaries::Shared,
                "no_global_temporaries",
            ),
        ]
    }

    fn rules(&self, sizes: Sizes) -> Result<(), &'static str> {
        if self.partials == Partials::Global && !self.all_global() {
            return Err("partial derivatives in global memory are global temporaries");
        }
        if self.temporaries == CubeTemporaries::Shared && !self.values_in_shared {
            return Err("without global temporaries values are in shared memory");
        }
        if collocated(sizes) && !self.one_launch {
            return Err("a collocated operator has one part, hence one launch");
        }
        if self.temporaries == CubeTemporaries::Shared && !self.one_launch {
            return Err("three launches hand their results over in global memory");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d; 3]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let (q, g) = (sizes.nodes_1d, sizes.points_1d);
        let (cube, points) = (g * g * self.common.row(g), g.pow(3));
        let mut block = vec![("S_GRAD", g * g)];
        if !collocated(sizes) {
            block.push(("S_INTERP", g * q));
        }
        let interpolates_in_shared = !collocated(sizes) && !self.all_global();
        let shared_fluxes = self.partials == Partials::Shared;
        let cubes = [
            ("S_A", self.values_in_shared || interpolates_in_shared),
            (
                "S_B",
                shared_fluxes || self.exchange() || interpolates_in_shared,
            ),
            ("S_C", shared_fluxes),
            ("S_D", shared_fluxes),
        ];
        let global_fluxes = self.all_global() && !shared_fluxes;
        let handed_over = !collocated(sizes) && self.temporaries != CubeTemporaries::Shared;
        let arrays = [
            ("G_A", handed_over),
            ("G_B", handed_over),
            ("G_FLUX_R", global_fluxes),
            ("G_FLUX_S", global_fluxes),
            ("G_FLUX_T", global_fluxes),
            ("G_PARTIAL_R", self.partials == Partials::Global),
            ("G_PARTIAL_S", self.partials == Partials::Global),
            ("G_PARTIAL_T", self.partials == Partials::Global),
        ];
        let present = |parts: &[(&'static str, bool)], len| {
            let present = parts.iter().filter(|(_, present)| *present);
            present.map(|&(name, _)| (name, len)).collect()
        };
        Memory {
            block,
            element: present(&cubes, cube),
            scratch: present(&arrays, points),
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        vec![
            ("ROW", self.common.row(sizes.points_1d)),
            ("INTERPOLATES", u32::from(!collocated(sizes))),
            ("ONE_LAUNCH", u32::from(self.one_launch)),
            ("FACTORS_IN_REGISTERS", u32::from(self.factors_in_registers)),
            ("VALUES_IN_SHARED", u32::from(self.values_in_shared)),
            (
                "PARTIALS_IN_GLOBAL",
                u32::from(self.partials == Partials::Global),
            ),
            (
                "FLUXES_IN_SHARED",
                u32::from(self.partials == Partials::Shared),
            ),
            ("EXCHANGE", u32::from(self.exchange())),
            ("ALL_GLOBAL", u32::from(self.all_global())),
            (
                "HANDED_OVER",
                u32::from(self.temporaries != CubeTemporaries::Shared),
            ),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![text!("point_factors.c"), text!("cubes.c")]
    }

    fn entries(&self) -> &'static [&'static str] {
        if self.one_launch {
            &["cubes"]
        } else {
            &["cubes_interpolate", "cubes_differentiate", "cubes_project"]
        }
    }

    fn shared(&self, sizes: Sizes) -> SharedAccesses {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let flag = u64::from;
        let values = flag(self.values_in_shared) * (1 + 3 * g);
        let fluxes = flag(self.partials == Partials::Shared || self.exchange()) * (3 + 3 * g);
        let differentiation = g.pow(3) * (6 * g + values + fluxes);
        if collocated(sizes) {
            return SharedAccesses {
                block: g * g,
                element: differentiation,
            };
        }
        // Threads that take part in a stage, times the numbers each reads and writes.
        let shared = flag(!self.all_global());
        let interpolation = q * q * g * (q + shared)
            + q * g * g * (q + shared * (q + 1))
            + g.pow(3) * q * (1 + shared);
        let projection = shared * g.pow(3)
            + (q * g * g + q * q * g) * (g + shared * (g + 1))
            + q.pow(3) * g * (1 + shared);
        let interp_loads = if self.one_launch { 1 } else { 2 };
        SharedAccesses {
            block: interp_loads * g * q + g * g,
            element: differentiation + interpolation + projection,
        }
    }
}
