//! Boundary conditions on one group: which of them exclude each other.

use super::{Boundary, Located, Robin};
use std::collections::HashMap;
use std::hash::Hash;

/// A boundary condition and its section.
#[derive(Clone, Copy)]
pub(crate) struct Condition<'a> {
    pub(super) boundary: &'a Boundary,
    /// The section, as in the case.
    section: &'static str,
    /// Whether it gives the flux, alone or with α u.
    is_flux: bool,
}

/// All conditions of a case.
pub(super) fn conditions<'a>(
    dirichlet: &'a [Boundary],
    neumann: &'a [Boundary],
    robin: &'a [Robin],
) -> impl Iterator<Item = Condition<'a>> {
    let of = |section, is_flux| {
        move |boundary| Condition {
            boundary,
            section,
            is_flux,
        }
    };
    let robin = robin.iter().map(|it| &it.boundary);
    let fluxes = neumann.iter().map(of("[[neumann]]", true));
    let dirichlet = dirichlet.iter().map(of("[[dirichlet]]", false));
    dirichlet
        .chain(fluxes)
        .chain(robin.map(of("[[robin]]", true)))
}

impl Condition<'_> {
    /// Whether both cannot hold on one group: they give the same component, or the one along the normal and all.
    fn conflicts(self, other: Self) -> bool {
        // A flux along the normal has all components.
        let along_normal = |it: Self| it.boundary.is_normal && !it.is_flux;
        let is_whole = |it: Self| !it.is_flux && it.boundary.is_whole();
        match (along_normal(self), along_normal(other)) {
            (true, true) => true,
            (true, false) => is_whole(other),
            (false, true) => is_whole(self),
            (false, false) => share_component(self.boundary, other.boundary),
        }
    }
}

fn share_component(one: &Boundary, other: &Boundary) -> bool {
    match (&one.components, &other.components) {
        (Some(own), Some(others)) => {
            let is_other = |it: &Located<usize>| others.iter().any(|o| o.value == it.value);
            own.iter().any(is_other)
        }
        _ => true,
    }
}

/// A group with two conditions that exclude each other.
pub(crate) struct Conflict<'a> {
    /// The group in the second one.
    pub(crate) tag: &'a Located<String>,
    /// The group in the first one.
    pub(crate) first: &'a Located<String>,
    /// The first one's section.
    pub(crate) section: &'static str,
}

/// The first conflict. `group` tells whether two tags are of the same group.
///
/// # Errors
/// Those of `group`.
pub(crate) fn find_conflict<'a, G: Eq + Hash, E>(
    conditions: impl Iterator<Item = Condition<'a>>,
    group: impl Fn(&'a Located<String>) -> Result<G, E>,
) -> Result<Option<Conflict<'a>>, E> {
    let mut seen: HashMap<G, Vec<(&Located<String>, Condition<'_>)>> = HashMap::new();
    for condition in conditions {
        for tag in &condition.boundary.tags {
            let others = seen.entry(group(tag)?).or_default();
            if let Some(&(first, other)) = others.iter().find(|(_, it)| it.conflicts(condition)) {
                return Ok(Some(Conflict {
                    tag,
                    first,
                    section: other.section,
                }));
            }
            others.push((tag, condition));
        }
    }
    Ok(None)
}
