//! The host kernels of every instruction set against the oracle, batch by batch.
//!
//! A *sample* is one element with its own map and input; the oracle runs once per sample, and is compared
//! with all storages, precisions, instruction sets and lanes.
//! Some forms are compiled; most are graphs, which all share the loops of one type.
#![allow(unreachable_pub, reason = "modules of one test")]

mod case;
mod field_forms;
mod places;
mod planar;
mod sample;

use crate::common::{Random, basis};
use case::{Action, Case};
use femto::Quadrature;
use femto_element::tables::TensorTables;

use femto::kernel::form::{Componentwise, Form, GraphForm, Mass, Point, Poisson, ScreenedPoisson};
use femto::kernel::scalar::Scalar;
use field_forms::field_forms;
use sample::{Kind, samples};

const KINDS: [Kind; 3] = [Kind::Affine, Kind::Trilinear, Kind::Curved];

/// A deliberately unnatural linear form: anisotropic, not symmetric, and reading every input.
#[derive(Clone, Copy)]
struct Transport;

impl Form<3> for Transport {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        let reaction = (p.x[1] + p.time).cos() * p.a[0];
        [p.u[0] * reaction + p.grad_u[0][0] * p.x[0] + p.grad_u[0][2]]
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        let [gx, gy, gz] = p.grad_u[0];
        let wind = p.u[0] * p.parameters[0];
        [[gx * p.a[0] + gy * 0.5, gy + p.x[2] * gz, gz * 2.0 - wind]]
    }
}

/// Applies every form on `count` samples.
fn apply_forms(random: &mut Random, basis: &TensorTables, kind: Kind, count: usize) {
    let storages = kind.storages();
    let samples = samples(random, basis, kind, count);
    let on = (basis, &samples[..]);
    let lambda = ScreenedPoisson { lambda: None };
    let mass = GraphForm::<3>::of(&Mass);
    Case::new(&mass, on, Action::Apply, random).check(storages);
    let laplacian = GraphForm::<3>::of(&Poisson);
    Case::new(&laplacian, on, Action::Apply, random).check(storages);
    Case::new(&GraphForm::<3>::of(&lambda), on, Action::Apply, random).check(storages);
    Case::<_, 3, 1>::new(&Transport, on, Action::Apply, random).check(storages);
    let three = GraphForm::<3, 3>::of(&Componentwise(lambda));
    Case::new(&three, on, Action::Apply, random).check(storages);
}

/// Gauss and collocated points, and a number of points that no sweep is unrolled for.
fn rules(degree: usize) -> [Quadrature; 3] {
    [
        Quadrature::Gauss,
        Quadrature::Collocated,
        Quadrature::GaussPoints(degree + 4),
    ]
}

fn all_degrees(kind: Kind) {
    let mut random = Random::new();
    for degree in 1..=8 {
        for rule in rules(degree) {
            // The oracle takes (nodes · points)³ per sample.
            let count = match degree {
                1..=3 => 3,
                4..=5 => 2,
                _ => 1,
            };
            apply_forms(&mut random, &basis(rule, degree), kind, count);
        }
    }
}

#[test]
fn affine_elements_agree_with_the_oracle() {
    all_degrees(Kind::Affine);
}

#[test]
fn trilinear_elements_agree_with_the_oracle() {
    all_degrees(Kind::Trilinear);
}

#[test]
fn curved_elements_agree_with_the_oracle() {
    all_degrees(Kind::Curved);
}

#[test]
fn high_degrees_agree_with_the_oracle() {
    let mut random = Random::new();
    for (number, kind) in KINDS.into_iter().enumerate() {
        for degree in 9..=15 {
            let rules = [Quadrature::Gauss, Quadrature::Collocated];
            let basis = basis(rules[(degree + number) % 2], degree);
            let samples = samples(&mut random, &basis, kind, 1);
            let form = GraphForm::<3>::of(&ScreenedPoisson { lambda: None });
            Case::new(&form, (&basis, &samples), Action::Apply, &mut random).check(kind.storages());
        }
    }
}

/// Beyond 17 points no sweep is unrolled; fewer points than usual are legal as well.
#[test]
fn any_number_of_points_will_do() {
    let mut random = Random::new();
    for (degree, points) in [(1, 2), (1, 18), (2, 19), (3, 4), (5, 6)] {
        let basis = basis(Quadrature::GaussPoints(points), degree);
        for kind in KINDS {
            apply_forms(&mut random, &basis, kind, 2);
        }
    }
}

/// Components are taken three at a time, and two or one are left.
#[test]
fn numbers_of_components_agree_with_the_oracle() {
    let mut random = Random::new();
    for degree in 1..=4 {
        for rule in rules(degree) {
            let basis = basis(rule, degree);
            for kind in [Kind::Affine, Kind::Trilinear] {
                let (storages, samples) = (kind.storages(), samples(&mut random, &basis, kind, 3));
                let on = (&basis, &samples[..]);
                let lambda = ScreenedPoisson { lambda: None };
                let two = GraphForm::<3, 2>::of(&Componentwise(lambda));
                Case::new(&two, on, Action::Apply, &mut random).check(storages);
                let four = GraphForm::<3, 4>::of(&Componentwise(Mass));
                Case::new(&four, on, Action::Apply, &mut random).check(storages);
                let five = GraphForm::<3, 5>::of(&Componentwise(Mass));
                Case::new(&five, on, Action::Apply, &mut random).check(storages);
            }
        }
    }
}

#[test]
fn diagonals_agree_with_the_oracle() {
    let mut random = Random::new();
    for degree in 1..=3 {
        for rule in rules(degree) {
            for kind in KINDS {
                let (basis, storages) = (basis(rule, degree), kind.storages());
                let samples = samples(&mut random, &basis, kind, 2);
                let on = (&basis, &samples[..]);
                let lambda = ScreenedPoisson { lambda: None };
                for form in [GraphForm::<3>::of(&Mass), GraphForm::of(&Poisson)] {
                    Case::new(&form, on, Action::Diagonal, &mut random).check(storages);
                }
                Case::<_, 3, 1>::new(&Transport, on, Action::Diagonal, &mut random).check(storages);
                if degree < 3 {
                    let three = GraphForm::<3, 3>::of(&Componentwise(lambda));
                    Case::new(&three, on, Action::Diagonal, &mut random).check(storages);
                }
            }
        }
    }
}

/// All kinds of auxiliary fields, those at the nodes with gradients; forms of several components that are
/// coupled, nonlinear, or derivatives of such.
#[test]
fn fields_of_every_kind_agree_with_the_oracle() {
    let mut random = Random::new();
    for degree in 1..=4 {
        for (number, rule) in rules(degree).into_iter().enumerate() {
            let basis = basis(rule, degree);
            let kind = KINDS[(degree + number) % 3];
            let samples = samples(&mut random, &basis, kind, 2);
            field_forms(&mut random, (&basis, &samples), kind, degree);
        }
    }
}
