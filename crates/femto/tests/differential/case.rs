//! Test cases: a form as text, a mesh, a space, and the operator's parameters.

use crate::tree::{Names, Tree};
use femto::kernel::expr::Input;
use femto::kernel::form::{Expressions, Form, FormExpressions, Point};
use femto::kernel::scalar::Scalar;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cell {
    Triangle,
    Quadrilateral,
    Tetrahedron,
    Hexahedron,
}

impl Cell {
    pub(crate) fn dim(self) -> usize {
        match self {
            Self::Triangle | Self::Quadrilateral => 2,
            Self::Tetrahedron | Self::Hexahedron => 3,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Map {
    /// Parallelepipeds; irregular simplices.
    Affine,
    /// Of hexahedra and quadrilaterals.
    Trilinear,
    Curved,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Cell,
    Nodal,
    Points,
}

/// A case as stored in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Case {
    /// Seed of the vectors, the fields and the mesh.
    pub(crate) seed: u64,
    pub(crate) cell: Cell,
    pub(crate) map: Map,
    /// Cells along each axis, each cut into two triangles or six tetrahedra on simplices.
    pub(crate) cells: usize,
    pub(crate) degree: usize,
    /// The degree to which the rule is exact; 0 for the nodes of hexahedra.
    pub(crate) exact: usize,
    pub(crate) single: bool,
    pub(crate) by_component: bool,
    /// Whether factors are stored at the points.
    pub(crate) partial: bool,
    pub(crate) fields: Vec<Kind>,
    pub(crate) parameters: usize,
    /// `[component]`.
    pub(crate) f0: Vec<String>,
    /// `[component][axis]`.
    pub(crate) f1: Vec<Vec<String>>,
}

impl Case {
    /// The lowest degree to which a rule must be exact on cells that are not tensor products.
    pub(crate) fn least_exact(&self) -> usize {
        (2 * self.degree - 2).max(1)
    }

    pub(crate) fn components(&self) -> usize {
        self.f0.len()
    }

    /// The names that expressions may use.
    pub(crate) fn names(&self) -> Vec<(String, Input)> {
        let axes = || ["x", "y", "z"].into_iter().zip(0..).take(self.cell.dim());
        let mut names = vec![("t".to_owned(), Input::Time)];
        names.extend(axes().map(|(name, axis)| (name.to_owned(), Input::Position(axis))));
        for component in 0..self.components() as u8 {
            let name = match self.components() {
                1 => "u".to_owned(),
                _ => format!("u{component}"),
            };
            let slope = |axis| Input::Gradient { component, axis };
            names.extend(axes().map(|(along, axis)| (format!("{name}_{along}"), slope(axis))));
            names.push((name, Input::Value(component)));
        }
        for (field, name) in (0..).zip(self.field_names()) {
            let slope = |axis| Input::FieldGradient { field, axis };
            names.extend(axes().map(|(along, axis)| (format!("{name}_{along}"), slope(axis))));
            names.push((name, Input::Field(field)));
        }
        let parameters = self.parameter_names().into_iter().zip(0..);
        names.extend(parameters.map(|(name, index)| (name, Input::Parameter(index))));
        names
    }

    fn field_names(&self) -> Vec<String> {
        (0..self.fields.len()).map(|i| format!("a{i}")).collect()
    }

    fn parameter_names(&self) -> Vec<String> {
        (0..self.parameters).map(|i| format!("p{i}")).collect()
    }

    /// The case as femto parses it.
    pub(crate) fn expressions(&self) -> FormExpressions {
        FormExpressions {
            f0: Some(Expressions::Each(self.f0.clone())),
            f1: Some(Expressions::Matrix(self.f1.clone())),
            fields: self.field_names(),
            parameters: self.parameter_names(),
        }
    }

    /// f0, then f1 `[component][axis]`; `None` if a text is not that of a tree.
    pub(crate) fn trees(&self) -> Option<Vec<Tree>> {
        let names = self.names();
        let expressions = self.f0.iter().chain(self.f1.iter().flatten());
        expressions.map(|text| Tree::parse(text, &names)).collect()
    }

    /// This case with other trees, in the order of [`Case::trees`].
    pub(crate) fn with_trees(&self, trees: &[Tree]) -> Self {
        let names = self.names();
        let text = |tree: &Tree| tree.text(&names);
        let (components, dim) = (self.components(), self.cell.dim());
        let (f0, f1) = trees.split_at(components);
        Self {
            f0: f0.iter().map(text).collect(),
            f1: f1
                .chunks(dim)
                .map(|row| row.iter().map(text).collect())
                .collect(),
            ..self.clone()
        }
    }
}

/// The names of one kind of input.
pub(crate) fn gradients(names: &Names) -> impl Iterator<Item = Input> {
    let inputs = names.iter().map(|(_, input)| *input);
    inputs.filter(|input| matches!(input, Input::Gradient { .. } | Input::FieldGradient { .. }))
}

/// A form that evaluates trees directly.
#[derive(Clone, Debug)]
pub(crate) struct Plain(pub(crate) Vec<Tree>);

impl<const D: usize, const C: usize> Form<D, C> for Plain {
    fn f0<S: Scalar>(&self, point: &Point<S, D, C>) -> [S; C] {
        std::array::from_fn(|c| self.0[c].evaluate(point))
    }

    fn f1<S: Scalar>(&self, point: &Point<S, D, C>) -> [[S; D]; C] {
        std::array::from_fn(|c| std::array::from_fn(|d| self.0[C + D * c + d].evaluate(point)))
    }
}
