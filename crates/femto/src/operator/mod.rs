//! Operators: a space, a geometry and a form, bound to a device.
//!
//! `A = Eᵀ Bᵀ D B E` on L-vectors. Operators do not know constraints: solvers hold the constrained entries
//! of their vectors at zero (`problem::Constrained`).

mod accelerator;
mod any_form;
mod any_operator;
mod auxiliary;
mod backend;
mod binding;
mod error;
mod explain;
mod facets;
mod host;
mod level;
mod null;
mod params;
mod plan;
mod tables;

pub use accelerator::AcceleratorBound;
#[doc(hidden)]
pub use any_form::FormNumber;
pub use any_form::{AnyForm, Typed};
pub use any_operator::{AnyOperator, Application};
pub use auxiliary::Auxiliary;
pub use backend::{Backend, Bound};
pub(crate) use binding::Binding;
pub use error::OperatorError;
pub use explain::{Alternative, Explanation};
pub use host::HostBound;
pub use level::{ChosenLevel, DataLevel, LevelInputs};
pub use null::NullBound;
pub use params::{FactorPrecision, Knobs, OperatorParams, Quadrature, Scatter};
pub(crate) use plan::{FieldPlace, Plan};

use crate::Number;
use facets::FacetTerm;
use femto_fem::geometry::Geometry;
use femto_fem::space::{Block, Space};
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::form::{Form, Inspection};
use femto_kernel::roofline::Work;
use femto_kernel::scalar::Precision;
use femto_platform::device::Buffer;

/// A weak form on a space, applied without a matrix.
///
/// ```
/// use femto::fem::{geometry::Geometry, mesh::boxes::BoxMesh, space::{Space, SpaceParams}};
/// use femto::{Host, Operator, OperatorParams, kernel::form::Poisson, platform::device::Device};
///
/// let mesh = BoxMesh::unit_cube(4).build(|x| x)?;
/// let geometry = Geometry::new(&mesh)?;
/// let space = Space::new(&mesh, &geometry, SpaceParams { degree: 3, ..Default::default() })?;
/// let host = Host::new()?;
/// let params = OperatorParams::default();
/// let poisson = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<3>, params)?;
/// let u = host.upload(&vec![1.0; space.dofs()])?;
/// let mut v = host.zeros(space.dofs())?;
/// poisson.apply(&u, &mut v)?;
/// assert!(v.iter().all(|v| v.abs() < 1e-12), "constants have no gradient");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Operator<T: Number, D: Backend> {
    device: D,
    /// At least one, applied in order: the first initialises shared nodes, the rest add to them.
    shapes: Vec<BoundShape<T, D>>,
    /// Terms on boundary facets.
    facets: Vec<FacetTerm<T, D>>,
    /// Number of auxiliary fields in the solution's space.
    nodal: usize,
    sizes: Sizes,
    time: f64,
    parameters: Vec<f64>,
}

/// The elements of one shape.
#[derive(Debug)]
struct BoundShape<T: Number, D: Backend> {
    plan: Plan,
    bound: D::Bound<T>,
}

impl<T: Number, D: Backend> BoundShape<T, D> {
    /// Length of an E-vector of the shape.
    fn element_dofs(&self) -> usize {
        (self.plan.elements as u64 * self.plan.element_dofs()) as usize
    }
}

/// Lengths of the vectors that an operator takes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    dofs: usize,
    element_dofs: usize,
}

impl<T: Number, D: Backend> Operator<T, D> {
    /// Binds `form` to a device, on cells of one shape.
    ///
    /// # Errors
    /// Parameters out of range, mismatched sizes, inverted elements (named, with position and Jacobian), or
    /// not enough memory.
    pub fn new<F, const DIM: usize, const C: usize>(
        device: &D,
        space: &Space,
        geometry: &Geometry,
        form: &F,
        params: OperatorParams,
    ) -> Result<Self, OperatorError>
    where
        F: Form<DIM, C> + Clone + 'static,
    {
        let form = Typed::<F, DIM, C>(form.clone());
        Self::of_form(device, space, geometry, &form, params)
    }

