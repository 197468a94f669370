//! The maps of cells against oracles, closed forms and the integral theorems.

mod geometry_common;

use femto_element::CellType;
use femto_element::MapKind;
use femto_element::basis::lagrange;
use femto_element::quadrature::gauss;
use femto_fem::geometry::jacobian::{cofactors, determinant, dot};
use femto_fem::geometry::{FacetPoint, Geometry, GeometryAtPoints, Points};
use femto_fem::mesh::{CellBlock, Mesh};
use geometry_common::{
    Point, assert_near, deformed_box, face_at_points, geometry, shear, volume, wave,
};

/// Trilinear on the whole box, so in every cell.
fn twist([x, y, z]: Point) -> Point {
    [x + 0.1 * y * z, y - 0.05 * x * z, z + 0.04 * x * y * z]
}

/// The mesh with its hex27 cells as hex20: the last 7 nodes dropped.
fn serendipity(mut mesh: Mesh) -> Mesh {
    let block = &mut mesh.blocks[0];
    assert_eq!(block.cell_type, CellType::HEX27);
    block.nodes = block.cells().flat_map(|cell| cell[..20].to_vec()).collect();
    block.cell_type = CellType::HEX20;
    mesh
}

/// ∫ f over one face, f of position and area normal.
fn face_integral(
    geometry: &Geometry,
    (cell, face): (usize, usize),
    points_1d: usize,
    f: impl Fn(Point, Point) -> f64,
) -> f64 {
    let rule = gauss(points_1d);
    let points = face_at_points(geometry, (cell, face), &rule.points);
    let weight = |q: usize| rule.weights[q % points_1d] * rule.weights[q / points_1d];
    let term = |(q, p): (usize, &FacetPoint)| weight(q) * f(p.position, p.area_normal);
    points.iter().enumerate().map(term).sum()
}

#[test]
fn boxes_are_affine_and_their_volume_is_exact() {
    for degree in [1, 2] {
        let box_geometry = geometry(&deformed_box(degree, |x| x));
        assert_eq!(box_geometry.len(), 12);
        assert!(
            box_geometry
                .kinds()
                .iter()
                .all(|&kind| kind == MapKind::Affine)
        );
        assert!((volume(&box_geometry, 1) - 6.0).abs() < 1e-14);
        assert_near(box_geometry.centroid(0), [-0.5, 0.25, 1.0], 1e-15);
    }
}

#[test]
fn cells_are_classified_by_what_they_are() {
    let kinds = |mesh: &Mesh| geometry(mesh).kinds().to_vec();
    for degree in [1, 2] {
        assert_eq!(kinds(&deformed_box(degree, shear)), [MapKind::Affine; 12]);
        assert_eq!(
            kinds(&deformed_box(degree, twist)),
            [MapKind::Multilinear; 12]
        );
    }
    assert_eq!(
        kinds(&serendipity(deformed_box(2, twist))),
        [MapKind::Multilinear; 12]
    );
    assert_eq!(kinds(&deformed_box(1, wave)), [MapKind::Multilinear; 12]);
    assert_eq!(kinds(&deformed_box(2, wave)), [MapKind::Curved; 12]);
    // Far from the origin the rounding of the coordinates must not hide an affine cell.
    let far = deformed_box(2, |x| shear(x).map(|x| 1e3 + 1e-3 * x));
    assert_eq!(kinds(&far), [MapKind::Affine; 12]);
    // One moved node makes one cell curved and leaves the others.
    let mut bent = deformed_box(2, shear);
    let centre = bent.blocks[0].cell(5)[26];
    bent.coordinates.to_mut()[centre as usize][1] += 1e-6;
    let mut expected = [MapKind::Affine; 12];
    expected[5] = MapKind::Curved;
    assert_eq!(kinds(&bent), expected);
}

