//! Forms with auxiliary fields that are not constant per element.

use super::case::{Action, Case};
use super::sample::{Kind, Sample};
use crate::common::Random;
use femto::kernel::family::fields::FieldKind::{self, Cell, Nodal, Points};
use femto_element::tables::TensorTables;

use femto::kernel::form::{Coefficient, Form, GraphForm, Jacobian, NeoHookean, Point};
use femto::kernel::scalar::Scalar;

/// A linear form with all kinds of fields in an order of its own, some of them with gradients.
#[derive(Clone, Copy)]
struct Every;

impl Every {
    const FIELDS: [FieldKind; 6] = [Points, Nodal, Cell, Nodal, Nodal, Points];
}

impl Form<3> for Every {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        let advection = p.grad_u[0][0] * p.grad_a[3][0] + p.grad_u[0][1] * p.grad_a[3][2];
        [p.u[0] * (p.a[0] + p.a[4].sin() + p.grad_a[1][2]) + advection]
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        // Gradients of fields of other kinds are zero.
        let [gx, gy, gz] = p.grad_u[0];
        let zero = p.grad_a[0][1] + p.grad_a[2][0] + p.grad_a[5][2];
        [[gx * p.a[5], gy * p.a[1] + gz * p.a[2], gz + zero]]
    }
}

/// No derivatives except a field's.
#[derive(Clone, Copy)]
struct Slope;

impl Form<3> for Slope {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3>) -> [S; 1] {
        [p.u[0] * p.grad_a[0][1]]
    }
}

/// No derivatives at all.
#[derive(Clone, Copy)]
struct Reaction;

impl Form<3, 2> for Reaction {
    #[inline(always)]
    fn f0<S: Scalar>(&self, p: &Point<S, 3, 2>) -> [S; 2] {
        [p.u[1] * p.a[0], p.u[0] * p.a[1] + p.u[1] * p.a[2]]
    }
}

pub fn field_forms(random: &mut Random, on: (&TensorTables, &[Sample]), kind: Kind, degree: usize) {
    let storages = kind.storages();
    for action in [Action::Apply, Action::Diagonal] {
        if action == Action::Diagonal && degree > 2 {
            continue;
        }
        let every = GraphForm::<3>::of(&Every);
        Case::with_fields(&every, on, &Every::FIELDS, action, random).check(storages);
        let slope = GraphForm::<3>::of(&Slope);
        Case::with_fields(&slope, on, &[Nodal], action, random).check(storages);
        let fields = [Points, Cell, Nodal];
        Case::<_, 3, 2>::with_fields(&Reaction, on, &fields, action, random).check(storages);
        let lambda = Coefficient::Auxiliary(0);
        let mu = Coefficient::Auxiliary(1);
        let tangent = GraphForm::<3, 3>::of(&Jacobian(NeoHookean { lambda, mu }));
        let fields = [Nodal, Nodal, Nodal, Points, Cell];
        Case::with_fields(&tangent, on, &fields, action, random).check(storages);
    }
}
