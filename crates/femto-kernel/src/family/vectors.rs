//! Kinds of vectors that kernels read and write; ways to sum shared nodes.

/// The vectors that a kernel reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vectors {
    /// E-vectors `[element][component][node]`. With `listed`, element e of the kernel is the one that
    /// a list names, which comes where nodal kernels have their tables.
    Element {
        /// Whether there is a list.
        listed: bool,
    },
    /// L-vectors; components of a node are together, or those of each kind.
    Nodal {
        /// Whether the components of a node are together.
        interleaved: bool,
        /// The way to sum nodes that several elements share.
        scatter: Scatter,
    },
}

impl Vectors {
    /// E-vectors of all elements in their order.
    pub const ELEMENT: Self = Self::Element { listed: false };

    /// The way to sum shared nodes; none for E-vectors.
    pub const fn scatter(self) -> Option<Scatter> {
        match self {
            Self::Element { .. } => None,
            Self::Nodal { scatter, .. } => Some(scatter),
        }
    }
}

/// The way to sum nodes that several elements share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scatter {
    /// By atomic additions: fast; the order of sums, and so the last bits, change from run to run.
    #[default]
    Atomic,
    /// Each element writes its contribution, and a second kernel adds the contributions of a node in a fixed order:
    /// deterministic to the bit.
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
