//! BK1, the mass operator with Gauss points: one thread per column of an element.

use super::plan::text;
use super::{Common, Memory, Plan, SharedAccesses, Sizes};
use crate::dialect::KernelFile;

/// Storage of values between two contractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Temporaries {
    /// In two global arrays.
    #[default]
    Global,
    /// One layer at a time in two slices of shared memory.
    Slices,
    /// A whole element in one cube of shared memory, contracted in place: five barriers in all.
    Cube,
}

/// The knobs of BK1; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bk1Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Storage of values between two contractions.
    pub temporaries: Temporaries,
    /// Whether a thread's columns of u and v are in registers rather than global memory.
    pub column_in_registers: bool,
    /// `I[i][j] = I[g-1-i][q-1-j]`: one read of the matrix serves two outputs.
    pub symmetry: bool,
}

impl Plan for Bk1Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.temporaries == Temporaries::Slices, "slices"),
            (self.temporaries == Temporaries::Cube, "cube"),
            (self.column_in_registers, "column_in_registers"),
            (self.symmetry, "symmetry"),
        ]
    }

    fn rules(&self, _: Sizes) -> Result<(), &'static str> {
        let cube = self.temporaries == Temporaries::Cube;
        if self.common.pad && self.temporaries == Temporaries::Global {
            return Err("only shared memory is padded");
        }
        if cube && !self.column_in_registers {
            return Err("a cube of temporaries needs the column in registers");
        }
        if self.symmetry && !cube {
            return Err("symmetry is used by contractions in a cube only");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d, sizes.points_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let (q, g) = (sizes.nodes_1d, sizes.points_1d);
        // Slices of nodes have rows of q, all others rows of g.
        let slice = g * self.common.row(g).max(self.common.row(q));
        let (element, scratch) = match self.temporaries {
            Temporaries::Global => (vec![], vec![("T_A", g.pow(3)), ("T_B", g.pow(3))]),
            Temporaries::Slices => (vec![("T_A", slice), ("T_B", slice)], vec![]),
            Temporaries::Cube => (vec![("S_CUBE", g * g * self.common.row(g))], vec![]),
        };
        Memory {
            block: vec![("S_INTERP", g * q)],
            element,
            scratch,
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let temporaries = self.temporaries;
        vec![
            ("NODE_ROW", self.common.row(sizes.nodes_1d)),
            ("ROW", self.common.row(sizes.points_1d)),
            (
                "TEMPORARIES_IN_GLOBAL",
                u32::from(temporaries == Temporaries::Global),
            ),
            ("CUBE", u32::from(temporaries == Temporaries::Cube)),
            ("COLUMN_IN_REGISTERS", u32::from(self.column_in_registers)),
            ("SYMMETRY", u32::from(self.symmetry)),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![text!("ladder_interpolation.c"), text!("bk1_layers.c")]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk1_layers"]
    }

    fn shared(&self, sizes: Sizes) -> SharedAccesses {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let slices = u64::from(self.temporaries == Temporaries::Slices);
        let element = if self.temporaries == Temporaries::Cube {
            let (to_points, to_nodes) = matrix_reads(sizes, self.symmetry);
            let matrices = (q * q + q * g + g * g) * (to_points + to_nodes);
            // Pencils read and written by each stage; the first reads registers and the last writes them.
            matrices + 2 * (q * q * g + q * g * (q + g) + g * g * q)
        } else {
            // Threads that take part in a stage, times the matrix and slice entries each reads.
            let forward = q * q * (q + slices) + (g * q + g * g) * (q + slices * (q + 1));
            let back = q * g * (g + slices * (g + 1)) + q * q * (g + slices * g + q);
            g * (forward + back)
        };
        SharedAccesses {
            block: g * q,
            element,
        }
    }
}

/// Matrix entries that a thread reads to interpolate and to project one pencil.
pub(super) fn matrix_reads(sizes: Sizes, symmetry: bool) -> (u64, u64) {
    let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
    if symmetry {
        (g.div_ceil(2) * q, q.div_ceil(2) * g)
    } else {
        (g * q, g * q)
    }
}
