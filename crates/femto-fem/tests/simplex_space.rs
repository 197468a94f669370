//! Spaces on triangles and tetrahedra.
#![allow(clippy::unwrap_used)]

mod simplex_common;
mod space_common;

use femto_element::CellType;
use std::collections::{BTreeMap, BTreeSet};

use femto_element::basis::LagrangeBasis;
use femto_element::basis::{BasisError, MAX_SIMPLEX_DEGREE};
use femto_fem::geometry::{Geometry, Points};
use femto_fem::mesh::boxes::SimplexBox;
use femto_fem::mesh::{CellBlock, Mesh};
use femto_fem::space::{Constraints, Layout, Space, SpaceError, SpaceParams};
use simplex_common::{count, inside};
use space_common::layout::check_layout;
use space_common::{Random, bent_box, space};

fn square(random: &mut Random, order: usize) -> Mesh {
    let square = SimplexBox::<2> {
        cells: [7, 6],
        lower: [-1.0, 0.0],
        upper: [1.0, 1.5],
        geometry_degree: order,
        irregular: Some(random.bits()),
    };
    square.build(|x| x).unwrap()
}

fn cube(random: &mut Random, order: usize) -> Mesh {
    let cube = SimplexBox::<3> {
        cells: [4, 3, 5],
        lower: [-1.0, 0.0, 0.0],
        upper: [1.0, 1.5, 1.0],
        geometry_degree: order,
        irregular: Some(random.bits()),
    };
    cube.build(|x| x).unwrap()
}

fn params(degree: usize, chunk_nodes: usize) -> SpaceParams {
    SpaceParams {
        degree: degree.into(),
        chunk_nodes,
        ..SpaceParams::default()
    }
}

#[test]
fn nodes_are_those_of_all_entities() {
    let mut random = Random::new();
    for mesh in [square(&mut random, 1), cube(&mut random, 2)] {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            for chunk_nodes in [1, 60, 32768] {
                let (space, geometry) = space(&mesh, params(degree, chunk_nodes));
                assert_eq!(space.cell(), geometry.cell());
                assert_eq!(space.dim(), geometry.cell().dim());
                let nodes: usize = count(&mesh, space.cell())
                    .iter()
                    .zip(inside(degree))
                    .map(|(count, size)| count * size)
                    .sum();
                assert_eq!(space.nodes(), nodes);
                let simplex = LagrangeBasis::new(space.cell(), degree).unwrap();
                assert_eq!(space.nodes_per_element(), simplex.nodes().len());
                assert_eq!(space.elements(), geometry.len());
                let mut cells = space.cells().to_vec();
                cells.sort_unstable();
                assert!(cells.into_iter().eq(0..geometry.len() as u32));
                check_layout(&space);
                for chunk in &space.restriction().chunks {
                    assert!(chunk.nodes() <= 1 << 16);
                }
            }
        }
    }
}

#[test]
fn nodes_lie_where_every_element_puts_them() {
    let mut random = Random::new();
    let curved = |[x, y, z]: [f64; 3]| [x + 0.05 * y * y, y - 0.04 * x * z, z + 0.03 * x * y];
    let bent = SimplexBox::<3> {
        geometry_degree: 3,
        irregular: Some(random.bits()),
        ..SimplexBox::unit_cube(3)
    };
    let meshes = [
        square(&mut random, 3),
        cube(&mut random, 1),
        bent.build(curved).unwrap(),
    ];
    for mesh in meshes {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let (space, geometry) = space(&mesh, params(degree, 50));
            let simplex = LagrangeBasis::new(space.cell(), degree).unwrap();
            let reference = Points::List(simplex.nodes().to_vec());
            let positions = space.node_positions(&geometry);
            let mut at = Vec::new();
            for (element, &cell) in space.cells().iter().enumerate() {
                geometry.positions(cell as usize, &reference, &mut at);
                for (&node, x) in space.element_nodes(element).iter().zip(&at) {
                    for a in 0..3 {
                        let error = (positions[node as usize][a] - x[a]).abs();
                        assert!(
                            error < 1e-14,
                            "degree {degree}, element {element}: {error:e}"
                        );
                    }
                }
            }
        }
    }
}

/// A polynomial of given degree with random coefficients.
fn polynomial(random: &mut Random, degree: usize) -> impl Fn([f64; 3]) -> f64 + use<> {
    let terms: Vec<([f64; 4], i32)> = (0..=degree as i32)
        .flat_map(|power| (0..3).map(move |_| power))
        .map(|power| ([0; 4].map(|_| random.uniform()), power))
        .collect();
    move |[x, y, z]| {
        let value =
            |&([a, b, c, d], power): &([f64; 4], i32)| (a + b * x + c * y + d * z).powi(power);
        terms.iter().map(value).sum()
    }
}