    /// As [`Operator::new`], with a form of any type.
    ///
    /// # Errors
    /// As [`Operator::new`].
    pub fn of_form(
        device: &D,
        space: &Space,
        geometry: &Geometry,
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<Self, OperatorError> {
        let block = Block {
            space: space.clone(),
            geometry: geometry.clone(),
        };
        Self::of_blocks(device, &[block], form, params)
    }

    /// As [`Operator::of_form`], on all blocks of a mesh of several shapes.
    ///
    /// # Errors
    /// As [`Operator::new`]; blocks that are not all those of one space.
    pub fn of_blocks(
        device: &D,
        blocks: &[Block],
        form: &dyn AnyForm,
        params: OperatorParams,
    ) -> Result<Self, OperatorError> {
        let first = check_blocks(blocks)?;
        let (mut plans, mut place) = (Vec::new(), FieldPlace::default());
        for block in blocks {
            let plan = Plan::new(device.info().kind, block, form, &params, place)?;
            place = plan.next_place();
            plans.push(plan);
        }
        params.check_auxiliary(first.nodes(), place)?;
        check_memory(&plans, device.info().memory_bytes, T::PRECISION)?;
        let bind = |(plan, block): (Plan, &Block)| {
            let bound = device.bind::<T>(&Binding {
                space: &block.space,
                geometry: &block.geometry,
                form,
                params: &params,
                plan: &plan,
            })?;
            Ok(BoundShape { plan, bound })
        };
        let shapes = plans.into_iter().zip(blocks).map(bind);
        let shapes: Vec<_> = shapes.collect::<Result<_, OperatorError>>()?;
        let kinds = params.auxiliary.iter().map(Auxiliary::kind);
        let nodal = kinds.filter(|&kind| kind == FieldKind::Nodal).count();
        Ok(Self {
            device: device.clone(),
            shapes,
            facets: Vec::new(),
            nodal,
            sizes: Sizes {
                dofs: first.dofs(),
                element_dofs: blocks.iter().map(|block| block.space.element_dofs()).sum(),
            },
            time: params.time,
            parameters: params.parameters,
        })
    }

    /// `v = A u` on L-vectors.
    ///
    /// # Errors
    /// Vectors of the wrong length.
    pub fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.check("the input", u.len())?;
        self.check("the output", v.len())?;
        for shape in &self.shapes {
            shape.bound.apply(&self.context(), u, v)?;
        }
        self.facets
            .iter()
            .try_for_each(|term| term.add_product(u, v))
    }

    /// `v = Bᵀ D B u` on E-vectors `[element][component][node]` of the cells, in the space's element order.
    ///
    /// # Errors
    /// Vectors of the wrong length, or a mesh of several shapes.
    pub fn apply_elements(
        &self,
        u: &D::Buffer<T>,
        v: &mut D::Buffer<T>,
    ) -> Result<(), OperatorError> {
        for (what, found) in [("the input", u.len()), ("the output", v.len())] {
            if found != self.sizes.element_dofs {
                let expected = self.sizes.element_dofs;
                return Err(OperatorError::ElementVectorLength {
                    what,
                    found,
                    expected,
                });
            }
        }
        match &self.shapes[..] {
            [only] => only.bound.apply_elements(&self.context(), u, v),
            shapes => Err(OperatorError::ElementsOfShapes {
                blocks: shapes.len(),
            }),
        }
    }

    /// Writes the exact diagonal of A, for every component, into the L-vector `d`.
    ///
    /// # Errors
    /// A form that is not linear, or a vector of the wrong length.
    pub fn diagonal(&self, d: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.check("the diagonal", d.len())?;
        if !self.inspection().linear {
            return Err(OperatorError::NotLinear);
        }
        for shape in &self.shapes {
            shape.bound.diagonal(&self.context(), d)?;
        }
        self.facets.iter().try_for_each(|term| term.add_diagonal(d))
    }

    /// Sets the time for the form and for all facet forms.
    ///
    /// # Errors
    /// From the device, where element matrices are assembled anew.
    pub fn set_time(&mut self, time: f64) -> Result<(), OperatorError> {
        let is_stale = self.inspection().reads_time && self.time != time;
        self.time = time;
        for term in &mut self.facets {
            term.operator.set_time(time)?;
        }
        self.assemble(is_stale)
    }

