//! Boxes of hexahedra, optionally deformed.

use super::grid::Grid;
use crate::mesh::{Mesh, MeshError};
use femto_element::Cell;

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
    pub fn build(
        &self,
        deformation: impl Fn([f64; 3]) -> [f64; 3] + Sync,
    ) -> Result<Mesh, MeshError> {
        let corners = [self.lower, self.upper];
        Grid::new(Cell::Hexahedron, self.cells, corners, self.geometry_degree).build(&deformation)
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
        cell.iter()
            .map(|&n| mesh.coordinates.at(n as usize))
            .collect()
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
                let x = corners(&mesh, &mesh.blocks[0].cell(cell));
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
        let x = corners(&mesh, &mesh.blocks[0].cell(23));
        for (node, of) in (8..).zip(inner) {
            let distance = minus(x[node], mean(&x, of)).map(f64::abs);
            assert!(distance.iter().all(|d| *d < 1e-14), "node {node}");
        }
        let quad = corners(&mesh, &mesh.blocks[1].cell(0));
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
            let x = corners(&mesh, &sides.cell(cell));
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
