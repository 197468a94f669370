//! Nodes where the component of a vector along the boundary's normal is given.
//!
//! The normals of a node's facets that are within 40° of each other count as one plane and are averaged, weighted by
//! area (Engelman, Sani and Gresho, The implementation of normal and/or tangential boundary conditions in finite
//! element codes for incompressible fluid flow, International Journal for Numerical Methods in Fluids 2, 1982, on why
//! nodes need one common normal); others are planes of their own, so that along an edge of the domain only the
//! component along it is free, and at a corner none.
//!
//! Facets with area normals a_f of several groups may share a plane. From u·a_f = |a_f| g of each follows what is given along
//! the plane's normal n = Σ a_f / |Σ a_f|: u·n = Σ_g s_g g with the shares s_g = |Σ_{f of g} a_f| / |Σ a_f|. At the tip of a
//! crack, both of whose faces are given, normals are opposite: there a_f counts as -a_f, and its share is negative.

use super::{Block, Constraints, Layout, Space, SpaceError};
use crate::geometry::jacobian::dot;

/// Cosine of the angle within which normals are averaged.
const SAME_PLANE: f64 = 0.766;

/// A direction holds nothing new if less than this part of it, the sine for [`SAME_DIRECTION`], is outside those before it.
const NEW_PART: f64 = 0.1;

/// Two directions, also opposite ones, hold the same above this cosine.
pub const SAME_DIRECTION: f64 = 0.995;

/// Below it, numbers of a projector are rounding.
const ROUNDING: f64 = 1e-10;

/// A plane's normal at a node where a group gives u·n, or a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeNormal {
    /// The L-vector node.
    pub node: u32,
    /// The place of its group in the list of groups.
    pub group: u32,
    /// The node's position.
    pub position: [f64; 3],
    /// The unit outward normal; the same for all groups of a plane, which follow each other.
    pub normal: [f64; 3],
    /// The group's share: 1 if it has the plane alone, negative where its own normal is opposite.
    pub share: f64,
}

/// Nodes where directions that are not axes are held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slanted {
    /// Numbers per node.
    pub components: usize,
    /// Nodes, ascending.
    pub nodes: Vec<u32>,
    /// For each the orthogonal projection to what is free, `[node][component][component]`.
    pub projectors: Vec<f64>,
    /// Number of directions that are held there beside components.
    directions: usize,
}

impl Slanted {
    /// Each node with its projector, `[component][component]`.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &[f64])> {
        let projectors = self.projectors.chunks_exact(self.components.pow(2).max(1));
        self.nodes.iter().map(|&node| node as usize).zip(projectors)
    }

    /// Number of directions that are held beside components.
    pub fn directions(&self) -> usize {
        self.directions
    }

    /// Length of the shortest L-vector that has all nodes.
    pub(super) fn reach(&self) -> usize {
        let nodes = self.nodes.last().map_or(0, |&node| node as usize + 1);
        nodes * self.components
    }

    /// Projects an L-vector of interleaved components.
    pub fn project(&self, values: &mut [f64]) {
        let count = self.components;
        let mut product = [0.0; 3];
        for (node, projector) in self.iter() {
            let own = &mut values[node * count..][..count];
            for (row, product) in projector.chunks_exact(count).zip(&mut product) {
                *product = row.iter().zip(&*own).map(|(p, v)| p * v).sum();
            }
            own.copy_from_slice(&product[..count]);
        }
    }
}

/// Orthonormal directions that are held at a node beside some components: the place of a normal in the list with
/// what is new of it.
fn directions(normals: &[NodeNormal], is_held: [bool; 3]) -> Vec<(usize, [f64; 3])> {
    let mut found: Vec<(usize, [f64; 3])> = Vec::new();
    for (place, of_plane) in normals.iter().enumerate() {
        let free = |c: usize| if is_held[c] { 0.0 } else { of_plane.normal[c] };
        let mut own = [0, 1, 2].map(free);
        for (_, other) in &found {
            let part = dot(own, *other);
            own = [0, 1, 2].map(|c| own[c] - part * other[c]);
        }
        let length = dot(own, own).sqrt();
        if length > NEW_PART {
            found.push((place, own.map(|x| x / length)));
        }
    }
    found
}

