//! Extrusion of plane meshes.

use super::*;
use crate::geometry::Geometry;
use crate::mesh::boxes::{AnyBox, SimplexBox};
use crate::space::{Block, Space, SpaceParams};
use femto_element::Cell;

#[test]
fn columns_stand_on_the_plane() {
    let plane = SimplexBox::unit_square(3).build(|x| x).unwrap();
    let bottom = |[x, y]: [f64; 2]| 0.1 * (x - y);
    let mesh = plane
        .extrude(&Layers::graded(4, 0.5), bottom, |_| 2.0)
        .unwrap();
    assert_eq!(
        (mesh.coordinates.len(), mesh.blocks[0].len()),
        (16 * 5, 18 * 4)
    );
    assert_eq!(mesh.turn_left_handed_copy(), 0);
    let columns = mesh.columns().expect("columns");
    assert_eq!(columns.layers, 4);
    assert_eq!(columns.count, 18);
    assert!((0..18).flat_map(|it| columns.cells(it)).eq(0..72));
    let geometry = Geometry::new(&mesh).unwrap();
    assert!(geometry.check(&[-0.9, 0.0, 0.9]).unwrap().is_empty());
    let blocks = Block::all(&mesh, vec![geometry], SpaceParams::default()).unwrap();
    let count = |tag| blocks[0].space.boundary().tagged(tag).unwrap().len();
    assert_eq!(
        ["bottom", "top", "xmin", "ymax"].map(count),
        [18, 18, 12, 12]
    );
}

/// Columns between a surface and one above it, whose heights are those of its nodes.
#[test]
fn surfaces_are_extruded_by_their_heights() {
    let plane = SimplexBox::unit_square(3).build(|x| x).unwrap();
    let mut surface = plane.clone();
    for (node, x) in surface.coordinates.to_mut().iter_mut().enumerate() {
        x[2] = 0.1 * (node % 5) as f64;
    }
    let layers = Layers::uniform(2);
    let refused = surface.extrude(&layers, |_| -1.0, |_| 1.0).unwrap_err();
    assert!(matches!(refused, MeshError::ExtrudedSurface { .. }));
    let mesh = surface.extrude_surface(&layers, |_| -1.0, |[_, _, z]| z + 1.0);
    let mesh = mesh.unwrap();
    for (node, [x, y, z]) in surface.coordinates.iter().enumerate() {
        for level in 0..3 {
            let height = -1.0 + 0.5 * level as f64 * (z + 2.0);
            let found = mesh.coordinates.at(3 * node + level);
            let apart = [0, 1, 2].map(|a| (found[a] - [x, y, height][a]).abs());
            assert!(apart.into_iter().all(|apart| apart < 1e-15));
        }
    }
    let geometry = Geometry::new(&mesh).unwrap();
    assert!(geometry.check(&[-0.9, 0.9]).unwrap().is_empty());
    // As seen from above.
    let block = &mut surface.blocks[0];
    block.nodes.to_mut()[..3].reverse();
    assert_eq!(
        (surface.turn_left_handed(), surface.turn_clockwise()),
        (0, 1)
    );
}

/// Nodes of a column are those of its lowest prism, plus the same step from layer to layer.
#[test]
fn nodes_step_upwards() {
    let plane = SimplexBox {
        irregular: Some(3),
        ..SimplexBox::unit_square(4)
    };
    let plane = plane.build(|x| x).unwrap();
    let layers = 5;
    let mesh = plane
        .extrude(&Layers::uniform(layers), |_| 0.0, |_| 1.0)
        .unwrap();
    for degree in 1..=4 {
        let params = SpaceParams {
            degree: degree.into(),
            chunk_nodes: 20 * usize::pow(degree, 3),
            ..SpaceParams::default()
        };
        let space = Space::new(&mesh, &Geometry::new(&mesh).unwrap(), params).unwrap();
        assert!(space.restriction().chunks.len() > 2);
        for column in 0..space.elements() / layers {
            let nodes: Vec<Vec<u32>> = (0..layers)
                .map(|layer| space.element_nodes(column * layers + layer))
                .collect();
            for position in 0..nodes[0].len() {
                let step = nodes[1][position] - nodes[0][position];
                assert!(
                    nodes
                        .windows(2)
                        .all(|pair| pair[1][position] - pair[0][position] == step)
                );
            }
            assert_eq!(nodes[0][3..6], nodes[1][..3]);
        }
    }
}

