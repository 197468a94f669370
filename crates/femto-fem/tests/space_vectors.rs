//! gather, scatter_add and their guarantees.

mod space_common;

use femto_fem::space::{Layout, Space, SpaceParams};
use space_common::{Random, bent_box, space};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Spaces of all layouts and some degrees on a small box.
fn spaces() -> Vec<Space> {
    let mesh = bent_box([3, 2, 4], 1);
    let mut spaces = Vec::new();
    for degree in [1, 2, 3, 5] {
        for components in [1, 3] {
            for layout in [Layout::Interleaved, Layout::Blocked] {
                let params = SpaceParams {
                    degree: degree.into(),
                    components,
                    layout,
                    chunk_nodes: 5 * degree * degree * degree,
                };
                spaces.push(space(&mesh, params).0);
            }
        }
    }
    spaces
}

#[test]
fn gather_copies_what_the_element_nodes_say() {
    let mut random = Random::new();
    for space in spaces() {
        let (components, np) = (space.components(), space.nodes_per_element());
        let l = random.vector(space.dofs());
        let mut e = random.vector(space.element_dofs());
        space.gather(&l, &mut e);
        for element in 0..space.elements() {
            for (position, &node) in space.element_nodes(element).iter().enumerate() {
                for c in 0..components {
                    let value = e[(element * components + c) * np + position];
                    assert_eq!(value, l[space.entry(node as usize, c)]);
                }
            }
        }
    }
}

#[test]
fn scatter_add_is_the_transpose_of_gather_and_adds() {
    let mut random = Random::new();
    for space in spaces() {
        let dofs = space.dofs();
        let (l, e) = (random.vector(dofs), random.vector(space.element_dofs()));
        let mut gathered = vec![0.0; e.len()];
        space.gather(&l, &mut gathered);
        let start = random.vector(dofs);
        let mut scattered = start.clone();
        space.scatter_add(&e, &mut scattered);
        let added: Vec<f64> = scattered.iter().zip(&start).map(|(a, b)| a - b).collect();
        let (left, right) = (dot(&gathered, &e), dot(&l, &added));
        assert!((left - right).abs() < 1e-11, "{left} {right}");
    }
}

#[test]
fn the_numbering_does_not_depend_on_the_number_of_threads() {
    let mesh = bent_box([5, 4, 6], 1);
    for degree in [1, 3] {
        let params = SpaceParams {
            degree: degree.into(),
            chunk_nodes: 200,
            ..SpaceParams::default()
        };
        let [one, two, three] = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| space(&mesh, params.clone()).0)
        });
        assert_eq!(one.restriction(), two.restriction());
        assert_eq!(one.restriction(), three.restriction());
    }
}

#[test]
fn the_result_does_not_depend_on_the_chunks() {
    let mut random = Random::new();
    let mesh = bent_box([4, 3, 3], 1);
    for degree in [1, 2, 4] {
        let by_cell = random.vector(36 * usize::pow(degree + 1, 3));
        let mut results: Vec<Vec<([i64; 3], f64)>> = Vec::new();
        for chunk_nodes in [1, 40, 333, 1_000_000] {
            let params = SpaceParams {
                degree: degree.into(),
                chunk_nodes,
                ..SpaceParams::default()
            };
            let (space, geometry) = space(&mesh, params);
            let np = space.nodes_per_element();
            let e: Vec<f64> = (space.cells().iter())
                .flat_map(|&cell| by_cell[cell as usize * np..][..np].to_vec())
                .collect();
            let mut l = vec![0.0; space.dofs()];
            space.scatter_add(&e, &mut l);
            // The same node has another number with other chunks, but the same position.
            let positions = space.node_positions(&geometry);
            let keys = positions
                .iter()
                .map(|x| x.map(|x| (x * 1e9).round() as i64));
            let mut result: Vec<_> = keys.zip(l).collect();
            result.sort_by_key(|(key, _)| *key);
            results.push(result);
        }
        for result in &results {
            for (a, b) in result.iter().zip(&results[0]) {
                let near = (0..3).all(|axis| (a.0[axis] - b.0[axis]).abs() <= 1);
                assert!(near && (a.1 - b.1).abs() < 1e-14);
            }
        }
    }
}
