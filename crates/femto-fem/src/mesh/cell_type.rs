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
    (23, "tri15", CellFamily::Triangle, 2, 4, 15),
    (25, "tri21", CellFamily::Triangle, 2, 5, 21),
    (26, "line4", CellFamily::Line, 1, 3, 4),
    (27, "line5", CellFamily::Line, 1, 4, 5),
    (28, "line6", CellFamily::Line, 1, 5, 6),
    (29, "tet20", CellFamily::Tetrahedron, 3, 3, 20),
    (30, "tet35", CellFamily::Tetrahedron, 3, 4, 35),
    (31, "tet56", CellFamily::Tetrahedron, 3, 5, 56),
    (36, "quad16", CellFamily::Quadrilateral, 2, 3, 16),
    (37, "quad25", CellFamily::Quadrilateral, 2, 4, 25),
    (38, "quad36", CellFamily::Quadrilateral, 2, 5, 36),
    (90, "prism40", CellFamily::Prism, 3, 3, 40),
    (91, "prism75", CellFamily::Prism, 3, 4, 75),
    (92, "hex64", CellFamily::Hexahedron, 3, 3, 64),
    (93, "hex125", CellFamily::Hexahedron, 3, 4, 125),
    (94, "hex216", CellFamily::Hexahedron, 3, 5, 216),
    (118, "pyramid30", CellFamily::Pyramid, 3, 3, 30),
    (119, "pyramid55", CellFamily::Pyramid, 3, 4, 55),
];

/// Row of [`TABLE`] of every Gmsh number; that of the first row where there is none.
const ROWS: [u8; 256] = {
    let mut rows = [0; 256];
    let mut row = 0;
    while row < TABLE.len() {
        rows[TABLE[row].0 as usize] = row as u8;
        row += 1;
    }
    rows
};

impl CellType {
    /// Straight line with 2 nodes.
    pub const LINE2: Self = Self(1);
    /// Line of order 2.
    pub const LINE3: Self = Self(8);
    /// Line of order 3.
    pub const LINE4: Self = Self(26);
    /// Straight triangle.
    pub const TRI3: Self = Self(2);
    /// Triangle of order 2.
    pub const TRI6: Self = Self(9);
    /// Triangle of order 3.
    pub const TRI10: Self = Self(21);
    /// Straight tetrahedron.
    pub const TET4: Self = Self(4);
    /// Tetrahedron of order 2.
    pub const TET10: Self = Self(11);
    /// Tetrahedron of order 3.
    pub const TET20: Self = Self(29);
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

    /// Every type, by Gmsh number.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| Self(row.0))
    }

    /// The type with this Gmsh number, if femto knows its number of nodes.
    pub fn from_gmsh(number: i64) -> Option<Self> {
        let cell_type = Self(u8::try_from(number).ok()?);
        (cell_type.row().0 == cell_type.0).then_some(cell_type)
    }

    fn row(self) -> &'static Row {
        &TABLE[usize::from(ROWS[usize::from(self.0)])]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_to_their_own_rows() {
        for cell_type in CellType::all() {
            let number = cell_type.gmsh_number().into();
            assert_eq!(CellType::from_gmsh(number), Some(cell_type));
            assert_eq!(cell_type.row().0, cell_type.gmsh_number());
        }
        assert_eq!(CellType::HEX27.name(), "hex27");
        for number in [-1, 0, 34, 255, 256 + 5, i64::MAX] {
            assert_eq!(CellType::from_gmsh(number), None, "{number}");
        }
    }

    #[test]
    fn complete_types_have_as_many_nodes_as_their_space_has_functions() {
        for cell_type in CellType::all() {
            let n = cell_type.order() + 1;
            let complete = match cell_type.family() {
                CellFamily::Point => 1,
                CellFamily::Line => n,
                CellFamily::Triangle => n * (n + 1) / 2,
                CellFamily::Quadrilateral => n * n,
                CellFamily::Tetrahedron => n * (n + 1) * (n + 2) / 6,
                CellFamily::Hexahedron => n * n * n,
                CellFamily::Prism => n * n * (n + 1) / 2,
                CellFamily::Pyramid => n * (n + 1) * (2 * n + 1) / 6,
            };
            let incomplete = ["quad8", "hex20", "prism15", "pyramid13", "tri9"];
            if !incomplete.contains(&cell_type.name()) {
                assert_eq!(cell_type.nodes(), complete, "{}", cell_type.name());
            }
            let digits = cell_type
                .name()
                .trim_start_matches(|c: char| !c.is_ascii_digit());
            if let Ok(nodes) = digits.parse::<usize>() {
                assert_eq!(cell_type.nodes(), nodes, "{}", cell_type.name());
            }
        }
    }
}
