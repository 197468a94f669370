//! Meshes that the check accepts, warns about or rejects, and its messages.

mod geometry_common;

use femto_element::CellType;
use femto_element::quadrature::gauss;
use femto_element::{Cell, basis::nodes};
use femto_fem::geometry::{Geometry, GeometryAtPoints, GeometryError, Points};
use femto_fem::mesh::{CellBlock, Membership, Mesh, boxes::BoxMesh};
use femto_fem::space::{Space, SpaceParams};
use geometry_common::{Point, assert_near, deformed_box, geometry, shear, volume, wave};

/// A mesh of one hex8 with the vertices of [0, 1]³, in Gmsh's order, moved by `place`.
fn one_cell(place: impl Fn(Point) -> Point + Sync) -> Mesh {
    let mesh = BoxMesh::unit_cube(1).build(place);
    mesh.expect("a valid box")
}

#[test]
fn good_meshes_pass_the_check() {
    for mesh in [
        deformed_box(1, shear),
        deformed_box(1, wave),
        deformed_box(2, wave),
    ] {
        assert_eq!(geometry(&mesh).check(&gauss(3).points), Ok(vec![]));
    }
    // Thin, tiny and huge cells are as regular as the unit cube.
    for scale in [[1.0, 1.0, 1e-9], [1e-9; 3], [1e9; 3]] {
        let mesh = deformed_box(1, |x| [0, 1, 2].map(|d| scale[d] * x[d]));
        assert_eq!(geometry(&mesh).check(&gauss(2).points), Ok(vec![]));
    }
}

/// The check skips the points of cells accepted by a bound: it must not skip a bad one.
#[test]
fn the_check_agrees_with_determinants_at_points() {
    let points = gauss(3).points;
    let corners = [-1.0, 1.0];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    // xorshift64, G. Marsaglia 2003; uniform in [-1, 1].
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as f64 / u64::MAX as f64 * 2.0 - 1.0
    };
    let mut outcomes = [0; 3];
    let mut at = GeometryAtPoints::default();
    for sample in 0..600 {
        let mut mesh = deformed_box(1 + sample % 2, |x| x);
        let block = &mut mesh.blocks[0];
        block.nodes.to_mut().truncate(block.cell_type.nodes());
        block.tags.truncate(1);
        let amplitude = 0.3 * (sample % 20) as f64 / 20.0;
        for x in mesh.coordinates.to_mut().iter_mut().flatten() {
            *x += amplitude * random();
        }
        let g = geometry(&mesh);
        let mut all_positive = |points_1d: &[f64]| {
            g.at_points(0, &Points::Grid(points_1d.to_vec()), &mut at);
            at.determinant.iter().all(|&det| det > 0.0)
        };
        let expected = match (all_positive(&points), all_positive(&corners)) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        };
        let found = match g.check(&points) {
            Err(_) => 0,
            Ok(warnings) => 2 - warnings.len(),
        };
        assert_eq!(found, expected, "sample {sample}: {:?}", mesh.coordinates);
        outcomes[found] += 1;
    }
    assert!(outcomes.iter().all(|&count| count > 20), "{outcomes:?}");
}

