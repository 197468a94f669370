//! Local vectors in which elements share nodes.

use femto::kernel::family::batch::{LOCAL_NODES, MAX_LANES};

/// Positions of nodes in a local vector: the shells of the samples, backwards, then each element's
/// interior.
pub struct Places {
    dim: usize,
    nodes_1d: usize,
    samples: usize,
    shell: usize,
    pub interior: usize,
    /// The index of each node among the shell or the interior nodes.
    ordinals: Vec<usize>,
}

impl Places {
    pub fn new((dim, nodes_1d): (usize, usize), samples: usize) -> Self {
        let (mut shell, mut interior) = (0, 0);
        let count = |position| {
            let counter = if inside((dim, nodes_1d), position) {
                &mut interior
            } else {
                &mut shell
            };
            *counter += 1;
            *counter - 1
        };
        let ordinals = (0..nodes_1d.pow(dim as u32)).map(count).collect();
        assert!(samples * shell + MAX_LANES * interior <= LOCAL_NODES);
        Self {
            dim,
            nodes_1d,
            samples,
            shell,
            interior,
            ordinals,
        }
    }

    /// Number of places on shells.
    pub fn shared(&self) -> usize {
        self.samples * self.shell
    }

    pub fn of(&self, element: usize, position: usize) -> usize {
        let ordinal = self.ordinals[position];
        if inside((self.dim, self.nodes_1d), position) {
            self.shared() + element * self.interior + ordinal
        } else {
            self.shared() - 1 - (element % self.samples * self.shell + ordinal)
        }
    }
}

/// Whether the node at a lexicographic position is inside the element.
fn inside((dim, nodes_1d): (usize, usize), position: usize) -> bool {
    let (i, j, k) = (
        position % nodes_1d,
        position / nodes_1d % nodes_1d,
        position / (nodes_1d * nodes_1d),
    );
    [i, j, k][..dim].iter().all(|&n| 0 < n && n < nodes_1d - 1)
}
