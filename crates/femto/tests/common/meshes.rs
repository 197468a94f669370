//! Boxes of any cells with any kind of map.

use super::{Random, cut_quadrilaterals};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::boxes::{AnyBox, SimplexBox, SolidBox, Solids};
use femto::fem::mesh::{Layers, Mesh};
use femto::fem::space::{Block, SpaceParams};
use femto_element::{Cell, Layering, MapKind};
use std::f64::consts::PI;

/// The kinds of map that cells have.
pub fn maps(cell: Cell) -> &'static [MapKind] {
    match cell.is_tensor_product() {
        true => &[MapKind::Affine, MapKind::Multilinear, MapKind::Curved],
        false => &[MapKind::Affine, MapKind::Curved],
    }
}

/// The unit box with this many rectangles or boxes along each axis; simplices lie irregularly, so that neighbours
/// have many relative orientations.
pub fn unit_box(cell: Cell, map: MapKind, cells: &[usize]) -> AnyBox {
    let dim = cell.dim();
    AnyBox {
        cell,
        cells: cells[..dim].to_vec(),
        lower: vec![0.0; dim],
        upper: vec![1.0; dim],
        geometry_degree: if map == MapKind::Curved { 2 } else { 1 },
        irregular: (!cell.is_tensor_product()).then_some(5),
    }
}

/// The deformation for cells of a dimension whose maps are all to be of this kind.
fn deformation(dim: usize, map: MapKind) -> impl Fn([f64; 3]) -> [f64; 3] {
    move |[x, y, z]| {
        // The plane is a section through the solid in which all terms act.
        let z = if dim == 2 { 0.25 } else { z };
        match map {
            MapKind::Affine => [x + 0.2 * y, y - 0.1 * z, 0.9 * z + 0.1 * x],
            MapKind::Multilinear | MapKind::Extruded | MapKind::Curved => {
                // A twist as well, so that even a single cell does not have a simpler kind of map.
                let bent = bend([x, y, z]);
                let twist = [0.05 * y * (z + x), -0.07 * x * z, 0.06 * x * y];
                [0, 1, 2].map(|d| bent[d] + twist[d])
            }
        }
    }
}

/// Columns of prisms over an irregular mesh of triangles, from a bent bottom to a bent top unless they are level.
pub fn columns(cells: &[usize], layering: Layering) -> Mesh {
    let plane = SimplexBox::<2> {
        cells: [cells[0], cells[1]],
        irregular: Some(5),
        ..SimplexBox::unit_square(1)
    };
    let plane = plane.build(|[x, y]| [x + 0.2 * y, y]).expect("legal");
    let bottom = |[x, y]: [f64; 2]| match layering {
        Layering::Level => 0.1,
        Layering::Parallel | Layering::Any => 0.3 * (2.0 * x - y).sin(),
    };
    let top = |[x, y]: [f64; 2]| match layering {
        Layering::Level | Layering::Parallel => bottom([x, y]) + 1.5,
        Layering::Any => 1.5 + 0.2 * (x * y).cos(),
    };
    let layers = Layers::graded(cells[2], if cells[2] > 9 { 1.02 } else { 1.3 });
    plane.extrude(&layers, bottom, top).expect("legal")
}

/// A box of cells whose maps are all of this kind: sheared, or bent at the vertices, or truly curved.
pub fn mesh(cell: Cell, map: MapKind, cells: &[usize]) -> Mesh {
    if map == MapKind::Extruded {
        let layering = match cells[2] {
            3 => Layering::Parallel,
            4 => Layering::Level,
            _ => Layering::Any,
        };
        return columns(cells, layering);
    }
    let mesh = unit_box(cell, map, cells).build(deformation(cell.dim(), map));
    mesh.expect("the deformation keeps Jacobians positive")
}

/// As [`mesh`], of all four solids.
pub fn solids(map: MapKind, cells: [usize; 3]) -> Mesh {
    let of = SolidBox {
        cells,
        geometry_degree: if map == MapKind::Curved { 2 } else { 1 },
        irregular: Some(5),
        ..SolidBox::unit_cube(Solids::All, 1)
    };
    let mesh = of.build(deformation(3, map));
    mesh.expect("the deformation keeps Jacobians positive")
}