#[test]
fn inverted_cells_are_named_with_position_and_determinant() {
    let mut mesh = deformed_box(1, shear);
    for cell in [4, 9] {
        let nodes = &mut mesh.blocks[0].nodes.to_mut()[8 * cell..8 * (cell + 1)];
        nodes.rotate_left(4);
    }
    let points = gauss(2).points;
    let error = geometry(&mesh)
        .check(&points)
        .expect_err("two inverted cells");
    let GeometryError::NotInvertible {
        cell,
        position,
        reference,
        determinant,
        bad_cells,
        cells,
    } = error.clone()
    else {
        panic!("{error}");
    };
    assert_eq!((cell, bad_cells, cells), (4, 2, 12));
    assert!(determinant < 0.0);
    assert!(reference.iter().all(|x| points.contains(x)));
    assert_near(position, geometry(&mesh).map(4, reference), 1e-15);
    let text = error.to_string();
    for part in ["mesh cell 4 ", "2 of 12 cells", &format!("{determinant:e}")] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn flat_cells_are_errors() {
    let points = gauss(2).points;
    let is_bad = |mesh: &Mesh| {
        let checked = geometry(mesh).check(&points);
        matches!(
            checked,
            Err(GeometryError::NotInvertible {
                cell: 0,
                bad_cells: 1,
                ..
            })
        )
    };
    // Flat in oblique planes: the determinant is rounding of either sign.
    for sample in 1..40 {
        let (a, b) = (0.7 / sample as f64, 0.13 * sample as f64);
        let flat = |[x, y, z]: Point| [x + 0.1 * z, y + 0.3 * z];
        let in_plane = |[x, y]: [f64; 2]| [x, y, a * x + b * y];
        assert!(is_bad(&one_cell(|x| in_plane(flat(x)))), "sample {sample}");
    }
    assert!(is_bad(&one_cell(|_| [1.0, 2.0, 3.0])));
}

#[test]
fn bad_corners_are_warnings_unless_points_are_there() {
    // Vertex (1, 1, 1) pushed through the cell's diagonal plane: bad only at that corner.
    let dented = |[x, y, z]: Point| {
        if x + y + z == 3.0 {
            [0.6; 3]
        } else {
            [x, y, z]
        }
    };
    let g = geometry(&one_cell(dented));
    let warnings = g.check(&gauss(2).points).expect("good at the Gauss points");
    assert_eq!(warnings.len(), 1);
    assert_eq!((warnings[0].cell, warnings[0].corner), (0, 7));
    assert!(warnings[0].determinant < 0.0);
    assert_near(
        warnings[0].position,
        g.map(0, Cell::Hexahedron.vertex(7)),
        1e-15,
    );
    assert!(warnings[0].to_string().contains("mesh cell 0"));
    assert!(matches!(
        g.check(&nodes::gll(2)),
        Err(GeometryError::NotInvertible { .. })
    ));

    // Long cells whose short edges shrink to nothing at four corners: where the bound is sharp.
    let pinched = geometry(&one_cell(|x: Point| {
        let [u, v, w] = x.map(|x| 2.0 * x - 1.0);
        [u * (1.0 - v * w), 100.0 * v, 100.0 * w]
    }));
    let warnings = pinched
        .check(&gauss(3).points)
        .map(|warnings| warnings.len());
    assert_eq!(warnings, Ok(1));

    // A prism given as a hexahedron: one edge collapsed, determinant zero along it.
    let prism = geometry(&one_cell(|[x, y, z]| [x * (1.0 - y), y, z]));
    let warnings = prism
        .check(&gauss(3).points)
        .expect("good at the Gauss points");
    assert_eq!(warnings.len(), 1);
    assert!((volume(&prism, 2) - 0.5).abs() < 1e-15);
}

#[test]
fn unusable_meshes_are_typed_errors() {
    let mut mesh = deformed_box(1, |x| x);
    let nodes = mesh.coordinates.len();
    mesh.blocks[0].nodes.to_mut()[8 * 3 + 2] = nodes as u32;
    let missing = GeometryError::MissingNode {
        cell: 3,
        node: nodes as u32,
        nodes,
    };
    assert_eq!(Geometry::new(&mesh).expect_err("a missing node"), missing);

    mesh.blocks.remove(0);
    // The surface of a box, which is not a mesh of the plane.
    let error = Geometry::new(&mesh).expect_err("no hexahedra");
    assert!(
        matches!(error, GeometryError::OffPlane { cell: 0, .. }),
        "{error}"
    );
    let lines = Mesh {
        blocks: vec![CellBlock {
            cell_type: CellType::LINE2,
            nodes: vec![0, 1, 1, 2].into(),
            tags: vec![0; 2],
        }],
        ..mesh.clone()
    };
    let error = Geometry::new(&lines).expect_err("no cells");
    assert!(error.to_string().contains("it has 2 line2"), "{error}");

    let cubic = CellType::from_gmsh(92).expect("hex64");
    mesh.blocks.push(CellBlock {
        cell_type: cubic,
        nodes: vec![0; 64].into(),
        tags: vec![0],
    });
    let error = Geometry::new(&mesh).expect_err("an unsupported order");
    assert_eq!(
        error,
        GeometryError::UnsupportedOrder {
            found: "hex64",
            count: 1
        }
    );
}

/// Lists of meshes that programs make.
#[test]
fn lists_that_contradict_each_other_are_errors() {
    type Change = fn(&mut Mesh);
    let changes: [(Change, &str); 6] = [
        (
            |it| it.coordinates.to_mut()[3][1] = f64::NAN,
            "node 3 is at [",
        ),
        (
            |it| it.blocks[0].nodes.to_mut().truncate(7),
            "7 nodes and 1 tags of cells hex8",
        ),
        (
            |it| it.blocks[1].tags.truncate(5),
            "24 nodes and 5 tags of cells quad4",
        ),
        (
            |it| {
                it.memberships.push(Membership {
                    block: 0,
                    cell: 1,
                    group: 7,
                })
            },
            "cell 1 of block 0 is in group 7",
        ),
        (
            |it| {
                it.memberships.push(Membership {
                    block: 9,
                    cell: 0,
                    group: 7,
                })
            },
            "cell 0 of block 9",
        ),
        (
            |it| {
                let of_cell = |cell| Membership {
                    block: 1,
                    cell,
                    group: 7,
                };
                it.memberships.extend([2, 1].map(of_cell));
            },
            "do not ascend",
        ),
    ];
    for (change, wanted) in changes {
        let mut mesh = one_cell(|x| x);
        change(&mut mesh);
        let error = Geometry::new(&mesh).unwrap_err();
        assert!(
            matches!(error, GeometryError::Contradiction { .. }),
            "{error}"
        );
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(Geometry::of_shapes(&mesh).is_err());
        // Changed after its geometry was made.
        let geometry = Geometry::new(&one_cell(|x| x)).unwrap();
        let error = Space::new(&mesh, &geometry, SpaceParams::default()).unwrap_err();
        assert!(error.to_string().contains(wanted), "{error}");
    }
}
