//! Spaces on the facets of a group.

use super::element_nodes::ElementNodes;
use super::elements::{Elements, ShapeElements};
use super::topology::{Classes, Topology};
use super::{Block, BoundaryFacet, Space, SpaceError, SpaceParams, Unjoined};
use crate::geometry::Geometry;
use femto_element::Cell;
use std::collections::HashMap;
use std::sync::Arc;

/// The trace of a space on the facets of one shape in a group: the space whose elements are the facets, with the
/// cells' nodes on them.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Elements, and the cells of the geometry, are numbered like the facets of this shape in
    /// [`BoundaryFacets::tagged`](super::BoundaryFacets::tagged), or in the list that was given.
    pub block: Block,
    /// For each entry of L-vectors of the trace, its entry in L-vectors of the cells' space.
    pub entries: Vec<u32>,
    of: CellSpace,
}

/// What tells the cells' space from others.
#[derive(Clone, Debug, PartialEq)]
struct CellSpace {
    params: SpaceParams,
    nodes: usize,
    fingerprint: u64,
}

impl CellSpace {
    fn new(space: &Space) -> Self {
        Self {
            params: space.params.clone(),
            nodes: space.nodes(),
            fingerprint: space.fingerprint(),
        }
    }
}

impl Trace {
    /// Whether it can be a trace of a space: of one with its parameters, as many nodes and the same cells.
    pub fn is_of(&self, space: &Space) -> bool {
        self.of == CellSpace::new(space)
    }

    /// The same trace on [flattened](Geometry::flattened) facets.
    pub fn flattened(&self) -> Self {
        let mut trace = self.clone();
        trace.block.geometry = trace.block.geometry.flattened();
        trace
    }
}

impl Space {
    /// The traces on a group of facets given by name or number, with the geometry of the space: one for each shape
    /// of facets in it.
    ///
    /// # Errors
    /// As [`BoundaryFacets::tagged`](super::BoundaryFacets::tagged) and [`Space::traces_of`].
    pub fn traces(&self, geometry: &Geometry, tag: &str) -> Result<Vec<Trace>, SpaceError> {
        self.traces_of(geometry, self.boundary().tagged(tag)?)
    }

    /// The same on some facets, each once.
    ///
    /// # Errors
    /// Too many nodes; a geometry of other cells.
    pub fn traces_of(
        &self,
        geometry: &Geometry,
        facets: &[BoundaryFacet],
    ) -> Result<Vec<Trace>, SpaceError> {
        self.check_geometry(geometry)?;
        let mut shapes: Vec<(Cell, Vec<BoundaryFacet>)> = Vec::new();
        for &facet in facets {
            let cell = self.cell().facets()[usize::from(facet.number)].cell;
            match shapes.iter_mut().find(|(other, _)| *other == cell) {
                Some((_, facets)) => facets.push(facet),
                None => shapes.push((cell, vec![facet])),
            }
        }
        let traces = shapes.iter();
        traces
            .map(|(cell, facets)| self.trace(geometry, *cell, facets))
            .collect()
    }

