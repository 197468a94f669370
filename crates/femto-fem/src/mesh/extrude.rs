//! Extrusion of plane meshes to columns of prisms and hexahedra.

use super::{CellBlock, Membership, Mesh, MeshError, PeriodicSides, PhysicalGroup};
use crate::geometry::off_plane;
use femto_element::CellType;

/// The levels between which a plane mesh is extruded.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    /// Fractions of the height from bottom to top, ascending from 0 to 1, `[layers + 1]`.
    pub levels: Vec<f64>,
}

impl Layers {
    /// Layers of equal height.
    pub fn uniform(layers: usize) -> Self {
        Self::graded(layers, 1.0)
    }

    /// Layers each `ratio` times as high as the one below.
    pub fn graded(layers: usize, ratio: f64) -> Self {
        let mut level = 0.0;
        let mut levels = vec![0.0];
        for layer in 0..layers {
            // The highest layer has the height 1: powers neither overflow nor vanish all.
            let from_highest = match ratio > 1.0 {
                true => layer as f64 - (layers - 1) as f64,
                false => layer as f64,
            };
            level += ratio.powf(from_highest);
            levels.push(level);
        }
        levels.iter_mut().for_each(|it| *it /= level);
        // Exactly, for any rounding.
        levels[layers] = if layers > 0 { 1.0 } else { 0.0 };
        Self { levels }
    }
}

/// Names of the groups of facets below and above.
const BOTTOM: &str = "bottom";
const TOP: &str = "top";

