//! BK3, the screened Poisson operator with Gauss points: one thread per column of an element.

use super::bk1_layers::matrix_reads;
use super::plan::text;
use super::{Common, Memory, Plan, SharedAccesses, Sizes};
use crate::dialect::KernelFile;

/// Interpolation to the points, and storage of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Points {
    /// Interpolated layer by layer in slices of shared memory, kept in a shared cube.
    #[default]
    CubeBySlices,
    /// Interpolated in place in a shared cube, as in the last steps of BK1.
    Cube,
    /// Interpolated layer by layer in slices, kept in each thread's registers without a cube.
    Columns,
}

/// The knobs of BK3 in layers; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bk3Layers {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether a thread's columns of u and v are in registers rather than global memory.
    pub column_in_registers: bool,
    /// Interpolation to the points.
    pub points: Points,
    /// Whether derivatives along ζ come from a column of point values in registers, not from the cube.
    pub differentiate_columns: bool,
    /// Whether fluxes along ξ overwrite their layer of the cube, which saves a slice.
    pub fluxes_in_cube: bool,
    /// Whether both the differentiation matrix and its transpose are in shared memory, so that neighbouring
    /// threads read neighbouring entries of either.
    pub transposed_grad: bool,
    /// `I[i][j] = I[g-1-i][q-1-j]`: one read of the matrix serves two outputs.
    pub symmetry: bool,
    /// Whether each thread works on layers k and g-1-k together, whose rows of the matrices are the same in
    /// reverse.
    pub two_layers: bool,
    /// Whether a thread's two rows of the differentiation matrix are in registers.
    pub grad_rows_in_registers: bool,
}

impl Bk3Layers {
    fn layers(&self) -> u32 {
        1 + u32::from(self.two_layers)
    }

    /// Numbers of a slice, of nodes or of points.
    fn slice(&self, sizes: Sizes) -> u32 {
        let rows = [sizes.nodes_1d, sizes.points_1d].map(|len| self.common.row(len));
        sizes.points_1d * rows[0].max(rows[1])
    }
}

impl Plan for Bk3Layers {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        vec![
            (self.column_in_registers, "column_in_registers"),
            (self.points == Points::Cube, "interpolate_cube"),
            (self.points == Points::Columns, "slices_only"),
            (self.differentiate_columns, "differentiate_columns"),
            (self.fluxes_in_cube, "fluxes_in_cube"),
            (self.transposed_grad, "transposed_grad"),
            (self.symmetry, "symmetry"),
            (self.two_layers, "two_layers"),
            (self.grad_rows_in_registers, "grad_rows_in_registers"),
        ]
    }

    fn rules(&self, _: Sizes) -> Result<(), &'static str> {
        let cube = self.points == Points::Cube;
        let columns = self.points == Points::Columns;
        if self.points != Points::CubeBySlices && !self.column_in_registers {
            return Err("only slices that fill a cube work without the column in registers");
        }
        if columns && !self.differentiate_columns {
            return Err("without a cube of values columns are differentiated");
        }
        if self.fluxes_in_cube && !(cube && self.differentiate_columns) {
            return Err("the cube is free for fluxes if columns hold its values, made in the cube");
        }
        if self.symmetry && self.points == Points::CubeBySlices {
            return Err("slices that fill a cube do not use symmetry");
        }
        if self.two_layers && !(self.symmetry && self.differentiate_columns) {
            return Err("two layers at a time use symmetry and columns of values");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d, sizes.points_1d, 1]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let (q, g) = (sizes.nodes_1d, sizes.points_1d);
        let row = self.common.row(g);
        let slices_of_a_round = self.layers() * self.slice(sizes);
        let mut block = vec![("S_INTERP", g * q), ("S_GRAD", g * g)];
        if self.transposed_grad {
            block.push(("S_GRAD_T", g * g));
        }
        let mut element = match self.points {
            Points::Columns => vec![],
            _ => vec![("S_CUBE", g * g * row)],
        };
        let slices = ["S_A", "S_B", "S_C"].into_iter();
        let len = match (self.points, self.fluxes_in_cube) {
            (Points::Columns, _) => 3,
            (_, true) => 1,
            (_, false) => 2,
        };
        element.extend(slices.take(len).map(|name| (name, slices_of_a_round)));
        Memory {
            block,
            element,
            scratch: vec![],
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        vec![
            ("NODE_ROW", self.common.row(sizes.nodes_1d)),
            ("ROW", self.common.row(sizes.points_1d)),
            ("SLICE_REALS", self.slice(sizes)),
            ("COLUMN_IN_REGISTERS", u32::from(self.column_in_registers)),
            ("IN_CUBE", u32::from(self.points == Points::Cube)),
            ("SLICES_ONLY", u32::from(self.points == Points::Columns)),
            (
                "DIFFERENTIATE_COLUMNS",
                u32::from(self.differentiate_columns),
            ),
            ("FLUXES_IN_CUBE", u32::from(self.fluxes_in_cube)),
            ("TRANSPOSED_GRAD", u32::from(self.transposed_grad)),
            ("SYMMETRY", u32::from(self.symmetry)),
            ("LAYERS", self.layers()),
            (
                "GRAD_ROWS_IN_REGISTERS",
                u32::from(self.grad_rows_in_registers),
            ),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![
            text!("point_factors.c"),
            text!("ladder_interpolation.c"),
            text!("bk3_layers.c"),
        ]
    }

    fn entries(&self) -> &'static [&'static str] {
        &["bk3_layers"]
    }

    fn shared(&self, sizes: Sizes) -> SharedAccesses {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let rounds = g.div_ceil(u64::from(self.layers()));
        let (to_points, to_nodes) = matrix_reads(sizes, self.symmetry);
        let flag = u64::from;

        let interpolation = if self.points == Points::Cube {
            let columns = flag(self.differentiate_columns) * g.pow(3);
            let matrices = (q * q + q * g + g * g) * (to_points + to_nodes);
            matrices + 2 * (q * q * g + (q * g + g * g) * (q + g)) + columns + g.pow(3)
        } else {
            // All layers of a round share the matrices.
            let kept = flag(self.points == Points::CubeBySlices);
            let forward = rounds * q * (q * q + g * q + g * g)
                + g * (q * q + g * q * (q + 1) + g * g * (q + kept));
            let back = rounds * (g * q * g + q * q * g + q.pow(3))
                + g * (g * g + g * q * (g + 1) + q * q * g);
            forward + back
        };
        let rows = flag(self.grad_rows_in_registers);
        let per_round = 2 * g * (1 - rows) + 2 * g + 2 * g;
        let cube = flag(!self.differentiate_columns) * (g + 1);
        let per_layer = cube + 2 * g + flag(self.points == Points::Columns) + 2 + 2 * g;
        let differentiation = g * g * (rounds * per_round + g * per_layer + rows * 2 * g);
        SharedAccesses {
            // The transpose is written after reading the matrix.
            block: g * q + (1 + 2 * flag(self.transposed_grad)) * g * g,
            element: interpolation + differentiation,
        }
    }
}