#[test]
fn straight_cells_cost_little_memory() {
    let (straight, bent) = (deformed_box(2, shear), deformed_box(2, wave));
    // 8 vertices, a kind; curved cells an index and 27 positions more.
    assert_eq!(geometry(&straight).bytes(), 12 * (32 + 1));
    assert_eq!(geometry(&bent).bytes(), 12 * (32 + 4 + 1 + 648));
}

#[test]
fn trilinear_coefficients_are_the_map() {
    let twisted = geometry(&deformed_box(1, twist));
    let sheared = geometry(&deformed_box(1, shear));
    let xi = [0.3, -0.7, 0.9];
    for g in [&twisted, &sheared] {
        for cell in 0..g.len() {
            let c = g.trilinear_coefficients(cell);
            let position = [0, 1, 2].map(|d| -> f64 {
                let axis = |m: usize, a: usize| if m >> a & 1 == 1 { xi[a] } else { 1.0 };
                (0..8)
                    .map(|m| c[m][d] * axis(m, 0) * axis(m, 1) * axis(m, 2))
                    .sum()
            });
            assert_near(position, g.map(cell, xi), 1e-14);
        }
    }
    let c = sheared.trilinear_coefficients(7);
    assert!([3, 5, 6, 7].iter().all(|&m| c[m] == [0.0; 3]));
}

/// Σ x_n φ_n and its derivatives with Lagrange polynomials on the cell's nodes: the oracle.
fn plain_map(mesh: &Mesh, cell: usize, xi: Point) -> (Point, [Point; 3]) {
    let line = [-1.0, 0.0, 1.0];
    let values = lagrange::interpolation(&line, &xi);
    let derivatives = lagrange::differentiation(&line, &xi);
    let (mut position, mut jacobian) = ([0.0; 3], [[0.0; 3]; 3]);
    for (&node, &ijk) in mesh.blocks[0]
        .cell(cell)
        .iter()
        .zip(&CellType::HEX27.node_lattice())
    {
        let x = mesh.coordinates.at(node as usize);
        let phi = |by: usize| -> f64 {
            let factor = |a: usize| {
                if a == by {
                    derivatives[(a, ijk[a])]
                } else {
                    values[(a, ijk[a])]
                }
            };
            (0..3).map(factor).product()
        };
        for d in 0..3 {
            position[d] += x[d] * phi(3);
            (0..3).for_each(|a| jacobian[d][a] += x[d] * phi(a));
        }
    }
    (position, jacobian)
}

#[test]
fn curved_maps_agree_with_lagrange_interpolation() {
    let mesh = deformed_box(2, wave);
    let g = geometry(&mesh);
    let points_1d = [-1.0, -0.2, 0.6, 0.95];
    let grid = Points::Grid(points_1d.to_vec());
    let mut at = GeometryAtPoints::default();
    let mut positions = Vec::new();
    for cell in 0..g.len() {
        g.at_points(cell, &grid, &mut at);
        g.positions(cell, &grid, &mut positions);
        assert_eq!(positions, at.position);
        assert_eq!((at.jacobian.len(), at.determinant.len()), (64, 64));
        for q in 0..64 {
            let xi = [q % 4, q / 4 % 4, q / 16].map(|i| points_1d[i]);
            let (position, jacobian) = plain_map(&mesh, cell, xi);
            assert_near(at.position[q], position, 1e-14);
            assert_near(g.map(cell, xi), position, 1e-14);
            for (d, &row) in jacobian.iter().enumerate() {
                assert_near(at.jacobian[q][d], row, 1e-14);
                assert_near(g.jacobian(cell, xi)[d], row, 1e-14);
            }
            assert_eq!(at.determinant[q], determinant(&at.jacobian[q]));
        }
    }
}

/// The serendipity function of the hex20 node at `node` in {-1, 0, 1}³ (O. C. Zienkiewicz and R. L.
/// Taylor, The Finite Element Method, vol. 1, "Shape functions: rectangular prisms").
fn serendipity_function(node: Point, xi: Point) -> f64 {
    let factor = |a: usize| {
        if node[a] == 0.0 {
            1.0 - xi[a] * xi[a]
        } else {
            1.0 + node[a] * xi[a]
        }
    };
    let product = factor(0) * factor(1) * factor(2);
    if node.contains(&0.0) {
        product / 4.0
    } else {
        product / 8.0 * (dot(node, xi) - 2.0)
    }
}

