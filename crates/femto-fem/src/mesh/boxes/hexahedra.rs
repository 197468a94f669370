//! Boxes of hexahedra, optionally deformed.

use super::{DOMAIN, groups};
use crate::mesh::{CellBlock, Mesh, MeshError};
use femto_element::CellType;

/// A box of `cells[0] × cells[1] × cells[2]` hexahedra between two corners.
///
/// The mesh has two blocks: the hexahedra (hex8 or hex27) in group "domain" (number 7), cell
/// `i + cells[0] (j + cells[1] k)`, and the boundary quadrilaterals (quad4 or quad9, vertices
/// counter-clockwise seen from outside) in groups "xmin", "xmax", "ymin", "ymax", "zmin", "zmax"
/// (numbers 1 to 6). Nodes are lexicographic, x fastest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxMesh {
    /// Number of cells along x, y, z.
    pub cells: [usize; 3],
    /// Corner with the smallest coordinates.
    pub lower: [f64; 3],
    /// Corner with the largest coordinates.
    pub upper: [f64; 3],
    /// 1 for hex8 and quad4 cells, 2 for hex27 and quad9.
    pub geometry_degree: usize,
}

impl BoxMesh {
    /// The unit cube with the same number of hex8 cells along each axis.
    pub fn unit_cube(cells: usize) -> Self {
        Self {
            cells: [cells; 3],
            lower: [0.0; 3],
            upper: [1.0; 3],
            geometry_degree: 1,
        }
    }

    /// Generates the mesh, moving every node `x` (including the inner nodes of hex27 cells) to
    /// `deformation(x)`.
    ///
    /// # Errors
    /// [`MeshError::BoxCells`], [`MeshError::BoxCorners`] or [`MeshError::BoxDegree`] if the description is
    /// not a box.
    pub fn build(&self, deformation: impl Fn([f64; 3]) -> [f64; 3]) -> Result<Mesh, MeshError> {
        super::check(
            (&self.cells, self.geometry_degree),
            (self.lower, self.upper),
            (self.geometry_degree, 2),
        )?;
        Ok(Mesh {
            coordinates: self.coordinates(deformation),
            blocks: vec![self.hexahedra(), self.boundary()],
            groups: groups(3),
            ..Mesh::default()
        })
    }

    /// Number of nodes along each axis.
    fn grid(&self) -> [usize; 3] {
        self.cells.map(|n| n * self.geometry_degree + 1)
    }

    fn coordinates(&self, deformation: impl Fn([f64; 3]) -> [f64; 3]) -> Vec<[f64; 3]> {
        let grid = self.grid();
        let axis = |a: usize| -> Vec<f64> {
            let last = (grid[a] - 1) as f64;
            (0..grid[a])
                .map(|i| i as f64 / last)
                .map(|t| self.lower[a] * (1.0 - t) + self.upper[a] * t)
                .collect()
        };
        let (x, y, z) = (axis(0), axis(1), axis(2));
        let mut coordinates = Vec::with_capacity(grid[0] * grid[1] * grid[2]);
        for &z in &z {
            for &y in &y {
                coordinates.extend(x.iter().map(|&x| deformation([x, y, z])));
            }
        }
        coordinates
    }

    /// The mesh node at a position of the node grid.
    fn node(&self, place: [usize; 3]) -> u32 {
        let grid = self.grid();
        (place[0] + grid[0] * (place[1] + grid[1] * place[2])) as u32
    }

