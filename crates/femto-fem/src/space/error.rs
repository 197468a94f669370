//! Errors of spaces and of queries about them.

use crate::mesh::MeshError;
use femto_element::Degree;
use femto_element::basis::BasisError;

/// Why a space could not be made or queried.
#[derive(Debug, thiserror::Error)]
pub enum SpaceError {
    /// A cell or polynomial degree without a basis.
    #[error(transparent)]
    Basis(#[from] BasisError),
    /// Lists of a mesh made in a program that do not belong together.
    #[error("the mesh contradicts itself: {what}")]
    Contradiction {
        /// What contradicts what.
        what: String,
    },
    /// A space without components.
    #[error("a space of 0 components: at least 1 is needed")]
    Components,
    /// Blocks of which only some are those of one space, or in another order.
    #[error("{found} blocks that are not all those of one space in their order; it has {blocks}")]
    NotAllBlocks {
        /// Number of blocks given.
        found: usize,
        /// Number of blocks of the first one's space.
        blocks: usize,
    },
    /// A space of a degree that is not lower was asked for.
    #[error(
        "a space of degree {degree} cannot be made from one of degree {of}: only from higher degrees"
    )]
    NotLower {
        /// The degree asked for.
        degree: Degree,
        /// The degree of the space.
        of: Degree,
    },
    /// Cells that disagree about what is vertical.
    #[error(
        "a space of degree {degree}: cells {} and {} disagree about what is vertical, as their common edge lies between the \
         triangles of one and on a triangle of the other",
        cells[0],
        cells[1]
    )]
    NoVertical {
        /// Mesh cell numbers.
        cells: [u32; 2],
        /// The degree asked for.
        degree: Degree,
    },
    /// The mesh has none of the cells of its geometry.
    #[error(
        "the mesh has no cells that carry unknowns; spaces are numbered on hexahedra, tetrahedra, prisms and pyramids \
         or, in the plane, on quadrilaterals and triangles"
    )]
    NoCells,
    /// The mesh has cells of a shape that was not given, or that cannot carry unknowns.
    #[error(
        "the mesh has {count} {name} cells beside others of the same dimension: a space on several shapes is made of \
         blocks, one for each shape"
    )]
    UnsupportedCells {
        /// Name of the cell type.
        name: &'static str,
        /// Number of cells of that type.
        count: usize,
    },
    /// Geometry and mesh have different numbers of cells.
    #[error("the geometry has {geometry} cells, the mesh has {mesh}")]
    GeometryCells {
        /// Cells of the geometry.
        geometry: usize,
        /// Cells of the mesh.
        mesh: usize,
    },
    /// The geometry belongs to another mesh, or to other cells of a mesh.
    #[error("the geometry's cells have other vertices than those of the space")]
    OtherCells,
    /// A group where the component along the normal is given, in a space without one.
    #[error("boundary group `{tag}`: the component along the normal was given, but {why}")]
    NoNormal {
        /// The group.
        tag: String,
        /// Why there is none.
        why: String,
    },
    /// A cell refers to a mesh node that does not exist.
    #[error("cell {cell} refers to mesh node {node}, the mesh has {nodes} nodes")]
    MissingNode {
        /// Mesh cell number.
        cell: u32,
        /// The node it refers to.
        node: u32,
        /// Number of mesh nodes.
        nodes: usize,
    },
    /// Two vertices of a cell are the same mesh node.
    #[error("cell {cell} has mesh node {node} at two of its vertices")]
    RepeatedVertex {
        /// Mesh cell number.
        cell: u32,
        /// The repeated mesh node.
        node: u32,
    },
    /// A facet belongs to more than two cells.
    #[error("cells {cells:?} share one facet (mesh nodes {nodes:?}); at most two cells can")]
    CrowdedFacet {
        /// Mesh cell numbers of three cells with this facet.
        cells: [u32; 3],
        /// Mesh nodes of the facet, in cyclic order.
        nodes: Vec<u32>,
    },
    /// Periodic pairs of nodes without facets.
    #[error(
        "{count} pairs of periodic nodes, such as {nodes:?}, are on no facets of the boundary that correspond: the list is \
         incomplete or leads inside the mesh; in a case `periodic = []` makes such sides boundaries"
    )]
    UnjoinedNodes {
        /// Mesh nodes of a pair.
        nodes: [u32; 2],
        /// Number of such pairs.
        count: usize,
    },
    /// Two cells on the same side of their facet.
    #[error(
        "cells {cells:?} lie on the same side of the facet that they share (mesh nodes {nodes:?}): the mesh is folded there, \
         a cell lies on another, or one is left-handed"
    )]
    FoldedCells {
        /// Mesh cell numbers of the two cells.
        cells: [u32; 2],
        /// Mesh nodes of the facet, in cyclic order.
        nodes: Vec<u32>,
    },
    /// Two cells have a face with the same vertices in different cyclic orders.
    #[error(
        "cells {cells:?} have a face with the same four vertices in orders that do not match: \
         mesh nodes {first:?} and {second:?}"
    )]
    TwistedFace {
        /// Mesh cell numbers of the two cells.
        cells: [u32; 2],
        /// Mesh nodes of the face in the first cell, in cyclic order.
        first: Vec<u32>,
        /// Mesh nodes of the face in the second cell, in cyclic order.
        second: Vec<u32>,
    },
    /// A triangular face of one solid lies on a quadrilateral face of another.
    #[error(
        "cells {cells:?} meet at a quadrilateral of mesh nodes {first:?} of the one and a triangle of mesh nodes \
         {second:?} of the other; neighbours must share whole facets of one shape"
    )]
    DisagreeingFaces {
        /// Mesh cell numbers of the two cells.
        cells: [u32; 2],
        /// Mesh nodes of the quadrilateral, in cyclic order.
        first: Vec<u32>,
        /// Mesh nodes of the triangle.
        second: Vec<u32>,
    },
    /// A facet on a periodic side without a partner on the other.
    #[error(
        "the facet of cell {cell} with mesh nodes {nodes:?} is on a periodic side; its partner would have mesh nodes \
         {partners:?}, {why}"
    )]
    NoPartner {
        /// Mesh cell number.
        cell: u32,
        /// Mesh nodes of the facet, in cyclic order.
        nodes: Vec<u32>,
        /// Their partners.
        partners: Vec<u32>,
        /// The fault of the partner facet.
        why: &'static str,
    },
    /// Periodic sides without nodes.
    #[error(
        "pair {pair} of the mesh's periodic sides has no nodes: a mesh file links them, but does not say which nodes \
         correspond, as Gmsh does for sides of extruded meshes; in a case `periodic` joins groups by their positions, and \
         `periodic = []` makes such sides boundaries"
    )]
    EmptySides {
        /// The number of the pair, from 1.
        pair: usize,
    },
    /// A cell between two periodic sides, two of whose vertices would coincide.
    #[error(
        "cell {cell} reaches from one periodic side to the other: at least two cells must lie between them"
    )]
    NarrowPeriod {
        /// Mesh cell number.
        cell: u32,
    },
    /// A group with facets on periodic sides.
    #[error(
        "boundary group `{tag}`: {count} of its facets are on periodic sides, which have no boundary conditions; the \
         first has mesh nodes {nodes:?}; in a case `periodic = []` makes them boundaries"
    )]
    PeriodicFacet {
        /// The tag as given.
        tag: String,
        /// Corner nodes of the first such facet, in cyclic order.
        nodes: Vec<u32>,
        /// Number of such facets.
        count: usize,
    },
    /// More cells than 32-bit numbers can count with their vertices, edges and faces.
    #[error("{cells} cells have more vertices, edges and facets than 32 bits can number")]
    TooManyCells {
        /// The number of cells.
        cells: usize,
    },
    /// More nodes than 32-bit numbers can count.
    #[error("{nodes} nodes; at most {} can be numbered", u32::MAX - 1)]
    TooManyNodes {
        /// The number of nodes that the space would have.
        nodes: u64,
    },
    /// More entries in the lists of nodes shared by chunks than 32-bit numbers can count.
    #[error(
        "{entries} entries in the lists of nodes that chunks of elements share; at most {} can be \
         numbered",
        u32::MAX
    )]
    TooManyShared {
        /// The number of entries.
        entries: u64,
    },
    /// A constrained component that the space does not have.
    #[error(
        "component {component} on `{tag}`; components are numbered from 0 and the space has {components}"
    )]
    NoSuchComponent {
        /// The tag as given.
        tag: String,
        /// The component.
        component: usize,
        /// Number of components of the space.
        components: usize,
    },
    /// More entries of vectors than 32-bit numbers can count.
    #[error("vectors of {dofs} entries; at most {} can be numbered", u32::MAX)]
    TooManyEntries {
        /// Length of an L-vector.
        dofs: u64,
    },
    /// The mesh has no such group, or several.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A tagged quadrilateral, triangle or line that is not a facet of any cell.
    #[error(
        "boundary group `{tag}`: {count} of its cells are not facets of any cell that carries unknowns, \
         the first has mesh nodes {nodes:?}"
    )]
    NoSuchFacet {
        /// The tag as given.
        tag: String,
        /// Corner nodes of the first such boundary cell, in cyclic order.
        nodes: Vec<u32>,
        /// Number of such cells.
        count: usize,
    },
}

impl SpaceError {
    /// The mesh cell numbers named by the error.
    pub fn cells(&self) -> Vec<usize> {
        let all = |cells: &[u32]| cells.iter().map(|&cell| cell as usize).collect();
        match self {
            Self::MissingNode { cell, .. }
            | Self::RepeatedVertex { cell, .. }
            | Self::NoPartner { cell, .. }
            | Self::NarrowPeriod { cell } => all(&[*cell]),
            Self::CrowdedFacet { cells, .. } => all(cells),
            Self::FoldedCells { cells, .. }
            | Self::TwistedFace { cells, .. }
            | Self::DisagreeingFaces { cells, .. } => all(cells),
            _ => vec![],
        }
    }
}
