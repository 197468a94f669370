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
mod changes;
mod error;
mod explain;
mod facets;
mod host;
mod level;
mod matrix;
mod memory;
mod null;
mod params;
mod plan;
mod tables;
mod work;

pub use accelerator::{AcceleratorBound, KernelTarget};
#[doc(hidden)]
pub use any_form::FormNumber;
pub use any_form::{AnyForm, Typed};
pub use any_operator::{AnyOperator, Application};
pub use auxiliary::Auxiliary;
pub use backend::{Backend, Bound, UnitVectors};
pub(crate) use binding::Binding;
pub use error::OperatorError;
pub use explain::{Alternative, Explanation};
pub use host::HostBound;
pub use level::{ChosenLevel, DataLevel, LevelInputs};
pub use null::NullBound;
pub use params::{FactorPrecision, Knobs, OperatorParams, Quadrature, Scatter};
pub(crate) use plan::{FieldPlace, Plan};
pub(crate) use tables::rule_on;

use crate::Number;
use crate::vector::{SparseMatrix, VectorOps};
pub(crate) use facets::FacetTerm;
use femto_fem::geometry::Geometry;
use femto_fem::space::{Block, Space};
use femto_kernel::family::EvalContext;
use femto_kernel::family::fields::FieldKind;
use femto_kernel::form::{Form, Inspection};
use femto_platform::device::Buffer;
use memory::check_memory;

/// A weak form on a space, applied without a matrix.
///
/// ```
/// use femto::fem::{geometry::Geometry, mesh::boxes::BoxMesh, space::{Space, SpaceParams}};
/// use femto::{Host, Operator, OperatorParams, kernel::form::Poisson, platform::device::Device};
///
/// let mesh = BoxMesh::unit_cube(4).build(|x| x)?;
/// let geometry = Geometry::new(&mesh)?;
/// let space = Space::new(&mesh, &geometry, SpaceParams { degree: 3.into(), ..Default::default() })?;
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
    /// The matrix in place of products with the shapes: [`DataLevel::Sparse`].
    sparse: Option<SparseMatrix<T, D>>,
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
    space: Space,
    plan: Plan,
    bound: D::Bound<T>,
}

/// Lengths of the vectors that an operator takes.
#[derive(Clone, Copy, Debug)]
struct Sizes {
    dofs: usize,
    element_dofs: usize,
}

impl<T: Number, D: Backend + VectorOps<T>> Operator<T, D> {
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
        let (mut plans, mut end) = (Vec::new(), FieldPlace::default());
        for block in blocks {
            let place = match blocks {
                [_] => end,
                // Blocks need not be in the order of mesh cells.
                _ => FieldPlace {
                    cells: block.geometry.first_cell(),
                    ..end
                },
            };
            let plan = Plan::new(device.info().kind, block, form, &params, place)?;
            end.cells += plan.elements;
            end.points = plan.end_of_points();
            plans.push(plan);
        }
        params.check_auxiliary(first.nodes(), end)?;
        check_memory(&plans, device.info().memory_bytes, T::PRECISION)?;
        let bind = |(plan, block): (Plan, &Block)| {
            let bound = device.bind::<T>(&Binding {
                space: &block.space,
                geometry: &block.geometry,
                form,
                params: &params,
                plan: &plan,
            })?;
            let space = block.space.clone();
            Ok(BoundShape { space, plan, bound })
        };
        let shapes = plans.into_iter().zip(blocks).map(bind);
        let shapes: Vec<_> = shapes.collect::<Result<_, OperatorError>>()?;
        let kinds = params.auxiliary.iter().map(Auxiliary::kind);
        let nodal = kinds.filter(|&kind| kind == FieldKind::Nodal).count();
        let mut operator = Self {
            device: device.clone(),
            shapes,
            sparse: None,
            facets: Vec::new(),
            nodal,
            sizes: Sizes {
                dofs: first.dofs(),
                element_dofs: blocks.iter().map(|block| block.space.element_dofs()).sum(),
            },
            time: params.time,
            parameters: params.parameters,
        };
        if params.data_level == DataLevel::Sparse {
            operator.sparse = Some(operator.on_device()?);
        }
        Ok(operator)
    }

    /// `v = A u` on L-vectors.
    ///
    /// # Errors
    /// Vectors of the wrong length.
    pub fn apply(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        self.check("the input", u.len())?;
        self.check("the output", v.len())?;
        match &self.sparse {
            Some(matrix) => self.device.multiply_sparse(matrix, u, false, v)?,
            None => self.apply_shapes(u, v)?,
        }
        self.facets
            .iter()
            .try_for_each(|term| term.add_product(u, v))
    }

    /// The product without terms on facets, by the shapes.
    fn apply_shapes(&self, u: &D::Buffer<T>, v: &mut D::Buffer<T>) -> Result<(), OperatorError> {
        let mut shapes = self.shapes.iter();
        shapes.try_for_each(|shape| shape.bound.apply(&self.context(), u, v))
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

    /// The inputs of the form on the cells, and whether it is linear or symmetric.
    pub fn inspection(&self) -> &Inspection {
        &self.plan().operator.inspection
    }

    /// Whether the form and those of all facets are linear.
    pub fn is_linear(&self) -> bool {
        self.inspections().all(|it| it.linear)
    }

    /// Whether the derivatives of the form and of those of all facets do not depend on the solution.
    pub fn is_affine(&self) -> bool {
        self.inspections().all(|it| it.affine)
    }

    /// Whether the form and those of all facets are symmetric, or have symmetric derivatives.
    pub fn is_symmetric(&self) -> bool {
        self.inspections().all(|it| it.symmetric)
    }

    fn inspections(&self) -> impl Iterator<Item = &Inspection> {
        let facets = self.facets.iter().map(|term| term.operator.inspection());
        facets.chain([self.inspection()])
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

    /// The amount of geometry stored: the level chosen, never `Automatic`. The first shape's if there are
    /// several.
    pub fn data_level(&self) -> DataLevel {
        match self.sparse {
            Some(_) => DataLevel::Sparse,
            None => self.plan().level.level,
        }
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

/// Returns the first block's space; fails unless the blocks are all those of one space, in order.
pub(crate) fn check_blocks(blocks: &[Block]) -> Result<&Space, OperatorError> {
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
