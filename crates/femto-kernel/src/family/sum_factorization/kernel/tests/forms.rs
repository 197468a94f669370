//! Schedules and sources of printed forms.

use super::super::*;
use crate::family::fields::{FieldKind, Fields};
use crate::family::sum_factorization::Storage;
use crate::family::{Limits, Operand, Scatter};
use crate::form::{
    Coefficient, Diffusion, Form, Jacobian, Mass, NeoHookean, NonlinearDiffusion, Poisson, trace,
};
use femto_element::Cell;
use femto_element::tables::TensorTables;

const ELEMENTS: Vectors = Vectors::Element { listed: false };
const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Deterministic,
};

fn basis(nodes_1d: usize, points_1d: usize) -> TensorTables {
    basis_on(Cell::Hexahedron, (nodes_1d, points_1d))
}

fn basis_on(cell: Cell, (nodes_1d, points_1d): (usize, usize)) -> TensorTables {
    let degree = nodes_1d - 1;
    match points_1d == nodes_1d {
        true => TensorTables::collocated(cell, degree).unwrap(),
        false => TensorTables::gauss(cell, degree, points_1d).unwrap(),
    }
}

fn shape<F: Form<3, C>, const C: usize>(
    form: &F,
    fields: &[FieldKind],
    (nodes_1d, points_1d): (usize, usize),
    storage: Storage,
) -> Shape {
    shape_on::<F, 3, C>(form, fields, &basis(nodes_1d, points_1d), storage)
}

fn shape_on<F: Form<D, C>, const D: usize, const C: usize>(
    form: &F,
    fields: &[FieldKind],
    basis: &TensorTables,
    storage: Storage,
) -> Shape {
    let inspection = trace::<F, D, C>(form).inspect();
    let shape = Shape::new(basis, &inspection, storage);
    shape.with_fields(&inspection, Fields::new(fields))
}

fn spec<'a>(
    (basis, form): (&'a TensorTables, &'a TracedForm),
    shape: Shape,
    vectors: Vectors,
    precision: Precision,
) -> KernelSpec<'a> {
    KernelSpec {
        basis,
        shape,
        step: PointStep::Form(form),
        vectors,
        precision,
        language: Language::Cuda,
    }
}

/// Every degree, within the limits of every device.
#[test]
fn something_is_legal_for_every_shape() {
    let limits = Limits::default();
    let body = Jacobian(NeoHookean::from_young(1.0, 0.3));
    // The form only affects the text.
    let form = trace::<_, 3, 1>(&Mass);
    for degree in 1..=15 {
        for points in [degree + 1, degree + 2] {
            for storage in [Storage::Affine, Storage::Multilinear, Storage::Jacobians] {
                let sizes = (degree + 1, points);
                let shapes = [
                    shape::<_, 1>(&Mass, &[], sizes, storage),
                    shape::<_, 1>(&Poisson, &[], sizes, storage),
                    shape::<_, 3>(&body, &[FieldKind::Nodal; 3], sizes, storage),
                ];
                for shape in shapes {
                    for precision in [Precision::Fp64, Precision::Fp32] {
                        for vectors in [ELEMENTS, NODAL] {
                            let basis = basis(sizes.0, sizes.1);
                            let spec = spec((&basis, &form), shape, vectors, precision);
                            for schedule in spec.schedules(&limits) {
                                let legal = schedule.validate(&spec, &limits);
                                assert_eq!(legal, Ok(()), "{shape:?}: {schedule}");
                            }
                        }
                    }
                }
            }
        }
    }
}

/// By the numbers of all inputs at a point, which are in registers.
#[test]
fn forms_with_few_inputs_have_layers() {
    let limits = Limits::default();
    let form = trace::<_, 3, 1>(&Mass);
    let kappa = Diffusion {
        kappa: Coefficient::Auxiliary(0),
    };
    let heat = Jacobian(NonlinearDiffusion::default());
    let nodal = [FieldKind::Nodal];
    let cases = [
        (2, [true, true], [true, true]),
        (3, [true, true], [true, true]),
        (4, [true, false], [false, false]),
        (5, [false, false], [false, false]),
    ];
    for (degree, of_kappa, of_heat) in cases {
        let sizes = (degree + 1, degree + 2);
        let basis = basis(sizes.0, sizes.1);
        let kappa = shape::<_, 1>(&kappa, &nodal, sizes, Storage::Multilinear);
        let heat = shape::<_, 1>(&heat, &nodal, sizes, Storage::Affine);
        for (shape, expected) in [(kappa, of_kappa), (heat, of_heat)] {
            let found = [Precision::Fp64, Precision::Fp32].map(|precision| {
                let best = spec((&basis, &form), shape, NODAL, precision).best(&limits);
                best.thread_per == ThreadPer::Layer
            });
            assert_eq!(found, expected, "{shape:?}");
        }
    }
}

