//! Vector operations on devices: copies, sums, products, and the fused updates of solvers.

mod accelerator;
mod capture;
pub(crate) mod csr;
pub(crate) mod cut;
mod element_inverse;
mod entries;
mod host;
mod interpolation;
mod line_solve;
mod listed;
mod null;
mod products;
mod projector;
mod random;
mod slicing;
mod sparse;
mod sums;

pub use capture::Capture;
pub use csr::Csr;
pub use element_inverse::ElementInverse;
pub use entries::Entries;
pub use femto_kernel::vector::{ChebyshevFactors, ChebyshevInput};
pub use interpolation::ElementInterpolation;
pub use line_solve::LineSolve;
pub use projector::{Projector, SlantedNodes};
pub use random::RandomVectors;
pub use sparse::SparseMatrix;
pub use sums::{Ratio, Sum, Sums};

use crate::Number;
use femto_fem::parallel;
use femto_platform::device::{Buffer, Device, DeviceError, Element, check_len};
use std::any::Any;

/// Copies a vector to the host, into pages that all threads have touched.
pub(crate) fn download<T: Number, D: Device>(
    device: &D,
    vector: &D::Buffer<T>,
) -> Result<Vec<T>, DeviceError> {
    let mut values = zeros(vector.len());
    device.read(vector, &mut values)?;
    Ok(values)
}

/// Zeros on the host, in pages that all threads have touched.
pub(crate) fn zeros<T: Number>(len: usize) -> Vec<T> {
    parallel::map(len, |_| T::default())
}

/// Uploads numbers, rounded to the precision of `T`.
pub(crate) fn upload_f64<T: Number, D: Device>(
    device: &D,
    values: &[f64],
) -> Result<D::Buffer<T>, DeviceError> {
    let rounded: Vec<T> = parallel::map(values.len(), |entry| T::from_f64(values[entry]));
    device.upload(&rounded)
}

/// As [`download`], in double precision, without a copy if the vector is.
pub(crate) fn download_f64<T: Number, D: Device>(
    device: &D,
    vector: &D::Buffer<T>,
) -> Result<Vec<f64>, DeviceError> {
    let mut values: Vec<T> = download(device, vector)?;
    Ok(
        match (&mut values as &mut dyn Any).downcast_mut::<Vec<f64>>() {
            Some(values) => std::mem::take(values),
            None => parallel::map(values.len(), |entry| values[entry].to_f64()),
        },
    )
}