#[test]
fn polynomials_are_the_same_from_every_side() {
    let mut random = Random::new();
    for mesh in [square(&mut random, 1), cube(&mut random, 1)] {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let (space, geometry) = space(&mesh, params(degree, 80));
            let simplex = LagrangeBasis::new(space.cell(), degree).unwrap();
            let f = polynomial(&mut random, degree);
            let positions = space.node_positions(&geometry);
            let l: Vec<f64> = positions.iter().map(|&x| f(x)).collect();
            let scale = l.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
            let mut e = vec![f64::NAN; space.element_dofs()];
            space.gather(&l, &mut e);
            let points = [
                [0.1, 0.2, 0.3],
                [0.5, 0.5, 0.0],
                [0.0, 0.3, 0.2],
                [0.25, 0.05, 0.7],
            ];
            let tables = simplex.at(&points);
            let np = simplex.nodes().len();
            for (element, &cell) in space.cells().iter().enumerate() {
                let values = &e[element * np..][..np];
                for (q, &xi) in points.iter().enumerate() {
                    let interp = &tables.interp[q * np..][..np];
                    let found: f64 = interp.iter().zip(values).map(|(l, u)| l * u).sum();
                    let mut xi = xi;
                    xi[space.dim()..].fill(0.0);
                    let expected = f(geometry.map(cell as usize, xi));
                    assert!(
                        (found - expected).abs() < 1e-12 * scale,
                        "{degree} {element}: {found} {expected}"
                    );
                }
            }
        }
    }
}

/// The vertices of a facet of a cell in ascending order, their positions in the cell, and a point of the
/// facet that depends only on that order.
fn view(geometry: &Geometry, cell: usize, facet: usize) -> (Vec<u32>, Vec<usize>, [f64; 3]) {
    let vertices = geometry.vertex_nodes(cell);
    let places = geometry.cell().facets()[facet].vertices.iter();
    let mut corners: Vec<(u32, usize)> = places.map(|&place| (vertices[place], place)).collect();
    corners.sort_unstable();
    let (vertices, order): (Vec<u32>, Vec<usize>) = corners.into_iter().unzip();
    let weights: &[f64] = match order.len() {
        2 => &[0.17, 0.83],
        _ => &[0.17, 0.31, 0.52],
    };
    let mut point = [0.0; 3];
    for (&place, weight) in order.iter().zip(weights) {
        if place > 0 {
            point[place - 1] = *weight;
        }
    }
    (vertices, order, point)
}

/// Values at the nodes that belong to no polynomial: the traces of neighbours on their common edge or face
/// must still agree, in every orientation.
#[test]
fn traces_agree_across_every_orientation() {
    let mut random = Random::new();
    for mesh in [square(&mut random, 1), cube(&mut random, 1)] {
        let mut seen = BTreeSet::new();
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let (space, geometry) = space(&mesh, params(degree, 80));
            let simplex = LagrangeBasis::new(space.cell(), degree).unwrap();
            let l = random.vector(space.dofs());
            let mut e = vec![f64::NAN; space.element_dofs()];
            space.gather(&l, &mut e);
            let elements = e.chunks_exact(space.nodes_per_element());
            let mut traces: BTreeMap<Vec<u32>, (f64, Vec<usize>)> = BTreeMap::new();
            for (values, &cell) in elements.zip(space.cells()) {
                for facet in 0..space.cell().facets().len() {
                    let (vertices, order, point) = view(&geometry, cell as usize, facet);
                    let interp = simplex.at(&[point]).interp;
                    let trace: f64 = interp.iter().zip(values).map(|(l, u)| l * u).sum();
                    if let Some((other, first)) = traces.insert(vertices, (trace, order.clone())) {
                        assert!((trace - other).abs() < 1e-12, "{degree}: {trace} {other}");
                        seen.insert([first.clone(), order.clone()]);
                        seen.insert([order, first]);
                    }
                }
            }
        }
        // Pairs of views (a facet and the order of its vertices): right-handed neighbours see a
        // facet in opposite senses, so half of all pairs occur, and most of them here.
        let views = [0, 0, 6, 24][mesh.blocks[0].cell_type.dimension()];
        let (all, seen) = (views * views / 2, seen.len());
        assert!(10 * seen > 8 * all && seen <= all, "{seen} of {all}");
    }
}

#[test]
fn scatter_add_is_the_transpose_of_gather() {
    let mut random = Random::new();
    for mesh in [square(&mut random, 1), cube(&mut random, 1)] {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            for layout in [Layout::Interleaved, Layout::Blocked] {
                let params = SpaceParams {
                    components: 2,
                    layout,
                    ..params(degree, 70)
                };
                let (space, _) = space(&mesh, params);
                check_layout(&space);
                let dofs = space.dofs();
                let (l, e) = (random.vector(dofs), random.vector(space.element_dofs()));
                let mut gathered = vec![f64::NAN; e.len()];
                space.gather(&l, &mut gathered);
                let mut scattered = vec![0.0; dofs];
                space.scatter_add(&e, &mut scattered);
                let dot =
                    |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
                let difference = dot(&gathered, &e) - dot(&l, &scattered);
                assert!(difference.abs() < 1e-10, "{difference:e}");
            }
        }
    }
}

