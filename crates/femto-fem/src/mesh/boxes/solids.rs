//! Boxes of prisms, of pyramids, or of all four solids.

use super::irregular::hash;
use super::{DOMAIN, groups, moved};
use crate::mesh::{CellBlock, CellNodes, Mesh, MeshError};
use femto_element::{Cell, CellType};
use std::collections::HashMap;

/// A position in a cut box, 0 to 2 along each axis.
type Place = [usize; 3];

/// A cell of a cut box: its vertices, in femto's order.
type Solid = (Cell, Vec<Place>);

/// What boxes are cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solids {
    /// Each into two prisms, along z.
    Prisms,
    /// Each into six pyramids around its centre.
    Pyramids,
    /// Layers across x, four in turn: hexahedra; five pyramids and two tetrahedra a box, which meet two triangles of
    /// the next layer; prisms along x; pyramids and tetrahedra the other way round.
    All,
}

/// A box between two corners, of solids that fit together face to face.
///
/// The groups are those of [`super::BoxMesh`]; boundary facets have no common orientation. There is a block for each
/// shape of cells, then one for each shape of facets. Nodes are numbered as the cells meet them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidBox {
    /// What the boxes are cut into.
    pub solids: Solids,
    /// Number of boxes along each axis.
    pub cells: [usize; 3],
    /// Corner with the smallest coordinates.
    pub lower: [f64; 3],
    /// Corner with the largest coordinates.
    pub upper: [f64; 3],
    /// Order of the cells, 1 or 2.
    pub geometry_degree: usize,
    /// The seed of random rotations of every cell's vertices. Equal seeds give equal meshes.
    pub irregular: Option<u64>,
}

impl SolidBox {
    /// The unit cube with `cells`³ boxes.
    pub fn unit_cube(solids: Solids, cells: usize) -> Self {
        Self {
            solids,
            cells: [cells; 3],
            lower: [0.0; 3],
            upper: [1.0; 3],
            geometry_degree: 1,
            irregular: None,
        }
    }

    /// Generates the mesh, moving every node `x` to `deformation(x)`.
    ///
    /// # Errors
    /// [`MeshError::BoxCells`], [`MeshError::BoxCorners`] or [`MeshError::BoxDegree`] if the description is
    /// not a box.
    pub fn build(
        &self,
        deformation: impl Fn([f64; 3]) -> [f64; 3] + Sync,
    ) -> Result<Mesh, MeshError> {
        Ok(moved(self.undeformed()?, &deformation))
    }

    fn undeformed(&self) -> Result<Mesh, MeshError> {
        super::check(
            (&self.cells, 2 * self.geometry_degree),
            (self.lower, self.upper),
            (self.geometry_degree, 2),
        )?;
        let mut parts = Parts::new(self);
        let [nx, ny, nz] = self.cells;
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    for solid in self.solids.of_box(i) {
                        parts.push([i, j, k], solid);
                    }
                }
            }
        }
        Ok(parts.into_mesh())
    }
}

impl Solids {
    /// The cells of a box, which is the `along`-th along x.
    fn of_box(self, along: usize) -> Vec<Solid> {
        let side = |axis, upper| (axis, upper);
        let sides = (0..3).flat_map(|axis| [side(axis, false), side(axis, true)]);
        let triangulated = match (self, along % 4) {
            (Self::Prisms, _) => return prisms(2).into(),
            (Self::Pyramids, _) => None,
            (Self::All, 0) => return vec![hexahedron()],
            (Self::All, 2) => return prisms(0).into(),
            (Self::All, 1) => Some(side(0, true)),
            (Self::All, _) => Some(side(0, false)),
        };
        let cells = |side| match Some(side) == triangulated {
            true => tetrahedra(side).into(),
            false => vec![pyramid(side)],
        };
        sides.flat_map(cells).collect()
    }
}

/// The axes after one, in cyclic order: their vector product points along it.
fn others(axis: usize) -> (usize, usize) {
    ((axis + 1) % 3, (axis + 2) % 3)
}

fn hexahedron() -> Solid {
    let at = |m: usize| [2 * (m & 1), m & 2, (m & 4) / 2];
    (Cell::Hexahedron, (0..8).map(at).collect())
}

