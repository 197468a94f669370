//! Matrices on every device: assembled anew when what they depend on changes, refused where there are none.

use crate::common::bound::{Bound, devices};
use crate::common::forms::Interpreted;
use crate::common::meshes::{blocks, mesh, mixed};
use crate::common::{Random, difference};
use femto::element::{Cell, MapKind};
use femto::fem::mesh::Mesh;
use femto::fem::space::{Block, Layout, SpaceParams};
use femto::kernel::form::{
    Componentwise, Form, LinearElasticity, NonlinearDiffusion, Point, Poisson,
};
use femto::kernel::scalar::Scalar;
use femto::operator::{AnyForm, Auxiliary, Backend, OperatorError};
use femto::platform::device::Device;
use femto::vector::VectorOps;
use femto::{DataLevel, Operator, OperatorParams, on_device};

const MATRICES: [DataLevel; 2] = [DataLevel::Element, DataLevel::Sparse];

/// ∇φ·((1 + t + p) a ∇u) with the nodal coefficient a: linear, depends on all that may change.
#[derive(Clone)]
struct Changing;

impl Form<3> for Changing {
    fn f1<S: Scalar>(&self, p: &Point<S, 3>) -> [[S; 3]; 1] {
        let factor = (p.time + p.parameters[0] + 1.0) * p.a[0];
        [p.grad_u[0].map(|slope| slope * factor)]
    }
}

fn space(degree: usize) -> Vec<Block> {
    let params = SpaceParams {
        degree: degree.into(),
        chunk_nodes: 40,
        ..SpaceParams::default()
    };
    blocks(
        &mesh(Cell::Tetrahedron, MapKind::Curved, &[2, 2, 2]),
        params,
    )
}

fn params(level: DataLevel, nodes: usize) -> OperatorParams {
    OperatorParams {
        data_level: level,
        auxiliary: vec![Auxiliary::Nodal(vec![1.0; nodes])],
        parameters: vec![0.0],
        ..OperatorParams::default()
    }
}

fn follows_changes<B: Backend + VectorOps<f64>>(
    device: &B,
    level: DataLevel,
) -> Result<(), OperatorError> {
    let blocks = space(2);
    let (nodes, mut random) = (blocks[0].space.nodes(), Random::new());
    let form = Interpreted::<_, 3, 1>::new(Changing);
    let bind = |level| Operator::<f64, B>::of_blocks(device, &blocks, &form, params(level, nodes));
    let (mut plain, mut matrices) = (bind(DataLevel::Automatic)?, bind(level)?);
    let u = random.vector(nodes);
    let agree = |plain: &Operator<f64, B>, matrices: &Operator<f64, B>| {
        let error = difference(&Bound::apply(matrices, &u), &Bound::apply(plain, &u));
        assert!(error < 1e-12, "{error}");
        Bound::apply(matrices, &u)
    };
    let mut seen = vec![agree(&plain, &matrices)];
    let coefficient: Vec<f64> = random.vector(nodes).iter().map(|a| 2.0 + a).collect();
    for change in 0..3 {
        for operator in [&mut plain, &mut matrices] {
            match change {
                0 => operator.set_time(0.5)?,
                1 => operator.set_parameters(&[2.0])?,
                _ => Bound::set_nodal(operator, 0, &coefficient)?,
            }
        }
        seen.push(agree(&plain, &matrices));
        let [.., before, now] = &seen[..] else {
            return Ok(());
        };
        assert!(
            difference(before, now) > 1e-3,
            "change {change} has no effect"
        );
    }
    Ok(())
}

#[test]
fn matrices_follow_time_parameters_and_fields() {
    for device in devices() {
        for level in MATRICES {
            on_device!(&device, |device| follows_changes(device, level).unwrap());
        }
    }
}

/// The operator at the level `automatic` and at another one, which agree.
fn agreeing<B: Backend + VectorOps<f64>>(
    device: &B,
    (blocks, form): (&[Block], &dyn AnyForm),
    level: DataLevel,
) -> [Operator<f64, B>; 2] {
    let u = Random::new().vector(blocks[0].space.dofs());
    let both = [DataLevel::Automatic, level].map(|data_level| {
        let params = OperatorParams {
            data_level,
            ..OperatorParams::default()
        };
        Operator::of_blocks(device, blocks, form, params).unwrap()
    });
    let [plain, other] = both.each_ref().map(|it| Bound::apply(it, &u));
    let (error, degree) = (difference(&other, &plain), blocks[0].space.degree());
    assert!(
        error < 1e-12,
        "{}, degree {degree:?}: {error}",
        level.name()
    );
    both
}

