//! T-vectors beside L-vectors, and threads.

use super::{apply, space_on};
use crate::common::{Random, Shape};
use femto::fem::space::{Layout, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Poisson};
use femto::{Host, Operator, OperatorParams};

#[test]
fn t_vectors_leave_constrained_entries_out() {
    let mut random = Random::new();
    for (components, layout) in [
        (1, Layout::Interleaved),
        (3, Layout::Interleaved),
        (3, Layout::Blocked),
    ] {
        let params = SpaceParams {
            degree: 3,
            components,
            layout,
            dirichlet: vec!["xmin".into(), "zmax".into()],
            chunk_nodes: 60,
            ..SpaceParams::default()
        };
        let (geometry, space) = space_on(Shape::Trilinear, [3, 2, 2], params);
        let host = Host::with_threads(2).expect("two threads");
        let params = OperatorParams::default();
        let check = |l_of_t: &dyn Fn(&[f64]) -> Vec<f64>, result: (Vec<f64>, Vec<f64>)| {
            let (t, l) = result;
            let back: Vec<f64> = t_of_l(&space, &l);
            assert_eq!(
                t.len(),
                l_of_t(&t).len() - (space.dofs() - space.free_dofs())
            );
            assert_eq!(
                t, back,
                "the free entries of A applied to the extended vector"
            );
        };
        let u = random.vector(space.free_dofs());
        let extend = |t: &[f64]| l_of_t(&space, t);
        if components == 1 {
            let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
            let operator = operator.expect("binds");
            check(
                &extend,
                (apply(&operator, &u), apply(&operator, &extend(&u))),
            );
        } else {
            let form = Componentwise::<_, 3>(Poisson);
            let operator = Operator::<f64, _>::new(&host, &space, &geometry, &form, params);
            let operator = operator.expect("binds");
            check(
                &extend,
                (apply(&operator, &u), apply(&operator, &extend(&u))),
            );
        }
    }
}

fn l_of_t(space: &Space, t: &[f64]) -> Vec<f64> {
    let (nodes, free) = (space.nodes(), space.free_nodes());
    let mut l = vec![0.0; space.dofs()];
    match space.layout() {
        Layout::Interleaved => l[..t.len()].copy_from_slice(t),
        Layout::Blocked => {
            for (l, t) in l.chunks_exact_mut(nodes).zip(t.chunks_exact(free)) {
                l[..free].copy_from_slice(t);
            }
        }
    }
    l
}

fn t_of_l(space: &Space, l: &[f64]) -> Vec<f64> {
    match space.layout() {
        Layout::Interleaved => l[..space.free_dofs()].to_vec(),
        Layout::Blocked => {
            let parts = l.chunks_exact(space.nodes());
            parts
                .flat_map(|part| part[..space.free_nodes()].to_vec())
                .collect()
        }
    }
}

#[test]
fn all_nodes_may_be_constrained() {
    let sides = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
    let params = |layout| SpaceParams {
        components: 3,
        layout,
        dirichlet: sides.map(str::to_owned).to_vec(),
        ..SpaceParams::default()
    };
    let u = Random::new().vector(3 * 8);
    let mut results = Vec::new();
    for layout in [Layout::Interleaved, Layout::Blocked] {
        let (geometry, space) = space_on(Shape::Trilinear, [1, 1, 1], params(layout));
        assert_eq!((space.dofs(), space.free_dofs()), (u.len(), 0));
        let host = Host::with_threads(1).expect("a thread");
        let form = Componentwise::<_, 3>(Poisson);
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::new(&host, &space, &geometry, &form, params);
        let operator = operator.expect("binds");
        assert!(apply(&operator, &[]).is_empty());
        let transposed = |x: &[f64], rows: usize| -> Vec<f64> {
            let columns = x.len() / rows;
            (0..x.len())
                .map(|n| x[n % rows * columns + n / rows])
                .collect()
        };
        results.push(match layout {
            Layout::Interleaved => apply(&operator, &u),
            Layout::Blocked => transposed(&apply(&operator, &transposed(&u, 8)), 3),
        });
    }
    assert_eq!(results[0], results[1]);
    assert!(results[0].iter().any(|v| v.abs() > 1e-3));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut random = Random::new();
    let params = SpaceParams {
        degree: 4,
        chunk_nodes: 100,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on(Shape::Curved, [4, 3, 3], params);
    let u = random.vector(space.dofs());
    let with = |threads| {
        let host = Host::with_threads(threads).expect("threads");
        let params = OperatorParams::default();
        let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
        apply(&operator.expect("binds"), &u)
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
        degree: 3,
        chunk_nodes: 50,
        ..SpaceParams::default()
    };
    let (geometry, space) = space_on(Shape::Trilinear, [4, 4, 3], params);
    let host = Host::with_threads(2).expect("two threads");
    let params = OperatorParams::default();
    let operator = Operator::<f64, _>::new(&host, &space, &geometry, &Poisson, params);
    let operator = operator.expect("binds");
    let u = random.vector(space.dofs());
    let expected = apply(&operator, &u);
    for _ in 0..20 {
        // Nested in the operator's own threads: a waiting thread may take up the other's work.
        let (a, b) = host.join(|| apply(&operator, &u), || apply(&operator, &u));
        assert!(a == expected && b == expected);
    }
}
