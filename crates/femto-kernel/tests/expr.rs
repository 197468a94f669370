//! Random expressions: the interpreter against direct evaluation, derivatives against differences,
//! printed C against the interpreter.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod printed_c;

use femto_kernel::expr::{Binary, Graph, Handle, Input, Program, Symbols, Unary, Values, parse};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// An expression as a plain tree, evaluated without any simplification: the oracle.
#[derive(Debug)]
enum Tree {
    Number(f64),
    Axis(u8),
    Unary(Unary, Box<Tree>),
    Binary(Binary, Box<Tree>, Box<Tree>),
    Square(Box<Tree>),
    Select(Box<[Tree; 4]>),
}

const UNARY: [Unary; 11] = [
    Unary::Neg,
    Unary::Sqrt,
    Unary::Abs,
    Unary::Exp,
    Unary::Ln,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
];
const BINARY: [Binary; 7] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Pow,
    Binary::Min,
    Binary::Max,
];
const NUMBERS: [f64; 8] = [0.0, 1.0, -1.0, 2.0, -0.25, 0.1, 3.0, -7.5];

impl Tree {
    fn random(rng: &mut SmallRng, depth: usize) -> Self {
        let part = |rng: &mut SmallRng| Box::new(Self::random(rng, depth - 1));
        if depth == 0 || rng.random_bool(0.1) {
            return match rng.random_bool(0.4) {
                true => Self::Number(NUMBERS[rng.random_range(0..NUMBERS.len())]),
                false => Self::Axis(rng.random_range(0..3)),
            };
        }
        match rng.random_range(0..20) {
            0..6 => Self::Unary(UNARY[rng.random_range(0..UNARY.len())], part(rng)),
            6 => Self::Square(part(rng)),
            7 => Self::Select(Box::new(std::array::from_fn(|_| {
                Self::random(rng, depth - 1)
            }))),
            // Sums, differences and products make up half of the rest.
            8..13 => Self::Binary(BINARY[rng.random_range(0..3)], part(rng), part(rng)),
            _ => Self::Binary(
                BINARY[rng.random_range(0..BINARY.len())],
                part(rng),
                part(rng),
            ),
        }
    }

    /// The value, or `None` if any part of it is not finite: the graph may differ there.
    fn evaluate(&self, x: [f64; 3]) -> Option<f64> {
        self.evaluate_below(f64::MAX, x)
    }

    /// The value, or `None` if any part of it is NaN or larger than `limit`.
    fn evaluate_below(&self, limit: f64, x: [f64; 3]) -> Option<f64> {
        let value = match self {
            Self::Number(value) => *value,
            Self::Axis(axis) => x[usize::from(*axis)],
            Self::Unary(function, a) => function.apply(a.evaluate_below(limit, x)?),
            Self::Binary(Binary::Pow, a, b) => {
                power(a.evaluate_below(limit, x)?, b.evaluate_below(limit, x)?, b)
            }
            Self::Binary(function, a, b) => {
                function.apply(a.evaluate_below(limit, x)?, b.evaluate_below(limit, x)?)
            }
            Self::Square(a) => a.evaluate_below(limit, x)? * a.evaluate_below(limit, x)?,
            Self::Select(parts) => {
                let [a, b, yes, no] = [0, 1, 2, 3].map(|i| parts[i].evaluate_below(limit, x));
                let (yes, no) = (yes?, no?);
                if a? < b? { yes } else { no }
            }
        };
        (value.abs() <= limit).then_some(value)
    }

    fn build(&self, graph: &mut Graph) -> Handle {
        match self {
            Self::Number(value) => graph.constant(*value),
            Self::Axis(axis) => graph.input(Input::Position(*axis)),
            Self::Unary(function, a) => {
                let a = a.build(graph);
                graph.unary(*function, a)
            }
            Self::Binary(function, a, b) => {
                let (a, b) = (a.build(graph), b.build(graph));
                match function {
                    Binary::Add => graph.add(a, b),
                    Binary::Sub => graph.sub(a, b),
                    Binary::Mul => graph.mul(a, b),
                    Binary::Div => graph.div(a, b),
                    Binary::Pow => graph.pow(a, b),
                    Binary::Min => graph.min(a, b),
                    Binary::Max => graph.max(a, b),
                }
            }
            Self::Square(a) => {
                let a = a.build(graph);
                graph.powi(a, 2)
            }
            Self::Select(parts) => {
                let [a, b, yes, no] = [0, 1, 2, 3].map(|i| parts[i].build(graph));
                let mask = graph.less(a, b);
                graph.select(mask, yes, no)
            }
        }
    }
}

