//! The properties of operators. Those that a form does not have are not asked of it.

use crate::common::{Random, difference, largest, oracle};
use crate::run::Subject;
use femto::fem::geometry::{GeometryAtPoints, Points};
use femto::fem::space::Block;
use femto::{AnyDevice, Quadrature, Scatter};
use femto_element::MapKind;
use femto_element::quadrature::{Rule, rule};

/// A property: an error says by how much it fails.
pub(crate) type Property = fn(&Subject, &mut Random) -> Result<(), String>;

/// All properties with their names.
pub(crate) const PROPERTIES: &[(&str, Property)] = &[
    ("inspected", is_inspected),
    ("without warnings", has_no_warnings),
    ("oracle", agrees_with_the_oracle),
    ("elements", agrees_on_elements),
    ("symmetric", is_symmetric),
    ("null space", ignores_constants),
    ("volume", measures_the_volume),
    ("diagonal", has_the_diagonal_of_unit_vectors),
    ("repeatable", is_repeatable),
];

/// The graph knows whether the form is linear or symmetric.
fn is_inspected(subject: &Subject, _: &mut Random) -> Result<(), String> {
    let found = subject.operator.inspection();
    let (found, form) = ((found.linear, found.symmetric), subject.physics);
    let wanted = (form.is_linear(), form.is_symmetric());
    let same = found.0 == wanted.0 && (found.1 == wanted.1 || !wanted.0);
    must(same, || format!("(linear, symmetric) is {found:?}"))
}

/// No kernel was found wrong and dropped.
fn has_no_warnings(subject: &Subject, _: &mut Random) -> Result<(), String> {
    let warnings = subject.operator.warnings();
    must(warnings.is_empty(), || format!("{warnings:?}"))
}

/// A u is that of the oracle.
fn agrees_with_the_oracle(subject: &Subject, _: &mut Random) -> Result<(), String> {
    let Some(wanted) = &subject.answers.product else {
        return Ok(());
    };
    let found = subject.operator.apply(&subject.answers.u);
    close(&found, wanted, subject.tolerance())
}

/// So is the product with an E-vector.
fn agrees_on_elements(subject: &Subject, _: &mut Random) -> Result<(), String> {
    let Some(wanted) = &subject.answers.elements else {
        return Ok(());
    };
    let found = subject.operator.apply_elements(&subject.answers.e);
    close(&found, wanted, subject.tolerance())
}

/// ⟨A u, v⟩ = ⟨u, A v⟩.
fn is_symmetric(subject: &Subject, random: &mut Random) -> Result<(), String> {
    if !subject.physics.is_symmetric() {
        return Ok(());
    }
    let u = &subject.answers.u;
    let v = random.single(u.len());
    let (au, av) = (subject.operator.apply(u), subject.operator.apply(&v));
    let scale = (dot(&au, &au) * dot(&v, &v)).sqrt();
    let asymmetry = (dot(&au, &v) - dot(u, &av)).abs();
    small(asymmetry, subject.tolerance() * scale)
}

/// A 1 = 0. Constants are rounded exactly, so what remains is the rounding of the contractions.
fn ignores_constants(subject: &Subject, _: &mut Random) -> Result<(), String> {
    if !subject.physics.ignores_constants() {
        return Ok(());
    }
    let u = &subject.answers.u;
    let scale = size(&subject.operator.apply(u));
    let null = size(&subject.operator.apply(&vec![1.0; u.len()]));
    small(null, 40.0 * subject.tolerance() * scale)
}