impl Space {
    /// Fails unless vectors of the space, in this dimension, have a component along the outward normals of a group.
    ///
    /// # Errors
    /// [`SpaceError::NoNormal`]; as [`BoundaryFacets::tagged`](super::BoundaryFacets::tagged).
    pub fn check_normals(&self, tag: &str, dim: usize) -> Result<(), SpaceError> {
        let (inside, components) = (self.boundary().inside(tag)?, self.components());
        let why = if inside > 0 {
            format!("{inside} of its facets lie between two cells: no side is outside")
        } else if components != dim {
            format!(
                "it needs a vector with as many components as dimensions, and there are {components} in {dim} dimensions"
            )
        } else if self.layout() != Layout::Interleaved {
            "components are not interleaved".to_owned()
        } else {
            return Ok(());
        };
        let tag = tag.to_owned();
        Err(SpaceError::NoNormal { tag, why })
    }
}

/// The area normals of a group's facets in a block at their nodes.
fn of_facets(
    Block { space, geometry }: &Block,
    (group, tag): (u32, &str),
) -> Result<Vec<NodeNormal>, SpaceError> {
    space.check_normals(tag, geometry.dim())?;
    let facets = space.facet_normals(tag, geometry)?;
    let nodes: Vec<_> = facets.iter().map(|(node, _)| *node).collect();
    let positions = space.positions_of(&nodes, geometry);
    let both = facets.into_iter().zip(positions);
    let of_facet = both.map(|((node, normal), position)| NodeNormal {
        node: node.node,
        group,
        position,
        normal,
        share: 1.0,
    });
    Ok(of_facet.collect())
}

/// The unit normals of the planes that the facets of a node lie in, for each group of a plane, given their area normals,
/// ascending by group.
fn planes(facets: &[NodeNormal]) -> Vec<NodeNormal> {
    let size = |n: [f64; 3]| dot(n, n).sqrt();
    let add = |sum: &mut [f64; 3], own: [f64; 3]| *sum = [0, 1, 2].map(|c| sum[c] + own[c]);
    // Sums of area normals, of all facets and by group.
    let mut planes: Vec<([f64; 3], Vec<NodeNormal>)> = Vec::new();
    for facet in facets {
        let own = facet.normal;
        if !(size(own) > 0.0 && size(own).is_finite()) {
            continue;
        }
        let cosine = |sum: [f64; 3]| dot(sum, own) / (size(sum) * size(own));
        let is_same = |sum: [f64; 3]| cosine(sum) > SAME_PLANE || cosine(sum) < -SAME_DIRECTION;
        match planes.iter_mut().find(|(sum, _)| is_same(*sum)) {
            Some((sum, groups)) => {
                let sign = dot(*sum, own).signum();
                add(sum, own.map(|x| sign * x));
                match groups.last_mut().filter(|it| it.group == facet.group) {
                    Some(group) => add(&mut group.normal, own),
                    None => groups.push(*facet),
                }
            }
            None => planes.push((own, vec![*facet])),
        }
    }
    let of_plane = |(sum, groups): ([f64; 3], Vec<NodeNormal>)| {
        groups.into_iter().map(move |group| NodeNormal {
            share: size(group.normal) / size(sum) * dot(group.normal, sum).signum(),
            normal: sum.map(|x| x / size(sum)),
            ..group
        })
    };
    planes.into_iter().flat_map(of_plane).collect()
}

impl Constraints {
    /// Also holds the component along the normal at the nodes on groups of boundary cells. Components that are
    /// held already come first; a normal that they, or those of groups before, nearly span adds nothing.
    ///
    /// # Errors
    /// A space without as many interleaved components as dimensions, a group that is missing or between cells, a node
    /// where no facet has a normal.
    pub fn with_normals(self, blocks: &[Block], tags: &[&str]) -> Result<Self, SpaceError> {
        let mut facets = Vec::new();
        for (group, &tag) in (0..).zip(tags) {
            for block in blocks {
                facets.extend(of_facets(block, (group, tag))?);
            }
        }
        facets.sort_by_key(|it| (it.node, it.group));
        let mut normals = Vec::new();
        for of_node in facets.chunk_by(|a, b| a.node == b.node) {
            let planes = planes(of_node);
            if planes.is_empty() {
                return Err(SpaceError::NoNormal {
                    tag: tags[of_node[0].group as usize].to_owned(),
                    why: format!("the map has none at {:?}", of_node[0].position),
                });
            }
            normals.extend(planes);
        }
        let components = blocks.first().map_or(0, |block| block.space.components());
        Ok(self.with_node_normals(components, normals))
    }