/// A power as the graph defines it: a constant integer exponent means repeated squaring.
fn power(base: f64, exponent: f64, tree: &Tree) -> f64 {
    let is_constant = !tree.depends_on_position();
    if !is_constant || exponent.fract() != 0.0 || exponent.abs() > 64.0 {
        return base.powf(exponent);
    }
    f64::NAN // not comparable bit for bit: see `powers_are_products`
}

impl Tree {
    fn depends_on_position(&self) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Axis(_) => true,
            Self::Unary(_, a) | Self::Square(a) => a.depends_on_position(),
            Self::Binary(_, a, b) => a.depends_on_position() || b.depends_on_position(),
            Self::Select(parts) => parts.iter().any(Self::depends_on_position),
        }
    }
}

fn random_points(rng: &mut SmallRng, count: usize) -> Vec<[f64; 3]> {
    (0..count)
        .map(|_| std::array::from_fn(|_| rng.random_range(-2.0..2.0)))
        .collect()
}

fn evaluate(graph: &Graph, outputs: &[Handle], positions: &[[f64; 3]]) -> Vec<f64> {
    let mut results = vec![f64::NAN; outputs.len() * positions.len()];
    Program::new(graph, outputs)
        .evaluate(positions, &Values::default(), &mut results)
        .unwrap();
    results
}