impl Mesh {
    /// The columns over a mesh of triangles and quadrilaterals in the plane: prisms and hexahedra between `bottom` and
    /// `top`, heights at a position in the plane.
    ///
    /// Node `n (layers + 1) + l` lies over node n of the plane mesh at level l, and cells of each shape are numbered
    /// column by column from bottom to top. Groups of plane cells become groups of solids, groups of edges those of
    /// the facets over them, with their names and numbers; the facets below and above are the groups `bottom` and
    /// `top`. What lies over periodic sides is periodic.
    ///
    /// # Errors
    /// A mesh that is not plane and straight, levels that do not ascend from 0 to 1, a top that is not above the bottom
    /// everywhere, other heights over one of two periodic sides, groups of edges that are called `bottom` or `top`, more
    /// nodes than 32-bit numbers can count.
    pub fn extrude(
        &self,
        layers: &Layers,
        bottom: impl Fn([f64; 2]) -> f64,
        top: impl Fn([f64; 2]) -> f64,
    ) -> Result<Self, MeshError> {
        let levels = &layers.levels[..];
        let ascends = |pair: &[f64]| pair[0] < pair[1];
        let ends = [levels.first(), levels.last()];
        if levels.len() < 2 || ends != [Some(&0.0), Some(&1.0)] {
            return Err(MeshError::LevelEnds {
                found: ends.map(|end| end.copied()),
            });
        }
        if let Some(at) = levels.windows(2).position(|pair| !ascends(pair)) {
            return Err(MeshError::Levels {
                at,
                found: [levels[at], levels[at + 1]],
            });
        }
        let is_used = |block: &&CellBlock| !block.is_empty() && block.cell_type.dimension() > 0;
        if let Some(block) = self
            .blocks
            .iter()
            .filter(is_used)
            .find(|it| extruded(it).is_none())
        {
            return Err(MeshError::ExtrudedCells {
                found: block.cell_type.name(),
                count: block.len(),
            });
        }
        let plane_cells = self
            .blocks
            .iter()
            .filter(|it| it.cell_type.dimension() == 2);
        let own = self.coordinates.len();
        let used = self.blocks.iter().flat_map(|block| &block.nodes);
        let paired = self.periodic.iter().flat_map(|sides| &sides.nodes);
        let mut named = used.chain(paired.flatten());
        if let Some(&node) = named.find(|&&node| node as usize >= own) {
            return Err(MeshError::ExtrudedNode { node, nodes: own });
        }
        let mut cells = plane_cells.flat_map(|block| (0..block.len()).map(|it| block.cell(it)));
        if let Some(position) = cells.find_map(|cell| off_plane(&self.coordinates, cell)) {
            return Err(MeshError::ExtrudedSurface { position });
        }
        let nodes = self.coordinates.len() as u64 * levels.len() as u64;
        if self.dimension() != 2 {
            return Err(MeshError::ExtrudedNothing);
        }
        if nodes > u64::from(u32::MAX) {
            return Err(MeshError::ExtrudedNodes { nodes });
        }
        let mut is_used = vec![false; self.coordinates.len()];
        let raised = self.blocks.iter().filter(|block| extruded(block).is_some());
        for &node in raised.flat_map(|block| &block.nodes) {
            is_used[node as usize] = true;
        }
        let mut coordinates = Vec::with_capacity(nodes as usize);
        // Nodes without cells, such as the centres of arcs, all get the bottom's height at a used one.
        let some = is_used.iter().position(|&is_used| is_used).unwrap_or(0);
        let idle = self
            .coordinates
            .get(some)
            .map_or(0.0, |&[x, y, _]| bottom([x, y]));
        for (&[x, y, _], is_used) in self.coordinates.iter().zip(is_used) {
            if !is_used {
                coordinates.extend(levels.iter().map(|_| [x, y, idle]));
                continue;
            }
            let (low, high) = (bottom([x, y]), top([x, y]));
            // Not `>=`, so that NaN fails.
            if !(low < high && low.is_finite() && high.is_finite()) {
                return Err(MeshError::ExtrudedHeight {
                    position: [x, y],
                    bottom: low,
                    top: high,
                });
            }
            coordinates.extend(levels.iter().map(|&t| [x, y, low * (1.0 - t) + high * t]));
        }
        let raised = |sides: &PeriodicSides| PeriodicSides {
            nodes: (sides.nodes.iter())
                .flat_map(|pair| {
                    let count = levels.len() as u32;
                    (0..count).map(move |level| pair.map(|node| node * count + level))
                })
                .collect(),
        };
        let mut mesh = Self {
            coordinates,
            periodic: self.periodic.iter().map(raised).collect(),
            ..Self::default()
        };
        match mesh.unlike_sides() {
            Some(number) if self.unlike_sides().is_none() => {
                return Err(MeshError::ExtrudedSides { number: number + 1 });
            }
            _ => {}
        }
        let ends = self.extrude_groups(&mut mesh)?;
        for (number, block) in self.blocks.iter().enumerate() {
            if let Some(cell_type) = extruded(block) {
                self.extrude_block(number, cell_type, levels.len(), &mut mesh);
                if block.cell_type.dimension() == 2 {
                    mesh.push_ends(block, levels.len(), ends);
                }
            }
        }
        mesh.memberships.sort_unstable();
        Ok(mesh)
    }

    /// Adds this plane mesh's groups, one dimension higher, and those of the ends, whose numbers it returns.
    fn extrude_groups(&self, mesh: &mut Self) -> Result<[i32; 2], MeshError> {
        let raised = self
            .groups
            .iter()
            .filter(|group| (1..=2).contains(&group.dimension));
        mesh.groups = raised
            .map(|group| PhysicalGroup {
                dimension: group.dimension + 1,
                ..group.clone()
            })
            .collect();
        let of_facets = || mesh.groups.iter().filter(|group| group.dimension == 2);
        if let Some(taken) = of_facets().find(|group| [BOTTOM, TOP].contains(&&group.name[..])) {
            return Err(MeshError::ExtrudedGroup {
                name: taken.name.clone(),
            });
        }
        let largest = of_facets().map(|group| group.number).max().unwrap_or(0);
        let ends = [1, 2].map(|above| largest.max(0).checked_add(above));
        let [Some(bottom), Some(top)] = ends else {
            return Err(MeshError::ExtrudedNumbers { largest });
        };
        for (name, number) in [(BOTTOM, bottom), (TOP, top)] {
            mesh.groups.push(PhysicalGroup {
                dimension: 2,
                number,
                name: name.to_owned(),
            });
        }
        Ok([bottom, top])
    }

