//! Between vectors and the lanes of a batch.

use crate::scalar::Lanes;

/// Most lanes of any instruction set.
pub const MAX_LANES: usize = 16;

/// Where a batch's nodes are in a vector.
#[derive(Clone, Copy, Debug)]
pub enum Nodes<'a> {
    /// Elements one after the other: an E-vector `[element][component][node]`, cut to the batch.
    Element,
    /// Chunk-local indices into `[component][local node]`.
    Local {
        /// `[element][shell node]`: index of each node on the element's surface.
        shell: &'a [u32],
        /// `[element]`: index of the first interior node; the others follow it.
        interior: &'a [u32],
        /// Distance of components.
        stride: usize,
    },
}

/// Lexicographic positions of an element's surface nodes, in the order of `Nodes::Local::shell`.
#[derive(Clone, Debug)]
pub(crate) struct ElementShape {
    pub(crate) nodes_1d: usize,
    pub(crate) shell: Vec<u32>,
}

impl ElementShape {
    /// Runs of interior nodes: lexicographic position of each row's start; rows of `nodes_1d − 2`.
    fn interior_rows(&self) -> impl Iterator<Item = usize> {
        let n = self.nodes_1d;
        let inside = 1..n.saturating_sub(1);
        inside
            .clone()
            .flat_map(move |k| inside.clone().map(move |j| (k * n + j) * n + 1))
    }

    /// Reads `elements` elements into `nodal` `[component][node]`; missing lanes repeat the last.
    #[inline(always)]
    pub(crate) fn gather<L: Lanes>(
        &self,
        token: L::Token,
        elements: usize,
        nodes: &Nodes,
        source: &[L::Real],
        nodal: &mut [L],
    ) {
        let np = self.nodes_1d.pow(3);
        let lane_of = |lane: usize| lane.min(elements - 1);
        match *nodes {
            Nodes::Element => {
                let len = nodal.len();
                let starts: [&[L::Real]; MAX_LANES] =
                    core::array::from_fn(|lane| &source[lane_of(lane) * len..][..len]);
                for (n, out) in nodal.iter_mut().enumerate() {
                    *out = L::from_fn(token, |lane| starts[lane][n]);
                }
            }
            Nodes::Local {
                shell,
                interior,
                stride,
            } => {
                let count = self.shell.len();
                let shells: [&[u32]; MAX_LANES] =
                    core::array::from_fn(|lane| &shell[lane_of(lane) * count..][..count]);
                let row = self.nodes_1d - 2;
                for (component, nodal) in nodal.chunks_exact_mut(np).enumerate() {
                    let source = &source[component * stride..][..stride];
                    for (s, &position) in self.shell.iter().enumerate() {
                        nodal[position as usize] =
                            L::from_fn(token, |lane| source[shells[lane][s] as usize]);
                    }
                    for (r, position) in self.interior_rows().enumerate() {
                        let rows: [&[L::Real]; MAX_LANES] = core::array::from_fn(|lane| {
                            &source[interior[lane_of(lane)] as usize + r * row..][..row]
                        });
                        for (i, out) in nodal[position..position + row].iter_mut().enumerate() {
                            *out = L::from_fn(token, |lane| rows[lane][i]);
                        }
                    }
                }
            }
        }
    }

    /// Writes (`Element`) or adds (`Local`) `nodal` into `target`, element after element.
    #[inline(always)]
    pub(crate) fn scatter<L: Lanes>(
        &self,
        elements: usize,
        nodes: &Nodes,
        nodal: &[L],
        target: &mut [L::Real],
    ) {
        let np = self.nodes_1d.pow(3);
        match *nodes {
            Nodes::Element => {
                for (lane, out) in target
                    .chunks_exact_mut(nodal.len())
                    .take(elements)
                    .enumerate()
                {
                    for (out, value) in out.iter_mut().zip(nodal) {
                        *out = value.lanes()[lane];
                    }
                }
            }
            Nodes::Local {
                shell,
                interior,
                stride,
            } => {
                let count = self.shell.len();
                let row = self.nodes_1d - 2;
                for (component, nodal) in nodal.chunks_exact(np).enumerate() {
                    let target = &mut target[component * stride..][..stride];
                    for lane in 0..elements {
                        for (&position, &index) in self.shell.iter().zip(&shell[lane * count..]) {
                            target[index as usize] += nodal[position as usize].lanes()[lane];
                        }
                        // Interior nodes belong to this element alone.
                        let mut rest = &mut target[interior[lane] as usize..];
                        for position in self.interior_rows() {
                            let (out, tail) = rest.split_at_mut(row);
                            for (out, value) in out.iter_mut().zip(&nodal[position..]) {
                                *out = value.lanes()[lane];
                            }
                            rest = tail;
                        }
                    }
                }
            }
        }
    }
}
