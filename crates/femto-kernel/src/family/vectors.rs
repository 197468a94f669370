//! Vectors that kernels read and write, and methods to sum shared nodes.

use super::Operand;
use crate::dialect::{KernelFile, SourceBuilder};

/// The places of an element's numbers in vectors, for texts with [`Vectors::operands`].
pub(super) const PLACES: KernelFile = KernelFile {
    name: "family/text/places.h",
    text: include_str!("text/places.h"),
};

/// The vectors that a kernel reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// E-vectors `[element][component][node]`. With `listed`, the kernel's elements are numbers from a
    /// list, which takes the place of nodal kernels' tables.
    Element {
        /// Whether there is a list.
        listed: bool,
    },
    /// L-vectors, either with the components of a node adjacent or component by component.
    Nodal {
        /// Whether the components of a node are adjacent.
        interleaved: bool,
        /// How shared nodes are summed.
        scatter: Scatter,
    },
}

impl Vectors {
    /// E-vectors of all elements, in order.
    pub const ELEMENT: Self = Self::Element { listed: false };

    /// How shared nodes are summed; `None` for E-vectors.
    pub const fn scatter(self) -> Option<Scatter> {
        match self {
            Self::Element { .. } => None,
            Self::Nodal { scatter, .. } => Some(scatter),
        }
    }

    /// The operands of a kernel that finds elements in vectors by `places.h`, after its `own`.
    pub(super) fn operands(self, own: &[Operand], reads_u: bool) -> Vec<Operand> {
        let mut all = own.to_vec();
        match self {
            Self::Element { listed } => all.extend(listed.then_some(Operand::Elements)),
            Self::Nodal { scatter, .. } => {
                all.extend([Operand::Nodes, Operand::ComponentStride]);
                if scatter == Scatter::Deterministic {
                    all.extend([
                        Operand::Contributions,
                        Operand::ContributionStride,
                        Operand::ContributionFirst,
                    ]);
                }
            }
        }
        all.extend(reads_u.then_some(Operand::U));
        all.extend([Operand::V, Operand::Count]);
        all
    }

    /// Defines what `places.h` reads.
    pub(super) fn define(self, source: &mut SourceBuilder, nodes: usize, components: usize) {
        let node_stride = match self {
            Self::Nodal {
                interleaved: true, ..
            } => components,
            _ => 1,
        };
        let is_listed = self == Self::Element { listed: true };
        let is_deterministic = self.scatter() == Some(Scatter::Deterministic);
        for (name, number) in [
            ("NODES", nodes),
            ("COMPONENTS", components),
            ("NODE_STRIDE", node_stride),
            ("VECTORS_NODAL", usize::from(self.scatter().is_some())),
            ("VECTORS_LISTED", usize::from(is_listed)),
            ("CONTRIBUTIONS", usize::from(is_deterministic)),
        ] {
            source.define(name, number);
        }
    }
}

/// How nodes shared by several elements are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scatter {
    /// By atomic additions: fast, but the order of sums, and so the last bits, vary from run to run.
    #[default]
    Atomic,
    /// Each element writes its contribution, and a second kernel sums a node's contributions in a fixed
    /// order: bitwise deterministic.
    Deterministic,
}

impl Scatter {
    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Atomic => "atomic",
            Self::Deterministic => "deterministic",
        }
    }
}
