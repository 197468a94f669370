//! Parameters of operators: quadrature, data level, factors, scatter, knobs.

use super::OperatorError;
use super::auxiliary::Auxiliary;
use super::level::DataLevel;
use femto_element::tables::TensorTables;
use femto_element::{Cell, Degree};
use femto_kernel::form::TracedForm;

pub use femto_kernel::family::{FactorPrecision, Knobs, Scatter};

/// The quadrature rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Quadrature {
    /// On hexahedra and quadrilaterals Gauss with degree + 2 points along each axis, as in BP1 and BP3; on
    /// other cells a rule that is exact for the form on affine cells, as far as its degree can be told
    /// ([`TracedForm::quadrature_degree`](femto_kernel::form::TracedForm::quadrature_degree)), but not beyond 2 N + 2,
    /// N the space's degree (each way): integrands such as u³ φ need [`Quadrature::Exact`] to be integrated exactly.
    #[default]
    Gauss,
    /// As `Gauss`, but exact to this degree on cells other than hexahedra and quadrilaterals; on prisms it may differ
    /// vertically.
    GaussOrExact(Degree),
    /// Gauss with this many points along each axis; only on hexahedra and quadrilaterals.
    GaussPoints(usize),
    /// The GLL nodes themselves, as in BP5; only on hexahedra and quadrilaterals.
    Collocated,
    /// Exact for polynomials of this degree on affine cells; on hexahedra and quadrilaterals, of this
    /// degree along each axis.
    Exact(usize),
}

impl Quadrature {
    /// Exact for polynomials of these degrees on affine cells.
    pub(crate) fn exact_to(degree: Degree) -> Self {
        match degree.is_uniform() {
            true => Self::Exact(degree.horizontal),
            // Of prisms.
            false => Self::GaussOrExact(degree),
        }
    }

    /// The rule for a form on a space of a degree: unless `cell` is a tensor product, [`Quadrature::Gauss`] depends
    /// on the form. `is_constant` tells auxiliary fields that are constant in each cell, `curved` that some cell is.
    pub(crate) fn of_form(
        self,
        form: &TracedForm,
        (cell, degree): (Cell, Degree),
        (is_constant, curved): (impl Fn(usize) -> bool, bool),
    ) -> Self {
        match self {
            // The determinant and the inverse of a curved map are not constant.
            Self::Gauss => {
                let more = if curved { 2 } else { 0 };
                let exact = |degree| form.quadrature_degree(cell, degree, &is_constant) + more;
                Self::GaussOrExact(degree.map(exact))
            }
            rule => rule,
        }
    }

    /// Fails if the rule is exact to a lower degree than terms in a space of this degree need: `least` of the higher one. Of
    /// cells and facets whose points do not go by axis.
    pub(crate) fn require(
        self,
        degree: Degree,
        least: impl Fn(usize) -> usize,
    ) -> Result<(), OperatorError> {
        let least = least(degree.most());
        match self {
            Self::Exact(exact) if exact < least => Err(OperatorError::QuadratureDegree {
                exact,
                degree,
                least,
            }),
            _ => Ok(()),
        }
    }

    /// The 1-D tables of a tensor-product cell.
    ///
    /// # Errors
    /// A degree or number of points out of range.
    pub fn tables(self, cell: Cell, degree: usize) -> Result<TensorTables, OperatorError> {
        let basis = match self {
            Self::Gauss | Self::GaussOrExact(_) => TensorTables::gauss(cell, degree, degree + 2)?,
            Self::GaussPoints(points_1d) => TensorTables::gauss(cell, degree, points_1d)?,
            Self::Collocated => TensorTables::collocated(cell, degree)?,
            Self::Exact(exact) => {
                TensorTables::gauss(cell, degree, (exact / 2 + 1).max(degree + 1))?
            }
        };
        if basis.points_1d < basis.nodes_1d {
            let (points_1d, least) = (basis.points_1d, basis.nodes_1d);
            return Err(OperatorError::Quadrature {
                points_1d,
                degree,
                least,
            });
        }
        Ok(basis)
    }
}

/// Parameters of an operator, apart from space, geometry and form.
#[derive(Clone, Debug)]
pub struct OperatorParams {
    /// The quadrature rule.
    pub quadrature: Quadrature,
    /// The amount of stored geometry.
    pub data_level: DataLevel,
    /// The precision of factors that accelerators store at points.
    pub factors: FactorPrecision,
    /// How accelerators sum shared nodes. The host's sums are always deterministic.
    pub scatter: Scatter,
    /// Knobs of the kernel in place of the measured ones, for sweeps: only on accelerators, on hexahedra, quadrilaterals and
    /// columns of prisms. With any there is no second choice where the device cannot run them.
    pub knobs: Knobs,
    /// Whether it is applied once or hardly more often, like loads: kernels on accelerators then take no lists of nodes that
    /// only pay in many applications. Default `false`.
    pub is_applied_once: bool,
    /// Folds the coefficients of a form λ u, κ ∇u into the geometry, or takes them once a cell, if they are constant in each.
    /// Otherwise the form is evaluated as written. Default `true`.
    pub fold_coefficients: bool,
    /// Auxiliary fields, `[field]`, in the order of `Point::a`.
    pub auxiliary: Vec<Auxiliary>,
    /// The initial time.
    pub time: f64,
    /// The initial parameters.
    pub parameters: Vec<f64>,
}

impl OperatorParams {
    /// The same without auxiliary fields.
    pub(crate) fn without_fields(&self) -> Self {
        Self {
            auxiliary: Vec::new(),
            parameters: self.parameters.clone(),
            ..*self
        }
    }
}

impl Default for OperatorParams {
    fn default() -> Self {
        Self {
            quadrature: Quadrature::default(),
            data_level: DataLevel::default(),
            factors: FactorPrecision::default(),
            scatter: Scatter::default(),
            knobs: Knobs::default(),
            is_applied_once: false,
            fold_coefficients: true,
            auxiliary: Vec::new(),
            time: 0.0,
            parameters: Vec::new(),
        }
    }
}