/// Of components that are not coupled there is one matrix, unless there are more than four.
fn components_have_a_matrix_in_common<const C: usize>(layout: Layout) {
    let params = SpaceParams {
        degree: 1.into(),
        components: C,
        layout,
        ..SpaceParams::default()
    };
    let mesh = mesh(Cell::Hexahedron, MapKind::Multilinear, &[3, 2, 2]);
    let blocks = blocks(&mesh, params);
    let form = Interpreted::<_, 3, C>::new(Componentwise::<_, C>(Poisson::<3>));
    for device in devices() {
        on_device!(&device, |device| {
            let [plain, sparse] = agreeing(device, (&blocks, &form), DataLevel::Sparse);
            let told = sparse.explain(None, None);
            assert_eq!(told.data_level, "sparse");
            let products = if C <= 4 { 8 } else { 8 * C };
            let words = told.assembly.as_deref().unwrap();
            assert!(
                words.contains(&format!("by {products} products")),
                "{words}"
            );
            let matrix = sparse.bytes() - plain.bytes();
            let entries = if C <= 4 { 8 } else { 8 * C * C };
            assert!(matrix > 12 * 12 * entries, "{C} components: {matrix} bytes");
        });
    }
}

#[test]
fn components_that_are_not_coupled_have_a_matrix_in_common() {
    for layout in [Layout::Interleaved, Layout::Blocked] {
        components_have_a_matrix_in_common::<2>(layout);
        components_have_a_matrix_in_common::<4>(layout);
        components_have_a_matrix_in_common::<5>(layout);
    }
}

/// Two displacements have a matrix of an element in common, which has the rows of one.
#[test]
fn load_cases_are_right_hand_sides_of_a_matrix() {
    let form = Interpreted::<_, 3, 6>::new(Componentwise::<_, 6, 3>(LinearElasticity {
        lambda: 1.5.into(),
        mu: 0.8.into(),
    }));
    for layout in [Layout::Interleaved, Layout::Blocked] {
        for (cell, rows) in [(Cell::Tetrahedron, 30), (Cell::Hexahedron, 81)] {
            let params = SpaceParams {
                degree: 2.into(),
                components: 6,
                layout,
                ..SpaceParams::default()
            };
            let blocks = blocks(&mesh(cell, MapKind::Curved, &[2, 1, 2]), params);
            for device in devices() {
                on_device!(&device, |device| {
                    let [_, matrices] = agreeing(device, (&blocks, &form), DataLevel::Element);
                    let told = matrices.explain(None, None).schedule.concat();
                    for wanted in [
                        &format!("a triangle of a {rows} × {rows} matrix"),
                        "shared by 2 groups of 3 components",
                    ] {
                        assert!(told.contains(wanted), "{told}");
                    }
                });
            }
        }
    }
}

/// On accelerators matrices of affine simplices are sums of those of the reference cell; of other cells, and on hosts, they
/// are products with units.
fn simplices_are_assembled<const D: usize>(mesh: &Mesh, degree: usize, at_once: bool)
where
    Poisson<D>: Form<D>,
    Interpreted<Poisson<D>, D, 1>: AnyForm,
{
    let params = SpaceParams {
        degree: degree.into(),
        ..SpaceParams::default()
    };
    let blocks = blocks(mesh, params);
    let form = Interpreted::<_, D, 1>::new(Poisson::<D>);
    for device in devices() {
        on_device!(&device, |device| {
            let [_, matrices] = agreeing(device, (&blocks, &form), DataLevel::Element);
            let told = matrices.explain(None, None).assembly.unwrap();
            let is_accelerator = device.info().kind.is_accelerator();
            assert_eq!(
                told.contains("at once"),
                at_once && is_accelerator,
                "{told}"
            );
        });
    }
}

#[test]
fn matrices_of_affine_simplices_are_assembled_at_once() {
    for degree in [3, 5] {
        let triangles = mesh(Cell::Triangle, MapKind::Affine, &[4, 3]);
        simplices_are_assembled::<2>(&triangles, degree, true);
        // Some triangles are affine, some curved.
        simplices_are_assembled::<2>(&mixed(4, 2), degree, false);
    }
    for degree in [2, 3, 4] {
        let tetrahedra = mesh(Cell::Tetrahedron, MapKind::Affine, &[2, 2, 2]);
        simplices_are_assembled::<3>(&tetrahedra, degree, degree > 2);
    }
}

#[test]
fn forms_that_are_not_linear_have_no_matrices() {
    let blocks = space(1);
    let form = Interpreted::<_, 3, 1>::new(NonlinearDiffusion { kappa: [1.0; 3] });
    for (device, data_level) in devices()
        .iter()
        .flat_map(|it| MATRICES.map(|level| (it, level)))
    {
        let params = OperatorParams {
            data_level,
            ..OperatorParams::default()
        };
        let refused = on_device!(device, |device| {
            Operator::<f64, _>::of_blocks(device, &blocks, &form, params.clone()).map(drop)
        });
        assert_eq!(refused.unwrap_err(), OperatorError::MatricesOfNonlinear);
    }
}