    /// Assembles element matrices anew, if there are any and they are stale.
    fn assemble(&mut self, is_stale: bool) -> Result<(), OperatorError> {
        let context = EvalContext {
            time: self.time,
            parameters: &self.parameters,
        };
        for shape in &mut self.shapes {
            if is_stale && shape.plan.base.is_some() {
                shape.bound.assemble(&context)?;
            }
        }
        Ok(())
    }

    /// Replaces the run-time parameters of the form and of all facet forms.
    ///
    /// # Errors
    /// Fewer parameters than the form reads, or more than a form may read.
    pub fn set_parameters(&mut self, parameters: &[f64]) -> Result<(), OperatorError> {
        let read = self.inspection().parameters;
        plan::check_fields("parameters", parameters.len(), read)?;
        let mut facets = self.facets.iter_mut();
        facets.try_for_each(|term| term.operator.set_parameters(parameters))?;
        let is_stale = read > 0 && self.parameters != parameters;
        self.parameters = parameters.to_vec();
        self.assemble(is_stale)
    }

    /// Copies the components of `u`, an L-vector, into the auxiliary fields of the solution's space,
    /// starting at field `first`: the state of [`Jacobian`](femto_kernel::form::Jacobian) if `first` is 0.
    ///
    /// # Errors
    /// A vector of the wrong length, or fields that did not exist at construction.
    pub fn set_nodal(&mut self, first: usize, u: &D::Buffer<T>) -> Result<(), OperatorError> {
        let (found, dofs) = (u.len(), self.sizes.dofs);
        femto_platform::device::check_len("the nodal fields", found, dofs)?;
        let read = first + self.inspection().components;
        if read > self.nodal {
            let (what, found) = ("nodal auxiliary fields", self.nodal);
            return Err(OperatorError::MissingFields { what, found, read });
        }
        for shape in &mut self.shapes {
            shape.bound.set_nodal(first, u)?;
        }
        let mut facets = self.facets.iter_mut();
        facets.try_for_each(|term| term.set_nodal(first, u))?;
        self.assemble(true)
    }

    /// The inputs of the form on the cells, and whether it is linear or symmetric.
    pub fn inspection(&self) -> &Inspection {
        &self.plan().operator.inspection
    }

    /// The device.
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Length of an L-vector.
    pub fn dofs(&self) -> usize {
        self.sizes.dofs
    }

    /// Length of an E-vector.
    pub fn element_dofs(&self) -> usize {
        self.sizes.element_dofs
    }

    /// Counts the wavefronts of the L1 data path that one [`Operator::apply`] takes on the elements, for [`Operator::work`]: runs
    /// the kernels once on zeros with numbers that count. Only on NVIDIA's GPUs; does nothing elsewhere.
    ///
    /// # Errors
    /// From the device: not enough memory for two L-vectors, or a text that does not compile.
    pub fn count_wavefronts(&self) -> Result<(), OperatorError> {
        let (context, dofs) = (self.context(), self.sizes.dofs);
        let mut shapes = self.shapes.iter();
        shapes.try_for_each(|shape| shape.bound.count_wavefronts(&context, dofs))
    }

    /// The same of one [`Operator::apply_elements`], for [`Operator::element_work`].
    ///
    /// # Errors
    /// As [`Operator::count_wavefronts`].
    pub fn count_element_wavefronts(&self) -> Result<(), OperatorError> {
        let context = self.context();
        let mut shapes = self.shapes.iter();
        shapes.try_for_each(|shape| {
            let dofs = shape.element_dofs();
            shape.bound.count_element_wavefronts(&context, dofs)
        })
    }

    /// Work of one [`Operator::apply`] on L-vectors.
    pub fn work(&self) -> Work {
        let of_shape = |shape: &BoundShape<T, D>| {
            let planned = shape.plan.work(T::PRECISION);
            shape.bound.work(shape.plan.dofs, planned)
        };
        let facets = self.facets.iter().map(FacetTerm::work);
        self.shapes.iter().map(of_shape).chain(facets).sum()
    }

    /// Work of one [`Operator::apply_elements`].
    pub fn element_work(&self) -> Work {
        let of_shape = |shape: &BoundShape<T, D>| {
            let planned = shape.plan.element_work(T::PRECISION);
            shape.bound.element_work(shape.element_dofs(), planned)
        };
        self.shapes.iter().map(of_shape).sum()
    }

