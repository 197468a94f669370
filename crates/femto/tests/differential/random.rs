//! Random cases. Functions are smooth or have kinks, no jumps, and grow slowly, so that rounding stays small.

use crate::case::{Case, Cell, Kind, Map, gradients};
use crate::tree::Tree;
use femto::kernel::expr::Input;

/// A small generator with a reported seed, so that failures can be reproduced.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // splitmix64: nearby seeds give unrelated sequences.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((z ^ (z >> 31)) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((self.bits() >> 32) as usize) % end
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Uniform in [-1, 1), with few enough bits for single precision.
    pub(crate) fn number(&mut self) -> f64 {
        (self.bits() >> 41) as f64 / f64::from(1_u32 << 22) - 1.0
    }

    pub(crate) fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.number()).collect()
    }
}

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let random = &mut Random::new(seed);
    let cell = random.pick(&[
        Cell::Triangle,
        Cell::Quadrilateral,
        Cell::Tetrahedron,
        Cell::Hexahedron,
    ]);
    let is_tensor = matches!(cell, Cell::Quadrilateral | Cell::Hexahedron);
    let is_flat = cell.dim() == 2;
    let maps: &[Map] = match cell {
        Cell::Quadrilateral | Cell::Hexahedron => &[Map::Affine, Map::Trilinear, Map::Curved],
        _ => &[Map::Affine, Map::Curved],
    };
    let components = random.pick(&[1, cell.dim()]);
    // Only some are compiled in single precision: see `run`.
    let has_single = components == if is_flat { 2 } else { 1 };
    let kinds = [Kind::Cell, Kind::Nodal, Kind::Points];
    let zero = || "0".to_owned();
    let case = Case {
        seed,
        cell,
        map: random.pick(maps),
        cells: 1 + random.below(if is_flat { 4 } else { 2 }),
        degree: 1 + random.below(match cell {
            Cell::Quadrilateral => 8,
            Cell::Hexahedron => 4,
            _ => 3,
        }),
        exact: random.below(7),
        single: has_single && random.one_in(2),
        by_component: random.one_in(2),
        partial: random.one_in(3),
        fields: (0..random.below(4)).map(|_| random.pick(&kinds)).collect(),
        parameters: random.below(3),
        f0: vec![zero(); components],
        f1: vec![vec![zero(); cell.dim()]; components],
    };
    let case = Case {
        exact: if is_tensor {
            case.exact
        } else {
            case.exact.max(case.least_exact())
        },
        ..case
    };
    let trees: Vec<Tree> = (0..components * (1 + cell.dim()))
        .map(|_| output(&case, random))
        .collect();
    case.with_trees(&trees)
}

/// Zero, or some function plus a multiple of an input that keeps it away from zero.
fn output(case: &Case, random: &mut Random) -> Tree {
    if random.one_in(4) {
        return Tree::Number(0.0);
    }
    let depth = 1 + random.below(4);
    let leaves = Leaves::of(case);
    let function = leaves.tree(random, depth);
    let beside = Tree::infix(Tree::Number(1.5), '*', leaves.input(random));
    Tree::infix(function, '+', beside)
}

/// The inputs available to trees.
struct Leaves {
    slopes: Vec<Input>,
    numbers: Vec<Input>,
}

impl Leaves {
    fn of(case: &Case) -> Self {
        let names = case.names();
        let slopes: Vec<Input> = gradients(&names).collect();
        let is_number = |input: &Input| !slopes.contains(input);
        let numbers = names
            .iter()
            .map(|(_, input)| *input)
            .filter(is_number)
            .collect();
        Self { slopes, numbers }
    }

    /// Gradients are scaled down by their larger range.
    fn input(&self, random: &mut Random) -> Tree {
        if random.one_in(2) {
            let slope = Tree::Input(random.pick(&self.slopes));
            return Tree::infix(Tree::Number(0.0625), '*', slope);
        }
        Tree::Input(random.pick(&self.numbers))
    }

    fn tree(&self, random: &mut Random, depth: usize) -> Tree {
        if depth == 0 || random.one_in(8) {
            return match random.one_in(5) {
                true => Tree::Number(random.pick(&[-1.5, -0.5, 0.25, 1.0, 2.0, 3.0])),
                false => self.input(random),
            };
        }
        let choice = random.below(18);
        let mut part = || self.tree(random, depth - 1);
        let number = Tree::Number;
        let square = |a: Tree| Tree::infix(a, '^', number(2.0));
        // Fast-growing functions get arguments between −1 and 1.
        let bounded = |a: Tree| Tree::unary("sin", a);
        match choice {
            0..3 => Tree::infix(part(), '+', part()),
            3..5 => Tree::infix(part(), '-', part()),
            5..8 => Tree::infix(part(), '*', bounded(part())),
            8 => Tree::unary("cos", part()),
            9 => Tree::unary("tanh", part()),
            10 => {
                let name = random_name(random, &["exp", "sinh", "cosh", "tan"]);
                Tree::unary(name, bounded(self.tree(random, depth - 1)))
            }
            11 => Tree::unary("sqrt", Tree::infix(number(1.0), '+', square(part()))),
            12 => Tree::unary("ln", Tree::infix(number(2.0), '+', square(part()))),
            13 => Tree::infix(part(), '/', Tree::infix(number(1.0), '+', square(part()))),
            14 => {
                let base = Tree::infix(number(1.5), '+', bounded(part()));
                Tree::infix(base, '^', bounded(part()))
            }
            15 => {
                let name = random_name(random, &["-", "abs"]);
                Tree::unary(name, self.tree(random, depth - 1))
            }
            16 => {
                let name = random_name(random, &["min", "max"]).to_owned();
                let [a, b] = [(); 2].map(|()| Box::new(self.tree(random, depth - 1)));
                Tree::Extremum(name, a, b)
            }
            // Zero on both sides of the kink, so that there is no jump.
            _ => {
                let (a, b) = (part(), part());
                let difference = || Tree::infix(a.clone(), '-', b.clone());
                let [yes, no] = [2.0, -0.5].map(|by| Tree::infix(number(by), '*', difference()));
                Tree::Select(Box::new([a.clone(), b.clone(), yes, no]))
            }
        }
    }
}

fn random_name<'a>(random: &mut Random, names: &[&'a str]) -> &'a str {
    random.pick(names)
}
