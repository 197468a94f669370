//! Vectors that kernels read and write, and methods to sum shared nodes.

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
