//! Constrained operators, and threads.

use super::space_on;
use crate::common::bound::Bound;
use crate::common::forms::Interpreted;
use crate::common::meshes::columns;
use crate::common::{Random, difference, hexahedra};
use femto::element::{Layering, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::{CellBlock, Mesh};
use femto::fem::space::{Constraints, Layout, MAX_CHUNK_NODES, Space, SpaceParams};
use femto::kernel::form::{Componentwise, LinearElasticity, Mass, Poisson, ScreenedPoisson};
use femto::operator::{AnyForm, Auxiliary};
use femto::platform::device::Device;
use femto::problem::Constrained;
use femto::solve::LinearOperator;
use femto::vector::Projector;
use femto::{Host, Operator, OperatorParams};

#[test]
fn constrained_entries_are_held_at_zero() {
    let mut random = Random::new();
    for layout in [Layout::Interleaved, Layout::Blocked] {
        let params = SpaceParams {
            degree: 3.into(),
            components: 3,
            layout,
            chunk_nodes: 60,
        };
        let (geometry, space) = space_on([3, 2, 2], params);
        let host = Host::with_threads(2).expect("two threads");
        let form = Interpreted::<_, 3, 3>::new(Componentwise::<_, 3>(Poisson::<3>));
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::of_form(&host, &space, &geometry, &form, params);
        let operator = operator.expect("binds");
        let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        for groups in [
            &[][..],
            &[("xmin", &[0][..]), ("zmax", &[1, 2])],
            &sides.map(|side| (side, &[0, 1, 2][..])),
        ] {
            let constraints = Constraints::new(&space, groups).expect("legal");
            let is_held = |entry: usize| {
                let entries = constraints.entries();
                entries.binary_search(&(entry as u32)).is_ok()
            };
            let projector = Projector::new(&host, &constraints).expect("memory");
            let constrained = Constrained::new(&operator, &projector);
            assert_eq!(constrained.size(), space.dofs());
            let mut u = host.upload(&random.vector(space.dofs())).expect("memory");
            let mut v = host.upload(&vec![f64::NAN; u.len()]).expect("memory");
            let mut d = host.upload(&vec![f64::NAN; u.len()]).expect("memory");
            for (entry, u) in u.iter_mut().enumerate() {
                *u *= f64::from(u8::from(!is_held(entry)));
            }
            constrained.apply(&u, &mut v).expect("lengths fit");
            constrained.diagonal(&mut d).expect("linear");
            let free = Bound::apply(&operator, &u);
            let mut all = host.zeros(u.len()).expect("memory");
            operator.diagonal(&mut all).expect("linear");
            for entry in 0..u.len() {
                let wanted = match is_held(entry) {
                    true => (0.0, 1.0),
                    false => (free[entry], all[entry]),
                };
                assert_eq!((v[entry], d[entry]), wanted, "{entry}");
            }
        }
    }
}

/// The hexahedra of a box, none of which shares mesh nodes with others.
fn separate(cells: [usize; 3]) -> Mesh {
    let whole = hexahedra(MapKind::Multilinear, cells);
    let cells = &whole.blocks[0];
    let nodes = cells.cells().flat_map(|cell| cell.each());
    let coordinates = nodes.map(|node| whole.coordinates.at(node as usize));
    Mesh {
        coordinates: coordinates.collect::<Vec<_>>().into(),
        blocks: vec![CellBlock {
            nodes: (0..cells.nodes.len() as u32).collect(),
            ..cells.clone()
        }],
        ..Mesh::default()
    }
}

/// As many nodes as 16-bit indices address.
#[test]
fn full_chunks_have_the_same_result_in_both_layouts() {
    const COMPONENTS: usize = 2;
    let mut random = Random::new();
    let form = Interpreted::<_, 3, COMPONENTS>::new(Componentwise::<_, COMPONENTS>(Mass));
    let host = Host::with_threads(1).expect("one thread");
    let mesh = separate([4, 2, 2]);
    let geometry = Geometry::new(&mesh).expect("hexahedra");
    let mut numbers = Vec::new();
    let mut results = Vec::new();
    for layout in [Layout::Interleaved, Layout::Blocked] {
        let params = SpaceParams {
            degree: 15.into(),
            components: COMPONENTS,
            layout,
            chunk_nodes: 54_000,
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        assert_eq!(space.restriction().most_chunk_nodes(), MAX_CHUNK_NODES);
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::of_form(&host, &space, &geometry, &form, params);
        let operator = operator.expect("binds");
        if numbers.is_empty() {
            numbers = random.vector(space.dofs());
        }
        let nodes = space.dofs() / COMPONENTS;
        let turned = |vector: &[f64]| -> Vec<f64> {
            let blocked = (0..COMPONENTS).flat_map(|c| (0..nodes).map(move |node| (node, c)));
            blocked
                .map(|(node, c)| vector[node * COMPONENTS + c])
                .collect()
        };
        results.push(match layout {
            Layout::Interleaved => turned(&Bound::apply(&operator, &numbers)),
            Layout::Blocked => Bound::apply(&operator, &turned(&numbers)),
        });
    }
    assert!(results[0] == results[1]);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut random = Random::new();
    let params = SpaceParams {
        degree: 4.into(),
        chunk_nodes: 100,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on([4, 3, 3], params);
    let u = random.vector(space.dofs());
    let with = |threads| {
        let host = Host::with_threads(threads).expect("threads");
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<3>, params);
        Bound::apply(&operator.expect("binds"), &u)
    };
    let one = with(1);
    for threads in 2..=4 {
        assert_eq!(one, with(threads), "bitwise, with {threads} threads");
    }
}

#[test]
fn an_operator_may_be_applied_by_several_threads_at_once() {
    let mut random = Random::new();
    let params = SpaceParams {
        degree: 3.into(),
        chunk_nodes: 50,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on([4, 4, 3], params);
    let host = Host::with_threads(2).expect("two threads");
    let params = OperatorParams::default();
    let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson::<3>, params);
    let operator = operator.expect("binds");
    let u = random.vector(space.dofs());
    let expected = Bound::apply(&operator, &u);
    for _ in 0..20 {
        // Nested in the operator's own threads: a waiting thread may pick up the other's work.
        let (a, b) = host.join(
            || Bound::apply(&operator, &u),
            || Bound::apply(&operator, &u),
        );
        assert!(a == expected && b == expected);
    }
}

/// The product with the matrix is the operator's, also where sides are joined.
#[test]
fn matrices_on_periodic_meshes() {
    let mut random = Random::new();
    let host = Host::with_threads(2).expect("two threads");
    for (cells, sides, layout) in [
        ([2, 3, 3], ["xmin", "xmax"], Layout::Interleaved),
        ([3, 2, 2], ["ymin", "ymax"], Layout::Blocked),
    ] {
        let mut mesh = hexahedra(MapKind::Affine, cells);
        mesh.join_sides(sides[0], sides[1]).expect("equal sides");
        let geometry = Geometry::new(&mesh).expect("hexahedra");
        let params = SpaceParams {
            degree: 2.into(),
            components: 3,
            layout,
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        let form = Interpreted::<_, 3, 3>::new(LinearElasticity::<3>::from_young(1.0, 0.3));
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::of_form(&host, &space, &geometry, &form, params);
        let operator = operator.expect("binds");
        let u = random.vector(space.dofs());
        let wanted = Bound::apply(&operator, &u);
        let matrix = operator.matrix().expect("linear");
        let error = crate::common::difference(&matrix.product(&u), &wanted);
        assert!(error < 1e-13, "{cells:?}: {error}");
    }
}

/// Operators on columns multiply differences: a constant of any size has no energy, not even by rounding.
#[test]
fn constants_have_no_energy_on_columns() {
    for layering in [Layering::Level, Layering::Parallel, Layering::Any] {
        constants_have_no_energy(layering);
    }
}

fn constants_have_no_energy(layering: Layering) {
    let mesh = columns(&[3, 2, 4], layering);
    let geometry = Geometry::new(&mesh).expect("prisms");
    let host = Host::new().expect("threads");
    for degree in 1..=4 {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        let form = Interpreted::<_, 3, 1>::new(Poisson::<3>);
        let params = OperatorParams::default();
        let operator = Operator::<f32, _>::of_form(&host, &space, &geometry, &form, params);
        let operator = operator.expect("binds");
        let constant = host.upload(&vec![1e7; space.dofs()]).expect("memory");
        let mut product = host.zeros(space.dofs()).expect("memory");
        operator.apply(&constant, &mut product).expect("legal");
        assert!(
            product.iter().all(|&it| it == 0.0),
            "degree {degree}, {layering:?}"
        );
    }
}

/// On columns coefficients are taken once a prism, or at each point if folding is off: the products are the same.
#[test]
fn folding_changes_nothing_on_columns() {
    let host = Host::new().expect("threads");
    let per_cell = ScreenedPoisson { lambda: None };
    for (layering, degree) in [
        (Layering::Level, 1),
        (Layering::Level, 2),
        (Layering::Level, 3),
        (Layering::Parallel, 1),
        (Layering::Parallel, 2),
        (Layering::Parallel, 3),
        (Layering::Any, 1),
        (Layering::Any, 2),
        (Layering::Any, 3),
    ] {
        let mesh = columns(&[3, 2, 5], layering);
        let geometry = Geometry::new(&mesh).expect("prisms");
        let check = |form: &dyn AnyForm, components: usize| {
            let params = SpaceParams {
                degree: degree.into(),
                components,
                ..SpaceParams::default()
            };
            let space = Space::new(&mesh, &geometry, params).expect("legal");
            let mut random = Random::new();
            let cells: Vec<f64> = (0..geometry.len()).map(|_| random.next() + 2.0).collect();
            let product = |fold_coefficients: bool, u: &[f64]| {
                let params = OperatorParams {
                    fold_coefficients,
                    auxiliary: vec![Auxiliary::PerCell(cells.clone())],
                    ..OperatorParams::default()
                };
                let operator = Operator::<f64, _>::of_form(&host, &space, &geometry, form, params);
                let mut v = host.zeros(space.dofs()).expect("memory");
                let u = host.upload(u).expect("memory");
                operator.expect("binds").apply(&u, &mut v).expect("legal");
                v.to_vec()
            };
            let u: Vec<f64> = (0..space.dofs()).map(|_| random.next()).collect();
            let (once, written) = (product(true, &u), product(false, &u));
            let error = difference(&once, &written);
            assert!(error < 1e-13, "{layering:?} {degree}: {error:e}");
        };
        check(&Interpreted::<_, 3, 1>::new(Mass::<3>), 1);
        check(&Interpreted::<_, 3, 1>::new(Poisson::<3>), 1);
        check(&Interpreted::<_, 3, 1>::new(per_cell), 1);
        check(
            &Interpreted::<_, 3, 3>::new(Componentwise::<_, 3>(per_cell)),
            3,
        );
        check(
            &Interpreted::<_, 3, 2>::new(Componentwise::<_, 2>(Mass::<3>)),
            2,
        );
    }
}
