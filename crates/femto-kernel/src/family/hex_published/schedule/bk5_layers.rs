//! BK5, the screened Poisson operator collocated at the GLL nodes: one thread per column.

use super::plan::text;
use super::{Common, Memory, Plan, SharedAccesses, Sizes};
use crate::dialect::KernelFile;

/// Storage of fluxes that other threads read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fluxes {
    /// Those along ξ in a shared cube, those along η in a global array.
    #[default]
    Cube,
    /// One layer of both in two slices of shared memory.
    Slices,
}

/// Storage of a thread's columns of u and v.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bk5Column {
    /// In global memory.
    #[default]
    Global,
    /// u in registers.
    Input,
    /// u and v in registers, and a layer's factors loaded before its barrier.
    InputAndOutput,
}

/// The knobs of BK5 in layers; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bk5Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether one loop over layers surrounds everything, with barriers in it; otherwise one loop for the
    /// gradients and fluxes, one barrier, and one loop for the transposes.
    pub k_outermost: bool,
    /// Storage of fluxes.
    pub fluxes: Fluxes,
    /// Whether a layer of u is read from a slice of shared memory rather than global memory.
    pub values_in_shared: bool,
    /// Whether fluxes along ζ are added to v at once, instead of a global array.
    pub no_global_temporaries: bool,
    /// Storage of a thread's columns of u and v.
    pub column: Bk5Column,
}

impl Plan for Bk5Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.k_outermost, "k_outermost"),
            (self.fluxes == Fluxes::Slices, "slices"),
            (self.values_in_shared, "values_in_shared"),
            (self.no_global_temporaries, "no_global_temporaries"),
            (self.column == Bk5Column::Input, "u_in_registers"),
            (
                self.column == Bk5Column::InputAndOutput,
                "u_and_v_in_registers early_factors",
            ),
        ]
    }

    fn rules(&self, sizes: Sizes) -> Result<(), &'static str> {
        let slices = self.fluxes == Fluxes::Slices;
        if sizes.nodes_1d != sizes.points_1d {
            return Err("the points are the nodes");
        }
        if slices && !self.k_outermost {
            return Err("slices of fluxes need the loop over layers outermost");
        }
        if self.values_in_shared && !slices {
            return Err("a slice of values needs slices of fluxes");
        }
        if self.no_global_temporaries && !slices {
            return Err("a cube of fluxes needs the global temporaries");
        }
        if self.column != Bk5Column::Global && !self.values_in_shared {
            return Err("a column in registers needs the values in shared memory");
        }
        if self.column == Bk5Column::InputAndOutput && !self.no_global_temporaries {
            return Err("a column of v in registers excludes global temporaries");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.nodes_1d, sizes.nodes_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let q = sizes.nodes_1d;
        let slice = q * self.common.row(q);
        let mut element = match self.fluxes {
            Fluxes::Cube => vec![("S_FLUX_R", q * slice)],
            Fluxes::Slices => vec![("S_FLUX_R", slice), ("S_FLUX_S", slice)],
        };
        if self.values_in_shared {
            element.push(("S_VALUES", slice));
        }
        let mut scratch = vec![];
        if self.fluxes == Fluxes::Cube {
            scratch.push(("G_FLUX_S", q.pow(3)));
        }
        if !self.no_global_temporaries {
            scratch.push(("G_FLUX_T", q.pow(3)));
        }
        Memory {
            block: vec![("S_GRAD", q * q)],
            element,
            scratch,
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let both = self.column == Bk5Column::InputAndOutput;
        vec![
            ("ROW", self.common.row(sizes.nodes_1d)),
            ("K_OUTERMOST", u32::from(self.k_outermost)),
            ("SLICES", u32::from(self.fluxes == Fluxes::Slices)),
            ("VALUES_IN_SHARED", u32::from(self.values_in_shared)),
            ("GLOBAL_TEMPORARIES", u32::from(!self.no_global_temporaries)),
            (
                "U_IN_REGISTERS",
                u32::from(self.column != Bk5Column::Global),
            ),
            ("V_IN_REGISTERS", u32::from(both)),
            ("EARLY_FACTORS", u32::from(both)),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![text!("point_factors.c"), text!("bk5_layers.c")]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk5_layers"]
    }

    fn shared(&self, sizes: Sizes) -> SharedAccesses {
        let q = u64::from(sizes.nodes_1d);
        // Per point: six rows of the matrix, the fluxes written and read, the values.
        let fluxes = match self.fluxes {
            Fluxes::Cube => 1 + q,
            Fluxes::Slices => 2 + 2 * q,
        };
        let values = if self.values_in_shared { 1 + 2 * q } else { 0 };
        SharedAccesses {
            block: q * q,
            element: q.pow(3) * (6 * q + fluxes + values),
        }
    }
}