/// The two triangles of a square, counter-clockwise, along two axes.
const TRIANGLES: [[[usize; 2]; 3]; 2] = [[[0, 0], [2, 0], [2, 2]], [[0, 0], [2, 2], [0, 2]]];

/// Two prisms along an axis.
fn prisms(axis: usize) -> [Solid; 2] {
    let (u, v) = others(axis);
    TRIANGLES.map(|triangle| {
        let at = |height: usize| {
            triangle.map(|[s, t]| {
                let mut place = [height; 3];
                (place[u], place[v]) = (s, t);
                place
            })
        };
        (Cell::Prism, [at(0), at(2)].concat())
    })
}

/// The axes of a side in the order in which their vector product points inwards, and a place on it.
fn on_side((axis, upper): (usize, bool)) -> impl Fn([usize; 2]) -> Place {
    let (u, v) = others(axis);
    let (u, v) = if upper { (v, u) } else { (u, v) };
    move |[s, t]| {
        let mut place = [0; 3];
        (place[axis], place[u], place[v]) = (2 * usize::from(upper), s, t);
        place
    }
}

/// The pyramid over a side, with its apex at the centre.
fn pyramid(side: (usize, bool)) -> Solid {
    let base = [[0, 0], [2, 0], [0, 2], [2, 2]].map(on_side(side));
    (Cell::Pyramid, [&base[..], &[[1; 3]]].concat())
}

/// That pyramid cut into two tetrahedra, whose bases are the triangles of prisms along the axis.
fn tetrahedra(side: (usize, bool)) -> [Solid; 2] {
    let at = on_side(side);
    // Exchanging the axes exchanges the two triangles, and turns each round.
    TRIANGLES.map(|triangle| {
        let base = triangle.map(&at);
        (Cell::Tetrahedron, [&base[..], &[[1; 3]]].concat())
    })
}

/// The parts of a mesh as they grow.
struct Parts<'a> {
    of: &'a SolidBox,
    /// The node at a position in steps of half a box divided by the order.
    nodes: HashMap<Place, u32>,
    coordinates: Vec<[f64; 3]>,
    /// Of cells, then of facets.
    blocks: [Vec<CellBlock>; 2],
    pushed: u64,
}

impl<'a> Parts<'a> {
    fn new(of: &'a SolidBox) -> Self {
        Self {
            of,
            nodes: HashMap::new(),
            coordinates: Vec::new(),
            blocks: [Vec::new(), Vec::new()],
            pushed: 0,
        }
    }

    fn push(&mut self, of_box: [usize; 3], (cell, mut vertices): Solid) {
        for vertex in &mut vertices {
            *vertex = [0, 1, 2].map(|a| 2 * of_box[a] + vertex[a]);
        }
        if let Some(seed) = self.of.irregular {
            let mut random = hash(seed, self.pushed);
            for rotation in cell.rotations() {
                for _ in 0..random % 4 {
                    vertices = rotation.iter().map(|&vertex| vertices[vertex]).collect();
                }
                random /= 4;
            }
        }
        self.pushed += 1;
        self.push_cell(0, cell, &vertices, DOMAIN);
        for facet in cell.facets() {
            let corners: Vec<Place> = facet.vertices.iter().map(|&v| vertices[v]).collect();
            for axis in 0..3 {
                for (side, end) in [(0, 0), (1, 2 * self.of.cells[axis])] {
                    if corners.iter().all(|corner| corner[axis] == end) {
                        self.push_cell(1, facet.cell, &corners, (1 + 2 * axis + side) as i32);
                    }
                }
            }
        }
    }

