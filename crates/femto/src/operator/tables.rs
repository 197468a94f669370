//! Tables of the reference cell, and the family and sizes that follow from them.

use super::{OperatorError, Quadrature};
use femto_element::basis::Nodal;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_element::tables::TensorTables;
use femto_fem::space::Space;
use femto_kernel::family::FactorPrecision;
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::work::{self, knepley::Model};
use femto_kernel::family::cell_quadrature::{self};
use femto_kernel::family::sum_factorization::{self};
use femto_kernel::form::TracedForm;
use femto_kernel::roofline::Precision;

/// The tables of the reference element at the points of a rule.
#[derive(Clone, Debug)]
pub(crate) enum Tables {
    /// Of hexahedra.
    Hex(TensorTables),
    /// Of other cells, and the points of the rule, `[point][3]`.
    Dense(DenseTables, Vec<[f64; 3]>),
}

impl Tables {
    /// The tables for a form on a space. `is_constant` tells auxiliary fields that are constant in each
    /// cell, `curved` that some cell is.
    pub(crate) fn new(
        space: &Space,
        form: &TracedForm,
        quadrature: Quadrature,
        is_constant: impl Fn(usize) -> bool,
        curved: bool,
    ) -> Result<Self, OperatorError> {
        let (cell, degree) = (space.cell(), space.degree());
        if sum_factorization::supports(cell) {
            return Ok(Self::Hex(quadrature.tables(cell, degree)?));
        }
        let rule = match cell.is_tensor_product() {
            true => quadrature.tables(cell, degree)?.rule(),
            false => {
                let estimated = || {
                    let degree = form.quadrature_degree(degree, is_constant);
                    // The determinant and the inverse of a curved map are not constant.
                    degree + if curved { 2 } else { 0 }
                };
                let exact = match quadrature {
                    Quadrature::Gauss => estimated(),
                    Quadrature::Exact(degree) => degree,
                    Quadrature::GaussPoints(_) | Quadrature::Collocated => {
                        return Err(OperatorError::QuadratureOnSimplices);
                    }
                };
                rule(cell, exact)?
            }
        };
        let tables = DenseTables::new(&Nodal::new(cell, degree)?, &rule);
        Ok(Self::Dense(tables, rule.points))
    }

    /// Points of a cell.
    pub(crate) fn points(&self) -> usize {
        match self {
            Self::Hex(basis) => basis.points(),
            Self::Dense(tables, _) => tables.points,
        }
    }

    /// Nodes of a cell.
    pub(crate) fn nodes(&self) -> usize {
        match self {
            Self::Hex(basis) => basis.nodes(),
            Self::Dense(tables, _) => tables.nodes,
        }
    }

    /// The family that evaluates the cells.
    pub(crate) fn family(&self) -> &'static str {
        match self {
            Self::Hex(_) => "sum_factorization",
            Self::Dense(..) => "cell_quadrature",
        }
    }
}

/// The sizes of an operator on a cell of one kind of map.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Hex(sum_factorization::work::Shape),
    Simplex(cell_quadrature::Shape),
}

impl Shape {
    /// Numbers of stored geometry of a cell.
    pub(crate) fn geometry_numbers(&self) -> u64 {
        match self {
            Self::Hex(shape) => shape.geometry_numbers(),
            Self::Simplex(shape) => shape.geometry_numbers() as u64,
        }
    }

    /// Precision of the stored geometry, where arithmetic has this one.
    pub(crate) fn stored_precision(
        &self,
        factors: FactorPrecision,
        precision: Precision,
    ) -> Precision {
        match self {
            Self::Hex(shape) => factors.of(shape.storage, precision),
            Self::Simplex(_) => precision,
        }
    }

    /// Flops of a cell as the host loops schedule them.
    pub(crate) fn scheduled_flops(&self) -> u64 {
        match self {
            Self::Hex(shape) => shape.scheduled_flops(),
            Self::Simplex(shape) => work::flops(shape, &Schedule::usual(shape)),
        }
    }

    /// Flops of a cell as the literature counts them (Świrydowicz et al. 2019; Knepley, Rupp, Terrel 2016, eq. 7).
    pub(crate) fn nominal_flops(&self) -> u64 {
        match self {
            Self::Hex(shape) => shape.nominal_flops(),
            Self::Simplex(shape) => Model::new(shape, 1, size_of::<f64>()).flops_per_cell(),
        }
    }

    /// The stored geometry of a cell, in words.
    pub(crate) fn stored(&self, points: usize) -> String {
        use cell_quadrature::Storage as Simplex;
        use sum_factorization::Storage as Hex;
        let numbers = self.geometry_numbers();
        match self {
            Self::Hex(shape) => match shape.storage {
                Hex::Affine => "3 edge vectors an element, Jacobian recomputed".to_owned(),
                Hex::Trilinear => "8 vertices an element, Jacobian recomputed".to_owned(),
                Hex::Jacobians => format!("Jacobian at {points} points an element"),
                Hex::ElementFactors => format!("{numbers} factors an element"),
                Hex::PointFactors => {
                    let factors = numbers / points as u64;
                    format!("{factors} factors at {points} points an element")
                }
            },
            Self::Simplex(shape) => match shape.storage {
                Simplex::Vertices => "vertices alone, Jacobian recomputed".to_owned(),
                Simplex::Affine => "inverse Jacobian and determinant an element".to_owned(),
                Simplex::Jacobians => format!("Jacobian at {points} points an element"),
            },
        }
    }
}