#[test]
fn constrained_nodes_are_those_on_tagged_sides() {
    let mut random = Random::new();
    for mesh in [square(&mut random, 2), cube(&mut random, 3)] {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let (space, geometry) = space(&mesh, params(degree, 90));
            let constraints = Constraints::of_all_components(&space, &["xmin", "4"]).unwrap();
            let positions = space.node_positions(&geometry);
            for (node, x) in positions.iter().enumerate() {
                // Sides xmin and ymax.
                let on_side = x[0] < -1.0 + 1e-12 || x[1] > 1.5 - 1e-12;
                let found = constraints.entries().binary_search(&(node as u32));
                assert_eq!(on_side, found.is_ok(), "{x:?}");
            }
            let nodes = space.boundary_nodes("xmin").unwrap();
            for (node, x) in nodes.iter().zip(space.positions_of(&nodes, &geometry)) {
                let y = positions[node.node as usize];
                assert!((0..3).all(|a| (x[a] - y[a]).abs() < 1e-14), "{x:?} {y:?}");
            }
            let facets = space.boundary().tagged("xmin").unwrap();
            assert_eq!(facets.len(), if space.dim() == 2 { 6 } else { 2 * 3 * 5 });
            for facet in facets {
                let point = [[0.3, 0.3, 0.0]];
                let at = geometry.facet_at_points(facet.cell as usize, facet.number.into(), &point);
                assert!((at[0].position[0] + 1.0).abs() < 1e-14 && at[0].area_normal[0] < 0.0);
                assert_eq!(space.cells()[facet.element as usize], facet.cell);
            }
        }
    }
}

#[test]
fn the_numbering_does_not_depend_on_the_number_of_threads() {
    let mut random = Random::new();
    let mesh = cube(&mut random, 1);
    for degree in 1..=MAX_SIMPLEX_DEGREE {
        let params = params(degree, 60);
        let [one, two, three] = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| space(&mesh, params.clone()).0)
        });
        assert_eq!(one.restriction(), two.restriction());
        assert_eq!(one.restriction(), three.restriction());
    }
}

#[test]
fn chunks_have_about_as_many_nodes_as_asked_for() {
    let cube = SimplexBox::unit_cube(16).build(|x| x).unwrap();
    let square = SimplexBox::unit_square(60).build(|x| x).unwrap();
    for mesh in [cube, square] {
        for degree in 1..=MAX_SIMPLEX_DEGREE {
            let (space, _) = space(&mesh, params(degree, 1000));
            for chunk in &space.restriction().chunks {
                let nodes = chunk.nodes();
                assert!((700..2600).contains(&nodes), "{degree}: {nodes}");
            }
        }
    }
}

fn error(mesh: &Mesh, params: SpaceParams) -> SpaceError {
    let geometry = Geometry::new(mesh).unwrap();
    Space::new(mesh, &geometry, params).unwrap_err()
}

#[test]
fn invalid_spaces_are_errors() {
    let mut random = Random::new();
    let mesh = cube(&mut random, 1);
    let degree = error(&mesh, params(9, 100));
    assert!(
        matches!(
            degree,
            SpaceError::Basis(BasisError::Degree { found: 9, .. })
        ),
        "{degree}"
    );

    // Hexahedra and a tetrahedron; triangles and a quadrilateral.
    let mut mixed = bent_box([1, 1, 1], 1);
    mixed.blocks.push(CellBlock {
        cell_type: CellType::TET4,
        nodes: vec![0, 1, 2, 4].into(),
        tags: vec![0],
    });
    let mixed = error(&mixed, params(1, 100)).to_string();
    assert!(mixed.contains("1 tet4 cells beside others"), "{mixed}");
    let mut flat = square(&mut random, 1);
    flat.blocks.push(CellBlock {
        cell_type: CellType::QUAD4,
        nodes: vec![0, 1, 9, 8].into(),
        tags: vec![0],
    });
    let flat = error(&flat, params(1, 100)).to_string();
    assert!(flat.contains(" tri3 cells beside others"), "{flat}");

    // A third triangle at an edge.
    let mut crowded = SimplexBox::unit_square(1).build(|x| x).unwrap();
    crowded.coordinates.to_mut().push([0.5, 0.1, 0.0]);
    crowded.blocks[0].nodes.to_mut().extend([0, 4, 3]);
    crowded.blocks[0].tags.push(7);
    match error(&crowded, params(2, 100)) {
        SpaceError::CrowdedFacet { mut nodes, .. } => {
            nodes.sort_unstable();
            assert_eq!(nodes, [0, 3]);
        }
        other => panic!("{other}"),
    }

    // A tagged triangle that is not a facet, and a group of the wrong dimension.
    let mut stranger = mesh;
    stranger.blocks[1].nodes.to_mut().extend([0, 1, 3]);
    stranger.blocks[1].tags.push(1);
    let (space, _) = space(&stranger, params(1, 100));
    let constrain = |tag: &str| Constraints::of_all_components(&space, &[tag]).unwrap_err();
    let found = constrain("xmin");
    assert!(
        matches!(&found, SpaceError::NoSuchFacet { nodes, count: 1, .. } if *nodes == [0, 1, 3]),
        "{found}"
    );
    let missing = constrain("domain").to_string();
    assert!(missing.contains("dimension 2"), "{missing}");
}
