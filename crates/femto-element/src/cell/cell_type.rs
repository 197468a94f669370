//! Cell types of mesh files.

use super::Cell;

/// A cell type: a cell, a geometric order, and its number of nodes.
///
/// The numbers are those of the Gmsh format (reference manual, "MSH file format", element types).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellType(u8);

/// One type.
#[derive(Clone, Copy)]
pub(super) struct Row {
    gmsh_number: u8,
    name: &'static str,
    cell: Cell,
    order: usize,
    nodes: usize,
}

impl Row {
    pub(super) const fn new(
        gmsh_number: u8,
        name: &'static str,
        cell: Cell,
        order: usize,
        nodes: usize,
    ) -> Self {
        Self {
            gmsh_number,
            name,
            cell,
            order,
            nodes,
        }
    }
}

/// The type of every Gmsh number; the point's for unused numbers.
static ROWS: [Row; 256] = {
    let mut rows = [Cell::Point.reference().types[0]; 256];
    let mut cell = 0;
    while cell < Cell::ALL.len() {
        let types = Cell::ALL[cell].reference().types;
        let mut row = 0;
        while row < types.len() {
            rows[types[row].gmsh_number as usize] = types[row];
            row += 1;
        }
        cell += 1;
    }
    rows
};

impl CellType {
    /// Straight line with 2 nodes.
    pub const LINE2: Self = Self(1);
    /// Straight triangle.
    pub const TRI3: Self = Self(2);
    /// Triangle of order 2.
    pub const TRI6: Self = Self(9);
    /// Straight tetrahedron.
    pub const TET4: Self = Self(4);
    /// Tetrahedron of order 2.
    pub const TET10: Self = Self(11);
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
        (0..=255).filter_map(Self::from_gmsh)
    }

    /// The type with this Gmsh number, if femto knows its nodes.
    pub fn from_gmsh(number: i64) -> Option<Self> {
        let cell_type = Self(u8::try_from(number).ok()?);
        (cell_type.row().gmsh_number == cell_type.0).then_some(cell_type)
    }

    /// The type of a cell with all nodes of an order, if femto knows one.
    pub fn complete(cell: Cell, order: usize) -> Option<Self> {
        let is_it = |it: &Self| it.cell() == cell && it.order() == order && it.is_complete();
        Self::all().find(is_it)
    }

    fn row(self) -> &'static Row {
        &ROWS[usize::from(self.0)]
    }

    /// The Gmsh number of the type.
    pub fn gmsh_number(self) -> u8 {
        self.0
    }

    /// The name in errors and reports, such as `hex27`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The cell.
    pub fn cell(self) -> Cell {
        self.row().cell
    }

    /// The dimension of the cell: 0 for a point to 3 for a solid.
    pub fn dimension(self) -> usize {
        self.cell().dim()
    }

    /// The polynomial order of the geometry.
    pub fn order(self) -> usize {
        self.row().order
    }

    /// The number of nodes of one cell.
    pub fn nodes(self) -> usize {
        self.row().nodes
    }

    /// Whether it has all nodes of its order, unlike serendipity cells.
    pub fn is_complete(self) -> bool {
        self.nodes() == self.cell().lattice(self.order()).len()
    }

    /// Positions of the nodes of a cell, `[nodes][3]`, in steps of 1/order from its origin and in Gmsh's
    /// order; serendipity cells lack those inside facets and the cell. Correct as long as facets have at
    /// most one interior node.
    pub fn node_lattice(self) -> Vec<[usize; 3]> {
        let mut all = (self.cell()).lattice_in(self.order(), self.cell().gmsh_order());
        all.truncate(self.nodes());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lead_to_their_own_rows() {
        let rows: usize = (Cell::ALL.iter())
            .map(|cell| cell.reference().types.len())
            .sum();
        assert_eq!(CellType::all().count(), rows, "no number twice");
        for cell in Cell::ALL {
            for row in cell.reference().types {
                let cell_type = CellType::from_gmsh(row.gmsh_number.into()).unwrap();
                assert_eq!((cell_type.name(), cell_type.cell()), (row.name, cell));
            }
        }
        assert_eq!(CellType::HEX27.name(), "hex27");
        for number in [-1, 0, 34, 255, 256 + 5, i64::MAX] {
            assert_eq!(CellType::from_gmsh(number), None, "{number}");
        }
    }

    #[test]
    fn complete_types_have_as_many_nodes_as_their_space_has_functions() {
        let incomplete = ["quad8", "hex20", "prism15", "pyramid13", "tri9"];
        for cell_type in CellType::all() {
            let is_complete = !incomplete.contains(&cell_type.name());
            assert_eq!(cell_type.is_complete(), is_complete, "{}", cell_type.name());
            let digits = (cell_type.name()).trim_start_matches(|c: char| !c.is_ascii_digit());
            if let Ok(nodes) = digits.parse::<usize>() {
                assert_eq!(cell_type.nodes(), nodes, "{}", cell_type.name());
            }
        }
    }

    /// Gmsh reference manual, "Node ordering", drawn layer by layer.
    #[test]
    fn nodes_of_quadratic_cells_are_where_gmsh_draws_them() {
        let hex27 = CellType::HEX27.node_lattice();
        let layers: [[[usize; 3]; 3]; 3] = [
            [[0, 8, 1], [9, 20, 11], [3, 13, 2]],
            [[10, 21, 12], [22, 26, 23], [15, 24, 14]],
            [[4, 16, 5], [17, 25, 18], [7, 19, 6]],
        ];
        for (k, layer) in layers.iter().enumerate() {
            for (j, row) in layer.iter().enumerate() {
                for (i, &node) in row.iter().enumerate() {
                    assert_eq!(hex27[node], [i, j, k], "node {node}");
                }
            }
        }
        assert_eq!(CellType::HEX20.node_lattice(), hex27[..20]);
        let quad9 = CellType::QUAD9.node_lattice();
        let rows = [[0, 4, 1], [7, 8, 5], [3, 6, 2]];
        for (j, row) in rows.iter().enumerate() {
            for (i, &node) in row.iter().enumerate() {
                assert_eq!(quad9[node], [i, j, 0], "node {node}");
            }
        }
        let middle = |cell_type: CellType, node: usize, ends: [usize; 2]| {
            let nodes = cell_type.node_lattice();
            let sum = [0, 1, 2].map(|a| nodes[ends[0]][a] + nodes[ends[1]][a]);
            assert_eq!(
                sum,
                nodes[node].map(|m| 2 * m),
                "{} {node}",
                cell_type.name()
            );
        };
        let tet10 = [[0, 1], [1, 2], [2, 0], [3, 0], [3, 2], [3, 1]];
        for (edge, ends) in tet10.into_iter().enumerate() {
            middle(CellType::TET10, 4 + edge, ends);
        }
        let prism15 = [
            [0, 1],
            [0, 2],
            [0, 3],
            [1, 2],
            [1, 4],
            [2, 5],
            [3, 4],
            [3, 5],
            [4, 5],
        ];
        for (edge, ends) in prism15.into_iter().enumerate() {
            middle(CellType(18), 6 + edge, ends);
        }
        let pyramid13 = [
            [0, 1],
            [0, 3],
            [0, 4],
            [1, 2],
            [1, 4],
            [2, 3],
            [2, 4],
            [3, 4],
        ];
        for (edge, ends) in pyramid13.into_iter().enumerate() {
            middle(CellType(19), 5 + edge, ends);
        }
    }
}
