//! Boundary facets of the cells by tag, and their nodes.

use rayon::slice::ParallelSliceMut;

use crate::geometry::Geometry;
use crate::mesh::{Mesh, MeshError, PhysicalGroup, groups};
use crate::parallel;
use femto_element::basis::nodes;

use super::topology::{Side, Topology};
use super::{Space, SpaceError};

/// The part of the way from a node to the facet's centre after which normals of pyramids are evaluated: their maps have no
/// Jacobian at the apex.
const INSIDE: f64 = 1e-8;

/// A facet of an element, a face of a solid or an edge of a plane cell, with a boundary tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundaryFacet {
    /// Number of the physical group.
    pub tag: i32,
    /// The element.
    pub element: u32,
    /// The number of its cell in the geometry.
    pub cell: u32,
    /// Its number in the cell, as in [`femto_element::cell`]; for a hexahedron 2·axis + side.
    pub number: u8,
}

/// The tagged boundary cells of a mesh, matched to the facets of the cells that carry unknowns: faces of
/// solids, edges of plane cells.
#[derive(Clone, Debug, Default)]
pub struct BoundaryFacets {
    /// The mesh's groups.
    groups: Vec<PhysicalGroup>,
    /// The numbers of those that have facets, in any block, ascending.
    present: Vec<i32>,
    /// Dimension of the facets.
    dimension: usize,
    /// Facets sorted by tag and element, each once per tag.
    facets: Vec<BoundaryFacet>,
    /// Tag and corner mesh nodes of boundary cells that are not facets.
    strangers: Vec<(i32, Vec<u32>)>,
    /// Tag and corner mesh nodes of facets on periodic sides.
    periodic: Vec<(i32, Vec<u32>)>,
    /// Tags of facets between two cells, ascending, with their numbers.
    inside: Vec<(i32, usize)>,
}

/// What a boundary cell is.
#[derive(Clone, Copy)]
enum Found {
    /// This facet, and whether it lies between two cells.
    Facet(Side, bool),
    /// A facet on a periodic side.
    Periodic,
    /// No facet.
    Stranger,
}

impl Found {
    /// Given the sides of the facet, if it is one, and the mesh cell numbers `[block][element]`.
    fn new(sides: Option<(Side, Option<Side>)>, topology: &Topology, cells: &[&[u32]]) -> Self {
        let place = |side: &Side| (side.block, cells[side.block][side.element]);
        match sides {
            None => Self::Stranger,
            Some((first, _)) if topology.is_periodic(&first) => Self::Periodic,
            Some((first, Some(second))) if place(&second) < place(&first) => {
                Self::Facet(second, true)
            }
            Some((first, second)) => Self::Facet(first, second.is_some()),
        }
    }
}

impl BoundaryFacets {
    /// Looks up every boundary cell of the mesh that is in a group, for each block of `cells`,
    /// `[block][element]`. A facet between two cells belongs to the one in the first block, or with the
    /// lower mesh cell number.
    pub(super) fn new(mesh: &Mesh, topology: &Topology, cells: &[&[u32]]) -> Vec<Self> {
        let mut boundary = Self {
            groups: mesh.groups.clone(),
            dimension: topology.dim() - 1,
            ..Self::default()
        };
        let mut facets: Vec<Vec<BoundaryFacet>> = vec![Vec::new(); cells.len()];
        let mut inside: Vec<i32> = Vec::new();
        let blocks = mesh.blocks.iter().enumerate();
        let dimension = boundary.dimension;
        for (place, block) in blocks.filter(|(_, it)| it.cell_type.dimension() == dimension) {
            let shape = block.cell_type.cell();
            let found = parallel::gather(block.len(), |cell, all| {
                let found = Found::new(topology.sides(shape, &block.cell(cell)), topology, cells);
                let groups = mesh.groups_of(place, cell);
                all.extend(groups.map(|tag| (tag, cell, found)));
            });
            for (tag, cell, found) in found {
                let named = || (tag, block.cell(cell)[..shape.vertices()].to_vec());
                if boundary.present.last() != Some(&tag) {
                    boundary.present.push(tag);
                }
                match found {
                    Found::Stranger => boundary.strangers.push(named()),
                    Found::Periodic => boundary.periodic.push(named()),
                    Found::Facet(side, is_inside) => {
                        inside.extend(is_inside.then_some(tag));
                        facets[side.block].push(BoundaryFacet {
                            tag,
                            element: side.element as u32,
                            cell: cells[side.block][side.element],
                            number: side.facet as u8,
                        });
                    }
                }
            }
        }
        boundary.present.sort_unstable();
        boundary.present.dedup();
        inside.sort_unstable();
        let runs = inside.chunk_by(|a, b| a == b);
        boundary.inside = runs.map(|run| (run[0], run.len())).collect();
        let of_block = |mut facets: Vec<BoundaryFacet>| {
            facets.par_sort_unstable();
            facets.dedup();
            Self {
                facets,
                ..boundary.clone()
            }
        };
        facets.into_iter().map(of_block).collect()
    }

    /// The number of a group of facets given by name or number.
    fn group(&self, tag: &str) -> Result<i32, MeshError> {
        let has_cells = |number: i32| self.present.binary_search(&number).is_ok();
        groups::find(&self.groups, self.dimension, tag, has_cells)
    }

