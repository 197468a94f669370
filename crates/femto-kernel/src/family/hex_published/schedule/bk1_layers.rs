//! BK1, the mass operator with Gauss points: a thread per column of an element.

use super::plan::in_cube;
use super::{BlockWork, Common, Memory, Plan, Sizes};
use crate::dialect::{KernelFile, text};

/// Storage of values between two contractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Temporaries {
    /// In three global arrays.
    #[default]
    Global,
    /// One layer at a time in two slices of shared memory.
    Slices,
    /// A whole element in one cube of shared memory, contracted in place, a pencil in registers.
    Cube,
}

/// The knobs of BK1; the default is the first published step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bk1Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Storage of values between two contractions.
    pub temporaries: Temporaries,
    /// Whether a thread's column of u is in registers and contracted along k before the loop over layers, and that of v
    /// is in registers too.
    pub column_in_registers: bool,
    /// Whether a barrier follows the loop over layers.
    pub barrier_at_end: bool,
    /// `I[i][j] = I[g-1-i][q-1-j]`: one read of the matrix serves two outputs.
    pub symmetry: bool,
}

impl Default for Bk1Layers {
    fn default() -> Self {
        Self {
            common: Common::default(),
            temporaries: Temporaries::Global,
            column_in_registers: false,
            barrier_at_end: true,
            symmetry: false,
        }
    }
}

impl Bk1Layers {
    fn in_cube(&self) -> bool {
        self.temporaries == Temporaries::Cube
    }

    /// The stride of the interpolation matrix: that of all slices, or its own once there is padding.
    fn interp_row(&self, sizes: Sizes) -> u32 {
        match self.common.pad {
            true => self.common.row(sizes.nodes_1d),
            false => sizes.points_1d,
        }
    }
}

impl Plan for Bk1Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.temporaries == Temporaries::Slices, "slices"),
            (self.in_cube(), "cube"),
            (self.column_in_registers, "column_in_registers"),
            (
                self.barrier_at_end && self.temporaries == Temporaries::Slices,
                "barrier_at_end",
            ),
            (self.symmetry, "symmetry"),
        ]
    }

    fn rules(&self, _: Sizes) -> Result<(), &'static str> {
        if self.common.pad && self.temporaries == Temporaries::Global {
            return Err("only shared memory is padded");
        }
        if self.in_cube() && (self.column_in_registers || self.barrier_at_end) {
            return Err("a cube has no columns in registers and no loop over layers");
        }
        if self.symmetry && !self.in_cube() {
            return Err("symmetry is used by contractions in a cube only");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d, sizes.points_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let g = sizes.points_1d;
        let slice = g * self.common.row(g);
        let interp = ("S_INTERP", g * self.interp_row(sizes));
        let (shared, scratch) = match self.temporaries {
            Temporaries::Global => {
                let arrays = ["G_A", "G_B", "G_C"].map(|name| (name, g.pow(3)));
                (vec![interp], arrays.to_vec())
            }
            Temporaries::Slices => (vec![interp, ("S_A", slice), ("S_B", slice)], vec![]),
            Temporaries::Cube => (vec![interp, ("S_CUBE", g * slice)], vec![]),
        };
        Memory { shared, scratch }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let global = self.temporaries == Temporaries::Global;
        let row = self.common.row(sizes.points_1d);
        vec![
            ("ROW", row),
            ("CUBE_ROW", row),
            ("INTERP_ROW", self.interp_row(sizes)),
            ("GLOBAL_TEMPORARIES", u32::from(global)),
            ("IN_CUBE", u32::from(self.in_cube())),
            ("COLUMN_IN_REGISTERS", u32::from(self.column_in_registers)),
            ("BARRIER_AT_END", u32::from(self.barrier_at_end)),
            ("SYMMETRY", u32::from(self.symmetry)),
            ("VOLATILE_CUBE", 1),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![
            text!("family/hex_published/text/pencils.c"),
            text!("family/hex_published/text/bk1_layers.c"),
        ]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk1_layers"]
    }

    fn block_work(&self, sizes: Sizes) -> BlockWork {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let pencils = q * q + q * g + g * g;
        let at_end = u64::from(self.barrier_at_end);
        match self.temporaries {
            Temporaries::Global => BlockWork {
                reads: 2 * g * q * pencils,
                writes: g * q,
                barriers: 1 + 4 * g + at_end,
            },
            Temporaries::Slices => BlockWork {
                reads: 2 * g * q * pencils + 2 * g * g * q * (q + g),
                writes: g * q + g * (q + g).pow(2),
                barriers: 1 + 5 * g + at_end,
            },
            Temporaries::Cube => {
                let cube = in_cube(sizes, self.symmetry);
                BlockWork {
                    writes: g * q + q.pow(3) + cube.writes,
                    barriers: 6,
                    ..cube
                }
            }
        }
    }
}