    /// Also holds vectors of `components` interleaved numbers along these normals, ascending by node. To be called once.
    pub fn with_node_normals(mut self, components: usize, normals: Vec<NodeNormal>) -> Self {
        debug_assert!(self.normals.is_empty(), "normals of before would be lost");
        self.normals = normals;
        self.given.clone_from(&self.entries);
        self.slanted.components = components;
        let mut entries = Vec::new();
        for of_node in self.normals.chunk_by(|a, b| a.node == b.node) {
            let node = of_node[0].node;
            let is_held = self.given_components(node as usize, components);
            let directions = directions(of_node, is_held);
            let free = |i: usize, j: usize| {
                let unit = f64::from(i == j && !is_held[i]);
                unit - directions.iter().map(|(_, q)| q[i] * q[j]).sum::<f64>()
            };
            let all = || 0..components;
            if all().any(|i| (0..i).any(|j| free(i, j).abs() > ROUNDING)) {
                self.slanted.nodes.push(node);
                let rows = all().flat_map(|i| all().map(move |j| (i, j)));
                self.slanted
                    .projectors
                    .extend(rows.map(|(i, j)| free(i, j)));
                self.slanted.directions += directions.len();
            } else {
                let held = all().filter(|&c| free(c, c) < 0.5);
                entries.extend(held.map(|c| node * components as u32 + c as u32));
            }
        }
        self.entries.extend(entries);
        self.entries.sort_unstable();
        self.entries.dedup();
        self
    }

    /// The entries that are held as components, and not along normals, where some are; ascending.
    pub fn given(&self) -> &[u32] {
        &self.given
    }

    /// Which components of a node are held as such, and not along normals.
    pub fn given_components(&self, node: usize, components: usize) -> [bool; 3] {
        let is_given = |c: usize| {
            let entry = (node * components + c) as u32;
            c < components && self.given.binary_search(&entry).is_ok()
        };
        [0, 1, 2].map(is_given)
    }

    /// The normals along which components are given, ascending by node.
    pub fn normals(&self) -> &[NodeNormal] {
        &self.normals
    }

    /// Nodes where directions that are not axes are held.
    pub fn slanted(&self) -> &Slanted {
        &self.slanted
    }
}

impl NodeNormal {
    /// The vector with components `given` that has the components `values` along the normals of one node, each with its
    /// share, as far as they are new, and nothing else.
    pub fn vector(normals: &[Self], values: &[f64], given: [Option<f64>; 3]) -> [f64; 3] {
        let mut u = given.map(|value| value.unwrap_or(0.0));
        for (place, q) in directions(normals, given.map(|value| value.is_some())) {
            let n = normals[place].normal;
            let groups = normals.iter().zip(values);
            let groups = groups.filter(|(it, _)| it.normal == n);
            let value: f64 = groups.map(|(it, value)| it.share * value).sum();
            let part = (value - dot(n, u)) / dot(n, q);
            u = [0, 1, 2].map(|c| u[c] + part * q[c]);
        }
        u
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the tip of a crack: opened by both faces it stays where it is, sheared it moves with them, in any order.
    #[test]
    fn opposite_normals_are_one_plane() {
        let facet = |group, normal: [f64; 3]| NodeNormal {
            node: 7,
            group,
            position: [0.0; 3],
            normal,
            share: 1.0,
        };
        let upper = [0.05, 1.0, 0.0];
        for (lower, group) in [
            (upper.map(|x| -x), 1),
            ([0.0, -1.0, 0.0], 1),
            (upper.map(|x| -x), 0),
        ] {
            let two = [facet(0, upper), facet(group, lower)];
            for facets in [two, [facet(0, lower), facet(group, upper)]] {
                let planes = planes(&facets);
                assert_eq!(planes.len(), 1 + group as usize);
                let along = |values: [f64; 2]| {
                    let u = NodeNormal::vector(&planes, &values[..planes.len()], [None; 3]);
                    dot(u, planes[0].normal)
                };
                assert!(along([-0.1; 2]).abs() < 1e-3);
                if group == 1 {
                    assert!((along([0.1, -0.1]).abs() - 0.1).abs() < 1e-3);
                }
            }
        }
        // A wedge holds both directions.
        let wedge = planes(&[facet(0, upper), facet(1, [0.5, -1.0, 0.0])]);
        assert_eq!(
            wedge.iter().map(|it| it.share).collect::<Vec<_>>(),
            [1.0, 1.0]
        );
    }
}
