//! What is given on groups.

use super::{Function, ProblemError};

/// Functions on a boundary group.
#[derive(Clone)]
pub struct Boundary<'a> {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// The functions.
    pub value: Given<'a>,
}

/// A source in a group of cells, beside that of the whole domain.
#[derive(Clone)]
pub struct GroupSource<'a> {
    /// Name or number of a group of the cells' dimension.
    pub tag: String,
    /// f there, `[component]`; it is not evaluated in other cells.
    pub value: Vec<&'a dyn Function>,
}

/// The component of a vector along the outward normal on a boundary group. Of the solution zero makes it a slip wall
/// or, in elasticity, a plane of symmetry or a roller; what the flux is along the other directions is for `neumann` to
/// say.
#[derive(Clone)]
pub struct AlongNormal<'a> {
    /// Name or number of a group of the boundary's dimension.
    pub tag: String,
    /// u·n, or that of the flux.
    pub value: &'a dyn Function,
}

/// Functions for a vector's components.
#[derive(Clone)]
pub enum Given<'a> {
    /// For all components, `[component]`.
    All(Vec<&'a dyn Function>),
    /// For some, each counted from 0. A Dirichlet condition leaves the others free; a Neumann condition
    /// gives no flux for them.
    Some(Vec<(usize, &'a dyn Function)>),
}

impl<'a> Boundary<'a> {
    /// `value` on the group `tag`, for problems with one component.
    pub fn new(tag: impl Into<String>, value: &'a dyn Function) -> Self {
        Self::vector(tag, [value])
    }

    /// A function for each component on the group `tag`.
    pub fn vector<const C: usize>(tag: impl Into<String>, value: [&'a dyn Function; C]) -> Self {
        Self {
            tag: tag.into(),
            value: Given::All(value.to_vec()),
        }
    }

    /// A function for one component, counted from 0, on the group `tag`: zero makes it a roller or a plane
    /// of symmetry.
    pub fn component(tag: impl Into<String>, component: usize, value: &'a dyn Function) -> Self {
        Self {
            tag: tag.into(),
            value: Given::Some(vec![(component, value)]),
        }
    }
}

impl<'a> Given<'a> {
    /// The functions of a vector of this many components, `[component]`.
    ///
    /// # Errors
    /// Wrong number of functions, or a component given twice.
    pub fn of_components(
        &self,
        components: usize,
    ) -> Result<Vec<Option<&'a dyn Function>>, ProblemError> {
        let other = |functions| ProblemError::Components {
            components,
            functions,
        };
        match self {
            Self::All(functions) if functions.len() == components => {
                Ok(functions.iter().copied().map(Some).collect())
            }
            Self::All(functions) => Err(other(functions.len())),
            Self::Some(some) => {
                let mut functions = vec![None; components];
                for &(component, function) in some {
                    let place = functions.get_mut(component);
                    let place = place.ok_or_else(|| other(component + 1))?;
                    if place.replace(function).is_some() {
                        return Err(ProblemError::RepeatedComponent { component });
                    }
                }
                Ok(functions)
            }
        }
    }

    /// As [`Self::of_components`], with zero for components that are not given.
    pub(super) fn or_zero(&self, components: usize) -> Result<Vec<&'a dyn Function>, ProblemError> {
        let zero: &dyn Function = &0.0;
        let functions = self.of_components(components)?.into_iter();
        Ok(functions.map(|f| f.unwrap_or(zero)).collect())
    }
}
