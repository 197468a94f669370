//! The maps of hexahedra and quadrilaterals, as polynomials in monomials.
//!
//! A quadrilateral is mapped as if it were a hexahedron above and below it, between z = -1 and z = 1.

use super::jacobian::Matrix3;
use super::polynomial::{self, Tensor};
use crate::mesh::{CellBlock, Coordinates};
use crate::parallel;
use femto_element::MapKind;
use femto_element::{Cell, CellType};

/// Appends a vector, without a copy if it is the first.
fn append<T>(all: &mut Vec<T>, mut more: Vec<T>) {
    match all.is_empty() {
        true => *all = more,
        false => all.append(&mut more),
    }
}

/// The hexahedra or quadrilaterals of a mesh, in mesh cell order.
#[derive(Clone, Debug)]
pub(super) struct TensorMaps {
    cell: Cell,
    /// Mesh nodes at the vertices of each cell, `[cells][vertices]`, lexicographic.
    vertices: Vec<u32>,
    /// Indices of the curved cells in `curved`, up to the last block with such, `[cells]`; meaningless for other kinds.
    curved_index: Vec<u32>,
    /// Monomial coefficients of the curved cells, `[curved cells][k][j][i][3]`.
    curved: Vec<Tensor<3>>,
}

impl TensorMaps {
    pub(super) fn new(cell: Cell, cells: usize) -> Self {
        Self {
            cell,
            vertices: Vec::with_capacity(cells * cell.vertices()),
            curved_index: Vec::new(),
            curved: Vec::new(),
        }
    }

    /// Memory held, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.vertices[..])
            + size_of_val(&self.curved_index[..])
            + size_of_val(&self.curved[..])
    }

    /// Mesh nodes at the vertices of a cell, lexicographic.
    pub(super) fn vertex_nodes(&self, cell: usize) -> &[u32] {
        let count = self.cell.vertices();
        &self.vertices[cell * count..][..count]
    }

    /// Appends a block of cells, whose nodes exist, and the kind of each one's map.
    pub(super) fn append(
        &mut self,
        block: &CellBlock,
        coordinates: &Coordinates,
        kinds: &mut Vec<MapKind>,
    ) {
        let count = self.cell.vertices();
        let (first, first_vertex) = (kinds.len(), self.vertices.len());
        let places = self.cell.gmsh_order().vertices;
        let mut vertices = vec![0; block.len() * count];
        parallel::chunks(&mut vertices, count, |cell, row| {
            for (&place, &node) in places.iter().zip(&*block.cell(cell)) {
                row[place] = node;
            }
        });
        append(&mut self.vertices, vertices);
        kinds.resize(first + block.len(), MapKind::Affine);
        let dim = self.cell.dim();
        let lift = Quadratic::new(block.cell_type);
        if block.cell_type.order() == 1 {
            let rows = &self.vertices[first_vertex..];
            let row = |cell: usize| &rows[cell * count..][..count];
            let kind = |cell| polynomial::kind(&vertex_monomials(coordinates, row(cell)), dim);
            parallel::each(&mut kinds[first..], |cell, it| *it = kind(cell));
        } else {
            let of_nodes = |cell: &[u32]| lift.monomials(coordinates, cell);
            let kind = |cell| polynomial::kind(&of_nodes(&block.cell(cell)), dim);
            parallel::each(&mut kinds[first..], |cell, it| *it = kind(cell));
        }
        let kinds = &kinds[first..];
        let is_curved = |kind: MapKind| kind == MapKind::Curved;
        if kinds.iter().any(|&kind| is_curved(kind)) {
            self.curved_index.resize(first, 0);
            let mut next = self.curved.len() as u32;
            self.curved_index.extend(kinds.iter().map(|&kind| {
                let index = next;
                next += u32::from(is_curved(kind));
                index
            }));
        }
        let curved = parallel::filter(block.len(), |cell| is_curved(kinds[cell]));
        let monomials = |cell: usize| lift.monomials(coordinates, &block.cell(cell));
        let curved = parallel::map(curved.len(), |place| monomials(curved[place]));
        append(&mut self.curved, curved);
    }

    pub(super) fn curved(&self, cell: usize) -> &Tensor<3> {
        &self.curved[self.curved_index[cell] as usize]
    }

    /// Monomial coefficients of the multilinear map through the vertices.
    pub(super) fn multilinear(
        &self,
        cell: usize,
        kind: MapKind,
        coordinates: &Coordinates,
    ) -> Tensor<2> {
        let mut c = vertex_monomials(coordinates, self.vertex_nodes(cell));
        if kind == MapKind::Affine {
            polynomial::drop_products(&mut c);
        }
        c
    }

    /// Calls `visit` with position and Jacobian at the tensor grid of `points`, one list per axis,
    /// in lexicographic order.
    #[inline(always)]
    pub(super) fn visit(
        &self,
        (cell, kind): (usize, MapKind),
        coordinates: &Coordinates,
        points: [&[f64]; 3],
        visit: impl FnMut([f64; 3], Matrix3),
    ) {
        match kind {
            MapKind::Curved => polynomial::at_tensor_points(self.curved(cell), points, visit),
            _ => {
                let c = self.multilinear(cell, kind, coordinates);
                polynomial::at_tensor_points(&c, points, visit);
            }
        }
    }
}

/// Monomial coefficients of the map through the vertices of a hexahedron or quadrilateral.
fn vertex_monomials(coordinates: &Coordinates, vertices: &[u32]) -> Tensor<2> {
    let at = |m: usize| match vertices.len() {
        4 => {
            let [x, y, _] = coordinates.at(vertices[m % 4] as usize);
            [x, y, if m < 4 { -1.0 } else { 1.0 }]
        }
        _ => coordinates.at(vertices[m] as usize),
    };
    polynomial::monomials([
        [[at(0), at(1)], [at(2), at(3)]],
        [[at(4), at(5)], [at(6), at(7)]],
    ])
}

/// Positions of the nodes of a quadratic cell type in the 3×3×3 grid.
struct Quadratic {
    /// The position of each node in the grid.
    places: Vec<[usize; 3]>,
    serendipity: bool,
    flat: bool,
}

impl Quadratic {
    fn new(cell_type: CellType) -> Self {
        Self {
            places: cell_type.node_lattice(),
            serendipity: !cell_type.is_complete(),
            flat: cell_type.dimension() == 2,
        }
    }

    /// Monomial coefficients of the map of a cell with these mesh nodes.
    fn monomials(&self, coordinates: &Coordinates, cell: &[u32]) -> Tensor<3> {
        let mut nodes = [[[[0.0; 3]; 3]; 3]; 3];
        for (&[i, j, k], &node) in self.places.iter().zip(cell) {
            nodes[k][j][i] = coordinates.at(node as usize);
        }
        if self.serendipity {
            polynomial::lift_serendipity(&mut nodes);
        }
        if self.flat {
            let layer = nodes[0];
            for (above, z) in nodes.iter_mut().zip([-1.0, 0.0, 1.0]) {
                *above = layer.map(|row| row.map(|[x, y, _]| [x, y, z]));
            }
        }
        polynomial::monomials(nodes)
    }
}