/// As [`mesh`], of hexahedra.
pub fn hexahedra(map: MapKind, cells: [usize; 3]) -> Mesh {
    mesh(Cell::Hexahedron, map, &cells)
}

/// The unit box with `n` rectangles or boxes along each axis, so deformed that refinements keep the kind of map
/// and the quality of cells. In the plane, and of simplices, the side xmax stays at x = 1.
pub fn refined(cell: Cell, map: MapKind, n: usize) -> Mesh {
    let plain = AnyBox {
        irregular: None,
        ..unit_box(cell, map, &[n; 3])
    };
    // ±1 at the vertices, alternating along every axis.
    let sign = |s: f64| (PI * n as f64 * s).cos();
    let inside = |s: f64| if s > 1e-9 && s < 1.0 - 1e-9 { 1.0 } else { 0.0 };
    let mesh = plain.build(|[x, y, z]| match (cell, map) {
        (Cell::Hexahedron, MapKind::Affine) => [x + 0.2 * y, y - 0.1 * z, 0.9 * z + 0.1 * x],
        (Cell::Hexahedron, MapKind::Multilinear) => {
            let shift = 0.15 / n as f64 * sign(x) * sign(y) * sign(z);
            [x + shift, y - shift, z + 0.5 * shift]
        }
        (Cell::Hexahedron, MapKind::Extruded | MapKind::Curved) => bend([x, y, z]),
        (_, MapKind::Affine) => [x, y + 0.2 * x, z + 0.1 * x],
        (_, MapKind::Multilinear) => {
            let shift = 0.15 / n as f64 * sign(x) * sign(y);
            [x + shift * inside(x), y - shift * inside(y), z]
        }
        (_, MapKind::Extruded | MapKind::Curved) => {
            let bump = 0.1 * (PI * x).sin();
            [x + bump * y, y + 0.1 * (2.0 * x).sin(), z + bump * y]
        }
    });
    mesh.expect("the deformation keeps Jacobians positive")
}

/// The square cut into triangles and quadrilaterals with maps of the given degree: of `n` cells along each
/// axis, random ones are split into pairs of triangles. All sides but xmin are bent.
pub fn mixed(n: usize, geometry_degree: usize) -> Mesh {
    mixed_like(&random_cuts(n), n, geometry_degree)
}

/// Which of `n` by `n` cells are split into pairs of triangles, random but for one of each.
pub fn random_cuts(n: usize) -> Vec<bool> {
    let mut random = Random::new();
    let mut cuts: Vec<bool> = (0..n * n).map(|_| random.next() > 0.0).collect();
    (cuts[0], cuts[n]) = (true, false);
    cuts
}

/// As [`mixed`], of `n` cells along each axis, a multiple of those of the `cuts`: a refinement of the cells that
/// are cut and of those that are not.
pub fn mixed_like(cuts: &[bool], n: usize, geometry_degree: usize) -> Mesh {
    let generator = AnyBox {
        geometry_degree,
        ..AnyBox::unit(Cell::Quadrilateral, n)
    };
    let mesh = generator.build(|[x, y, z]| {
        let bump = 0.1 * (PI * x).sin();
        [x + bump * y, y + 0.1 * (2.0 * x).sin(), z]
    });
    let mesh = mesh.expect("the deformation keeps Jacobians positive");
    let coarse = cuts.len().isqrt();
    let is_cut = |cell: usize| {
        let [row, column] = [cell / n, cell % n].map(|place| place * coarse / n);
        cuts[row * coarse + column]
    };
    cut_quadrilaterals(&mesh, is_cut)
}

/// The blocks of a space on a mesh.
pub fn blocks(mesh: &Mesh, params: SpaceParams) -> Vec<Block> {
    let geometries = Geometry::of_shapes(mesh).expect("legal");
    Block::all(mesh, geometries, params).expect("legal")
}

/// A smooth deformation of the unit cube.
pub fn bend([x, y, z]: [f64; 3]) -> [f64; 3] {
    [
        x + 0.06 * (PI * y).sin() * (PI * z).sin() + 0.03 * y,
        y + 0.05 * (PI * x).sin() * (2.0 * PI * z).sin(),
        z + 0.04 * (2.0 * PI * x).sin() * (PI * y).sin() + 0.1 * x,
    ]
}