/// ⟨M 1, 1⟩ is the volume for each component: by the same rule, or by any that is exact if this one is.
fn measures_the_volume(subject: &Subject, _: &mut Random) -> Result<(), String> {
    if !subject.physics.is_mass() {
        return Ok(());
    }
    let place = subject.place;
    let (dim, tensor) = (place.cell.dim(), place.cell.is_tensor_product());
    let order = if place.map == MapKind::Curved { 2 } else { 1 };
    // Degree of the determinant, along each axis or altogether.
    let degree = match place.cell.is_simplex() {
        false => dim * order - 1,
        true => dim * (order - 1),
    };
    let exact_to = match place.quadrature {
        Quadrature::Exact(degree) if !tensor => degree,
        Quadrature::GaussOrExact(degree) if !tensor => degree.least(),
        Quadrature::Collocated => 2 * place.degree.least() - 1,
        Quadrature::GaussPoints(points) => 2 * points - 1,
        _ => 2 * place.degree.least() + 3,
    };
    let is_exact = exact_to >= degree && !place.is_cut;
    let of = |block: &Block| match is_exact {
        true => volume(block, &rule(place.cell, degree.max(1)).expect("a rule")),
        false => volume(block, &oracle::rule(&block.space, place.quadrature)),
    };
    let components = subject.physics.components(dim) as f64;
    let wanted = subject.blocks.iter().map(of).sum::<f64>() * components;
    let ones = vec![1.0; subject.answers.u.len()];
    let found = dot(&subject.operator.apply(&ones), &ones);
    small((found - wanted).abs(), subject.tolerance() * wanted)
}

/// Entry i of the diagonal is entry i of A times unit vector i: all of few entries, otherwise random ones.
fn has_the_diagonal_of_unit_vectors(subject: &Subject, random: &mut Random) -> Result<(), String> {
    if !subject.physics.is_linear() {
        return Ok(());
    }
    let diagonal = subject.operator.diagonal();
    let len = diagonal.len();
    let entries: Vec<usize> = match subject.device {
        AnyDevice::Host(_) if len <= 150 => (0..len).collect(),
        _ => (0..12).map(|_| random.below(len)).collect(),
    };
    let mut unit = vec![0.0; len];
    let scale = size(&diagonal);
    for i in entries {
        unit[i] = 1.0;
        let wanted = subject.operator.apply(&unit)[i];
        unit[i] = 0.0;
        let error = (diagonal[i] - wanted).abs();
        small(error, subject.tolerance() * scale).map_err(|fault| format!("entry {i}: {fault}"))?;
    }
    must(scale.is_finite(), || format!("the largest is {scale}"))
}

/// The same bits again: always on the host, where the number of threads changes nothing either, and on
/// accelerators if sums are deterministic.
fn is_repeatable(subject: &Subject, _: &mut Random) -> Result<(), String> {
    let is_host = matches!(subject.device, AnyDevice::Host(_));
    if !is_host && subject.way.scatter != Scatter::Deterministic {
        return Ok(());
    }
    let u = &subject.answers.u;
    let first = subject.operator.apply(u);
    let times = if is_host { 1 } else { 5 };
    let again = (0..times).all(|_| same_bits(&subject.operator.apply(u), &first));
    must(again, || "differs the second time".to_owned())?;
    let sibling = subject.sibling.map(|sibling| sibling.apply(u));
    let same = sibling.is_none_or(|other| same_bits(&other, &first));
    must(same, || "differs with the number of threads".to_owned())
}

/// The volume of a block by a rule.
fn volume(block: &Block, rule: &Rule) -> f64 {
    let geometry = &block.geometry;
    let points = Points::List(rule.points.clone());
    let mut at = GeometryAtPoints::default();
    let mut cell = |cell| {
        geometry.at_points(cell, &points, &mut at);
        dot(&at.determinant, &rule.weights)
    };
    sum((0..geometry.len()).map(&mut cell))
}

fn same_bits(a: &[f64], b: &[f64]) -> bool {
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    bits(a) == bits(b)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum(a.iter().zip(b).map(|(a, b)| a * b))
}

/// The sum of many numbers, with what additions lose (Neumaier).
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += match sum.abs() >= value.abs() {
            true => sum - next + value,
            false => value - next + sum,
        };
        sum = next;
    }
    sum + lost
}

/// The largest magnitude; NaN if any value is.
fn size(values: &[f64]) -> f64 {
    largest(values.iter().map(|value| value.abs()))
}

/// Vectors agree; of a zero vector exactly.
fn close(found: &[f64], wanted: &[f64], tolerance: f64) -> Result<(), String> {
    if size(wanted) == 0.0 {
        return small(size(found), 0.0);
    }
    small(difference(found, wanted), tolerance)
}

/// An error is at most `limit`; NaN is not.
fn small(error: f64, limit: f64) -> Result<(), String> {
    must(error <= limit, || format!("{error:e} exceeds {limit:e}"))
}

fn must(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}