    fn hexahedra(&self) -> CellBlock {
        let cell_type = [CellType::HEX8, CellType::HEX27][self.geometry_degree - 1];
        let places = cell_type.node_lattice();
        let [nx, ny, nz] = self.cells;
        let mut nodes = Vec::with_capacity(nx * ny * nz * places.len());
        // A cell's nodes are its first node plus offsets common to all cells.
        let offsets: Vec<u32> = places.iter().map(|&place| self.node(place)).collect();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let first = self.node([i, j, k].map(|n| n * self.geometry_degree));
                    nodes.extend(offsets.iter().map(|offset| first + offset));
                }
            }
        }
        CellBlock {
            cell_type,
            nodes,
            tags: vec![DOMAIN; nx * ny * nz],
        }
    }

    fn boundary(&self) -> CellBlock {
        let mut block = CellBlock {
            cell_type: [CellType::QUAD4, CellType::QUAD9][self.geometry_degree - 1],
            nodes: Vec::new(),
            tags: Vec::new(),
        };
        for axis in 0..3 {
            for side in 0..2 {
                self.push_side(axis, side, &mut block);
            }
        }
        block
    }

    /// Appends the quadrilaterals of one side, first tangential axis fastest.
    fn push_side(&self, axis: usize, side: usize, block: &mut CellBlock) {
        // (axis, u, v) is a cyclic permutation, so u × v points along +axis; seen from outside
        // the lower side, the two swap.
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let (u, v) = if side == 1 { (u, v) } else { (v, u) };
        let places = block.cell_type.node_lattice();
        for cell_v in 0..self.cells[v] {
            for cell_u in 0..self.cells[u] {
                block.nodes.extend(places.iter().map(|place| {
                    let mut at = [0; 3];
                    at[axis] = side * self.cells[axis] * self.geometry_degree;
                    at[u] = cell_u * self.geometry_degree + place[0];
                    at[v] = cell_v * self.geometry_degree + place[1];
                    self.node(at)
                }));
                block.tags.push((1 + 2 * axis + side) as i32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRICK: BoxMesh = BoxMesh {
        cells: [2, 3, 4],
        lower: [-1.0, 0.1, 2.0],
        upper: [1.0, 0.7, 5.0],
        geometry_degree: 1,
    };

    fn corners(mesh: &Mesh, cell: &[u32]) -> Vec<[f64; 3]> {
        cell.iter().map(|&n| mesh.coordinates[n as usize]).collect()
    }

    fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| a[i] - b[i])
    }

    fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        [0, 1, 2].map(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    }

    #[test]
    fn cells_have_positive_volume_and_fill_the_box() -> Result<(), MeshError> {
        for geometry_degree in [1, 2] {
            let mesh = BoxMesh {
                geometry_degree,
                ..BRICK
            }
            .build(|x| x)?;
            assert_eq!(mesh.blocks[0].len(), 24);
            let mut volume = 0.0;
            for cell in 0..24 {
                let x = corners(&mesh, mesh.blocks[0].cell(cell));
                let [a, b, c] = [1, 3, 4].map(|n| minus(x[n], x[0]));
                let n = cross(a, b);
                let cell_volume = n[0] * c[0] + n[1] * c[1] + n[2] * c[2];
                assert!(cell_volume > 0.0);
                volume += cell_volume;
            }
            assert!((volume - 2.0 * 0.6 * 3.0).abs() < 1e-13, "{volume}");
        }
        Ok(())
    }

    #[test]
    fn inner_nodes_of_hex27_lie_where_their_vertices_say() -> Result<(), MeshError> {
        let mesh = BoxMesh {
            geometry_degree: 2,
            ..BRICK
        }
        .build(|x| x)?;
        let mean = |x: &[[f64; 3]], of: &[usize]| -> [f64; 3] {
            [0, 1, 2].map(|a| of.iter().map(|&n| x[n][a]).sum::<f64>() / of.len() as f64)
        };
        // Gmsh reference manual: the edge and face vertices of nodes 8 to 26.
        let inner: [&[usize]; 19] = [
            &[0, 1],
            &[0, 3],
            &[0, 4],
            &[1, 2],
            &[1, 5],
            &[2, 3],
            &[2, 6],
            &[3, 7],
            &[4, 5],
            &[4, 7],
            &[5, 6],
            &[6, 7],
            &[0, 1, 2, 3],
            &[0, 1, 4, 5],
            &[0, 3, 4, 7],
            &[1, 2, 5, 6],
            &[2, 3, 6, 7],
            &[4, 5, 6, 7],
            &[0, 1, 2, 3, 4, 5, 6, 7],
        ];
        let x = corners(&mesh, mesh.blocks[0].cell(23));
        for (node, of) in (8..).zip(inner) {
            let distance = minus(x[node], mean(&x, of)).map(f64::abs);
            assert!(distance.iter().all(|d| *d < 1e-14), "node {node}");
        }
        let quad = corners(&mesh, mesh.blocks[1].cell(0));
        for (node, of) in (4..).zip([&[0, 1][..], &[1, 2], &[2, 3], &[3, 0], &[0, 1, 2, 3]]) {
            let distance = minus(quad[node], mean(&quad, of)).map(f64::abs);
            assert!(distance.iter().all(|d| *d < 1e-14), "node {node}");
        }
        Ok(())
    }

    #[test]
    fn sides_are_tagged_and_face_outwards() -> Result<(), MeshError> {
        let mesh = BRICK.build(|x| x)?;
        let sides = &mesh.blocks[1];
        assert_eq!(sides.len(), 2 * (2 * 3 + 3 * 4 + 2 * 4));
        for (cell, &tag) in sides.tags.iter().enumerate() {
            let x = corners(&mesh, sides.cell(cell));
            let normal = cross(minus(x[1], x[0]), minus(x[3], x[0]));
            let (axis, side) = ((tag as usize - 1) / 2, (tag - 1) % 2);
            let plane = if side == 0 { BRICK.lower } else { BRICK.upper }[axis];
            assert!(x.iter().all(|x| x[axis] == plane), "group {tag}");
            assert_eq!(normal[axis] > 0.0, side == 1, "group {tag}");
        }
        for (name, number) in [("xmin", 1), ("xmax", 2), ("zmax", 6)] {
            assert_eq!(mesh.group(2, name)?, number);
        }
        assert_eq!(mesh.group(3, "domain")?, 7);
        Ok(())
    }

    #[test]
    fn invalid_boxes_are_errors() {
        let error = |mesh: BoxMesh| mesh.build(|x| x).map(|_| ()).unwrap_err().to_string();
        let cells = |cells| error(BoxMesh { cells, ..BRICK });
        assert!(cells([1, 0, 1]).contains("[1, 0, 1]"));
        assert!(cells([2000, 2000, 2000]).contains("2^32"));
        assert!(cells([usize::MAX; 3]).contains("2^32"));
        assert!(
            error(BoxMesh {
                geometry_degree: 3,
                ..BRICK
            })
            .contains("degree 3")
        );
        assert!(
            error(BoxMesh {
                upper: [1.0, 0.1, 5.0],
                ..BRICK
            })
            .contains("0.1")
        );
        assert!(
            error(BoxMesh {
                upper: [f64::NAN; 3],
                ..BRICK
            })
            .contains("NaN")
        );
    }
}
