//! Vectors that kernels read and write, and methods to sum shared nodes.

use super::Operand;
use crate::dialect::{KernelFile, SourceBuilder, text};

/// The places of an element's numbers in vectors, for texts with [`Vectors::operands`].
pub(super) const PLACES: KernelFile = text!("family/text/places.h");

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

    /// The operands by which a kernel finds elements in vectors.
    pub(super) fn lookup(self) -> &'static [Operand] {
        const NODAL: &[Operand] = &[
            Operand::Nodes,
            Operand::ComponentStride,
            Operand::Contributions,
            Operand::ContributionStride,
            Operand::ContributionFirst,
        ];
        match self {
            Self::Element { listed: false } => &[],
            Self::Element { listed: true } => &[Operand::Elements],
            Self::Nodal { scatter, .. } => match scatter {
                Scatter::Atomic => &NODAL[..2],
                Scatter::Deterministic => NODAL,
            },
        }
    }

    /// The operands of a kernel that finds elements in vectors by `places.h`, after its `own`.
    pub(super) fn operands(self, own: &[Operand], reads_u: bool) -> Vec<Operand> {
        let mut all = [own, self.lookup()].concat();
        all.extend(reads_u.then_some(Operand::U));
        all.extend([Operand::V, Operand::Count]);
        all
    }

    /// Defines what `places.h` reads.
    pub(super) fn define(self, source: &mut SourceBuilder, nodes: usize, components: usize) {
        source.define("NODES", nodes);
        source.define("COMPONENTS", components);
        source.define("NODE_STRIDE", self.node_stride(components));
        self.define_kind(source);
    }

    /// Stride between the nodes of a component.
    pub(super) const fn node_stride(self, components: usize) -> usize {
        match self {
            Self::Nodal {
                interleaved: true, ..
            } => components,
            _ => 1,
        }
    }

    /// Defines the kind of vectors.
    pub(super) fn define_kind(self, source: &mut SourceBuilder) {
        for (name, is) in [
            ("VECTORS_NODAL", self.scatter().is_some()),
            ("VECTORS_LISTED", self == Self::Element { listed: true }),
            (
                "CONTRIBUTIONS",
                self.scatter() == Some(Scatter::Deterministic),
            ),
        ] {
            source.define(name, u8::from(is));
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
