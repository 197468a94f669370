//! Schedules of prism_column.

use super::parts::Parts;
use super::tables::Tables;
use crate::dialect::BlockShape;
use crate::family::fields::FieldKind;
use crate::family::{ElementOperator, Knob, Knobs, Limits, ScheduleError};
use crate::scalar::Precision;
use core::fmt;
use femto_element::Layering;

/// The layout of a kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Threads of a block, each with a stack; by levels, prisms of a block.
    pub threads: u32,
    /// Prisms on each other that a thread goes up, with sums of the triangles between them in registers.
    pub stack: u32,
    /// Whether a thread hands what it adds to its lowest triangle to the thread below, through shared memory.
    pub carry: bool,
    /// Whether it hands what it adds to one line of nodes to the thread with the prism beside it: at degree 1.
    pub pairs: bool,
    /// Whether all components are evaluated at the same time, not one after the other.
    pub together: bool,
    /// Whether a prism has a thread for each level of its points, not one alone.
    pub by_level: bool,
    /// Target number of resident blocks per compute unit; 0 leaves registers to the compiler.
    pub blocks_per_unit: u32,
}

/// What schedules depend on.
#[derive(Clone, Copy)]
pub(super) struct Sizes<'a> {
    pub(super) tables: &'a Tables,
    /// Prisms of a column.
    pub(super) layers: usize,
    pub(super) components: usize,
    pub(super) precision: Precision,
    /// Whether layers are horizontal.
    pub(super) is_level: bool,
    /// Whether the operator consists of parts.
    pub(super) in_parts: bool,
    /// Fields in the solution's space that the form reads.
    pub(super) nodal_fields: usize,
    /// Whether the form does the same to each component, and nothing to the others.
    pub(super) componentwise: bool,
}

impl<'a> Sizes<'a> {
    pub(super) fn of(
        operator: &ElementOperator,
        (tables, layers): (&'a Tables, usize),
        parts: Option<&Parts<f64>>,
        precision: Precision,
    ) -> Self {
        Self {
            tables,
            layers,
            components: operator.inspection.components,
            precision,
            is_level: operator.layering == Layering::Level,
            in_parts: parts.is_some(),
            nodal_fields: operator.fields.count(FieldKind::Nodal),
            componentwise: operator.inspection.coefficients.is_some(),
        }
    }
}

const ELEMENTS: Knob = Knob {
    name: "elements",
    most: 65_536,
};
const COLUMNS: Knob = Knob {
    name: "columns",
    most: 1024,
};
const STACK: Knob = Knob {
    name: "stack",
    most: 1024,
};
const CARRY: Knob = Knob {
    name: "carry",
    most: 1,
};
const PAIRS: Knob = Knob {
    name: "pairs",
    most: 1,
};
const TOGETHER: Knob = Knob {
    name: "together",
    most: 1,
};
const LEVELS: Knob = Knob {
    name: "levels",
    most: 1,
};
const BLOCKS: Knob = Knob {
    name: "blocks",
    most: 32,
};

/// The knobs of all schedules.
pub(super) const KNOBS: [Knob; 8] = [
    ELEMENTS, COLUMNS, STACK, CARRY, PAIRS, TOGETHER, LEVELS, BLOCKS,
];

/// The most nodes of a prism of which the compiler may choose a thread's registers.
const FEW_NODES: usize = 12;

impl Schedule {
    /// The legal one with the least needs.
    pub(super) const PLAIN: Self = Self {
        threads: 64,
        stack: 1,
        carry: false,
        pairs: false,
        together: true,
        by_level: false,
        blocks_per_unit: 1,
    };

