//! Cases of the benchmark on simplices: form, dimension, precision.

use super::Candidate;
use crate::BenchError;
use femto::accelerator::{language, limits};
use femto::operator::{AnyForm, OperatorError, Typed};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::{DenseTables, Tables};
use femto_kernel::dialect::Language;
use femto_kernel::family::cell_quadrature::source::{KernelSpec, source};
use femto_kernel::family::cell_quadrature::{FieldKind, Fields, Shape, Storage, at_points};
use femto_kernel::family::oracle::{CellFields, OracleGeometry};
use femto_kernel::family::{EvalContext, KernelSource, Limits, Vectors};
use femto_kernel::form::{
    Coefficient, Diffusion, GraphForm, Poisson, SymmetricGradient, TracedForm,
};
use femto_kernel::scalar::Precision;
use femto_platform::device::accelerator::Features;
use std::fmt;
use std::sync::Arc;

/// A form of Knepley et al.'s benchmark, or its Laplacian with a constant coefficient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimplexForm {
    /// ∫ ∇φ · κ ∇u, κ in the solution's space (`-variable_coefficient field`).
    Poisson,
    /// ∫ ∇φ · ∇u.
    Laplacian,
    /// ∫ ∇φ : ½(∇u + ∇uᵀ).
    Elasticity,
}

impl SimplexForm {
    /// The published forms, measured on accelerators.
    pub const PUBLISHED: &[Self] = &[Self::Poisson, Self::Elasticity];
    /// The forms measured on the host.
    pub const ALL: &[Self] = &[Self::Poisson, Self::Laplacian, Self::Elasticity];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::Laplacian => "laplacian",
            Self::Elasticity => "elasticity",
        }
    }
}

/// A case of the benchmark, at degree 1 with one quadrature point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimplexCase {
    /// The form.
    pub form: SimplexForm,
    /// 2 for triangles, 3 for tetrahedra.
    pub dim: usize,
    /// Precision of vectors and arithmetic.
    pub precision: Precision,
}

const NO_CONTEXT: EvalContext = EvalContext {
    time: 0.0,
    parameters: &[],
};

impl SimplexCase {
    /// All cases of these forms and precisions, in both dimensions.
    pub fn all(forms: &[SimplexForm], precisions: &[Precision]) -> Vec<Self> {
        let mut all = Vec::new();
        for &form in forms {
            for dim in [2, 3] {
                all.extend(precisions.iter().map(|&precision| Self {
                    form,
                    dim,
                    precision,
                }));
            }
        }
        all
    }

    /// Components of the solution.
    pub const fn components(&self) -> usize {
        match self.form {
            SimplexForm::Poisson | SimplexForm::Laplacian => 1,
            SimplexForm::Elasticity => self.dim,
        }
    }

    /// The reference element; f1 is constant except for κ, so one point suffices (Knepley, Rupp, Terrel
    /// 2016, N_q = 1).
    pub(super) fn element(&self) -> Result<DenseTables, OperatorError> {
        let cell = [Cell::Triangle, Cell::Tetrahedron][self.dim - 2];
        Ok(DenseTables::new(
            &LagrangeBasis::new(cell, 1)?,
            &rule(cell, 0)?,
        ))
    }

    /// The form, with κ as its field.
    pub(super) fn any_form(&self) -> Box<dyn AnyForm> {
        fn conduction<const D: usize>() -> Typed<Diffusion<D>, D, 1> {
            let kappa = Coefficient::Auxiliary(0);
            Typed(Diffusion { kappa })
        }
        match (self.form, self.dim) {
            (SimplexForm::Poisson, 2) => Box::new(conduction::<2>()),
            (SimplexForm::Poisson, _) => Box::new(conduction::<3>()),
            (SimplexForm::Laplacian, 2) => Box::new(Typed(GraphForm::<2>::of(&Poisson))),
            (SimplexForm::Laplacian, _) => Box::new(Typed(GraphForm::<3>::of(&Poisson))),
            (SimplexForm::Elasticity, 2) => Box::new(Typed::<_, 2, 2>(SymmetricGradient)),
            (SimplexForm::Elasticity, _) => Box::new(Typed::<_, 3, 3>(SymmetricGradient)),
        }
    }

    fn traced(&self) -> TracedForm {
        self.any_form().trace()
    }

    fn fields(&self) -> Fields {
        match self.form {
            SimplexForm::Poisson => Fields::new(&[FieldKind::Nodal]),
            SimplexForm::Laplacian | SimplexForm::Elasticity => Fields::new(&[]),
        }
    }

    /// Sizes of a cell: on E-vectors with Knepley et al.'s geometry, on L-vectors without stored geometry.
    pub(super) fn shape(&self, element: &DenseTables, vectors: Vectors) -> Shape {
        let storage = match vectors {
            Vectors::Element { .. } => Storage::Affine,
            Vectors::Nodal { .. } => Storage::Vertices,
        };
        Shape::new(element, &self.traced().inspect(), self.fields(), storage)
    }

    /// The text of a candidate.
    ///
    /// # Errors
    /// [`BenchError::Illegal`], with the rule that it breaks on this device.
    pub(super) fn kernel(
        &self,
        candidate: &Candidate,
        features: &Features,
    ) -> Result<KernelSource, BenchError> {
        self.source(candidate, (language(features), &limits(features)))
    }

    /// The same for a device of which these are known.
    pub(super) fn source(
        &self,
        candidate: &Candidate,
        (language, limits): (Language, &Limits),
    ) -> Result<KernelSource, BenchError> {
        let element = self.element()?;
        let shape = self.shape(&element, candidate.vectors);
        let how = (candidate.vectors, candidate.interleave);
        let schedule = &candidate.schedule;
        schedule.validate(&shape, how, self.precision, limits)?;
        let problem = KernelSpec {
            element: &element,
            shape,
            vectors: candidate.vectors,
            interleave: candidate.interleave,
            point_form: &self.traced().point_function(self.precision, language)?,
            precision: self.precision,
            language,
        };
        Ok(source(&problem, schedule))
    }

    /// The oracle's result for a cell, `[component][node]`, with `kappa` at its nodes, if the form reads
    /// it, and `u` `[component][node]`.
    pub(super) fn oracle(
        &self,
        element: &DenseTables,
        vertices: &[[f64; 3]],
        kappa: &[f64],
        u: &[f64],
    ) -> Vec<f64> {
        let fields = CellFields {
            fields: self.fields(),
            nodal: kappa,
            ..CellFields::default()
        };
        let (jacobian, position) = at_points(element, vertices);
        let geometry = OracleGeometry {
            jacobian: &jacobian,
            position: &position,
        };
        let tables = Tables::Dense(Arc::new(element.clone()));
        let environment = (&fields, &NO_CONTEXT);
        self.any_form().oracle(&tables, geometry, environment, u)
    }
}

impl fmt::Display for SimplexCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}-D {}", self.form.name(), self.dim, self.precision)
    }
}
