//! Kinds of maps.

/// The kind of the map from a reference cell, from the simplest to the most general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MapKind {
    /// A parallelepiped, a parallelogram or a straight simplex: the Jacobian is constant.
    Affine,
    /// A hexahedron or quadrilateral given by its vertices: linear along each axis.
    Multilinear,
    /// A prism in a column of prisms, with vertical edges between its triangles.
    Extruded,
    /// Any other: a hexahedron or quadrilateral of order 2 along each axis, a simplex of order 2 or 3, a prism outside
    /// columns or a pyramid that is not affine.
    Curved,
}

/// How the triangles of prisms in columns lie, from the simplest to the most general.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layering {
    /// Horizontal.
    Level,
    /// Parallel to each other in each column, so that the map of a prism has the same derivatives everywhere.
    Parallel,
    /// Any way.
    Any,
}

impl Layering {
    /// Whether the triangles of each column are parallel, as horizontal ones are.
    pub fn is_parallel(self) -> bool {
        self != Self::Any
    }
}
