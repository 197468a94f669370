//! BK5, the screened Poisson operator collocated at the GLL nodes: one thread per column.

use super::{BlockWork, Common, Memory, Plan, Sizes};
use crate::dialect::{KernelFile, text};

/// Storage of the values that are differentiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Values {
    /// In global memory; the derivatives along t of all layers are computed first, into registers.
    #[default]
    Global,
    /// In a cube of shared memory.
    Cube,
    /// In a cube, and the thread's column in registers too; a layer begins with its factors and derivative along t.
    CubeAndColumn,
    /// The thread's column in registers, a layer in a slice of shared memory; its factors are loaded before the layer's
    /// first barrier.
    Slice,
}

/// The knobs of BK5 in layers; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bk5Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether there is one loop over layers, with the fluxes along r and s in two slices of shared memory. Otherwise
    /// there is a loop for the fluxes, along r in a global array and along s in a shared cube, then a barrier, then a
    /// loop for the transposes.
    pub one_loop: bool,
    /// Storage of the values.
    pub values: Values,
    /// Whether the thread's column of v is in registers.
    pub v_in_registers: bool,
}

impl Bk5Layers {
    fn column_in_registers(&self) -> bool {
        matches!(self.values, Values::CubeAndColumn | Values::Slice)
    }

    fn values_in_cube(&self) -> bool {
        matches!(self.values, Values::Cube | Values::CubeAndColumn)
    }
}

impl Plan for Bk5Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.one_loop, "one_loop"),
            (self.values == Values::Cube, "values_in_cube"),
            (
                self.values == Values::CubeAndColumn,
                "values_in_cube_and_column",
            ),
            (self.values == Values::Slice, "values_in_slice"),
            (self.v_in_registers, "v_in_registers"),
        ]
    }

    fn rules(&self, sizes: Sizes) -> Result<(), &'static str> {
        if sizes.nodes_1d != sizes.points_1d {
            return Err("the points are the nodes");
        }
        if self.values != Values::Global && !self.one_loop {
            return Err("values in shared memory need one loop over layers");
        }
        if self.column_in_registers() && !self.v_in_registers {
            return Err("a column of u in registers needs that of v there");
        }
        if self.v_in_registers && self.values == Values::Global {
            return Err("a column of v in registers needs the values in shared memory");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.nodes_1d, sizes.nodes_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let q = sizes.nodes_1d;
        let slice = q * self.common.row(q);
        let mut shared = vec![("S_GRAD", slice)];
        shared.extend(match self.one_loop {
            true => vec![("S_FLUX_R", slice), ("S_FLUX_S", slice)],
            false => vec![("S_FLUX_S", q * slice)],
        });
        shared.extend(match self.values {
            Values::Global => None,
            Values::Cube | Values::CubeAndColumn => Some(("S_VALUES", q * slice)),
            Values::Slice => Some(("S_VALUES", slice)),
        });
        let scratch = match self.one_loop {
            true => vec![],
            false => vec![("G_FLUX_R", q.pow(3))],
        };
        Memory { shared, scratch }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let row = self.common.row(sizes.nodes_1d);
        vec![
            ("ROW", row),
            ("CUBE_ROW", row),
            ("ONE_LOOP", u32::from(self.one_loop)),
            ("VALUES_IN_CUBE", u32::from(self.values_in_cube())),
            ("COLUMN_IN_REGISTERS", u32::from(self.column_in_registers())),
            ("V_IN_REGISTERS", u32::from(self.v_in_registers)),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![
            text!("family/hex_published/text/point_factors.c"),
            text!("family/hex_published/text/bk5_layers.c"),
        ]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk5_layers"]
    }

    fn block_work(&self, sizes: Sizes) -> BlockWork {
        let q = u64::from(sizes.nodes_1d);
        let flag = u64::from;
        // Rows of numbers that a thread reads in a layer: of the matrix, of fluxes, of values; and what it writes there.
        let (of_fluxes, written) = if self.one_loop { (2, 2) } else { (1, 1) };
        let (of_values, own, stored) = match self.values {
            Values::Global => (0, 0, 0),
            Values::Cube => (3, flag(self.v_in_registers), 1),
            Values::CubeAndColumn => (2, 1, 1),
            Values::Slice => (2, 0, 1),
        };
        let barriers = match (self.values, self.v_in_registers) {
            (Values::Global, _) if self.one_loop => 2 + 2 * q,
            (Values::Global, _) => 3,
            (Values::Cube, false) => 1 + 2 * q,
            (Values::Cube, true) => 2 * q,
            (Values::CubeAndColumn, _) => 2 + 3 * q,
            (Values::Slice, _) => 3 * q,
        };
        BlockWork {
            reads: q.pow(4) * (6 + of_fluxes + of_values) + q.pow(3) * own,
            writes: q * q + q.pow(3) * (written + stored),
            barriers,
        }
    }
}
