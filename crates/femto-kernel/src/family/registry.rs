//! The registry of families, with one line each.

use super::batch::{ElementKernel, NodeTable};
use super::{BlockError, BlockOperator, ElementOperator, Family, Knob, Role};
use super::{affine_simplex, cell_quadrature, element_matrix, prism_column, sum_factorization};
use crate::form::Form;
use crate::scalar::{SimdLevel, Vectorizable};
use core::ops::Deref;
use femto_element::tables::Tables;
use femto_element::{Cell, MapKind};
use std::sync::Arc;

macro_rules! families {
    ($($name:ident: $family:ty,)*) => {
        /// A family.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum FamilyId {
            $(
                #[doc = concat!("[`", stringify!($family), "`]")]
                $name,
            )*
        }

        impl FamilyId {
            /// All families, in order of preference.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The name, in reports.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => <$family>::NAME,)* }
            }

            /// See [`Family::TENSOR_TABLES`].
            pub fn wants_tensor_tables(self) -> bool {
                match self { $(Self::$name => <$family>::TENSOR_TABLES,)* }
            }

            /// See [`Family::KNOBS`].
            pub fn knobs(self) -> &'static [Knob] {
                match self { $(Self::$name => <$family>::KNOBS,)* }
            }

            /// See [`Family::folds`].
            fn folds(self, cell: Cell) -> bool {
                match self { $(Self::$name => <$family>::folds(cell),)* }
            }

            /// See [`Family::stored_is_faster`].
            pub fn stored_is_faster(self, tables: &Tables, gradients: bool) -> bool {
                match self { $(Self::$name => <$family>::stored_is_faster(tables, gradients),)* }
            }

            /// See [`Family::WRITES_INSIDE`].
            pub fn writes_inside(self) -> bool {
                match self { $(Self::$name => <$family>::WRITES_INSIDE,)* }
            }

            fn role(self) -> Role {
                match self { $(Self::$name => <$family>::ROLE,)* }
            }

            /// See [`Family::takes`].
            fn takes(
                self,
                operator: &ElementOperator,
                map: MapKind,
                accelerator: bool,
            ) -> Result<(), &'static str> {
                match self { $(Self::$name => <$family>::takes(operator, map, accelerator),)* }
            }

            /// See [`Family::supports`].
            pub fn supports(self, cell: Cell, dim: usize) -> bool {
                match self { $(Self::$name => <$family>::supports(cell, dim),)* }
            }

            /// See [`Family::node_table`].
            pub fn node_table(self, cell: Cell, nodes: (usize, usize)) -> NodeTable {
                match self { $(Self::$name => <$family>::node_table(cell, nodes),)* }
            }

            /// See [`Family::block`].
            ///
            /// # Errors
            /// Tables of the wrong kind.
            pub fn block(
                self,
                operator: &Arc<ElementOperator>,
                map: MapKind,
                stored: bool,
            ) -> Result<Block, BlockError> {
                Ok(match self {
                    $(Self::$name => Block::$name(<$family>::block(operator, map, stored)?),)*
                })
            }
        }

        /// The operator of a family on elements of one kind of map.
        #[derive(Clone, Debug)]
        pub enum Block {
            $(
                #[doc = concat!("Of [`", stringify!($family), "`]")]
                $name(<$family as Family>::Block),
            )*
        }

        impl Deref for Block {
            type Target = dyn BlockOperator;

            fn deref(&self) -> &Self::Target {
                match self { $(Self::$name(block) => block,)* }
            }
        }

        impl Block {
            /// The host's loops for `form` with an instruction set.
            pub fn kernel<T, F, const D: usize, const C: usize>(
                &self,
                form: &F,
                level: SimdLevel,
            ) -> Box<dyn ElementKernel<T>>
            where
                T: Vectorizable,
                F: Form<D, C> + Clone + 'static,
            {
                match self { $(Self::$name(block) => block.kernel::<T, F, D, C>(form, level),)* }
            }
        }
    };
}

families! {
    SumFactorization: sum_factorization::SumFactorization,
    AffineSimplex: affine_simplex::AffineSimplex,
    PrismColumn: prism_column::PrismColumn,
    CellQuadrature: cell_quadrature::CellQuadrature,
    ElementMatrix: element_matrix::ElementMatrix,
}

impl FamilyId {
    /// The family that evaluates all forms in `dim` dimensions on cells of a shape.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(cell: Cell, dim: usize) -> Result<Self, BlockError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|family| family.role() == Role::AnyForm && family.supports(cell, dim))
            .ok_or(BlockError::NoFamily)
    }

    /// The family of element matrices.
    ///
    /// # Errors
    /// If there is none for such cells.
    pub fn of_matrices(cell: Cell, dim: usize) -> Result<Self, BlockError> {
        let mut all = Self::ALL.iter().copied();
        all.find(|family| family.role() == Role::Matrices && family.supports(cell, dim))
            .ok_or(BlockError::NoFamily)
    }

    /// The special family that takes an operator on cells of one kind of map; `None` if there is none, with the
    /// reasons of those for such cells.
    pub fn special(
        operator: &ElementOperator,
        map: MapKind,
        accelerator: bool,
    ) -> (Option<Self>, Vec<String>) {
        let mut reasons = Vec::new();
        for &family in Self::ALL {
            if family.role() == Role::Special && family.supports(operator.cell, operator.form.dim) {
                match family.takes(operator, map, accelerator) {
                    Ok(()) => return (Some(family), reasons),
                    Err(reason) => reasons.push(format!("not {}: {reason}", family.name())),
                }
            }
        }
        (None, reasons)
    }

    /// Whether a family for such cells folds coefficients of forms λ u, κ ∇u into the geometry.
    pub fn any_folds(cell: Cell, dim: usize) -> bool {
        let mut all = Self::ALL.iter();
        all.any(|family| family.supports(cell, dim) && family.folds(cell))
    }
}
