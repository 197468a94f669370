//! The structured mesh of all boxes but those of prisms and pyramids.

use super::simplices::barycentric_steps;
use super::{DOMAIN, Deformation, groups, moved};
use crate::mesh::{CellBlock, CellNodes, Mesh, MeshError};
use crate::parallel;
use femto_element::{Cell, CellType};

/// A corner of a cell, 0 or 1 along each axis.
type Corner = [usize; 3];

/// The two triangles of a rectangle, counter-clockwise: cut from the origin, and the other way.
const TRIANGLES: [[[Corner; 3]; 2]; 2] = [
    [
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
    ],
    [
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]],
        [[1, 0, 0], [1, 1, 0], [0, 1, 0]],
    ],
];

/// The six tetrahedra of a box, right-handed: one for each order of the axes along which it steps from the
/// origin to the opposite corner.
const TETRAHEDRA: [[Corner; 4]; 6] = [
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]],
    [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 1, 1]],
    [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]],
    [[0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 1, 1]],
    [[0, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1]],
    [[0, 0, 0], [1, 0, 1], [1, 0, 0], [1, 1, 1]],
];

/// A grid of rectangles or boxes; for rectangles, sizes along the third axis are one.
pub(super) struct Grid {
    /// Triangles, tetrahedra, quadrilaterals or hexahedra; the last two are whole rectangles and boxes.
    pub(super) cell: Cell,
    pub(super) dim: usize,
    pub(super) cells: [usize; 3],
    pub(super) lower: [f64; 3],
    pub(super) upper: [f64; 3],
    pub(super) order: usize,
}

impl Grid {
    /// A grid in `D` dimensions between two corners; its third axis, if `D` is 2, has one cell.
    pub(super) fn new<const D: usize>(
        cell: Cell,
        cells: [usize; D],
        [lower, upper]: [[f64; D]; 2],
        order: usize,
    ) -> Self {
        let mut grid = Self {
            cell,
            dim: D,
            cells: [1; 3],
            lower: [0.0; 3],
            upper: [1.0; 3],
            order,
        };
        grid.cells[..D].copy_from_slice(&cells);
        grid.lower[..D].copy_from_slice(&lower);
        grid.upper[..D].copy_from_slice(&upper);
        grid
    }

    /// The mesh, with every node `x` moved to `deformation(x)`.
    pub(super) fn build(&self, deformation: Deformation<'_>) -> Result<Mesh, MeshError> {
        self.check()?;
        Ok(moved(self.mesh(), deformation))
    }

    pub(super) fn check(&self) -> Result<(), MeshError> {
        super::check(
            (&self.cells[..self.dim], self.order),
            (self.lower, self.upper),
            (self.order, self.cell.max_map_order()),
        )
    }

    pub(super) fn mesh(&self) -> Mesh {
        Mesh {
            coordinates: self.coordinates().into(),
            blocks: vec![self.interior(), self.boundary()],
            groups: groups(self.dim),
            ..Mesh::default()
        }
    }

    /// Number of nodes along each axis.
    pub(super) fn nodes(&self) -> [usize; 3] {
        [0, 1, 2].map(|a| {
            if a < self.dim {
                self.cells[a] * self.order + 1
            } else {
                1
            }
        })
    }

    fn coordinates(&self) -> Vec<[f64; 3]> {
        let [nx, ny, nz] = self.nodes();
        let axis = |a: usize, n: usize| -> Vec<f64> {
            let place = |i: usize| i as f64 / (n - 1) as f64;
            let at = |t: f64| self.lower[a] * (1.0 - t) + self.upper[a] * t;
            (0..n).map(|i| at(place(i))).collect()
        };
        let (x, y) = (axis(0, nx), axis(1, ny));
        let z = if self.dim == 3 {
            axis(2, nz)
        } else {
            vec![0.0]
        };
        let mut coordinates = vec![[0.0; 3]; nx * ny * nz];
        parallel::chunks(&mut coordinates, nx, |row, nodes| {
            let (y, z) = (y[row % ny], z[row / ny]);
            nodes
                .iter_mut()
                .zip(&x)
                .for_each(|(node, &x)| *node = [x, y, z]);
        });
        coordinates
    }

    /// The mesh node at a position of the node grid.
    fn node(&self, place: [usize; 3]) -> u32 {
        let [nx, ny, _] = self.nodes();
        (place[0] + nx * (place[1] + ny * place[2])) as u32
    }

    /// Offsets from the first node of a cell to the nodes of a simplex with these corners, in Gmsh's order.
    fn offsets(&self, corners: &[Corner]) -> Vec<u32> {
        let nodes = barycentric_steps(corners.len() - 1, self.order);
        let place = |steps: &[usize; 4]| {
            let along = |a: usize| corners.iter().zip(steps).map(|(c, s)| c[a] * s).sum();
            self.node([0, 1, 2].map(along))
        };
        nodes.iter().map(place).collect()
    }