/// Gmsh writes the centres of arcs, and the names of groups of solids.
#[test]
fn what_has_no_plane_cells_is_left_out() {
    let mut plane = SimplexBox::unit_square(2).build(|x| x).unwrap();
    plane.coordinates.to_mut().push([5.0, 5.0, 0.0]);
    plane.groups.push(PhysicalGroup {
        dimension: 3,
        number: 9,
        name: "solid".to_owned(),
    });
    let top = |[x, _]: [f64; 2]| 2.0 - x;
    let mesh = plane.extrude(&Layers::uniform(2), |_| 0.5, top).unwrap();
    let idle = mesh.coordinates.iter().skip(mesh.coordinates.len() - 3);
    assert_eq!(idle.collect::<Vec<_>>(), [[5.0, 5.0, 0.5]; 3]);
    assert!(mesh.groups.iter().all(|group| group.dimension <= 3));
    assert!(
        Geometry::new(&mesh)
            .unwrap()
            .check(&[0.0])
            .unwrap()
            .is_empty()
    );
}

#[test]
fn quadrilaterals_become_hexahedra() {
    let plane = AnyBox::unit(Cell::Quadrilateral, 2).build(|x| x).unwrap();
    let mesh = plane
        .extrude(&Layers::uniform(3), |_| 0.0, |_| 1.0)
        .unwrap();
    let geometry = Geometry::new(&mesh).unwrap();
    assert_eq!(geometry.len(), 12);
    assert!(geometry.check(&[-0.9, 0.9]).unwrap().is_empty());
}

#[test]
fn periodic_sides_stay_periodic() {
    let mut plane = SimplexBox::unit_square(3).build(|x| x).unwrap();
    plane.join_sides("xmin", "xmax").unwrap();
    let layers = Layers::uniform(2);
    let mesh = plane.extrude(&layers, |_| 0.0, |[_, y]| 1.0 + y).unwrap();
    let nodes = &mesh.periodic[0].nodes;
    assert_eq!(nodes.len(), 4 * 3);
    for pair in nodes {
        let [from, to] = pair.map(|node| mesh.coordinates.at(node as usize));
        assert_eq!([from[0] + 1.0, from[1], from[2]], to);
    }
    let geometries = vec![Geometry::new(&mesh).unwrap()];
    let blocks = Block::all(&mesh, geometries, SpaceParams::default()).unwrap();
    assert_eq!(blocks[0].space.nodes(), 12 * 3);
    let error = plane
        .extrude(&layers, |_| 0.0, |[x, _]| 1.0 + x)
        .unwrap_err();
    assert!(error.to_string().contains("periodic sides"), "{error}");
}

#[test]
fn what_cannot_be_extruded_is_an_error() {
    let plane = SimplexBox::unit_square(2).build(|x| x).unwrap();
    let error = |layers: &Layers, top: f64| {
        let error = plane.extrude(layers, |_| 0.0, |_| top).unwrap_err();
        error.to_string()
    };
    let levels = error(
        &Layers {
            levels: vec![0.0, 0.5, 0.5, 1.0],
        },
        1.0,
    );
    assert!(
        levels.contains("level 1 is 0.5, and the next 0.5"),
        "{levels}"
    );
    assert!(error(&Layers::uniform(0), 1.0).contains("at least 2"));
    let none = Layers { levels: vec![] };
    assert!(error(&none, 1.0).contains("none"));
    assert!(error(&Layers::uniform(2), f64::NAN).contains("NaN"));
    assert!(error(&Layers::uniform(2), -1.0).contains("-1"));
    let curved = SimplexBox {
        geometry_degree: 2,
        ..SimplexBox::unit_square(2)
    };
    let curved = curved.build(|x| x).unwrap();
    let refused = curved
        .extrude(&Layers::uniform(1), |_| 0.0, |_| 1.0)
        .unwrap_err();
    assert!(
        refused.to_string().contains("8 cells of type tri6"),
        "{refused}"
    );
    let solid = SimplexBox::unit_cube(1).build(|x| x).unwrap();
    assert!(
        solid
            .extrude(&Layers::uniform(1), |_| 0.0, |_| 1.0)
            .is_err()
    );
    let mut surface = plane.clone();
    surface.coordinates.to_mut()[4][2] = 0.1;
    let extruded = |mesh: &Mesh| mesh.extrude(&Layers::uniform(1), |_| 0.0, |_| 1.0);
    let error = extruded(&surface).unwrap_err().to_string();
    assert!(error.contains("z = 0"), "{error}");
    let mut named = plane.clone();
    let group = named.groups.iter_mut().find(|it| it.dimension == 1);
    group.unwrap().name = TOP.to_owned();
    let error = extruded(&named).unwrap_err().to_string();
    assert!(error.contains("`top` of edges"), "{error}");
    let mut numbered = plane;
    let group = numbered.groups.iter_mut().find(|it| it.dimension == 1);
    group.unwrap().number = i32::MAX - 1;
    let error = extruded(&numbered).unwrap_err().to_string();
    assert!(error.contains("2147483646"), "{error}");
}

impl Mesh {
    fn turn_left_handed_copy(&self) -> usize {
        self.clone().turn_left_handed()
    }
}
