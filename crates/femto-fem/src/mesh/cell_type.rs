//! The cell types of the Gmsh format.

/// The shape of a cell, whatever its geometric order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum CellFamily {
    Point,
    Line,
    Triangle,
    Quadrilateral,
    Tetrahedron,
    Hexahedron,
    Prism,
    Pyramid,
}

/// A cell type: a family, a geometric order, and its number of nodes.
///
/// The numbers are those of the Gmsh format (reference manual, "MSH file format", element types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellType(u8);

/// Gmsh number, name, family, dimension, order, nodes.
type Row = (u8, &'static str, CellFamily, usize, usize, usize);

const TABLE: &[Row] = &[
    (1, "line2", CellFamily::Line, 1, 1, 2),
    (2, "tri3", CellFamily::Triangle, 2, 1, 3),
    (3, "quad4", CellFamily::Quadrilateral, 2, 1, 4),
    (4, "tet4", CellFamily::Tetrahedron, 3, 1, 4),
    (5, "hex8", CellFamily::Hexahedron, 3, 1, 8),
    (6, "prism6", CellFamily::Prism, 3, 1, 6),
    (7, "pyramid5", CellFamily::Pyramid, 3, 1, 5),
    (8, "line3", CellFamily::Line, 1, 2, 3),
    (9, "tri6", CellFamily::Triangle, 2, 2, 6),
    (10, "quad9", CellFamily::Quadrilateral, 2, 2, 9),
    (11, "tet10", CellFamily::Tetrahedron, 3, 2, 10),
    (12, "hex27", CellFamily::Hexahedron, 3, 2, 27),
    (13, "prism18", CellFamily::Prism, 3, 2, 18),
    (14, "pyramid14", CellFamily::Pyramid, 3, 2, 14),
    (15, "point", CellFamily::Point, 0, 1, 1),
    (16, "quad8", CellFamily::Quadrilateral, 2, 2, 8),
    (17, "hex20", CellFamily::Hexahedron, 3, 2, 20),
    (18, "prism15", CellFamily::Prism, 3, 2, 15),
    (19, "pyramid13", CellFamily::Pyramid, 3, 2, 13),
    (20, "tri9", CellFamily::Triangle, 2, 3, 9),
    (21, "tri10", CellFamily::Triangle, 2, 3, 10),
    (26, "line4", CellFamily::Line, 1, 3, 4),
    (29, "tet20", CellFamily::Tetrahedron, 3, 3, 20),
    (36, "quad16", CellFamily::Quadrilateral, 2, 3, 16),
    (92, "hex64", CellFamily::Hexahedron, 3, 3, 64),
];

impl CellType {
    /// Straight line with 2 nodes.
    pub const LINE2: Self = Self(1);
    /// Bilinear quadrilateral.
    pub const QUAD4: Self = Self(3);
    /// Serendipity quadrilateral of order 2.
    pub const QUAD8: Self = Self(16);
    /// Biquadratic quadrilateral.
    pub const QUAD9: Self = Self(10);
    /// Trilinear hexahedron.
    pub const HEX8: Self = Self(5);
    /// Serendipity hexahedron of order 2.
    pub const HEX20: Self = Self(17);
    /// Triquadratic hexahedron.
    pub const HEX27: Self = Self(12);

    /// The type with this Gmsh number, if femto knows its number of nodes.
    pub fn from_gmsh(number: i64) -> Option<Self> {
        TABLE
            .iter()
            .find(|row| i64::from(row.0) == number)
            .map(|row| Self(row.0))
    }

    fn row(self) -> &'static Row {
        // Every value is made by `from_gmsh` or is a constant above, so the row exists.
        TABLE
            .iter()
            .find(|row| row.0 == self.0)
            .unwrap_or(&TABLE[0])
    }

    /// The Gmsh number of the type.
    pub fn gmsh_number(self) -> u8 {
        self.0
    }

    /// The name that errors and reports use, such as `hex27`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The shape.
    pub fn family(self) -> CellFamily {
        self.row().2
    }

    /// The dimension of the cell: 0 for a point to 3 for a solid.
    pub fn dimension(self) -> usize {
        self.row().3
    }

    /// The polynomial order of the geometry.
    pub fn order(self) -> usize {
        self.row().4
    }

    /// The number of nodes of one cell.
    pub fn nodes(self) -> usize {
        self.row().5
    }
}
