//! The point.

use super::{Cell, NodeOrder, Reference, Row};

pub(super) const REFERENCE: Reference = Reference {
    name: "point",
    plural: "points",
    dim: 0,
    corners: &[[0, 0, 0]],
    lower: [0.0; 3],
    edges: &[],
    facets: &[],
    contains: |_, [i, j, k]| i + j + k == 0,
    lexicographic: false,
    per_box: 1,
    gmsh: ORDER,
    vtk: ORDER,
    vtk_types: [1, 1],
    types: &[Row::new(15, "point", Cell::Point, 1, 1)],
};

const ORDER: NodeOrder = NodeOrder {
    vertices: &[0],
    edges: &[],
    facets: &[],
    recursive: false,
};
