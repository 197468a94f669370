//! The nodes of an element by entity: vertices, edges, faces, interior.

use femto_element::{Cell, Degree};

/// Positions of the nodes of an element of given degree, by the entity that they lie on.
///
/// *Shell* nodes lie on the cell's boundary; the others are *interior*. Entities are vertices, edges and,
/// for solids, faces, numbered as in [`femto_element::cell`]. Nodes inside an entity are numbered along its
/// canonical walk, see [`Cell::orientation`].
pub(super) struct ElementNodes {
    /// Position of each shell node in the element, ascending, `[shell_nodes]`.
    pub(super) shell_positions: Vec<u32>,
    /// Position of each interior node in the element, ascending, `[interior_nodes]`.
    pub(super) interior_positions: Vec<u32>,
    /// Shell node at each vertex.
    vertices: Vec<u32>,
    /// The vertices and nodes of each edge and face.
    entities: Vec<Entity>,
    /// Canonical positions of nodes inside edges and faces, `[order][node]`.
    orders: Vec<Vec<u32>>,
}

/// An edge or face of the cell.
struct Entity {
    cell: Cell,
    /// The cell's vertices on it.
    vertices: &'static [usize],
    /// Shell nodes inside, in the entity's own order.
    nodes: Vec<u32>,
    /// Degree along its own axes.
    degree: Degree,
    /// The start of the orders for its shape and degree.
    orders: usize,
}

impl ElementNodes {
    pub(super) fn new(cell: Cell, degree: Degree) -> Self {
        let lattice = cell.lattice(degree);
        let place = cell.lattice_places(degree);
        let mut interior_positions: Vec<u32> = (cell.interior(degree).into_iter())
            .filter_map(&place)
            .map(|position| position as u32)
            .collect();
        interior_positions.sort_unstable();
        let is_inside = |position: &u32| interior_positions.binary_search(position).is_ok();
        let shell_positions: Vec<u32> = (0..lattice.len() as u32)
            .filter(|position| !is_inside(position))
            .collect();
        let shell = |steps: [usize; 3]| {
            let position = place(steps).map_or(0, |position| position as u32);
            shell_positions.partition_point(|&other| other < position) as u32
        };
        let at_vertex = |vertex: usize| shell(cell.steps_to(degree, vertex));
        let mut nodes = Self {
            vertices: (0..cell.vertices()).map(at_vertex).collect(),
            entities: Vec::new(),
            orders: Vec::new(),
            shell_positions: Vec::new(),
            interior_positions: Vec::new(),
        };
        for ends in cell.edges() {
            let inside = cell.inside_edge(degree, *ends);
            let own = Degree::from(inside.len() + 1);
            nodes.push(Cell::Line, ends, inside.into_iter().map(shell), own);
        }
        for (number, facet) in faces(cell).iter().enumerate() {
            let inside = cell.inside_facet(degree, facet.vertices).into_iter();
            let own = cell.facet_degree(degree, number);
            nodes.push(facet.cell, facet.vertices, inside.map(shell), own);
        }
        (nodes.shell_positions, nodes.interior_positions) = (shell_positions, interior_positions);
        nodes
    }

    /// The shell node at each vertex.
    pub(super) fn vertices(&self) -> &[u32] {
        &self.vertices
    }

    fn push(
        &mut self,
        cell: Cell,
        vertices: &'static [usize],
        nodes: impl Iterator<Item = u32>,
        degree: Degree,
    ) {
        let mut others = self.entities.iter();
        let known = others.find(|other| (other.cell, other.degree) == (cell, degree));
        let orders = known.map_or(self.orders.len(), |other| other.orders);
        if orders == self.orders.len() {
            self.orders.extend(cell.canonical_orders(degree));
        }
        self.entities.push(Entity {
            cell,
            vertices,
            nodes: nodes.collect(),
            degree,
            orders,
        });
    }

    /// Positions of the nodes inside one of the element's entities: vertices, edges, faces.
    pub(super) fn on_entity(&self, slot: usize) -> impl Iterator<Item = u32> {
        let shell = match slot.checked_sub(self.vertices.len()) {
            None => &self.vertices[slot..=slot],
            Some(slot) => &self.entities[slot].nodes,
        };
        shell.iter().map(|&s| self.shell_positions[s as usize])
    }

    /// The number of an element's entities up to the last one with nodes.
    pub(super) fn slots(&self) -> usize {
        let last = self
            .entities
            .iter()
            .rposition(|entity| !entity.nodes.is_empty());
        self.vertices.len() + last.map_or(0, |last| last + 1)
    }

    /// The number of nodes inside one of the element's entities.
    pub(super) fn size(&self, slot: usize) -> u32 {
        match slot.checked_sub(self.vertices.len()) {
            None => 1,
            Some(slot) => self.entities[slot].nodes.len() as u32,
        }
    }

    /// The highest dimension of entities of the boundary that have nodes inside.
    pub(super) fn up_to(&self) -> usize {
        let with_nodes = self.entities.iter().filter(|it| !it.nodes.is_empty());
        with_nodes.map(|it| it.cell.dim()).max().unwrap_or(0)
    }

    /// Writes the numbers of the shell nodes of an element to `shell`, `[shell_nodes]`.
    ///
    /// `vertices` starts with the element's vertex numbers, which fix the directions of edges and faces;
    /// `first` gives the number of the first node of an entity of the element (vertices, edges, faces), and
    /// is called in that order; the entity's other nodes follow in steps of `step(entity)`.
    pub(super) fn fill_shell(
        &self,
        vertices: &[u32],
        mut first: impl FnMut(usize) -> u32,
        step: impl Fn(usize) -> u32,
        shell: &mut [u32],
    ) {
        for (vertex, &s) in self.vertices.iter().enumerate() {
            shell[s as usize] = first(vertex);
        }
        let mut corners = [0; 4];
        for (slot, entity) in (self.vertices.len()..).zip(&self.entities) {
            match entity.nodes[..] {
                [] => continue,
                [s] => {
                    shell[s as usize] = first(slot);
                    continue;
                }
                _ => (),
            }
            for (corner, &m) in corners.iter_mut().zip(entity.vertices) {
                *corner = vertices[m];
            }
            let orientation = entity.cell.orientation(&corners[..entity.vertices.len()]);
            let order = &self.orders[entity.orders + orientation];
            let (first, step) = (first(slot), step(slot));
            for (&canonical, &s) in order.iter().zip(&entity.nodes) {
                shell[s as usize] = first + canonical * step;
            }
        }
    }
}

/// The faces of a solid; empty for cells of lower dimension, whose facets are edges.
pub(super) fn faces(cell: Cell) -> &'static [femto_element::cell::Facet] {
    match cell.dim() {
        3 => cell.facets(),
        _ => &[],
    }
}
