//! Expected values of some cells and nodes.

use super::{SimplexCase, SimplexMesh};
use crate::compare::difference;
use crate::timing::random;
use femto::Number;
use femto_element::tables::DenseTables;
use femto_fem::parallel;
use std::collections::HashMap;

/// Number of first cells whose E-vector is compared: several blocks, the last one not full.
const FIRST_CELLS: usize = 4001;
/// Number of cells whose nodes are compared on L-vectors.
const COMPARED: usize = 7;

/// Expected outputs.
pub(super) struct Oracle {
    /// Of the first cells, `[cell][component][node]`.
    pub(super) cells: Vec<f64>,
    /// Nodes, with their values `[component]`.
    pub(super) nodes: Vec<(u32, Vec<f64>)>,
}

impl Oracle {
    /// The largest difference of an L-vector `[node][component]` at the nodes, relative.
    pub(super) fn nodal_difference<T: Number>(&self, v: &[T]) -> f64 {
        difference(self.nodes.iter().flat_map(|(node, wanted)| {
            let own = &v[*node as usize * wanted.len()..];
            own.iter().map(|x| x.to_f64()).zip(wanted.iter().copied())
        }))
    }
}

/// The inputs of a case, rounded to the measured precision, so that the oracle reads the same numbers.
pub(super) struct Numbers {
    /// Positions, `[node]`.
    pub(super) positions: Vec<[f64; 3]>,
    /// In [-1, 1), `[node][component]`.
    pub(super) u: Vec<f64>,
    /// In [0.5, 1.5), `[node]`.
    pub(super) kappa: Vec<f64>,
}

impl Numbers {
    pub(super) fn random<T: Number>(mesh: &SimplexMesh, components: usize) -> Self {
        let nodes = mesh.nodes();
        let rounded = |x: f64| T::from_f64(x).to_f64();
        let position = |node: usize| mesh.position(node as u32).map(rounded);
        let random = random::<T>(nodes * (components + 1)).into_iter();
        let mut u: Vec<f64> = random.map(|x| x.to_f64()).collect();
        let kappa = u.drain(..nodes).map(|x| rounded(1.0 + 0.5 * x)).collect();
        Self {
            positions: (0..nodes).map(position).collect(),
            u,
            kappa,
        }
    }
}

/// Inputs on the host, rounded to the device's precision.
pub(super) struct Inputs<'a> {
    pub(super) case: SimplexCase,
    pub(super) element: &'a DenseTables,
    pub(super) mesh: &'a SimplexMesh,
    /// Positions, `[node]`.
    pub(super) positions: &'a [[f64; 3]],
    /// `[node][component]`
    pub(super) u: &'a [f64],
    /// `[node]`
    pub(super) kappa: &'a [f64],
}

impl Inputs<'_> {
    /// A cell's E-vector `[component][node]`.
    fn cell(&self, cell: usize) -> Vec<f64> {
        let (nodes, components) = (self.mesh.cell(cell), self.case.components());
        let vertices: Vec<_> = nodes.iter().map(|&n| self.positions[n as usize]).collect();
        let kappa: Vec<_> = nodes.iter().map(|&n| self.kappa[n as usize]).collect();
        let value = |c: usize, node: u32| self.u[node as usize * components + c];
        let u = (0..components).flat_map(|c| nodes.iter().map(move |&node| value(c, node)));
        let u: Vec<_> = u.collect();
        self.case.oracle(self.element, &vertices, &kappa, &u)
    }

    pub(super) fn oracle(&self) -> Oracle {
        let cells = self.mesh.cells();
        let first = parallel::gather(cells.min(FIRST_CELLS), |cell, all| {
            all.extend(self.cell(cell));
        });

        let count = cells.min(COMPARED);
        let spread = (0..count).map(|index| index * (cells - 1) / (count - 1).max(1));
        let mut nodes: Vec<u32> = spread
            .flat_map(|cell| self.mesh.cell(cell))
            .copied()
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let components = self.case.components();
        let mut sums: HashMap<u32, Vec<f64>> = nodes
            .iter()
            .map(|&node| (node, vec![0.0; components]))
            .collect();
        for cell in self.mesh.cells_around(&nodes) {
            let (own, values) = (self.mesh.cell(cell), self.cell(cell));
            for (n, value) in values.iter().enumerate() {
                if let Some(sum) = sums.get_mut(&own[n % own.len()]) {
                    sum[n / own.len()] += value;
                }
            }
        }
        Oracle {
            cells: first,
            nodes: sums.into_iter().collect(),
        }
    }
}