    fn interior(&self) -> CellBlock {
        let concat = |simplices: &[&[Corner]]| -> Vec<u32> {
            simplices.iter().flat_map(|c| self.offsets(c)).collect()
        };
        let [nx, ny, nz] = self.cells;
        let cell_type = self.cell_type(self.cell);
        // The nodes of the cells of a box, and of every other rectangle.
        let boxes = match (self.cell.is_tensor_product(), self.dim) {
            (true, _) => {
                let nodes = cell_type.node_lattice();
                vec![nodes.into_iter().map(|steps| self.node(steps)).collect()]
            }
            (false, 2) => TRIANGLES.map(|[a, b]| concat(&[&a, &b])).to_vec(),
            _ => vec![concat(&TETRAHEDRA.each_ref().map(|corners| &corners[..]))],
        };
        let count = boxes[0].len() / cell_type.nodes();
        let in_box = boxes[0].len();
        let mut nodes = vec![0; nx * ny * nz * in_box];
        parallel::chunks(&mut nodes, nx * in_box, |row, nodes| {
            let (j, k) = (row % ny, row / ny);
            for (i, nodes) in nodes.chunks_exact_mut(in_box).enumerate() {
                let first = self.node([i, j, k].map(|n| n * self.order));
                let offsets = &boxes[(i + j) % boxes.len()];
                let own = nodes.iter_mut().zip(offsets);
                own.for_each(|(node, offset)| *node = first + offset);
            }
        });
        CellBlock {
            cell_type,
            nodes: nodes.into(),
            tags: parallel::map(nx * ny * nz * count, |_| DOMAIN),
        }
    }

    /// The complete cell type of the grid's order.
    fn cell_type(&self, cell: Cell) -> CellType {
        CellType::complete(cell, self.order).unwrap_or(CellType::TRI3)
    }

    fn facet_type(&self) -> CellType {
        self.cell_type(self.cell.facets()[0].cell)
    }

    fn boundary(&self) -> CellBlock {
        let mut block = CellBlock {
            cell_type: self.facet_type(),
            nodes: CellNodes::default(),
            tags: Vec::new(),
        };
        for axis in 0..self.dim {
            for side in 0..2 {
                self.push_side(axis, side, &mut block);
            }
        }
        block
    }

    /// The axes along a side; its cells are listed first along the first.
    fn along(&self, axis: usize, side: usize) -> (usize, usize) {
        match self.dim {
            2 => (1 - axis, 2),
            _ if self.cell.is_tensor_product() => turning_outwards(axis, side),
            _ => turning_outwards(axis, 1),
        }
    }

    /// Appends the boundary cells of one side, first tangential axis fastest.
    fn push_side(&self, axis: usize, side: usize, block: &mut CellBlock) {
        let facets = self.side_facets(axis, side);
        let (u, v) = self.along(axis, side);
        for cell_v in 0..self.cells[v] {
            for cell_u in 0..self.cells[u] {
                let mut at = [0; 3];
                // The facets of the upper side are those of the box's own upper side.
                at[axis] = side * (self.cells[axis] - 1) * self.order;
                at[u] = cell_u * self.order;
                at[v] = cell_v * self.order;
                let first = self.node(at);
                for offsets in &facets {
                    let nodes = block.nodes.to_mut();
                    nodes.extend(offsets.iter().map(|offset| first + offset));
                    block.tags.push((1 + 2 * axis + side) as i32);
                }
            }
        }
    }

    /// The offsets of the nodes of the boundary cells on one side of a rectangle or box.
    fn side_facets(&self, axis: usize, side: usize) -> Vec<Vec<u32>> {
        let corner = |steps: &[usize]| {
            let mut corner = [0; 3];
            corner[axis] = side;
            steps.iter().for_each(|&step| corner[step] = 1);
            corner
        };
        if self.dim == 2 {
            let u = 1 - axis;
            // Counter-clockwise around the rectangle: forwards at ymin and xmax, otherwise backwards.
            let (start, end) = (corner(&[]), corner(&[u]));
            let forwards = side == 1 - axis;
            let line = if forwards { [start, end] } else { [end, start] };
            return vec![self.offsets(&line)];
        }
        let (u, v) = turning_outwards(axis, side);
        if self.cell.is_tensor_product() {
            let node = |place: [usize; 3]| {
                let mut at = [0; 3];
                (at[axis], at[u], at[v]) = (side * self.order, place[0], place[1]);
                self.node(at)
            };
            let places = self.facet_type().node_lattice();
            return vec![places.into_iter().map(node).collect()];
        }
        let triangles = [
            [corner(&[]), corner(&[u]), corner(&[u, v])],
            [corner(&[]), corner(&[u, v]), corner(&[v])],
        ];
        triangles.map(|corners| self.offsets(&corners)).into()
    }
}

/// The axes along a side of a box whose vector product points outwards: (axis, u, v) is a cyclic permutation, so u × v
/// points along +axis; on the lower side the two swap.
fn turning_outwards(axis: usize, side: usize) -> (usize, usize) {
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    if side == 1 { (u, v) } else { (v, u) }
}
