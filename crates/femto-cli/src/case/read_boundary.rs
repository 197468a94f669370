//! Boundary conditions and sources on groups of a case.

use super::condition::{Conflict, conditions, find_conflict};
use super::document::{Document, Located};
use super::error::{CaseError, MistakeKind};
use super::section::{Section, Value};
use super::{Boundary, GroupSource, Robin, Vector};

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

/// `[[source]]`.
pub(super) fn group_sources(sections: &Value<'_>) -> Result<Vec<GroupSource>, CaseError> {
    let read = |section: &Value<'_>| {
        let section = section.section(&["tags", "value"])?;
        Ok(GroupSource {
            tags: tags_of(&section)?,
            value: section.required("value")?.vector()?,
        })
    };
    sections.list()?.iter().map(read).collect()
}

/// At least one name or number of a group.
fn tags_of(section: &Section<'_>) -> Result<Vec<Located<String>>, CaseError> {
    let tags = section.required("tags")?;
    match &tags.list()?[..] {
        [] => Err(tags.out_of_range("at least one group")),
        list => list.iter().map(Value::tag).collect(),
    }
}

fn boundary(section: &Section<'_>) -> Result<Boundary, CaseError> {
    let components = section.optional("components");
    let components = components.as_ref().map(components_of).transpose()?;
    Ok(Boundary {
        tags: tags_of(section)?,
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

/// Fails if two conditions on a group exclude each other.
pub(super) fn check_groups(
    [dirichlet, neumann]: [&[Boundary]; 2],
    robin: &[Robin],
    document: &Document,
) -> Result<(), CaseError> {
    let conditions = conditions(dirichlet, neumann, robin);
    let conflict = find_conflict(conditions, |tag| Ok::<_, CaseError>(&tag.value))?;
    conflict.map_or(Ok(()), |Conflict { tag, section, .. }| {
        let tag_again = MistakeKind::RepeatedTag {
            tag: tag.value.clone(),
            first: section,
        };
        Err(document.mistake(tag.span.clone(), tag_again))
    })
}
