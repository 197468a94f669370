use super::*;
use crate::dialect::Language;
use crate::family::fields::{FieldKind, Fields};
use crate::family::tensor_hex::Basis;
use crate::form::{Form, Jacobian, Mass, NeoHookean, Poisson, trace};

const ELEMENTS: Vectors = Vectors::Element { listed: false };
const NODAL: Vectors = Vectors::Nodal {
    interleaved: true,
    scatter: Scatter::Deterministic,
};

/// Sizes of an element; its matrices are no matrices of polynomials, which texts do not mind.
fn basis(nodes_1d: usize, points_1d: usize) -> Basis {
    Basis {
        nodes_1d,
        points_1d,
        points: vec![0.0; points_1d],
        weights: vec![1.0; points_1d],
        interp_1d: vec![0.5; points_1d * nodes_1d],
        colloc_grad_1d: vec![0.5; points_1d * points_1d],
        collocated: nodes_1d == points_1d,
    }
}

fn shape<F: Form<3, C>, const C: usize>(
    form: &F,
    fields: &[FieldKind],
    (nodes_1d, points_1d): (usize, usize),
    storage: Storage,
) -> Shape {
    let inspection = trace::<F, 3, C>(form).inspect();
    let shape = Shape::new(&basis(nodes_1d, points_1d), &inspection, storage);
    shape.with_fields(&inspection, Fields::new(fields))
}

/// Every degree, on what any device has.
#[test]
fn something_is_legal_for_every_shape() {
    let limits = Limits::default();
    let body = Jacobian(NeoHookean::from_young(1.0, 0.3));
    for degree in 1..=15 {
        for points in [degree + 1, degree + 2] {
            for storage in [Storage::Affine, Storage::Trilinear, Storage::Jacobians] {
                let sizes = (degree + 1, points);
                let shapes = [
                    shape::<_, 1>(&Mass, &[], sizes, storage),
                    shape::<_, 1>(&Poisson, &[], sizes, storage),
                    shape::<_, 3>(&body, &[FieldKind::Nodal; 3], sizes, storage),
                ];
                for shape in shapes {
                    for precision in [Precision::Fp64, Precision::Fp32] {
                        for vectors in [ELEMENTS, NODAL] {
                            let best = FormSchedule::best(&shape, vectors, precision, &limits);
                            let legal = best.validate(&shape, precision, &limits);
                            assert_eq!(legal, Ok(()), "{shape:?}: {best}");
                        }
                        let plain = FormSchedule::plain();
                        assert_eq!(plain.validate(&shape, precision, &limits), Ok(()));
                    }
                }
            }
        }
    }
}

#[test]
fn broken_rules_are_named() {
    let message = |shape: &Shape, schedule: FormSchedule| {
        let result = schedule.validate(shape, Precision::Fp64, &Limits::default());
        result.unwrap_err().to_string()
    };
    let mass = |sizes, storage| shape::<_, 1>(&Mass, &[], sizes, storage);
    let plain = FormSchedule::plain();
    let factors = mass((4, 5), Storage::PointFactors);
    assert!(message(&factors, plain).contains("not for any form"));
    let few = mass((4, 3), Storage::Affine);
    assert!(message(&few, plain).contains("as many points as nodes"));
    let crowd = FormSchedule {
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
    let shape = shape::<_, 3>(&form, &[FieldKind::Nodal; 3], (3, 4), Storage::Trilinear);
    let problem = Problem {
        basis: &basis,
        shape,
        form: &traced,
        vectors: NODAL,
        precision: Precision::Fp64,
        language: Language::Cuda,
    };
    let kernel = source(&problem, &FormSchedule::plain()).unwrap();
    let all = [
        Operand::Geometry,
        Operand::Rule,
        Operand::Nodes,
        Operand::NodeCount,
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
    // A neo-Hookean body reads no values, so that ∂/∂ζ takes their place.
    let shared = FormSchedule {
        points: PointData::Shared,
        ..FormSchedule::plain()
    };
    assert_eq!(shared.cubes(&shape), 3 * 3 + 3 * 4);
}