    /// Flops of one application as the literature counts them (full 1-D products; Świrydowicz et al. 2019).
    pub fn nominal_flops(&self) -> u64 {
        let facets = self.facets.iter().map(|term| term.operator.nominal_flops());
        let shapes = self.shapes.iter().map(|shape| shape.plan.nominal_flops());
        shapes.chain(facets).sum()
    }

    /// The amount of geometry stored: the level chosen, never `Automatic`. The first shape's if there are
    /// several.
    pub fn data_level(&self) -> DataLevel {
        self.plan().level.level
    }

    /// Bytes of device memory that the operator holds, apart from vectors. Of lists that operators on the same space share it
    /// counts its part.
    pub fn bytes(&self) -> usize {
        let shapes = self.shapes.iter().map(|shape| shape.bound.bytes());
        let facets = self.facets.iter().map(FacetTerm::bytes);
        shapes.chain(facets).sum()
    }

    /// Warnings so far, such as a wrong kernel that was dropped.
    pub fn warnings(&self) -> Vec<String> {
        let shapes = self.shapes.iter();
        let shapes = shapes.flat_map(|shape| shape.bound.warnings());
        let facets = self.facets.iter();
        let facets = facets.flat_map(|term| term.operator.warnings());
        shapes.chain(facets).collect()
    }

    /// The first shape's plan; form and parameters are the same for all shapes.
    fn plan(&self) -> &Plan {
        &self.shapes[0].plan
    }

    fn context(&self) -> EvalContext<'_> {
        EvalContext {
            time: self.time,
            parameters: &self.parameters,
        }
    }

    fn check(&self, what: &'static str, found: usize) -> Result<(), OperatorError> {
        match self.sizes.dofs {
            dofs if dofs == found => Ok(()),
            dofs => Err(OperatorError::VectorLength { what, found, dofs }),
        }
    }
}

/// Fails if element matrices, the vectors that assemble them and L-vectors of input and output do not fit `memory`
/// bytes.
fn check_memory(
    plans: &[Plan],
    memory: Option<u64>,
    precision: Precision,
) -> Result<(), OperatorError> {
    let elements = plans.iter().map(|plan| plan.elements).sum();
    let matrices = plans.iter().map(|plan| plan.matrices_bytes(precision));
    let matrices: u64 = matrices.sum();
    let vectors = plans.iter().map(|plan| {
        let numbers = plan.elements as u64 * plan.element_dofs() + plan.dofs as u64;
        2 * numbers * precision.bytes() as u64
    });
    match (matrices, memory) {
        (0, _) | (_, None) => Ok(()),
        (_, Some(available)) => matrices_fit(elements, matrices + vectors.sum::<u64>(), available),
    }
}

/// Fails if matrices of elements that take `bytes` do not fit, with the number that would.
fn matrices_fit(elements: usize, bytes: u64, available: u64) -> Result<(), OperatorError> {
    if bytes <= available {
        return Ok(());
    }
    let most = u128::from(available) * elements as u128 / u128::from(bytes);
    Err(OperatorError::MatricesTooLarge {
        elements,
        bytes,
        available,
        most: most as u64,
    })
}

/// Returns the first block's space; fails unless the blocks are all those of one space, in order.
fn check_blocks(blocks: &[Block]) -> Result<&Space, OperatorError> {
    let sizes = |space: &Space| {
        (
            space.restriction().blocks,
            space.nodes(),
            space.first_interface(),
        )
    };
    let first = blocks.first().map(|block| &block.space);
    let found = blocks.len();
    let wanted = first.map_or(0, |space| space.restriction().blocks);
    let mut places = blocks.iter().enumerate();
    let is_one = places.all(|(place, Block { space, .. })| {
        space.restriction().block == place && Some(sizes(space)) == first.map(sizes)
    });
    match first {
        Some(first) if is_one && found == wanted => Ok(first),
        _ => Err(OperatorError::OtherBlocks {
            found,
            blocks: wanted,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_that_do_not_fit_are_refused_with_the_number_that_would() {
        assert_eq!(matrices_fit(1000, 8_000, 8_000), Ok(()));
        let refused = matrices_fit(1000, 8_000, 4_004).unwrap_err();
        assert!(refused.is_of_input());
        let words = refused.to_string();
        assert!(
            words.contains("1000 matrices") && words.ends_with("500 elements would"),
            "{words}"
        );
    }
}