    /// The trace on facets of one shape.
    fn trace(
        &self,
        geometry: &Geometry,
        cell: Cell,
        tagged: &[BoundaryFacet],
    ) -> Result<Trace, SpaceError> {
        let facets = tagged.iter().map(|facet| (facet.cell, facet.number));
        let facets = geometry.facets(cell, facets.collect());
        let degree = self.degree();
        let vertices = (0..tagged.len()).flat_map(|facet| facets.vertex_nodes(facet).each());
        let vertices: Vec<u32> = vertices.collect();
        // Facets of a shape have the same degree along their own axes.
        let first = tagged.first().map_or(0, |facet| usize::from(facet.number));
        let params = SpaceParams {
            degree: self.cell().facet_degree(degree, first),
            ..self.params.clone()
        };
        let own_nodes = ElementNodes::new(cell, params.degree);
        let on_facet = |facet| self.cell().facet_nodes(degree, facet);
        let on_facets: Vec<_> = (0..self.cell().facets().len()).map(on_facet).collect();
        // The cell's nodes on a facet.
        let nodes_on = |facet: &BoundaryFacet| -> Vec<u32> {
            let of_cell = self.element_nodes(facet.element as usize);
            let positions = on_facets[usize::from(facet.number)].iter();
            positions.map(|&position| of_cell[position]).collect()
        };
        let mut topology = Topology::without_facets(
            &[(cell, vertices)],
            geometry.coordinates().len(),
            own_nodes.up_to(),
        );
        if self.is_periodic() {
            let mut classes = Classes::new(&topology);
            let mut known = HashMap::new();
            for (element, facet) in tagged.iter().enumerate() {
                let nodes = nodes_on(facet);
                for (slot, &entity) in topology
                    .entities
                    .block(0)
                    .entities(element)
                    .iter()
                    .enumerate()
                {
                    let on_entity = own_nodes.on_entity(slot).map(|it| nodes[it as usize]);
                    if let Some(lowest) = on_entity.min() {
                        classes.join(entity, *known.entry(lowest).or_insert(entity));
                    }
                }
            }
            topology.unite(classes);
        }
        let elements = Arc::new(Elements {
            shapes: vec![ShapeElements::of_surface(&facets)],
            entities: topology.entities,
            is_periodic: self.is_periodic(),
            unjoined: Unjoined::default(),
        });
        let mut spaces = Self::with_joined_chunks(&elements, params)?;
        let space = spaces.pop().ok_or(SpaceError::NoCells)?;
        let mut entries = vec![0; space.dofs()];
        for (element, facet) in tagged.iter().enumerate() {
            let of_cell = nodes_on(facet);
            for (node, of_cell) in space.element_nodes(element).into_iter().zip(of_cell) {
                for component in 0..space.components() {
                    let entry = self.entry(of_cell as usize, component);
                    entries[space.entry(node as usize, component)] = entry as u32;
                }
            }
        }
        let geometry = facets;
        Ok(Trace {
            block: Block { space, geometry },
            entries,
            of: CellSpace::new(self),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{GeometryAtPoints, Points};
    use crate::mesh::boxes::AnyBox;
    use femto_element::quadrature::rule;

    /// Nodes of a trace have the cells' positions, maps have the facets' area, and nodes shared by facets
    /// are merged.
    #[test]
    fn traces_lie_on_the_boundary() {
        let shapes = [
            Cell::Hexahedron,
            Cell::Tetrahedron,
            Cell::Quadrilateral,
            Cell::Triangle,
        ];
        for cell in shapes {
            let bend =
                |[x, y, z]: [f64; 3]| [x + 0.1 * x * y, y - 0.2 * x * y, z * (1.0 + 0.3 * x)];
            let size = vec![1.0; cell.dim()];
            let mesh = AnyBox {
                upper: size,
                ..AnyBox::unit(cell, 3)
            };
            let mesh = mesh.build(bend).expect("legal");
            let geometry = Geometry::new(&mesh).expect("legal");
            for degree in 1..=3 {
                let params = SpaceParams {
                    degree: degree.into(),
                    chunk_nodes: 40,
                    ..SpaceParams::default()
                };
                let space = Space::new(&mesh, &geometry, params).expect("legal");
                let traces = space.traces(&geometry, "xmax").expect("there");
                let trace = &traces[0];
                let (all, own) = (
                    space.node_positions(&geometry),
                    trace.block.space.node_positions(&trace.block.geometry),
                );
                for (x, &node) in own.iter().zip(&trace.entries) {
                    let apart = (0..3).map(|a| (x[a] - all[node as usize][a]).abs());
                    assert!(apart.fold(0.0, f64::max) < 1e-14, "{cell:?} {degree}");
                }
                let mut distinct = trace.entries.clone();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(distinct.len(), trace.entries.len());
                let count = space.boundary_nodes("xmax").expect("there").len();
                assert_eq!(distinct.len(), count, "{cell:?} {degree}");
                let rule = rule(trace.block.space.cell(), 4).expect("there is one");
                let points = Points::List(rule.points.clone());
                let mut at = GeometryAtPoints::default();
                let mut area = 0.0;
                for facet in 0..trace.block.space.elements() {
                    let (of, number) = {
                        let facet = space.boundary().tagged("xmax").expect("there")[facet];
                        (facet.cell as usize, usize::from(facet.number))
                    };
                    trace.block.geometry.at_points(facet, &points, &mut at);
                    let wanted = geometry.facet_at_points(of, number, &rule.points);
                    for (q, wanted) in wanted.iter().enumerate() {
                        let size = wanted.area_normal.iter().map(|x| x * x).sum::<f64>().sqrt();
                        assert!((at.determinant[q] - size).abs() < 1e-13 * size);
                        area += rule.weights[q] * size;
                    }
                }
                // At x = 1 the box is bent to x + y/10, y 4/5, z 13/10.
                let slope = (0.1f64.powi(2) + 0.8f64.powi(2)).sqrt();
                let wanted = if cell.dim() == 3 { 1.3 * slope } else { slope };
                assert!((area - wanted).abs() < 1e-12, "{cell:?}: {area}");
            }
        }
    }
}