    /// Appends a cell, whose map from the reference cell to the undeformed box is affine.
    fn push_cell(&mut self, group: usize, cell: Cell, vertices: &[Place], tag: i32) {
        let order = self.of.geometry_degree;
        let origin = vertices[0];
        let ends = [0, 1, 2].map(|axis| vertices[cell.end_of_axis(axis)]);
        let lattice = cell.lattice_in(order, cell.gmsh_order());
        let at = |steps: [usize; 3]| {
            [0, 1, 2].map(|a| {
                let there: usize = (0..3).map(|axis| steps[axis] * ends[axis][a]).sum();
                order * origin[a] + there - steps.iter().sum::<usize>() * origin[a]
            })
        };
        let nodes: Vec<u32> = lattice
            .into_iter()
            .map(|steps| self.node(at(steps)))
            .collect();
        let blocks = &mut self.blocks[group];
        let block = match blocks.iter().position(|it| it.cell_type.cell() == cell) {
            Some(block) => &mut blocks[block],
            None => {
                blocks.push(CellBlock {
                    cell_type: CellType::complete(cell, order).unwrap_or(CellType::HEX8),
                    nodes: CellNodes::default(),
                    tags: Vec::new(),
                });
                let last = blocks.len() - 1;
                &mut blocks[last]
            }
        };
        block.nodes.to_mut().extend(nodes);
        block.tags.push(tag);
    }

    fn node(&mut self, place: Place) -> u32 {
        let next = self.coordinates.len() as u32;
        let SolidBox {
            cells,
            lower,
            upper,
            geometry_degree,
            ..
        } = self.of;
        *self.nodes.entry(place).or_insert_with(|| {
            self.coordinates.push([0, 1, 2].map(|a| {
                let t = place[a] as f64 / (2 * geometry_degree * cells[a]) as f64;
                lower[a] * (1.0 - t) + upper[a] * t
            }));
            next
        })
    }

    fn into_mesh(self) -> Mesh {
        Mesh {
            coordinates: self.coordinates.into(),
            blocks: self.blocks.concat(),
            groups: groups(3),
            ..Mesh::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Geometry, GeometryAtPoints, Points};
    use crate::space::{Block, SpaceParams};

    /// Cells fill the box, facets its sides, and neighbours fit together.
    #[test]
    fn solids_fill_the_box() {
        for (solids, per_box, nodes) in [
            (Solids::Prisms, 2, 5 * 4 * 3),
            (Solids::Pyramids, 6, 5 * 4 * 3 + 24),
            (Solids::All, 0, 5 * 4 * 3 + 12),
        ] {
            for (geometry_degree, irregular) in [(1, None), (1, Some(3)), (2, Some(4))] {
                let of = SolidBox {
                    cells: [4, 3, 2],
                    upper: [2.0, 1.0, 0.5],
                    geometry_degree,
                    irregular,
                    ..SolidBox::unit_cube(solids, 1)
                };
                let mesh = of.build(|x| x).unwrap();
                let geometries = Geometry::of_shapes(&mesh).unwrap();
                let mut volume = 0.0;
                for geometry in &geometries {
                    assert!(geometry.check(&[-0.7, 0.0, 0.7]).unwrap().is_empty());
                    let rule = femto_element::quadrature::rule(geometry.cell(), 2).unwrap();
                    let points = Points::List(rule.points);
                    let mut at = GeometryAtPoints::default();
                    for cell in 0..geometry.len() {
                        geometry.at_points(cell, &points, &mut at);
                        let parts = at.determinant.iter().zip(&rule.weights);
                        volume += parts.map(|(j, w)| j * w).sum::<f64>();
                    }
                }
                assert!((volume - 1.0).abs() < 1e-13, "{solids:?}: {volume}");
                let count: usize = geometries.iter().map(Geometry::len).sum();
                let expected = if per_box > 0 {
                    24 * per_box
                } else {
                    6 * (1 + 7 + 2 + 7)
                };
                assert_eq!(count, expected);
                let params = SpaceParams::default();
                let blocks = Block::all(&mesh, geometries, params).unwrap();
                assert_eq!(blocks[0].space.nodes(), nodes, "{solids:?}");
                let sides: usize = mesh
                    .blocks
                    .iter()
                    .map(|block| block.tags.iter().filter(|&&tag| tag != DOMAIN).count())
                    .sum();
                let tagged: usize = blocks
                    .iter()
                    .map(|it| it.space.boundary().all().len())
                    .sum();
                assert_eq!(sides, tagged);
            }
        }
    }
}
