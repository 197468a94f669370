//! Host kernels on quadrilaterals, compared with the oracle.

use super::case::{Action, Case};
use super::sample::{Sample, samples};
use super::{KINDS, rules};
use crate::common::Random;
use femto::Quadrature;
use femto::kernel::family::fields::FieldKind::{self, Cell, Nodal, Points};
use femto::kernel::form::{
    Form, GraphForm, Jacobian, Mass, NeoHookean, Point, Poisson, ScreenedPoisson,
};
use femto::kernel::scalar::Scalar;
use femto_element::tables::TensorTables;

fn basis(quadrature: Quadrature, degree: usize) -> TensorTables {
    let cell = femto_element::Cell::Quadrilateral;
    quadrature.tables(cell, degree).expect("legal")
}

/// A linear form that reads every input, with all kinds of fields.
#[derive(Clone, Copy)]
struct Every;

impl Every {
    const FIELDS: [FieldKind; 5] = [Points, Nodal, Cell, Nodal, Points];
}

impl Form<2> for Every {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 2>) -> [S; 1] {
        let advection = p.grad_u[0][0] * p.grad_a[3][0] + p.grad_u[0][1] * p.grad_a[3][1];
        [p.u[0] * (p.x[1] + p.time).cos() * p.a[0] + advection * p.x[0] + p.u[0] * p.a[1]]
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 2>) -> [[S; 2]; 1] {
        let [gx, gy] = p.grad_u[0];
        let wind = p.u[0] * p.parameters[0] * p.grad_a[1][1];
        [[gx * p.a[4] + gy * 0.5, gy * p.a[2] + p.x[1] * gx - wind]]
    }
}

/// Every form, on samples of a kind.
fn apply_forms(random: &mut Random, on: (&TensorTables, &[Sample]), kind: super::Kind) {
    let storages = kind.storages();
    let (cell, state) = ([Cell], [Nodal; 2]);
    let lambda = ScreenedPoisson { lambda: None };
    let apply = Action::Apply;
    let tangent = GraphForm::<2, 2>::of(&Jacobian(NeoHookean::from_young(1.0, 0.3)));
    let (mass, laplacian) = (GraphForm::<2>::of(&Mass), GraphForm::<2>::of(&Poisson));
    let lambda = GraphForm::<2>::of(&lambda);
    Case::with_fields(&mass, on, &[], apply, random).check(storages);
    Case::with_fields(&laplacian, on, &[], apply, random).check(storages);
    Case::with_fields(&lambda, on, &cell, apply, random).check(storages);
    Case::<_, 2, 1>::with_fields(&Every, on, &Every::FIELDS, apply, random).check(storages);
    Case::with_fields(&tangent, on, &state, apply, random).check(storages);
}

#[test]
fn quadrilaterals_agree_with_the_oracle() {
    let mut random = Random::new();
    for kind in KINDS {
        for degree in 1..=8 {
            for rule in rules(degree) {
                let basis = basis(rule, degree);
                let samples = samples(&mut random, &basis, kind, 3);
                apply_forms(&mut random, (&basis, &samples), kind);
            }
        }
        for degree in 9..=15 {
            let basis = basis(rules(degree)[degree % 2], degree);
            let samples = samples(&mut random, &basis, kind, 1);
            apply_forms(&mut random, (&basis, &samples), kind);
        }
    }
}

#[test]
fn diagonals_on_quadrilaterals_agree_with_the_oracle() {
    let mut random = Random::new();
    for degree in 1..=5 {
        for rule in rules(degree) {
            for kind in KINDS {
                let (basis, storages) = (basis(rule, degree), kind.storages());
                let samples = samples(&mut random, &basis, kind, 2);
                let on = (&basis, &samples[..]);
                let tangent = Jacobian(NeoHookean::from_young(1.0, 0.3));
                let tangent = GraphForm::<2, 2>::of(&tangent);
                let (fields, action) = (&Every::FIELDS, Action::Diagonal);
                let (mass, laplacian) = (GraphForm::<2>::of(&Mass), GraphForm::<2>::of(&Poisson));
                Case::new(&mass, on, action, &mut random).check(storages);
                Case::new(&laplacian, on, action, &mut random).check(storages);
                Case::<_, 2, 1>::with_fields(&Every, on, fields, action, &mut random)
                    .check(storages);
                Case::with_fields(&tangent, on, &[Nodal; 2], action, &mut random).check(storages);
            }
        }
    }
}