    /// The schedules, best first on an H200; only the first one with knobs, if any are set.
    pub(super) fn all(of: &Sizes, knobs: &Knobs) -> Vec<Self> {
        // Several components wait for additions in L2, and one on horizontal layers.
        let pairs = of.tables.degree == 1
            && (of.components > 1 || (of.is_level && of.precision == Precision::Fp64));
        let nodes = of.tables.nodes();
        // Components one after the other, but where nodes are few: on horizontal layers up to degree 2, on others at degree 1.
        let few = if of.is_level { 20 } else { FEW_NODES };
        let apart = of.componentwise && of.components > 1 && nodes > few;
        let together = knobs.get(TOGETHER.name).map_or(!apart, |is| is == 1);
        let components = if together { of.components } else { 1 };
        let (threads, blocks_per_unit) = match (nodes, of.in_parts, components) {
            // More blocks at a time are worth more than registers, as at degree 1.
            (..=FEW_NODES, ..) => (128, 0),
            // Few numbers, as at degree 2: half of the registers are enough.
            (..=20, true, 1) => (64, 8),
            (..=20, false, _) => (128, 1),
            (..=50, true, 1) => (64, 0),
            _ => (64, 1),
        };
        let in_threads = Self {
            threads,
            stack: 1,
            carry: true,
            pairs,
            together,
            by_level: false,
            blocks_per_unit,
        };
        let by_level = Self {
            threads: 32,
            pairs: false,
            by_level: true,
            blocks_per_unit: 1,
            ..in_threads
        };
        let unknowns = nodes * components;
        let best = match (of.precision, unknowns) {
            _ if of.in_parts || !together => in_threads,
            (Precision::Fp64, ..40) | (Precision::Fp32, ..100) => in_threads,
            (Precision::Fp64, ..200) => by_level,
            (Precision::Fp64, _) => Self {
                threads: 16,
                ..by_level
            },
            (Precision::Fp32, ..200) => Self {
                blocks_per_unit: 3,
                ..by_level
            },
            (Precision::Fp32, _) => Self {
                threads: 64,
                ..by_level
            },
        };
        if knobs.is_empty() {
            // Shared memory may be too small for the best.
            let smaller = (best.by_level).then_some(Self {
                threads: 8,
                ..by_level
            });
            let others = best.by_level.then_some(in_threads);
            let all = [Some(best), smaller, others, Some(Self::PLAIN)];
            return all.into_iter().flatten().collect();
        }
        let best = match knobs.get(LEVELS.name) {
            Some(1) if !best.by_level => by_level,
            Some(0) => in_threads,
            // What only threads with prisms have.
            None if [COLUMNS, STACK, PAIRS, TOGETHER]
                .iter()
                .any(|knob| knobs.get(knob.name).is_some()) =>
            {
                in_threads
            }
            _ => best,
        };
        let wanted = knobs.get(STACK.name).unwrap_or(best.stack);
        let stack = wanted.min(of.layers.max(1) as u32);
        let carry = knobs.get(CARRY.name).map_or(best.carry, |is| is == 1);
        let sized = Self {
            stack,
            carry,
            pairs: false,
            blocks_per_unit: knobs.get(BLOCKS.name).unwrap_or(best.blocks_per_unit),
            ..best
        };
        let threads = match (knobs.get(ELEMENTS.name), knobs.get(COLUMNS.name)) {
            (None, None) => Some(best.threads),
            (Some(elements), None) => elements
                .is_multiple_of(wanted)
                .then(|| elements / wanted.max(1)),
            (None, Some(columns)) => columns.checked_mul(sized.stacks(of.layers) as u32),
            (Some(_), Some(_)) => None,
        };
        // None are refused.
        let threads = threads.unwrap_or(0);
        let exchanges = carry && stack == 1 && threads.is_multiple_of(2);
        let pairs = best.pairs && exchanges && !sized.by_level;
        vec![Self {
            threads,
            pairs: knobs.get(PAIRS.name).map_or(pairs, |is| is == 1),
            ..sized
        }]
    }

    /// Stacks of a column with this many prisms.
    pub(super) fn stacks(&self, layers: usize) -> usize {
        layers.div_ceil(self.stack.max(1) as usize)
    }

    /// Components that are evaluated at the same time.
    pub(super) fn components_at_once(&self, components: usize) -> usize {
        if self.together { components } else { 1 }
    }

