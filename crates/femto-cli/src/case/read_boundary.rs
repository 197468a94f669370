//! Boundary conditions of a case.

use super::document::{Document, Located};
use super::error::{CaseError, MistakeKind};
use super::section::{Section, Value};
use super::{Boundary, Robin, Vector};
use std::collections::HashMap;

/// `[[dirichlet]]` or `[[neumann]]`.
pub(super) fn boundaries(sections: &Value<'_>) -> Result<Vec<Boundary>, CaseError> {
    let read = |section: &Value<'_>| {
        let section = section.section(&["tags", "components", "normal", "value"])?;
        let boundary = boundary(&section)?;
        let normal = section.optional("normal");
        let is_normal = normal.as_ref().map_or(Ok(false), Value::truth)?;
        if let (true, Some(normal)) = (is_normal, normal) {
            if boundary.components.is_some() {
                return Err(normal.meaningless("`components` are given"));
            }
            if !boundary.value.serves(1) {
                return Err(section
                    .required("value")?
                    .out_of_range("one, along the normal"));
            }
        }
        Ok(Boundary {
            is_normal,
            ..boundary
        })
    };
    sections.sections()?.iter().map(read).collect()
}

/// `[[robin]]`.
pub(super) fn robins(sections: &Value<'_>) -> Result<Vec<Robin>, CaseError> {
    let read = |section: &Value<'_>| {
        let section = section.section(&["tags", "components", "alpha", "value"])?;
        let boundary = boundary(&section)?;
        let alpha = values_of(&section.required("alpha")?, boundary.components.as_deref())?;
        Ok(Robin { boundary, alpha })
    };
    sections.sections()?.iter().map(read).collect()
}

fn boundary(section: &Section<'_>) -> Result<Boundary, CaseError> {
    let tags = section.required("tags")?;
    let list = tags.list()?;
    if list.is_empty() {
        return Err(tags.out_of_range("at least one group"));
    }
    let components = section.optional("components");
    let components = components.as_ref().map(components_of).transpose()?;
    Ok(Boundary {
        tags: list.iter().map(Value::tag).collect::<Result<_, _>>()?,
        value: values_of(&section.required("value")?, components.as_deref())?,
        components,
        is_normal: false,
    })
}

/// One function per given component, or one for all.
fn values_of(
    given: &Value<'_>,
    components: Option<&[Located<usize>]>,
) -> Result<Vector, CaseError> {
    let value = given.vector()?;
    match components.map(<[_]>::len) {
        Some(count) if !value.serves(count) => {
            let expected = match count {
                1 => "one, for the one component".to_owned(),
                _ => format!("one for all of these components, or {count}"),
            };
            Err(given.out_of_range(&expected))
        }
        _ => Ok(value),
    }
}

/// Components by letter or by number, each once.
fn components_of(value: &Value<'_>) -> Result<Vec<Located<usize>>, CaseError> {
    let mut components: Vec<Located<usize>> = Vec::new();
    for element in value.list()? {
        let component = match element.is_number() {
            true => element.integer(0..=usize::MAX)?,
            false => element.choice(&[("x", 0), ("y", 1), ("z", 2)])?,
        };
        if components.iter().any(|other| other.value == component) {
            return Err(element.meaningless("it is in the list already"));
        }
        components.push(element.located(component));
    }
    match components.is_empty() {
        true => Err(value.out_of_range("at least one component")),
        false => Ok(components),
    }
}

/// Fails if a component of a group has two boundary conditions, or one along the normal and others for all components.
pub(super) fn check_groups(
    [dirichlet, neumann]: [&[Boundary]; 2],
    robin: &[Robin],
    document: &Document,
) -> Result<(), CaseError> {
    let whole = dirichlet.iter().filter(|it| it.is_whole());
    let whole: Vec<_> = whole
        .flat_map(|it| &it.tags)
        .map(|tag| &tag.value)
        .collect();
    let normal = dirichlet.iter().filter(|it| it.is_normal);
    if let Some(tag) = normal
        .flat_map(|it| &it.tags)
        .find(|tag| whole.contains(&&tag.value))
    {
        return Err(repeated(document, tag, "[[dirichlet]]"));
    }
    let mut seen: HashMap<&str, Vec<(&Boundary, &'static str)>> = HashMap::new();
    let dirichlet = dirichlet.iter().map(|it| (it, "[[dirichlet]]"));
    // A flux along the normal is one of all components.
    let of_all = |it: &Boundary| Boundary {
        is_normal: false,
        ..it.clone()
    };
    let neumann: Vec<Boundary> = neumann.iter().map(of_all).collect();
    let neumann = neumann.iter().map(|it| (it, "[[neumann]]"));
    let robin = robin.iter().map(|it| (&it.boundary, "[[robin]]"));
    for (boundary, section) in dirichlet.chain(neumann).chain(robin) {
        for tag in &boundary.tags {
            let others = seen.entry(&tag.value).or_default();
            if let Some((_, first)) = others.iter().find(|(other, _)| other.overlaps(boundary)) {
                return Err(repeated(document, tag, first));
            }
            others.push((boundary, section));
        }
    }
    Ok(())
}

/// A group has a condition already, in this section.
fn repeated(document: &Document, tag: &Located<String>, first: &'static str) -> CaseError {
    let tag_again = MistakeKind::RepeatedTag {
        tag: tag.value.clone(),
        first,
    };
    document.mistake(tag.span.clone(), tag_again)
}
