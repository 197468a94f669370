//! BK5 and BK3 with one thread per point of an element.

use super::{BlockWork, Common, Memory, Plan, Sizes};
use crate::dialect::{KernelFile, text};

/// The memory through which threads exchange numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Exchange {
    /// Global arrays: one flux at a time.
    #[default]
    Global,
    /// One shared cube for the values to be differentiated and then for one flux at a time; interpolation and projection
    /// in global arrays.
    Differentiation,
    /// One shared cube for everything; the parts hand their results over in global memory.
    Parts,
    /// One shared cube for everything.
    Cube,
    /// Own cubes of values, of each flux and, with Gauss points, of the sums; there sums run in shared memory.
    OwnCubes,
}

/// The knobs of the cubes; the default is the first published step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cubes {
    /// Knobs of all schedules.
    pub common: Common,
    /// Whether there is one launch instead of three: interpolation, differentiation, projection. Collocated
    /// operators have only the second.
    pub one_launch: bool,
    /// Whether a point's factors are loaded into registers at once; otherwise some just before each flux.
    pub factors_in_registers: bool,
    /// Whether the sum that is tested with the value at the point is in a register; otherwise in global memory.
    pub sum_in_registers: bool,
    /// The memory through which threads exchange numbers.
    pub exchange: Exchange,
}

fn collocated(sizes: Sizes) -> bool {
    sizes.nodes_1d == sizes.points_1d
}

impl Plan for Cubes {
    fn common(&self) -> &Common {
        &self.common
    }

    fn words(&self) -> Vec<(bool, &'static str)> {
        let exchange = |exchange| self.exchange == exchange;
        vec![
            (self.one_launch, "one_launch"),
            (self.factors_in_registers, "factors_in_registers"),
            (self.sum_in_registers, "sum_in_registers"),
            (exchange(Exchange::Differentiation), "differentiate_in_cube"),
            (exchange(Exchange::Parts), "global_between_parts"),
            (exchange(Exchange::Cube), "in_cube"),
            (exchange(Exchange::OwnCubes), "own_cubes"),
        ]
    }

    fn rules(&self, sizes: Sizes) -> Result<(), &'static str> {
        let exchange = self.exchange;
        if self.common.pad {
            return Err("cubes are not padded");
        }
        if collocated(sizes) && !self.one_launch {
            return Err("a collocated operator has one part, hence one launch");
        }
        if exchange > Exchange::Differentiation && !self.one_launch {
            return Err("three launches hand their results over in global memory");
        }
        let own_sums = exchange == Exchange::OwnCubes && !collocated(sizes);
        if own_sums && self.sum_in_registers {
            return Err("with own cubes the sums are in shared memory");
        }
        if exchange > Exchange::Differentiation && !own_sums && !self.sum_in_registers {
            return Err("without global arrays the sum is in a register");
        }
        Ok(())
    }

    fn threads(&self, sizes: Sizes) -> [u32; 3] {
        [sizes.points_1d; 3]
    }

    fn memory(&self, sizes: Sizes) -> Memory {
        let (q, g) = (sizes.nodes_1d, sizes.points_1d);
        let cubes: &[_] = match self.exchange {
            Exchange::Global => &[],
            Exchange::OwnCubes if collocated(sizes) => &["S_A", "S_B", "S_C", "S_D"],
            Exchange::OwnCubes => &["S_A", "S_B", "S_C", "S_D", "S_TESTED"],
            _ => &["S_A"],
        };
        let arrays: &[_] = match (collocated(sizes), self.exchange) {
            (true, Exchange::Global) => &["G_A"],
            (false, Exchange::Global | Exchange::Differentiation | Exchange::Parts) => {
                &["G_A", "G_B"]
            }
            _ => &[],
        };
        let cube = |&name: &&'static str| (name, g.pow(3));
        let mut shared = vec![("S_GRAD", g * g)];
        if !collocated(sizes) {
            shared.push(("S_INTERP", g * q));
        }
        shared.extend(cubes.iter().map(cube));
        Memory {
            shared,
            scratch: arrays.iter().map(cube).collect(),
        }
    }

    fn definitions(&self, sizes: Sizes) -> Vec<(&'static str, u32)> {
        let (exchange, interpolates) = (self.exchange, !collocated(sizes));
        vec![
            ("ROW", sizes.points_1d),
            ("INTERP_ROW", sizes.nodes_1d),
            ("INTERPOLATES", u32::from(interpolates)),
            ("ONE_LAUNCH", u32::from(self.one_launch)),
            ("FACTORS_IN_REGISTERS", u32::from(self.factors_in_registers)),
            ("SUM_IN_REGISTERS", u32::from(self.sum_in_registers)),
            (
                "VALUES_IN_CUBE",
                u32::from(exchange >= Exchange::Differentiation),
            ),
            ("EXCHANGE_IN_CUBE", u32::from(exchange >= Exchange::Parts)),
            ("HANDED_OVER", u32::from(exchange <= Exchange::Parts)),
            ("OWN_CUBES", u32::from(exchange == Exchange::OwnCubes)),
        ]
    }

    fn files(&self) -> Vec<KernelFile> {
        vec![
            text!("family/hex_published/text/point_factors.c"),
            text!("family/hex_published/text/cubes.c"),
        ]
    }

    fn entries(&self) -> &'static [&'static str] {
        if self.one_launch {
            &["cubes"]
        } else {
            &["cubes_interpolate", "cubes_differentiate", "cubes_project"]
        }
    }

    fn block_work(&self, sizes: Sizes) -> BlockWork {
        let (q, g) = (u64::from(sizes.nodes_1d), u64::from(sizes.points_1d));
        let (cube, exchange) = (g.pow(3), self.exchange);
        let in_cube = exchange >= Exchange::Differentiation;
        let own_cubes = exchange == Exchange::OwnCubes;
        // Matrix entries, values and fluxes; the value of the mass term.
        let mut reads = match in_cube {
            true => 12 * g.pow(4) + cube,
            false => 6 * g.pow(4),
        };
        let mut writes = g * g + if in_cube { 4 * cube } else { 0 };
        let differentiation = if own_cubes { 1 } else { 6 };
        if collocated(sizes) {
            return BlockWork {
                reads,
                writes,
                barriers: 1 + differentiation,
            };
        }
        // Of an interpolation or a projection, as many numbers as matrix entries.
        let contraction = g * q * (q * q + q * g + g * g);
        let loads = if self.one_launch { 1 } else { 2 };
        reads += 2 * contraction;
        writes += loads * g * q;
        let barriers = match exchange {
            Exchange::Global if !self.one_launch => 3 + (1 + differentiation) + 5,
            Exchange::Global | Exchange::Differentiation => 5 + differentiation + 5,
            Exchange::Parts | Exchange::Cube => 7 + differentiation + 6,
            Exchange::OwnCubes => 4 + differentiation + 3,
        };
        if exchange >= Exchange::Parts {
            // All threads write two results on the way to the points, the sum, and two on the way back.
            reads += 2 * contraction;
            writes += q.pow(3) + 5 * cube;
        }
        if own_cubes {
            // Sums begin with 0 and run in shared memory on the way to the points; that of fluxes is added and copied.
            // Only threads with a result write the last on the way back.
            reads += contraction + 2 * cube;
            writes += contraction + cube + g * q * q;
        }
        BlockWork {
            reads,
            writes,
            barriers,
        }
    }
}