    /// The facets in a group of their dimension given by name or number, sorted by element, without
    /// repetitions.
    ///
    /// # Errors
    /// [`SpaceError::Mesh`] if there is no such group or it is empty, [`SpaceError::NoSuchFacet`] if some of its cells are
    /// not facets, [`SpaceError::PeriodicFacet`] if some are on periodic sides.
    pub fn tagged(&self, tag: &str) -> Result<&[BoundaryFacet], SpaceError> {
        let number = self.group(tag)?;
        // The nodes of the first one, and their number.
        let own = |facets: &[(i32, Vec<u32>)]| {
            let mut own = facets.iter().filter(|facet| facet.0 == number);
            let nodes = own.next()?.1.clone();
            Some((nodes, 1 + own.count()))
        };
        let tag = || tag.to_owned();
        if let Some((nodes, count)) = own(&self.strangers) {
            let tag = tag();
            return Err(SpaceError::NoSuchFacet { tag, nodes, count });
        }
        if let Some((nodes, count)) = own(&self.periodic) {
            let tag = tag();
            return Err(SpaceError::PeriodicFacet { tag, nodes, count });
        }
        let start = self.facets.partition_point(|facet| facet.tag < number);
        let end = self.facets.partition_point(|facet| facet.tag <= number);
        Ok(&self.facets[start..end])
    }

    /// Number of facets of a group that lie between two cells, counting repetitions in the mesh.
    ///
    /// # Errors
    /// [`SpaceError::Mesh`] if there is no such group.
    pub fn inside(&self, tag: &str) -> Result<usize, SpaceError> {
        let number = self.group(tag)?;
        let found = self.inside.iter().find(|(tag, _)| *tag == number);
        Ok(found.map_or(0, |(_, count)| *count))
    }

    /// All tagged facets that were found, sorted by tag, then by element.
    pub fn all(&self) -> &[BoundaryFacet] {
        &self.facets
    }
}

/// A node on a facet, and its place in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BoundaryNode {
    /// The L-vector node.
    pub node: u32,
    /// An element that has it.
    pub element: u32,
    /// Its position in that element.
    pub position: u32,
}

impl Space {
    /// The nodes on a group of boundary cells given by name or number, ascending.
    ///
    /// # Errors
    /// As [`BoundaryFacets::tagged`].
    pub fn boundary_nodes(&self, tag: &str) -> Result<Vec<BoundaryNode>, SpaceError> {
        let mut nodes = self.facet_nodes(tag)?;
        nodes.dedup_by_key(|node| node.node);
        Ok(nodes)
    }

    /// The same once for each facet of the group that has the node: on periodic sides a node has several positions.
    ///
    /// # Errors
    /// As [`BoundaryFacets::tagged`].
    pub fn facet_nodes(&self, tag: &str) -> Result<Vec<BoundaryNode>, SpaceError> {
        let mut nodes = self.at_facet_nodes(tag, |_, node| node)?;
        nodes.par_sort_unstable();
        Ok(nodes)
    }

    /// The outward normals of a group's facets at their nodes, facet by facet, with the geometry of the space. Their
    /// lengths are the facet's area if its map were everywhere as at the node.
    ///
    /// # Errors
    /// As [`BoundaryFacets::tagged`]; a geometry of other cells.
    pub fn facet_normals(
        &self,
        tag: &str,
        geometry: &Geometry,
    ) -> Result<Vec<(BoundaryNode, [f64; 3])>, SpaceError> {
        self.check_geometry(geometry)?;
        let cell = self.cell();
        let reference = nodes::positions(cell, self.degree());
        let centre = |facet: usize| cell.facet_point(facet, cell.facets()[facet].cell.centre());
        let centres: Vec<_> = (0..cell.facets().len()).map(centre).collect();
        let inside = match cell.has_singular_vertex() {
            true => INSIDE,
            false => 0.0,
        };
        self.at_facet_nodes(tag, |facet, node| {
            let number = usize::from(facet.number);
            let (xi, centre) = (reference[node.position as usize], centres[number]);
            let xi = [0, 1, 2].map(|a| xi[a] + inside * (centre[a] - xi[a]));
            let normal = geometry.area_normal(facet.cell as usize, number, xi);
            let measure = cell.facet_measure(number);
            (node, normal.map(|x| measure * x))
        })
    }

    /// A value for each node of each facet of a group.
    fn at_facet_nodes<V: Send>(
        &self,
        tag: &str,
        value: impl Fn(&BoundaryFacet, BoundaryNode) -> V + Sync,
    ) -> Result<Vec<V>, SpaceError> {
        let (cell, degree) = (self.cell(), self.degree());
        let restriction = self.restriction();
        // Position and place in the shell of the nodes of each facet.
        let on_facet = |facet| -> Vec<(usize, usize)> {
            let positions = cell.facet_nodes(degree, facet).into_iter();
            let shell = &restriction.shell_positions;
            let in_shell = |position| shell.partition_point(|&other| (other as usize) < position);
            positions.map(|p| (p, in_shell(p))).collect()
        };
        let on_facets: Vec<_> = (0..cell.facets().len()).map(on_facet).collect();
        let facets = self.boundary().tagged(tag)?;
        Ok(parallel::gather(facets.len(), |number, values| {
            let facet = &facets[number];
            let element = facet.element as usize;
            let chunk = &restriction.chunks[restriction.chunk_of(element)];
            let on_facet = on_facets[usize::from(facet.number)].iter();
            values.extend(on_facet.map(|&(position, place)| {
                let node = BoundaryNode {
                    node: restriction.node(chunk, restriction.shell_at(element, place)) as u32,
                    element: facet.element,
                    position: position as u32,
                };
                value(facet, node)
            }));
        }))
    }

    /// Positions of boundary nodes, `[nodes][3]`, with the geometry of the space.
    pub fn positions_of(&self, nodes: &[BoundaryNode], geometry: &Geometry) -> Vec<[f64; 3]> {
        let reference = nodes::positions(self.cell(), self.degree());
        let position = |node: &BoundaryNode| {
            let cell = self.cells()[node.element as usize] as usize;
            geometry.map(cell, reference[node.position as usize])
        };
        parallel::map(nodes.len(), |place| position(&nodes[place]))
    }
}
