//! BK3, the screened Poisson operator with Gauss points: one thread per column of an element.

use super::plan::in_cube;
use super::{BlockWork, Common, Memory, Plan, Sizes, padded};
use crate::dialect::{KernelFile, text};

/// The work on a layer of points, and where the values are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layer {
    /// Three slices, of the values and the fluxes along r and s; the thread's column of values in registers.
    #[default]
    Slices,
    /// [`Self::Slices`], with the layer's factors loaded before its first barrier and the derivative along t taken when
    /// the values are written to their slice: as the last step of BK5.
    SlicesFactorsFirst,
    /// A cube of values, two slices of fluxes.
    Cube,
    /// A cube of values and the thread's column in registers; a layer begins with its factors and derivative along t: as
    /// step 9 of BK5.
    CubeAndColumn,
    /// A cube of values, and one slice for both fluxes, one after the other.
    CubeOneSlice,
    /// [`Self::CubeAndColumn`], with the factors loaded before the layer's first barrier: as the last step of BK5.
    CubeFactorsFirst,
}

/// The knobs of BK3 in layers; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bk3Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether padding is that of the cube's rows in place of those of the interpolation matrix.
    pub pad_cube: bool,
    /// Whether, without a cube, a thread's column of u is in registers.
    pub u_in_registers: bool,
    /// The work on a layer. With a cube, interpolation and projection are in it as in step 7 of BK1, otherwise in slices.
    pub layer: Layer,
    /// Barriers between a cube's interpolation and the loop over layers.
    pub barriers_before_layers: u32,
    /// Whether the transpose of the differentiation matrix is in shared memory too, for derivatives.
    pub transposed_grad: bool,
    /// `I[i][j] = I[g-1-i][q-1-j]`: one read of the matrix serves two outputs.
    pub symmetry: bool,
    /// Whether row k of the differentiation matrix, read for the derivative along t, is kept for its transpose.
    pub grad_row_in_registers: bool,
}

impl Bk3Layers {
    fn in_cube(&self) -> bool {
        !matches!(self.layer, Layer::Slices | Layer::SlicesFactorsFirst)
    }

    fn column_in_registers(&self) -> bool {
        !matches!(self.layer, Layer::Cube | Layer::CubeOneSlice)
    }

    /// Whether the factors and the derivative along t come before the barrier before the other derivatives: 2 if the
    /// factors come even before the layer's first barrier.
    fn factors_early(&self) -> u32 {
        match self.layer {
            Layer::Slices | Layer::Cube | Layer::CubeOneSlice => 0,
            Layer::CubeAndColumn => 1,
            Layer::SlicesFactorsFirst | Layer::CubeFactorsFirst => 2,
        }
    }

    fn interp_row(&self, sizes: Sizes) -> u32 {
        padded(sizes.nodes_1d, self.common.pad && !self.pad_cube)
    }

    fn cube_row(&self, sizes: Sizes) -> u32 {
        padded(sizes.points_1d, self.common.pad && self.pad_cube)
    }
}