#[test]
fn the_interpreter_equals_direct_evaluation_bit_for_bit() {
    let mut compared = 0;
    for seed in 0..4000 {
        let rng = &mut SmallRng::seed_from_u64(seed);
        let tree = Tree::random(rng, 5);
        let mut graph = Graph::new();
        let value = tree.build(&mut graph);
        let positions = random_points(rng, 70);
        for (x, found) in positions.iter().zip(evaluate(&graph, &[value], &positions)) {
            if let Some(expected) = tree.evaluate(*x) {
                assert_eq!(found, expected, "seed {seed}, at {x:?}, {tree:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 50_000, "only {compared} values were finite");
}

#[test]
fn powers_are_products() {
    let rng = &mut SmallRng::seed_from_u64(1);
    let positions = random_points(rng, 50);
    for exponent in -64..=64 {
        let mut graph = Graph::new();
        let x = graph.input(Input::Position(0));
        let value = graph.powi(x, exponent);
        assert_eq!(graph.count(&[value]).special, 0);
        for (position, found) in positions.iter().zip(evaluate(&graph, &[value], &positions)) {
            let expected = position[0].powi(exponent);
            assert!(
                (found - expected).abs() <= 1e-14 * expected.abs(),
                "{position:?}^{exponent}: {found} instead of {expected}"
            );
        }
    }
}

#[test]
fn derivatives_equal_central_differences() {
    let mut compared = 0;
    for seed in 0..3000 {
        let rng = &mut SmallRng::seed_from_u64(seed);
        let tree = Tree::random(rng, 4);
        let mut graph = Graph::new();
        let value = tree.build(&mut graph);
        for axis in 0..3 {
            let derivative = graph.differentiate(&[value], Input::Position(axis))[0];
            let x = random_points(rng, 1)[0];
            let difference = |h: f64| {
                let at = |shift: f64| {
                    let mut x = x;
                    x[usize::from(axis)] += shift;
                    evaluate(&graph, &[value], &[x])[0]
                };
                (at(h) - at(-h)) / (2.0 * h)
            };
            let (coarse, fine) = (difference(2e-4), difference(1e-4));
            // Kinks, poles and noise show up as differences that depend on the step.
            let is_smooth = (coarse - fine).abs() < 1e-5 * (1.0 + fine.abs());
            if !is_smooth || tree.evaluate_below(1e4, x).is_none() {
                continue;
            }
            let found = evaluate(&graph, &[derivative], &[x])[0];
            if found.is_nan() {
                continue; // a root of zero
            }
            let tolerance = 1e-4 * (1.0 + fine.abs());
            assert!(
                (found - fine).abs() < tolerance,
                "seed {seed}, axis {axis} at {x:?}: {found} instead of {fine}, {tree:?}"
            );
            compared += 1;
        }
    }
    assert!(
        compared > 2000,
        "only {compared} derivatives could be compared"
    );
}

/// Random bytes and random sequences of words must give a value or an error.
#[test]
fn nothing_that_is_parsed_panics() {
    const WORDS: [&str; 24] = [
        "x", "y", "pi", "2", ".5", "1e9", "(", ")", "+", "-", "*", "/", "^", "**", ",", "<", ">=",
        "sin(", "select(", "min(", "€", " ", "log", "0",
    ];
    let rng = &mut SmallRng::seed_from_u64(7);
    let symbols = Symbols::position();
    let mut accepted = 0;
    for _ in 0..20_000 {
        let length = rng.random_range(0..12);
        let text: String = (0..length)
            .map(|_| WORDS[rng.random_range(0..WORDS.len())])
            .collect();
        let mut graph = Graph::new();
        match parse(&mut graph, &text, &symbols) {
            Ok(value) => {
                evaluate(&graph, &[value], &[[0.5; 3]]);
                accepted += 1;
            }
            Err(error) => assert!(error.to_string().contains('^'), "{text}"),
        }
        let bytes: Vec<u8> = (0..length).map(|_| rng.random()).collect();
        let _ = parse(&mut graph, &String::from_utf8_lossy(&bytes), &symbols)
            .map_err(|e| e.to_string());
    }
    assert!(accepted > 300, "{accepted}");
}

const FUNCTIONS: [&str; 8] = [
    "3*pi^2*sin(pi*x)*sin(pi*y)*sin(pi*z)",
    "-(x - (y - z))/(1.5 + x^2) - x/(y/(z + 3))",
    "select(x <= y, exp(-x^2), tanh(y)*cosh(z)) + min(x, y) - max(y, z)",
    "abs(x)^1.7 + 2^y + sqrt(x^2 + y^2 + 1e-7)",
    "(x + y)^7 - log(2 + sin(x*y)) * tan(z/3)",
    "1/(x^2 + 0.1)^3 - -2*y - (-z)*(x - -1)",
    "sinh(z) - (x*y - (x*y + z) * (x*y - z))",
    "x + (y + (z + (x*y + (y*z + (z*x + (x*y*z + (x^3 + (y^3 + (z^3 + x^2*y))))))))) + cos(x)",
];

/// Compiles the printed functions and their derivatives with the system's C compiler, and compares the
/// results with the interpreter.
#[test]
fn printed_c_computes_the_same() {
    let mut graph = Graph::new();
    let symbols = Symbols::position();
    let mut outputs = Vec::new();
    for text in FUNCTIONS {
        let value = parse(&mut graph, text, &symbols).unwrap();
        let derivative = graph.differentiate(&[value], Input::Position(0))[0];
        outputs.extend([value, derivative]);
    }
    let inputs = [0, 1, 2].map(|axis| (Input::Position(axis), ["x", "y", "z"][usize::from(axis)]));
    let positions = random_points(&mut SmallRng::seed_from_u64(3), 20);
    let texts = |x: &[f64; 3]| x.map(|along| format!("{along:?}")).to_vec();
    let points: Vec<_> = positions.iter().map(texts).collect();
    let Some(found) = printed_c::run("printed", (&graph, &outputs), &inputs, &points) else {
        println!("skipped: there is no C compiler `cc` here");
        return;
    };

    let expected = evaluate(&graph, &outputs, &positions);
    let count = outputs.len();
    for (place, found) in found.iter().enumerate() {
        let (point, output) = (place / count, place % count);
        let expected = expected[output * positions.len() + point];
        for (found, tolerance) in found.iter().zip([1e-13, 1e-3]) {
            let error = (found - expected).abs() / (1.0 + expected.abs());
            assert!(
                error < tolerance,
                "output {output}: {found} instead of {expected}"
            );
        }
    }
}