    pub(super) fn block(&self, of: &Sizes) -> BlockShape {
        let lines = of.tables.triangle[0];
        if self.by_level {
            let levels = of.tables.line[1] as u32;
            let numbers = 2 * lines * (of.components + of.nodal_fields);
            return BlockShape {
                threads: [self.threads, levels, 1],
                blocks_per_unit: self.blocks_per_unit,
                shared_reals: self.threads * levels * numbers as u32,
            };
        }
        let components = self.components_at_once(of.components);
        let handed = (lines + usize::from(self.pairs)) * components;
        BlockShape {
            threads: [self.threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: if self.carry {
                self.threads * handed as u32
            } else {
                0
            },
        }
    }

    pub(super) fn validate(&self, of: &Sizes, limits: &Limits) -> Result<(), ScheduleError> {
        let rule = |rule| ScheduleError::Rule {
            schedule: self.to_string(),
            rule,
        };
        if self.stack == 0 {
            return Err(rule("a stack has prisms"));
        }
        if !self.together && !of.componentwise {
            return Err(rule(
                "only forms λ u, κ ∇u are evaluated for one component after the other",
            ));
        }
        if self.threads == 0 {
            return Err(rule(
                "a block has `columns`, or `elements`, a multiple of `stack`, not both and not none",
            ));
        }
        let exchanges = self.carry && self.stack == 1 && self.threads.is_multiple_of(2);
        if self.by_level && (self.stack > 1 || self.pairs || !self.together || of.in_parts) {
            return Err(rule(
                "prisms have a thread for each level of points in stacks of one, without pairs, with all components together and if the form is evaluated at points",
            ));
        }
        if self.pairs && (of.tables.degree != 1 || !exchanges) {
            return Err(rule(
                "pairs of prisms are of degree 1, in stacks of one and in blocks of an even number of elements that carry sums",
            ));
        }
        limits.check(&self.block(of), of.precision)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stack {
            1 if self.by_level => write!(
                f,
                "a level of a prism's points per thread, {} prisms a block",
                self.threads
            )?,
            1 => write!(f, "a prism per thread, {} a block", self.threads)?,
            stack => write!(
                f,
                "a stack of {stack} prisms per thread, {} stacks a block",
                self.threads
            )?,
        }
        if self.carry {
            write!(f, ", sums of triangles between prisms carried downwards")?;
        }
        if self.pairs {
            write!(f, ", of edges in pairs of columns exchanged")?;
        }
        if !self.together {
            write!(f, ", one component after the other")?;
        }
        match self.blocks_per_unit {
            0 | 1 => Ok(()),
            blocks => write!(f, ", {blocks} blocks a unit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::Cell;
    use femto_element::basis::LagrangeBasis;
    use femto_element::quadrature::rule;
    use femto_element::tables::DenseTables;

    #[test]
    fn knobs_replace_numbers_of_the_best_schedule() {
        let basis = LagrangeBasis::new(Cell::Prism, 1).unwrap();
        let dense = DenseTables::new(&basis, &rule(Cell::Prism, 2).unwrap());
        let tables = Tables::new(&dense).unwrap();
        let sizes = Sizes {
            tables: &tables,
            layers: 50,
            components: 1,
            precision: Precision::Fp64,
            is_level: true,
            in_parts: true,
            nodal_fields: 0,
            componentwise: true,
        };
        let all = |knobs: &str| Schedule::all(&sizes, &knobs.parse().unwrap());
        let best = all("best");
        assert_eq!((best.len(), best[0].carry, best[0].pairs), (2, true, true));
        let wanted = Schedule {
            threads: 96,
            carry: false,
            pairs: false,
            ..best[0]
        };
        assert_eq!(all("carry=0+elements=96"), [wanted]);
        assert!(!all("elements=33")[0].pairs);
        // Of 50 prisms 17 stacks.
        let stacks = Schedule {
            threads: 34,
            stack: 3,
            pairs: false,
            ..best[0]
        };
        assert_eq!(all("stack=3+columns=2"), [stacks]);
        assert_eq!(all("stack=3+elements=102"), [stacks]);
        let one = all("together=0")[0];
        assert!(best[0].together && !one.together);
        let coupled = Sizes {
            componentwise: false,
            ..sizes
        };
        assert!(one.validate(&sizes, &Limits::default()).is_ok());
        assert!(one.validate(&coupled, &Limits::default()).is_err());
        for refused in [
            "elements=0",
            "columns=0",
            "stack=0",
            "stack=3+elements=100",
            "elements=96+columns=2",
            "stack=2+pairs=1",
        ] {
            let refused = all(refused)[0].validate(&sizes, &Limits::default());
            assert!(
                matches!(refused, Err(ScheduleError::Rule { .. })),
                "{refused:?}"
            );
        }
    }
}