    /// Appends the cells over a block of plane cells or edges.
    fn extrude_block(&self, number: usize, cell_type: CellType, levels: usize, mesh: &mut Self) {
        let (block, layers) = (&self.blocks[number], levels - 1);
        let mut nodes = Vec::with_capacity(block.nodes.len() * 2 * layers);
        let mut tags = Vec::with_capacity(block.len() * layers);
        // Gmsh's quadrilaterals, hexahedra's faces too, go round; others have their upper vertices in the same order.
        let is_line = block.cell_type.dimension() == 1;
        for cell in 0..block.len() {
            let own = block.cell(cell);
            for layer in 0..layers {
                let at = |level: usize| {
                    own.iter()
                        .map(move |&node| node * levels as u32 + level as u32)
                };
                nodes.extend(at(layer));
                match is_line {
                    true => nodes.extend(at(layer + 1).rev()),
                    false => nodes.extend(at(layer + 1)),
                }
            }
            tags.extend(std::iter::repeat_n(block.tags[cell], layers));
        }
        let others = self
            .memberships
            .iter()
            .filter(|it| it.block as usize == number);
        let of_layers = others.flat_map(|it| {
            (0..layers as u32).map(|layer| Membership {
                block: mesh.blocks.len() as u32,
                cell: it.cell * layers as u32 + layer,
                group: it.group,
            })
        });
        let of_layers: Vec<Membership> = of_layers.collect();
        mesh.memberships.extend(of_layers);
        mesh.blocks.push(CellBlock {
            cell_type,
            nodes,
            tags,
        });
    }

    /// Appends the lowest and highest facets of columns over a block of plane cells.
    fn push_ends(&mut self, block: &CellBlock, levels: usize, ends: [i32; 2]) {
        let mut facets = CellBlock {
            cell_type: block.cell_type,
            nodes: Vec::with_capacity(2 * block.nodes.len()),
            tags: Vec::with_capacity(2 * block.len()),
        };
        for (level, tag) in [0, levels - 1].into_iter().zip(ends) {
            let above = block
                .nodes
                .iter()
                .map(|&node| node * levels as u32 + level as u32);
            facets.nodes.extend(above);
            facets.tags.extend(std::iter::repeat_n(tag, block.len()));
        }
        self.blocks.push(facets);
    }
}

/// The type of the cells over those of a block, if they are straight edges or plane cells.
fn extruded(block: &CellBlock) -> Option<CellType> {
    let base = Some(block.cell_type).filter(|it| it.order() == 1)?;
    CellType::complete(base.cell().extruded()?, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;
    use crate::mesh::boxes::{RectangleMesh, SimplexBox};
    use crate::space::{Block, Space, SpaceParams};

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
        assert!(columns.cells.into_iter().eq(0..72));
        let geometry = Geometry::new(&mesh).unwrap();
        assert!(geometry.check(&[-0.9, 0.0, 0.9]).unwrap().is_empty());
        let blocks = Block::all(&mesh, vec![geometry], SpaceParams::default()).unwrap();
        let count = |tag| blocks[0].space.boundary().tagged(tag).unwrap().len();
        assert_eq!(
            ["bottom", "top", "xmin", "ymax"].map(count),
            [18, 18, 12, 12]
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
                degree,
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
        plane.coordinates.push([5.0, 5.0, 0.0]);
        plane.groups.push(PhysicalGroup {
            dimension: 3,
            number: 9,
            name: "solid".to_owned(),
        });
        let top = |[x, _]: [f64; 2]| 2.0 - x;
        let mesh = plane.extrude(&Layers::uniform(2), |_| 0.5, top).unwrap();
        let idle = &mesh.coordinates[mesh.coordinates.len() - 3..];
        assert_eq!(*idle, [[5.0, 5.0, 0.5]; 3]);
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
        let plane = RectangleMesh::unit_square(2).build(|x| x).unwrap();
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
            let [from, to] = pair.map(|node| mesh.coordinates[node as usize]);
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
        surface.coordinates[4][2] = 0.1;
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
}
