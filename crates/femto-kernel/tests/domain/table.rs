//! Functions with their values for any numbers; `cargo xtask kernels` compares devices with them too.

/// A function of the language as text, and its value for any numbers.
pub(crate) type Case = (&'static str, fn(f64, f64) -> f64);

/// Every function.
pub(crate) const CASES: [Case; 28] = [
    ("sqrt(u0)", |a, _| a.sqrt()),
    ("abs(u0)", |a, _| a.abs()),
    ("exp(u0)", |a, _| a.exp()),
    ("ln(u0)", |a, _| a.ln()),
    ("sin(u0)", |a, _| a.sin()),
    ("cos(u0)", |a, _| a.cos()),
    ("tan(u0)", |a, _| a.tan()),
    ("sinh(u0)", |a, _| a.sinh()),
    ("cosh(u0)", |a, _| a.cosh()),
    ("tanh(u0)", |a, _| a.tanh()),
    ("-u0", |a, _| -a),
    ("u0 + u1", |a, b| a + b),
    ("u0 - u1", |a, b| a - b),
    ("u0 * u1", |a, b| a * b),
    ("u0 / u1", |a, b| a / b),
    ("u0 ^ u1", f64::powf),
    ("u0 ^ 0", |_, _| 1.0),
    ("u0 ^ 3", |a, _| a * a * a),
    ("u0 ^ -2", |a, _| 1.0 / (a * a)),
    ("u0 ^ 0.5", |a, _| a.powf(0.5)),
    ("2 ^ u0", |a, _| 2_f64.powf(a)),
    // The other number if one is NaN.
    ("min(u0, u1)", f64::min),
    ("max(u0, u1)", f64::max),
    ("min(u0, 0.5)", |a, _| a.min(0.5)),
    // Comparisons with NaN do not hold, so their opposites do.
    (
        "select(u0 < u1, 1, 2)",
        |a, b| if a < b { 1.0 } else { 2.0 },
    ),
    (
        "select(u0 > u1, 1, 2)",
        |a, b| if a > b { 1.0 } else { 2.0 },
    ),
    (
        "select(u0 <= u1, 1, 2)",
        |a, b| if b < a { 2.0 } else { 1.0 },
    ),
    ("select(u0 >= u1, u0, u1)", |a, b| if a < b { b } else { a }),
];

/// Inside their domains and outside.
pub(crate) const NUMBERS: [f64; 17] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    0.3,
    1e-3,
    20.0,
    100.0,
    -1000.0,
];