#[test]
fn hex20_maps_agree_with_the_serendipity_functions() {
    let mesh = serendipity(deformed_box(2, wave));
    let g = geometry(&mesh);
    for cell in 0..g.len() {
        for xi in [
            [0.0; 3],
            [0.0, 0.0, 1.0],
            [0.3, -0.8, 0.45],
            [-1.0, 0.2, 0.9],
        ] {
            let mut expected = [0.0; 3];
            for (&node, ijk) in mesh.blocks[0]
                .cell(cell)
                .iter()
                .zip(CellType::HEX20.node_lattice())
            {
                let at = ijk.map(|i| i as f64 - 1.0);
                let phi = serendipity_function(at, xi);
                (0..3).for_each(|d| expected[d] += phi * mesh.coordinates.at(node as usize)[d]);
            }
            assert_near(g.map(cell, xi), expected, 1e-14);
        }
    }
}

#[test]
fn mixed_blocks_are_numbered_consecutively() {
    let mut mesh = deformed_box(2, wave);
    let straight = deformed_box(1, shear);
    let offset = mesh.coordinates.len() as u32;
    mesh.coordinates
        .to_mut()
        .extend(straight.coordinates.iter());
    mesh.blocks.push(CellBlock {
        cell_type: CellType::HEX8,
        nodes: straight.blocks[0]
            .nodes
            .all()
            .map(|node| node + offset)
            .collect(),
        tags: straight.blocks[0].tags.clone(),
    });
    let first = mesh.blocks[0].clone();
    mesh.blocks.push(first);
    let (mixed, alone) = (geometry(&mesh), geometry(&straight));
    assert_eq!(mixed.len(), 36);
    let xi = [0.1, 0.2, 0.3];
    for cell in 0..12 {
        assert_eq!(mixed.map(12 + cell, xi), alone.map(cell, xi));
        assert_eq!(mixed.map(24 + cell, xi), mixed.map(cell, xi));
    }
}

#[test]
fn faces_are_outward_and_close_every_cell() {
    for mesh in [
        deformed_box(1, shear),
        deformed_box(1, wave),
        deformed_box(2, wave),
    ] {
        let g = geometry(&mesh);
        let mut sum = 0.0;
        for cell in 0..g.len() {
            let over_faces = |f: &dyn Fn(Point, Point) -> f64| -> f64 {
                (0..6)
                    .map(|face| face_integral(&g, (cell, face), 6, f))
                    .sum()
            };
            for d in 0..3 {
                assert!(
                    over_faces(&|_, normal| normal[d]).abs() < 1e-14,
                    "cell {cell}"
                );
            }
            // ∫ x·n over the surface is three times the volume.
            sum += over_faces(&|x, normal| dot(x, normal)) / 3.0;
        }
        let expected = volume(&g, 5);
        assert!(
            (sum - expected).abs() < 1e-13 * expected,
            "{sum} {expected}"
        );
    }
}

#[test]
fn face_points_follow_the_axes_of_the_face() {
    let g = geometry(&deformed_box(2, wave));
    let points_1d = [-0.5, 0.25];
    for (face, [low, high], axis) in [(1, [1, 2], 0), (2, [0, 2], 1), (5, [0, 1], 2)] {
        let side = [-1.0, 1.0][face % 2];
        for (q, point) in face_at_points(&g, (3, face), &points_1d).iter().enumerate() {
            let mut xi = [side; 3];
            (xi[low], xi[high]) = (points_1d[q % 2], points_1d[q / 2]);
            assert_near(point.position, g.map(3, xi), 1e-15);
            let normal = cofactors(&g.jacobian(3, xi))[axis].map(|x| side * x);
            assert_near(point.area_normal, normal, 1e-15);
        }
    }
}
