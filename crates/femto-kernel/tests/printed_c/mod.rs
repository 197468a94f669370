//! Printed C, compiled and run by the system's compiler.

use femto_kernel::expr::{CStyle, Graph, Handle, Input};
use femto_kernel::scalar::Precision;
use std::fmt::Write as _;
use std::process::Command;

/// The outputs at points in double and in single precision, `[point][output]`, or `None` without a compiler. `inputs`
/// have names in C; points are texts of their values.
pub(crate) fn run(
    file: &str,
    (graph, outputs): (&Graph, &[Handle]),
    inputs: &[(Input, &str)],
    points: &[Vec<String>],
) -> Option<Vec<[f64; 2]>> {
    let count = outputs.len();
    let places: Vec<String> = (0..count).map(|i| format!("f[{i}]")).collect();
    let mut source = "#include <math.h>\n#include <stdio.h>\n".to_owned();
    for (number, precision) in [("double", Precision::Fp64), ("float", Precision::Fp32)] {
        let name = |input| {
            let given = inputs.iter().find(|(known, _)| *known == input);
            given.expect("every input has a name").1.to_owned()
        };
        let style = CStyle {
            precision,
            suffixed: true,
            name,
        };
        let body = style.print(graph, outputs, &places).unwrap();
        let arguments = inputs.iter().map(|(_, name)| format!("{number} {name}, "));
        let arguments: String = arguments.collect();
        _ = writeln!(
            source,
            "static void {number}_f({arguments}{number} *f)\n{{\n{body}}}"
        );
    }
    _ = writeln!(
        source,
        "int main(void)\n{{\n  double d[{count}];\n  float s[{count}];"
    );
    for point in points {
        let values = point.join(", ");
        _ = writeln!(source, "  double_f({values}, d);\n  float_f({values}, s);");
        _ = writeln!(
            source,
            "  for (int i = 0; i < {count}; i++) printf(\"%.17g %.9g\\n\", d[i], s[i]);"
        );
    }
    source.push_str("  return 0;\n}\n");
    let printed = compile_and_run(file, &source)?;
    let numbers = printed.lines().map(|line| {
        let (double, single) = line.split_once(' ').unwrap();
        [double, single].map(|text| text.parse().unwrap())
    });
    Some(numbers.collect())
}

/// The standard output of the program, or `None` without a compiler.
#[expect(
    clippy::disallowed_methods,
    reason = "the test, not the crate, writes the file"
)]
fn compile_and_run(name: &str, source: &str) -> Option<String> {
    let program = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    let file = format!("{program}.c");
    std::fs::write(&file, source).unwrap();
    let arguments = [
        "-std=c99",
        "-Wall",
        "-Werror",
        "-O1",
        "-ffp-contract=off",
        "-o",
    ];
    let compiler = Command::new("cc")
        .args(arguments)
        .args([&program, &file, "-lm"])
        .output()
        .ok()?;
    let log = String::from_utf8_lossy(&compiler.stderr);
    assert!(compiler.status.success(), "{log}\n{source}");
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success());
    Some(String::from_utf8(run.stdout).unwrap())
}
