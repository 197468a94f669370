//! Knepley et al.'s model (Knepley, Rupp, Terrel 2016, section 3.3), formula by formula.
//!
//! It assumes N_bs = LCM(N_b, N_q) = N_b N_q, and counts the geometry and products with it for every
//! component; [`super::work`] counts the actual work of the kernels. Numbers have 4 bytes in Knepley et al.

use crate::family::cell_quadrature::Shape;

/// The sizes of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// d, the dimension.
    pub d: u64,
    /// N_b, basis functions of a component.
    pub n_b: u64,
    /// N_q, quadrature points.
    pub n_q: u64,
    /// N_comp.
    pub n_comp: u64,
    /// N_bl, concurrent cell blocks.
    pub n_bl: u64,
    /// Bytes of a number.
    pub bytes: u64,
}

impl Model {
    /// The model for cells of a shape.
    pub fn new(shape: &Shape, blocks_per_batch: u32, bytes: usize) -> Self {
        Self {
            d: shape.dim as u64,
            n_b: shape.nodes as u64,
            n_q: shape.points as u64,
            n_comp: shape.components as u64,
            n_bl: u64::from(blocks_per_batch),
            bytes: bytes as u64,
        }
    }

    /// N_bt = N_b N_comp.
    pub fn n_bt(&self) -> u64 {
        self.n_b * self.n_comp
    }

    /// N_bs, cells of a block.
    pub fn n_bs(&self) -> u64 {
        self.n_b * self.n_q
    }

    /// N_bc = N_bs N_bl, cells of a batch.
    pub fn n_bc(&self) -> u64 {
        self.n_bs() * self.n_bl
    }

    /// N_t = N_bc N_comp, threads.
    pub fn n_t(&self) -> u64 {
        self.n_bc() * self.n_comp
    }

    /// Equation 6: bytes loaded for a batch.
    pub fn bytes_per_batch(&self) -> u64 {
        let Self { d, n_q, .. } = *self;
        self.bytes * self.n_t() * (d * d + 1 + self.n_bt() + (d + 1) * n_q)
    }

    /// Equation 7: flops of a batch.
    pub fn flops_per_batch(&self) -> u64 {
        let Self { d, n_q, n_comp, .. } = *self;
        let n_bt = self.n_bt();
        let points = ((2 + (2 + 2 * d) * d) * n_bt + 2 * d * n_comp) * n_q;
        let coefficients = (2 + 2 * d) * d * n_q * n_bt;
        (points + coefficients) * self.n_bc()
    }

    /// Equation 6 per cell.
    pub fn bytes_per_cell(&self) -> u64 {
        self.bytes_per_batch() / self.n_bc()
    }

    /// Equation 7 per cell.
    pub fn flops_per_cell(&self) -> u64 {
        self.flops_per_batch() / self.n_bc()
    }

    /// Equation 8: the algorithmic balance β, flops per byte.
    pub fn balance(&self) -> f64 {
        self.flops_per_batch() as f64 / self.bytes_per_batch() as f64
    }
}
