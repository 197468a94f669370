//! `femto kernel`: names, texts, compilers.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use serde_json::Value;
use std::process::{Command, Output};

/// Runs the command with an empty kernel cache for each test.
fn kernel(cache: &str, arguments: &[&str]) -> Output {
    let folder = format!("{}/kernel-cache-{cache}", env!("CARGO_TARGET_TMPDIR"));
    Command::new(env!("CARGO_BIN_EXE_femto"))
        .arg("kernel")
        .args(arguments)
        .env("FEMTO_CACHE", folder)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn good(arguments: &[&str]) -> String {
    let output = kernel("any", arguments);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    assert_eq!(error, "", "{arguments:?}");
    text(&output.stdout).to_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_list_has_the_ladders_and_femtos_own() {
    let list = good(&["list"]);
    for part in [
        "bk5/layers/10            1..15",
        "bk5/cubes/6              1..9",
        "simplices/transposition  -",
        "operators/bk3            1..15",
        "diagonals/elasticity     1..15",
        "all loops unrolled",
        "vectors                  -",
    ] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let entries: Value = serde_json::from_str(&good(&["list", "--json"])).unwrap();
    let entries = entries.as_array().unwrap();
    assert_eq!(entries.len() + 1, list.lines().count());
    assert_eq!(entries[0]["name"], "bk1/layers/1");
    assert_eq!(entries[0]["degrees"].as_array().unwrap().len(), 15);
}

#[test]
fn a_text_has_the_definitions_that_were_asked_for() {
    for (arguments, parts) in [
        (
            &["bk5/layers/7", "--degree", "5", "--precision", "fp32"][..],
            &[
                "#define real float\n",
                "#define NODES_1D 6\n",
                "KERNEL(bk5_layers)",
            ][..],
        ),
        (
            &[
                "operators/bk3",
                "--degree",
                "4",
                "--vectors",
                "nodal",
                "--data-level",
                "on_the_fly",
            ],
            &[
                "#define POINTS_1D 6\n",
                "#define VECTORS_NODAL 1\n",
                "#define GEOMETRY_MULTILINEAR 1\n",
                "#line 1 \"family/sum_factorization/text/pencils.c\"\n",
                "KERNEL(apply)",
            ],
        ),
        (
            &["diagonals/bk1", "--language", "opencl"],
            &["__kernel", "KERNEL(diagonal)"],
        ),
        (&["zero"], &["__global__", "KERNEL(zero)"]),
        (
            &["vectors", "--precision", "fp32"],
            &["#define number float\n", "KERNEL(axpy)"],
        ),
        (&["probe"], &["KERNEL(probe_fma)"]),
        (
            &["operators/bp1", "--mesh", "box", "--knobs", "blocks=3"],
            &[
                "#define GEOMETRY_ELEMENT 1\n",
                "#define BLOCKS_PER_UNIT 3\n",
            ],
        ),
        (
            &["operators/bp3", "--mesh", "tetrahedra", "--degree", "3"],
            &["family/affine_simplex/text/"],
        ),
        (
            &[
                "operators/diffusion",
                "--mesh",
                "tetrahedra",
                "--degree",
                "5",
            ],
            &["family/cell_quadrature/text/", "#define CLASSES 4\n"],
        ),
        (
            &["operators/elasticity", "--mesh", "layers", "--degree", "2"],
            &["KERNEL(apply)"],
        ),
        (
            &["operators/bp1", "--mesh", "layers", "--degree", "2"],
            &["family/prism_column/text/"],
        ),
        (
            &["operators/bp3", "--degree", "2", "--data-level", "element"],
            &["family/element_matrix/text/"],
        ),
    ] {
        let found = good(&[&["show"], arguments].concat());
        for part in parts {
            assert!(
                found.contains(part),
                "{arguments:?} has no {part}:\n{found}"
            );
        }
    }
    let steps = ["1", "2"].map(|number| good(&["show", &format!("bk5/layers/{number}")]));
    assert_ne!(steps[0], steps[1]);
}

#[test]
fn the_json_of_a_text_says_how_it_is_started() {
    let arguments = ["show", "bk5/cubes/3", "--degree", "3", "--json"];
    let shown: Value = serde_json::from_str(&good(&arguments)).unwrap();
    for (key, wanted) in [
        ("kernel", Value::from("bk5/cubes/3")),
        ("degree", 3.into()),
        ("language", "CUDA C".into()),
        ("threads", vec![4, 4, 4].into()),
        ("entries", vec!["cubes"].into()),
        ("vectors", Value::Null),
    ] {
        assert_eq!(shown[key], wanted, "{key}");
    }
    let shown = shown["text"].as_str().unwrap();
    assert!(good(&arguments[..4]) == format!("{shown}\n"));
}

#[test]
fn wrong_arguments_have_exit_code_2_and_a_hint() {
    for (arguments, hint) in [
        (&["show", "bk5/layrs/7"][..], "did you mean `bk5/layers/7`?"),
        (&["show", "bk5/layers"], "femto kernel list"),
        (&["show", "bk5/cubes/1", "--degree", "10"], "11 × 11 × 11"),
        (&["show", "zero", "--degree", "16"], "1..=15"),
        (&["show", "zero", "--language", "cudda"], "'cuda'"),
        (&["show", "operators/bk5", "--mesh", "sin"], "'sine'"),
        (
            &["show", "operators/bp5", "--mesh", "tetrahedra"],
            "points along each axis",
        ),
        (&["show", "operators/bp5", "--knobs", "wrps=3"], "wrps"),
        (&["check", "operator"], "did you mean `operators`?"),
        (&["check", "--degree", "0"], "degrees 1 to 15"),
        (&["check", "zero", "--device", "opencl:99"], "opencl"),
        (&["check", "zero", "--device", "gpu"], "opencl:0"),
        (
            &["check", "zero", "--arch", "foo"],
            "'foo' for '--arch <SM>'",
        ),
        (&["check", "zero", "--arch", "sm_"], "such as `sm_90`"),
        (
            &["check", "--arch", "sm_90", "--device", "cuda:0"],
            "cannot be used with",
        ),
    ] {
        let output = kernel("any", arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(hint), "{arguments:?}: {error}");
    }
}

/// Whether a command found its device or compiler. If not, and it is not required, prints a note.
fn found(output: &Output, required: bool) -> bool {
    let error = text(&output.stderr);
    let missing = output.status.code() == Some(2) && error.contains("was not found");
    assert!(!(missing && required), "{error}");
    if missing {
        eprintln!("skipped: {error}");
    }
    !missing
}

#[test]
fn opencl_compiles_and_keeps_what_it_compiled() {
    let required = std::env::var("FEMTO_REQUIRE").is_ok_and(|kinds| kinds.contains("opencl"));
    let check = [
        "check",
        "zero",
        "operators/bk1",
        "--degree",
        "2",
        "--data-level",
        "partial",
    ];
    let on_opencl = [&check[..], &["--device", "opencl:0"]].concat();
    let output = kernel("opencl", &on_opencl);
    if !found(&output, required) {
        return;
    }
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in [
        "opencl:0: ",
        "registers",
        "sine, element, partial",
        "sine, nodal, partial",
    ] {
        assert!(table.contains(part), "{part}: {table}");
    }
    let report = json(&kernel("opencl", &[&on_opencl[..], &["--json"]].concat()));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{report:#}");
    assert_eq!(
        (&rows[0]["entry"], &rows[1]["entry"]),
        (&"zero".into(), &"apply".into())
    );
    assert_eq!(rows[0]["threads"], Value::from(vec![256, 1, 1]));
    assert!(rows[1]["shared_bytes"].as_u64().unwrap() > 0);
    assert!(
        rows.iter()
            .all(|row| row["milliseconds"].as_f64().unwrap() > 0.0)
    );
    let kept = format!(
        "{}/kernel-cache-opencl/kernels",
        env!("CARGO_TARGET_TMPDIR")
    );
    let kept = std::fs::read_dir(kept).map_or(0, |entries| entries.count());
    match table.contains("Portable Computing Language") {
        // It has its own cache.
        true => assert_eq!(kept, 0),
        false => assert!(kept >= 3, "{kept}"),
    }
}

/// NVRTC needs no GPU; `FEMTO_NVRTC_TEST` gives its paths.
#[test]
fn nvidias_compiler_tells_registers_without_a_device() {
    let Some(paths) = std::env::var_os("FEMTO_NVRTC_TEST") else {
        eprintln!("skipped: FEMTO_NVRTC_TEST is not set");
        return;
    };
    for path in std::env::split_paths(&paths) {
        let check = |arguments: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_femto"))
                .args(["kernel", "check", "--json"])
                .args(arguments)
                .env("FEMTO_NVRTC", &path)
                .output()
                .unwrap()
        };
        let output = check(&[
            "bk5/layers/10",
            "vectors",
            "--arch",
            "sm_90",
            "--degree",
            "7",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let report = json(&output);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows[0]["kernel"], "bk5/layers/10");
        assert!(rows.len() > 5, "{report:#}");
        for row in rows {
            assert!(row["registers"].as_u64().unwrap() > 0, "{row}");
        }
        let unknown = check(&["zero", "--arch", "sm_12345"]);
        assert_eq!(unknown.status.code(), Some(2));
        assert!(
            text(&unknown.stderr).contains("sm_90"),
            "{}",
            text(&unknown.stderr)
        );
    }
}

/// Steps 1 to 3 of the Helmholtz Challenge keep 200 doubles in a thread's local memory, where the compiler must leave
/// them; with 36 accumulators `lhs` takes 60 registers more than with 6.
#[test]
fn the_challenges_tables_and_accumulators_are_where_its_steps_say() {
    let Some(paths) = std::env::var_os("FEMTO_NVRTC_TEST") else {
        eprintln!("skipped: FEMTO_NVRTC_TEST is not set");
        return;
    };
    for path in std::env::split_paths(&paths) {
        let lhs = |step: &str| {
            let output = Command::new(env!("CARGO_BIN_EXE_femto"))
                .args(["kernel", "check", step, "--arch", "sm_90", "--json"])
                .env("FEMTO_NVRTC", &path)
                .output()
                .unwrap();
            let report = json(&output);
            let rows = report["rows"].as_array().unwrap();
            let row = rows.iter().find(|row| row["entry"] == "lhs").unwrap();
            ["registers", "local_bytes"].map(|key| row[key].as_u64().unwrap())
        };
        assert_eq!(lhs("helmholtz/3")[1], 1600);
        let ([entries, spilled], [rows, none]) = (lhs("helmholtz/5"), lhs("helmholtz/6"));
        assert_eq!((spilled, none), (0, 0));
        assert!(entries.abs_diff(rows + 60) <= 12, "{entries} {rows}");
    }
}