impl Plan for Bk3Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        let layer = |layer| self.layer == layer;
        vec![
            (self.pad_cube, "pad_cube"),
            (self.u_in_registers, "u_in_registers"),
            (layer(Layer::SlicesFactorsFirst), "slices factors_first"),
            (layer(Layer::Cube), "cube"),
            (layer(Layer::CubeAndColumn), "cube_and_column"),
            (layer(Layer::CubeOneSlice), "cube one_slice"),
            (
                layer(Layer::CubeFactorsFirst),
                "cube_and_column factors_first",
            ),
            (self.barriers_before_layers == 1, "barriers_before_layers=1"),
            (self.barriers_before_layers == 2, "barriers_before_layers=2"),
            (self.transposed_grad, "transposed_grad"),
            (self.symmetry, "symmetry"),
            (self.grad_row_in_registers, "grad_row_in_registers"),
        ]
    }

    fn rules(&self, _: Sizes) -> Result<(), &'static str> {
        if self.in_cube() {
            if self.u_in_registers {
                return Err("a cube has no column of u in registers");
            }
        } else if self.pad_cube || self.symmetry || self.barriers_before_layers > 0 {
            return Err("slices have no cube to pad, to use symmetry in or to wait for");
        }
        if self.barriers_before_layers > 2 {
            return Err("at most two barriers before the layers");
        }
        if self.transposed_grad && self.column_in_registers() {
            return Err("a transposed differentiation matrix needs derivatives from a cube");
        }
        if self.grad_row_in_registers && self.factors_early() == 0 {
            return Err("a row of the differentiation matrix is kept if factors come early");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d, sizes.points_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let g = sizes.points_1d;
        let slice = g * self.common.row(g);
        let mut shared = vec![("S_INTERP", g * self.interp_row(sizes)), ("S_GRAD", slice)];
        if self.transposed_grad {
            shared.push(("S_GRAD_T", slice));
        }
        if self.in_cube() {
            shared.push(("S_CUBE", g * g * self.cube_row(sizes)));
        }
        let slices = match self.layer {
            Layer::Slices | Layer::SlicesFactorsFirst => 3,
            Layer::CubeOneSlice => 1,
            Layer::Cube | Layer::CubeAndColumn | Layer::CubeFactorsFirst => 2,
        };
        let names = ["S_A", "S_B", "S_C"].into_iter().take(slices);
        shared.extend(names.map(|name| (name, slice)));
        Memory {
            shared,
            scratch: vec![],
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let one_slice = self.layer == Layer::CubeOneSlice;
        let row_in_registers = self.grad_row_in_registers;
        vec![
            ("ROW", self.common.row(sizes.points_1d)),
            ("CUBE_ROW", self.cube_row(sizes)),
            ("INTERP_ROW", self.interp_row(sizes)),
            ("IN_CUBE", u32::from(self.in_cube())),
            ("U_IN_REGISTERS", u32::from(self.u_in_registers)),
            ("COLUMN_IN_REGISTERS", u32::from(self.column_in_registers())),
            ("FACTORS_EARLY", self.factors_early()),
            ("ONE_SLICE", u32::from(one_slice)),
            ("BARRIERS_BEFORE_LAYERS", self.barriers_before_layers),
            ("TRANSPOSED_GRAD", u32::from(self.transposed_grad)),
            ("SYMMETRY", u32::from(self.symmetry)),
            ("GRAD_ROW_IN_REGISTERS", u32::from(row_in_registers)),
            ("VOLATILE_CUBE", 0),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![
            text!("family/hex_published/text/point_factors.c"),
            text!("family/hex_published/text/pencils.c"),
            text!("family/hex_published/text/bk3_layers.c"),
        ]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk3_layers"]
    }

    fn block_work(&self, sizes: Sizes) -> BlockWork {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let flag = u64::from;
        // Fluxes, and the matrix for three derivatives and three transposes.
        let mut reads = g.pow(4) * (8 - flag(self.grad_row_in_registers));
        let mut writes = g * q + g * g * (1 + flag(self.transposed_grad)) + 2 * g.pow(3);
        if !self.in_cube() {
            // All threads write their slices on the way to the points.
            reads += g.pow(4) * 2 + 3 * g * q.pow(3) + 4 * g * g * q * q + 3 * g.pow(3) * q;
            writes += 3 * g.pow(3) + g * g * q + g * q * q;
            return BlockWork {
                reads,
                writes,
                barriers: 6 * g + 3 * q,
            };
        }
        let cube = in_cube(sizes, self.symmetry);
        let derivatives = 3 - flag(self.column_in_registers());
        // A column of values, if only for the mass term; and one of results.
        reads += cube.reads + g.pow(4) * derivatives + g.pow(3);
        writes += cube.writes + q.pow(3) + g.pow(3);
        let of_layer = match self.layer {
            Layer::Cube => 2,
            Layer::CubeOneSlice => 4,
            _ => 3,
        };
        let after_layers = flag(self.factors_early() != 2);
        BlockWork {
            reads,
            writes,
            barriers: 3 + u64::from(self.barriers_before_layers) + of_layer * g + after_layers + 3,
        }
    }
}