#[test]
fn something_is_legal_for_every_quadrilateral() {
    let limits = Limits::default();
    let body = Jacobian(NeoHookean::from_young(1.0, 0.3));
    let form = trace::<_, 2, 1>(&Mass);
    for degree in 1..=15 {
        for points in [degree + 1, degree + 2] {
            let basis = basis_on(Cell::Quadrilateral, (degree + 1, points));
            for storage in [Storage::Affine, Storage::Multilinear, Storage::Jacobians] {
                for shape in [
                    shape_on::<_, 2, 1>(&Mass, &[], &basis, storage),
                    shape_on::<_, 2, 1>(&Poisson, &[], &basis, storage),
                    shape_on::<_, 2, 2>(&body, &[FieldKind::Nodal; 2], &basis, storage),
                ] {
                    let spec = spec((&basis, &form), shape, NODAL, Precision::Fp64);
                    for schedule in spec.schedules(&limits) {
                        let legal = schedule.validate(&spec, &limits);
                        assert_eq!(legal, Ok(()), "{shape:?}: {schedule}");
                        let block = schedule.block(&spec);
                        let threads = schedule.elements_per_block * points as u32;
                        assert_eq!(block.threads[0], threads, "a pencil along j each");
                    }
                    let numbers = spec.geometry_len() as u64;
                    assert_eq!(numbers, shape.geometry_numbers(), "no padding");
                    let factors = KernelSpec {
                        step: PointStep::Factors(FactorPrecision::Same),
                        ..spec
                    };
                    let message = Schedule::PLAIN.validate(&factors, &limits).unwrap_err();
                    assert!(message.to_string().contains("on hexahedra alone"));
                }
            }
        }
    }
}

#[test]
fn broken_rules_are_named() {
    let (basis, form) = (basis(4, 5), trace::<_, 3, 1>(&Mass));
    let message = |shape: &Shape, schedule: Schedule| {
        let spec = spec((&basis, &form), *shape, ELEMENTS, Precision::Fp64);
        let result = schedule.validate(&spec, &Limits::default());
        result.unwrap_err().to_string()
    };
    let mass = |sizes, storage| shape::<_, 1>(&Mass, &[], sizes, storage);
    let plain = Schedule::PLAIN;
    let factors = mass((4, 5), Storage::PointFactors);
    assert!(message(&factors, plain).contains("not for any form"));
    let few = mass((4, 3), Storage::Affine);
    assert!(message(&few, plain).contains("as many points as nodes"));
    let fields = shape::<_, 1>(&Mass, &[FieldKind::Nodal], (4, 5), Storage::Affine);
    let reloaded = Schedule {
        points: PointData::Registers,
        scratch_cube: true,
        reload_values: true,
        ..plain
    };
    assert!(message(&fields, reloaded).contains("several inputs keep values"));
    let crowd = Schedule {
        elements_per_block: 200,
        ..plain
    };
    assert!(message(&mass((4, 5), Storage::Affine), crowd).contains("5000"));
}

#[test]
fn arguments_are_those_that_the_form_needs() {
    let form = Jacobian(NeoHookean::from_young(1.0, 0.3));
    let traced = trace::<_, 3, 3>(&form);
    let basis = basis(3, 4);
    let shape = shape::<_, 3>(&form, &[FieldKind::Nodal; 3], (3, 4), Storage::Multilinear);
    let spec = KernelSpec {
        basis: &basis,
        shape,
        step: PointStep::Form(&traced),
        vectors: NODAL,
        precision: Precision::Fp64,
        language: Language::Cuda,
    };
    let kernel = spec.source(&Schedule::PLAIN).unwrap();
    let all = [
        Operand::Geometry,
        Operand::Rule,
        Operand::Nodes,
        Operand::ComponentStride,
        Operand::Contributions,
        Operand::ContributionStride,
        Operand::ContributionFirst,
        Operand::NodalFields,
        Operand::FieldStride,
        Operand::U,
        Operand::V,
        Operand::Count,
    ];
    assert_eq!(kernel.operands, all);
    assert!(kernel.text.contains("#define NODAL_GRADIENTS 7\n"));
    // A neo-Hookean body reads no values, so ∂/∂ζ takes their place.
    let shared = Schedule {
        points: PointData::Shared,
        ..Schedule::PLAIN
    };
    assert_eq!(shared.cubes(&spec), 3 * 3 + 3 * 4);
}
