//! The Challenge's layout of an extruded mesh: columns of nodes above vertices, columns of prisms above triangles.

use thiserror::Error;

/// A mesh of triangles extruded along z.
///
/// Node `(layers + 1) · v + layer` is above vertex v, so that a column's nodes follow one another.
#[derive(Clone, Debug, PartialEq)]
pub struct Columns {
    layers: usize,
    map: Vec<u32>,
    coordinates: Vec<f64>,
}

/// Why a mesh cannot be extruded.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum ColumnsError {
    /// No layers, or no extent.
    #[error(
        "{layers} layers of height {height}: an extruded mesh has at least one, of positive height"
    )]
    Layers {
        /// Layers of cells.
        layers: usize,
        /// Height of a layer.
        height: f64,
    },
    /// A triangle without area, or with a vertex that does not exist.
    #[error(
        "triangle {triangle} has vertices {vertices:?}, which are no triangle of the {of} vertices"
    )]
    Triangle {
        /// The triangle.
        triangle: usize,
        /// Its vertices.
        vertices: [u32; 3],
        /// The number of vertices.
        of: usize,
    },
    /// More nodes than 32-bit numbers.
    #[error("{vertices} vertices × {node_layers} layers of nodes exceed 32-bit numbers")]
    Nodes {
        /// Vertices of the triangles.
        vertices: usize,
        /// Layers of nodes.
        node_layers: usize,
    },
}

impl Columns {
    /// Layers of cells in the Challenge.
    pub const LAYERS: usize = 100;

    /// Height of a layer in the Challenge.
    pub const HEIGHT: f64 = 0.1;

    /// Extrudes triangles of vertices `[vertex][x, y]` by `layers` layers of a height.
    ///
    /// # Errors
    /// See [`ColumnsError`].
    pub fn extrude(
        vertices: &[[f64; 2]],
        triangles: &[[u32; 3]],
        layers: usize,
        height: f64,
    ) -> Result<Self, ColumnsError> {
        let is_height = height > 0.0 && height.is_finite();
        if layers == 0 || !is_height {
            return Err(ColumnsError::Layers { layers, height });
        }
        let of = vertices.len();
        let node_layers = layers.saturating_add(1);
        let nodes = of.checked_mul(node_layers);
        if nodes.is_none_or(|nodes| u32::try_from(nodes).is_err()) {
            return Err(ColumnsError::Nodes {
                vertices: of,
                node_layers,
            });
        }
        let mut map = Vec::with_capacity(6 * triangles.len());
        for (triangle, corners) in triangles.iter().enumerate() {
            let positions = corners.map(|v| vertices.get(v as usize).copied());
            let [Some(a), Some(b), Some(c)] = positions else {
                return Err(refused(triangle, corners, of));
            };
            let twice_area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
            if twice_area == 0.0 || !twice_area.is_finite() {
                return Err(refused(triangle, corners, of));
            }
            let lowest = corners.map(|v| v * node_layers as u32);
            map.extend(lowest.iter().flat_map(|&node| [node, node + 1]));
        }
        let column = |&[x, y]: &[f64; 2]| {
            (0..node_layers).flat_map(move |layer| [x, y, height * layer as f64])
        };
        Ok(Self {
            layers,
            map,
            coordinates: vertices.iter().flat_map(column).collect(),
        })
    }

    /// Layers of cells.
    pub fn layers(&self) -> usize {
        self.layers
    }

    /// Number of triangles.
    pub fn triangles(&self) -> usize {
        self.map.len() / 6
    }

    /// Number of vertices of the triangles.
    pub fn vertices(&self) -> usize {
        self.nodes() / (self.layers + 1)
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.triangles() * self.layers
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.coordinates.len() / 3
    }

    /// Nodes of the lowest cells, `[triangle][2 c + b]` with corner c of the triangle, and b = 0 below, 1 above; a cell
    /// one layer higher has numbers greater by 1.
    pub fn map(&self) -> &[u32] {
        &self.map
    }

    /// Positions, `[node][x, y, z]`.
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    /// Nodes of a cell.
    #[inline]
    pub(super) fn cell(&self, triangle: usize, layer: usize) -> [usize; 6] {
        core::array::from_fn(|n| self.map[6 * triangle + n] as usize + layer)
    }

    /// Position of a node.
    #[inline]
    pub(super) fn position(&self, node: usize) -> [f64; 3] {
        core::array::from_fn(|d| self.coordinates[3 * node + d])
    }
}

fn refused(triangle: usize, vertices: &[u32; 3], of: usize) -> ColumnsError {
    ColumnsError::Triangle {
        triangle,
        vertices: *vertices,
        of,
    }
}
