//! Points of a cell: on its facets, and those that a cube is collapsed to.

use super::Cell;

impl Cell {
    /// The vertex at the end of an axis that starts in vertex 0.
    pub fn end_of_axis(self, axis: usize) -> usize {
        let unit = [0, 1, 2].map(|a| u8::from(a == axis));
        let mut corners = self.reference().corners.iter();
        corners.position(|&corner| corner == unit).unwrap_or(0)
    }

    /// The point of the cell to which a point of the cube `[-1, 1]³` is collapsed: (ξ, η) (1 - ζ) on pyramids, and
    /// likewise η and then ξ on the triangles of simplices and prisms; itself on tensor products. Coordinates beyond
    /// the dimension are ignored.
    pub fn collapsed(self, point: [f64; 3]) -> [f64; 3] {
        if self.is_tensor_product() {
            return [0, 1, 2].map(|a| if a < self.dim() { point[a] } else { 0.0 });
        }
        let [u, v, w] = point.map(|x| 0.5 * (1.0 + x));
        match self {
            Self::Prism => [u * (1.0 - v), v, point[2]],
            Self::Pyramid => [u * (1.0 - w), v * (1.0 - w), w],
            Self::Triangle => [u * (1.0 - v), v, 0.0],
            _ => [u * (1.0 - v) * (1.0 - w), v * (1.0 - w), w],
        }
    }
    /// The position in the cell of a point in a facet's own reference cell. Coordinates beyond the facet's
    /// dimension are ignored.
    pub fn facet_point(self, facet: usize, point: [f64; 3]) -> [f64; 3] {
        let own = self.facets()[facet];
        let mut position = self.vertex(own.vertices[0]);
        let tangents = self.facet_tangents(facet);
        let origin = own.cell.vertex(0);
        for (axis, tangent) in tangents.iter().enumerate().take(own.cell.dim()) {
            for (x, slope) in position.iter_mut().zip(tangent) {
                *x += (point[axis] - origin[axis]) * slope;
            }
        }
        position
    }

    /// Derivatives of [`Cell::facet_point`] along the facet's axes, `[axis][3]`; zero beyond its dimension.
    pub fn facet_tangents(self, facet: usize) -> [[f64; 3]; 2] {
        let own = self.facets()[facet];
        let start = self.vertex(own.vertices[0]);
        [0, 1].map(|axis| {
            if axis >= own.cell.dim() {
                return [0.0; 3];
            }
            let end = self.vertex(own.vertices[axis + 1]);
            let length = 1.0 - own.cell.vertex(0)[axis];
            [0, 1, 2].map(|a| (end[a] - start[a]) / length)
        })
    }

    /// The length or area of a facet's own reference cell.
    pub fn facet_measure(self, facet: usize) -> f64 {
        let own = self.facets()[facet].cell;
        match own {
            Self::Triangle => 0.5,
            _ => f64::from(1 << own.dim()),
        }
    }

    /// The outward normal of a facet of the reference cell, scaled by the ratio of its area to that of its
    /// own reference cell.
    pub fn facet_normal(self, facet: usize) -> [f64; 3] {
        let normal = self.right_handed_normal(facet);
        let sign = if self.is_facet_right_handed(facet) {
            1.0
        } else {
            -1.0
        };
        normal.map(|x| sign * x + 0.0)
    }

    /// Whether the normal of a facet by the right-hand rule, from its own axes, points outwards; in the plane, whether
    /// the cell is on the left of its edge.
    pub fn is_facet_right_handed(self, facet: usize) -> bool {
        let normal = self.right_handed_normal(facet);
        let (on_facet, centre) = (self.facet_point(facet, [0.0; 3]), self.centre());
        let outwards: f64 = (0..3).map(|a| normal[a] * (on_facet[a] - centre[a])).sum();
        outwards > 0.0
    }

    fn right_handed_normal(self, facet: usize) -> [f64; 3] {
        let [r, s] = self.facet_tangents(facet);
        match self.dim() {
            3 => [
                r[1] * s[2] - r[2] * s[1],
                r[2] * s[0] - r[0] * s[2],
                r[0] * s[1] - r[1] * s[0],
            ],
            2 => [r[1], -r[0], 0.0],
            _ => [1.0, 0.0, 0.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_point_outwards_and_are_as_large_as_facets() {
        for cell in Cell::ALL.into_iter().filter(|cell| cell.dim() > 1) {
            for (facet, own) in cell.facets().iter().enumerate() {
                let normal = cell.facet_normal(facet);
                let dot = |x: [f64; 3]| (0..3).map(|a| normal[a] * x[a]).sum::<f64>();
                let height = dot(cell.facet_point(facet, [0.2, 0.3, f64::NAN]));
                for vertex in 0..cell.vertices() {
                    let other = dot(cell.vertex(vertex));
                    match own.vertices.contains(&vertex) {
                        true => assert!((other - height).abs() < 1e-15, "{cell:?} {facet}"),
                        false => assert!(other < height - 0.2, "{cell:?} {facet}"),
                    }
                }
                for (m, &vertex) in own.vertices.iter().enumerate() {
                    let found = cell.facet_point(facet, own.cell.vertex(m));
                    assert_eq!(found, cell.vertex(vertex), "{cell:?} {facet}");
                }
            }
        }
        assert_eq!(Cell::Triangle.facet_normal(2), [0.5, 0.5, 0.0]);
        assert_eq!(Cell::Tetrahedron.facet_normal(3), [1.0; 3]);
        assert_eq!(Cell::Hexahedron.facet_normal(3), [0.0, 1.0, 0.0]);
        assert_eq!(Cell::Hexahedron.facet_normal(4), [0.0, 0.0, -1.0]);
        assert_eq!(Cell::Quadrilateral.facet_normal(2), [0.0, -1.0, 0.0]);
    }
}
