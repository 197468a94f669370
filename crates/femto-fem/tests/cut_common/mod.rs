//! Meshes of quadrilaterals and triangles.

use femto_element::CellType;
use femto_fem::mesh::{CellBlock, CellNodes, Membership, Mesh};

/// The nodes of a quadrilateral in each of its two triangles, vertices, then edges, in Gmsh's order.
const TRIANGLES: [[usize; 6]; 2] = [[0, 1, 2, 4, 5, 8], [0, 2, 3, 8, 6, 7]];

/// The mesh with some of its quad4 or quad9 cells cut into two triangles of the same order: those for
/// which `is_cut` is true of the number in their block. Groups are kept.
pub(crate) fn cut_quadrilaterals(from: &Mesh, is_cut: impl Fn(usize) -> bool) -> Mesh {
    let mut mesh = Mesh {
        blocks: Vec::new(),
        memberships: Vec::new(),
        ..from.clone()
    };
    for (place, block) in from.blocks.iter().enumerate() {
        let (cell_type, corners) = match block.cell_type {
            CellType::QUAD4 => (CellType::TRI3, 3),
            CellType::QUAD9 => (CellType::TRI6, 6),
            same => (same, 0),
        };
        let whole = (0..block.len()).filter(|&cell| corners == 0 || !is_cut(cell));
        let nodes = |cell: usize| block.cell(cell).to_vec();
        add(
            &mut mesh,
            from,
            place,
            block.cell_type,
            whole.map(|cell| (cell, nodes(cell))),
        );
        let cut = (0..block.len()).filter(|&cell| corners > 0 && is_cut(cell));
        let triangles = cut.flat_map(|cell| {
            let nodes = block.cell(cell);
            let of = |places: [usize; 6]| places[..corners].iter().map(|&m| nodes[m]).collect();
            TRIANGLES.map(|places| (cell, of(places)))
        });
        add(&mut mesh, from, place, cell_type, triangles);
    }
    mesh
}

/// Adds a block of cells, each given by a cell of a block of `from`, whose groups it inherits, and its
/// nodes.
fn add(
    mesh: &mut Mesh,
    from: &Mesh,
    place: usize,
    cell_type: CellType,
    cells: impl Iterator<Item = (usize, Vec<u32>)>,
) {
    let mut block = CellBlock {
        cell_type,
        nodes: CellNodes::default(),
        tags: Vec::new(),
    };
    let number = mesh.blocks.len() as u32;
    for (cell, (source, nodes)) in (0..).zip(cells) {
        block.nodes.to_mut().extend(nodes);
        block.tags.push(from.blocks[place].tags[source]);
        let further = from.groups_of(place, source).skip(1);
        mesh.memberships.extend(further.map(|group| Membership {
            block: number,
            cell,
            group,
        }));
    }
    if !block.is_empty() {
        mesh.blocks.push(block);
    }
}
