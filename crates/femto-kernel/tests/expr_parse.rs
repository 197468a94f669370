//! Expressions as text: meaning, errors, hostile input.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use femto_kernel::expr::{
    Graph, MAX_DEPTH, MAX_LENGTH, ParseError, ParseErrorKind, Program, Symbols, Values, parse,
};

fn value(text: &str) -> f64 {
    let mut graph = Graph::new();
    let handle = parse(&mut graph, text, &Symbols::position()).unwrap();
    let mut result = [0.0];
    let program = Program::new(&graph, &[handle]);
    program
        .evaluate(&[[2.0, 3.0, 5.0]], &Values::default(), &mut result)
        .unwrap();
    result[0]
}

fn error(text: &str) -> ParseError {
    parse(&mut Graph::new(), text, &Symbols::position()).unwrap_err()
}

#[test]
fn operators_bind_as_in_mathematics() {
    assert_eq!(value("1 + x*y^2 - z/2"), 16.5);
    assert_eq!(value("-x^2"), -4.0);
    assert_eq!(value("2^-x"), 0.25);
    assert_eq!(value("x^y**x"), 512.0);
    assert_eq!(value("x - y - z"), -6.0);
    assert_eq!(value("x / y / z"), 2.0 / 3.0 / 5.0);
    assert_eq!(value("--x + +y"), 5.0);
    assert_eq!(value("(x + y) * z"), 25.0);
}

#[test]
fn functions_and_constants_are_known() {
    assert_eq!(value("max(x, y) + min(x, y)"), 5.0);
    assert_eq!(value("cos(pi*x) + log(e) + ln(1)"), 2.0);
    assert_eq!(value("pow(x, y) + sqrt(abs(-4))"), 10.0);
    assert_eq!(value("select(x < 2, 1, 0) + 10*select(x <= 2, 1, 0)"), 10.0);
    assert_eq!(value("select(x > 2, 1, 0) + 10*select(x >= 2, 1, 0)"), 10.0);
}

#[test]
fn errors_point_at_the_place() {
    let error = error("1 + sni(pi*x)");
    assert_eq!((error.column, error.width), (5, 3));
    let message = error.to_string();
    assert!(
        message.starts_with("there is no function `sni`; did you mean `sin`?"),
        "{message}"
    );
    assert!(
        message.ends_with("\n  1 + sni(pi*x)\n      ^^^"),
        "{message}"
    );
}

/// Expressions that simplification would make 0 have no value either.
#[test]
fn constants_must_be_finite() {
    for (text, column, width, value) in [
        ("0/0", 2, 1, "NaN"),
        ("x + 3/(1 - 1)", 6, 1, "inf"),
        ("0*ln(0)", 3, 2, "-inf"),
        ("sqrt(-1)*0*x", 1, 4, "NaN"),
        ("(-8)^(1/3)", 5, 1, "NaN"),
        ("0^-1", 2, 1, "inf"),
        ("1e308 * 10", 7, 1, "inf"),
        ("max(x, exp(1000))", 8, 3, "inf"),
        ("select(x < 1/0, 1, 2)", 13, 1, "inf"),
    ] {
        let error = error(text);
        assert_eq!((error.column, error.width), (column, width), "{text}");
        let value = value.to_owned();
        assert_eq!(error.kind, ParseErrorKind::NotFinite { value }, "{text}");
    }
    assert_eq!(value("0/x + 0^0 + exp(-1000)"), 1.0);
}

#[test]
fn a_long_expression_is_shown_in_part() {
    let error = error(&("x + ".repeat(50) + "q" + &" + x".repeat(50)));
    assert_eq!(error.column, 201);
    let message = error.to_string();
    let lines: Vec<&str> = message.lines().collect();
    let place = lines[2].find('^').unwrap();
    assert_eq!(&lines[1][place..=place], "q");
    assert!(lines[1].len() < 100 && lines[1].starts_with("  ...") && lines[1].ends_with("..."));
}

#[test]
fn every_mistake_has_its_own_message() {
    use ParseErrorKind as K;
    assert!(matches!(error(" ").kind, K::Empty));
    assert!(matches!(error("x y").kind, K::Unexpected { .. }));
    assert!(matches!(error("2*").kind, K::Unexpected { .. }));
    assert!(matches!(error("(x").kind, K::Unexpected { .. }));
    assert!(matches!(error("x(y)").kind, K::NotAFunction { .. }));
    assert!(matches!(
        error("sin + 1").kind,
        K::FunctionWithoutArguments { .. }
    ));
    assert!(matches!(
        error("sin()").kind,
        K::WrongArguments { found: 0, .. }
    ));
    assert!(matches!(
        error("min(x)").kind,
        K::WrongArguments { found: 1, .. }
    ));
    assert!(matches!(
        error("select(x<1, 2)").kind,
        K::WrongArguments { found: 2, .. }
    ));
    assert!(matches!(
        error("select(x, 1, 2)").kind,
        K::MissingComparison
    ));
    assert!(matches!(error("x < y").kind, K::MisplacedComparison));
    assert!(matches!(error("(x < y)").kind, K::MisplacedComparison));
    assert!(matches!(
        error("x == y").kind,
        K::UnknownCharacter { found: '=' }
    ));
    assert!(matches!(error("t").kind, K::UnknownName { .. }));
    assert!(matches!(error("1e999").kind, K::BadNumber { .. }));
}

#[test]
fn hostile_nesting_and_length_are_refused() {
    for part in [
        "(",
        "-",
        "sin(",
        "2^",
        "select(",
        "select(x<(",
        "1+(",
        "min(1,",
    ] {
        let kind = error(&part.repeat(MAX_LENGTH / part.len())).kind;
        assert!(
            matches!(kind, ParseErrorKind::TooDeep { .. }),
            "{part}: {kind}"
        );
    }
    assert!(matches!(
        error(&"x".repeat(MAX_LENGTH + 1)).kind,
        ParseErrorKind::TooLong { .. }
    ));
    let nested = format!(
        "{}x{}",
        "(".repeat(MAX_DEPTH - 1),
        ")".repeat(MAX_DEPTH - 1)
    );
    assert_eq!(value(&nested), 2.0);
    assert_eq!(value(&format!("x{}", "+x".repeat(30_000))), 60_002.0);
}