/// A device that operates on vectors of `T`.
///
/// Scalars are passed and returned in double precision. Sums are taken in double precision, in an order
/// that depends only on the length, so that they are bitwise deterministic for any number of threads.
/// Functions that return a sum wait for it; those that put it into a slot of [`Sums`] do not. Nothing is
/// allocated. If vectors differ in length or a slot does not exist, functions return
/// [`DeviceError::LengthMismatch`] and change nothing.
pub trait VectorOps<T: Number>: Capture + Clone {
    /// y = α.
    fn fill(&self, alpha: f64, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = α at the listed entries; [`DeviceError::LengthMismatch`] if y is too short for them.
    fn set_entries(
        &self,
        entries: &Entries<Self>,
        alpha: f64,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = P y at nodes, with the projector P of each; [`DeviceError::LengthMismatch`] if y is too short for them.
    fn project(
        &self,
        nodes: &SlantedNodes<T, Self>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x at the listed entries, in list order; [`DeviceError::LengthMismatch`] if x is too short for
    /// them.
    fn gather(
        &self,
        x: &Self::Buffer<T>,
        entries: &Entries<Self>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// Adds x, in list order, to y at the listed entries; [`DeviceError::LengthMismatch`] if y is too short
    /// for them.
    fn add_to_entries(
        &self,
        x: &Self::Buffer<T>,
        entries: &Entries<Self>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x.
    fn copy(&self, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = y + α x.
    fn axpy(
        &self,
        alpha: f64,
        x: &Self::Buffer<T>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x + β y.
    fn xpby(
        &self,
        x: &Self::Buffer<T>,
        beta: f64,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = x y, entry by entry.
    fn multiply(&self, x: &Self::Buffer<T>, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// Entry i of y is [`random::entry`](femto_kernel::vector::random::entry) of the seed and i. Accelerators refuse more
    /// entries than 32-bit indices can address.
    fn randomise(&self, seed: u32, y: &mut Self::Buffer<T>) -> Result<(), DeviceError>;

    /// y = x, rounded if need be.
    fn convert<S: Number>(
        &self,
        x: &Self::Buffer<S>,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// y = 1 / y, entry by entry; returns the number of entries that are not positive and finite, or whose
    /// inverse is not.
    fn invert(&self, y: &mut Self::Buffer<T>) -> Result<f64, DeviceError>;

    /// Σ x y.
    fn dot(&self, x: &Self::Buffer<T>, y: &Self::Buffer<T>) -> Result<f64, DeviceError>;

    /// √(Σ x x), without protection against overflow of the squares.
    fn norm(&self, x: &Self::Buffer<T>) -> Result<f64, DeviceError>;

    /// Puts Σ x y into a slot.
    fn dot_into(
        &self,
        x: &Self::Buffer<T>,
        y: &Self::Buffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError>;

    /// z = d r, entry by entry; puts Σ r z into a slot.
    fn precondition_dot(
        &self,
        d: &Self::Buffer<T>,
        r: &Self::Buffer<T>,
        z: &mut Self::Buffer<T>,
        sums: &mut Sums<Self>,
        slot: usize,
    ) -> Result<(), DeviceError>;

    /// x = x + α p, then p = d z + β p, with factors that the device computes. If α is zero, x is unchanged
    /// even if p is NaN; if β is zero, p is overwritten even if it is NaN.
    fn update_direction(
        &self,
        step: UpdateDirection<'_, Self::Buffer<T>>,
        sums: &Sums<Self>,
    ) -> Result<(), DeviceError>;

    /// r = r - α ap with an α that the device computes; puts Σ r r of the new r into a slot, and Σ r (d r)
    /// into another if there is a d. If α is zero, r is unchanged even if ap is NaN.
    fn update_residual(
        &self,
        step: UpdateResidual<'_, Self::Buffer<T>>,
        sums: &mut Sums<Self>,
    ) -> Result<(), DeviceError>;

    /// [`chebyshev_step`](femto_kernel::vector::chebyshev_step).
    fn chebyshev_step(&self, step: ChebyshevStep<'_, Self::Buffer<T>>) -> Result<(), DeviceError>;

    /// y = A x, or y = y + A x if `add`.
    fn multiply_sparse(
        &self,
        matrix: &SparseMatrix<T, Self>,
        x: &Self::Buffer<T>,
        add: bool,
        y: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// Interpolates the L-vector `x` to a part of the E-vector `e`.
    fn interpolate(
        &self,
        with: &ElementInterpolation<T, Self>,
        x: &Self::Buffer<T>,
        e: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// e = w A⁻¹ w x on elements, for an L-vector `x` and an E-vector `e`.
    fn invert_elements(
        &self,
        with: &ElementInverse<T, Self>,
        x: &Self::Buffer<T>,
        e: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;

    /// e = A⁻¹ x along lines, for an L-vector `x` and rows of lines `e`, `[slice][row][lane]`.
    fn solve_lines(
        &self,
        with: &LineSolve<T, Self>,
        x: &Self::Buffer<T>,
        e: &mut Self::Buffer<T>,
    ) -> Result<(), DeviceError>;
}

/// The factors and vectors of [`VectorOps::chebyshev_step`].
#[derive(Debug)]
pub struct ChebyshevStep<'a, B> {
    /// The factors.
    pub factors: ChebyshevFactors,
    /// The inverse diagonal.
    pub inverse: &'a B,
    /// The input that changes from step to step.
    pub input: ChebyshevInput<&'a B>,
    /// r.
    pub r: &'a mut B,
    /// d.
    pub d: &'a mut B,
    /// x.
    pub x: &'a mut B,
}

/// The vectors and factors of [`VectorOps::update_direction`].
#[derive(Debug)]
pub struct UpdateDirection<'a, B> {
    /// α.
    pub alpha: Ratio,
    /// β.
    pub beta: Ratio,
    /// d; `None` means ones.
    pub d: Option<&'a B>,
    /// z.
    pub z: &'a B,
    /// p, changed after x.
    pub p: &'a mut B,
    /// x.
    pub x: &'a mut B,
}

/// The vectors, the factor and the slots of [`VectorOps::update_residual`].
#[derive(Debug)]
pub struct UpdateResidual<'a, B> {
    /// α.
    pub alpha: Ratio,
    /// ap.
    pub ap: &'a B,
    /// r.
    pub r: &'a mut B,
    /// The slot of Σ r r.
    pub square: usize,
    /// d, and the slot of Σ r (d r).
    pub scaled: Option<(&'a B, usize)>,
}

impl<B> UpdateDirection<'_, B> {
    /// Fails unless the vectors have the same length and the sums exist.
    fn check<T: Element, D: Device<Buffer<T> = B>>(&self, sums: &Sums<D>) -> Result<(), DeviceError>
    where
        B: Buffer<T>,
    {
        if let Some(d) = self.d {
            same_len("d of update_direction", d, &*self.x)?;
        }
        same_len("z of update_direction", self.z, &*self.x)?;
        same_len("p of update_direction", &*self.p, &*self.x)?;
        sums.check_ratio(self.alpha)?;
        sums.check_ratio(self.beta)
    }
}

impl<B> UpdateResidual<'_, B> {
    /// Fails unless the vectors have the same length and the sums exist.
    fn check<T: Element, D: Device<Buffer<T> = B>>(&self, sums: &Sums<D>) -> Result<(), DeviceError>
    where
        B: Buffer<T>,
    {
        if let Some((d, product)) = self.scaled {
            same_len("d of update_residual", d, &*self.r)?;
            sums.check(Sum::Before(product))?;
        }
        same_len("ap of update_residual", self.ap, &*self.r)?;
        sums.check_ratio(self.alpha)?;
        sums.check(Sum::Before(self.square))
    }
}

impl<B> ChebyshevStep<'_, B> {
    /// Fails unless the vectors have the same length.
    fn check<T: Element>(&self) -> Result<(), DeviceError>
    where
        B: Buffer<T>,
    {
        let (first, second) = match self.input {
            ChebyshevInput::Start(b) => (b, b),
            ChebyshevInput::Restart(b, ax) => (b, ax),
            ChebyshevInput::Step(ad) => (ad, ad),
        };
        same_len(
            "the inverse diagonal of chebyshev_step",
            self.inverse,
            &*self.x,
        )?;
        same_len("an input of chebyshev_step", first, &*self.x)?;
        same_len("an input of chebyshev_step", second, &*self.x)?;
        same_len("r of chebyshev_step", &*self.r, &*self.x)?;
        same_len("d of chebyshev_step", &*self.d, &*self.x)
    }
}

/// Fails unless `x`, called `what`, is as long as `y`.
fn same_len<X: Element, Y: Element>(
    what: &'static str,
    x: &impl Buffer<X>,
    y: &impl Buffer<Y>,
) -> Result<(), DeviceError> {
    check_len(what, x.len(), y.len())
}

#[cfg(test)]
mod tests;
