//! Cases: their meaning, and the errors for mistakes in them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod forms;

use femto::kernel::scalar::Precision;
use femto::problem::Function;
use femto::{DataLevel, FactorPrecision, Quadrature, Scatter};
use femto_cli::case::{
    Case, CaseError, Coefficient, Document, Field, Form, MeshSource, Method, Mistake,
    PreconditionerKind,
};
use std::path::Path;

const FULL: &str = r#"title = "everything"

[mesh]
box = { cells = [2, 3, 4], lower = [-1, 0, 0], upper = [1, 1, 2.5], geometry_degree = 2, deformation = ["x + 0.1*sin(pi*y)", "y", "2*z"] }

[space]
degree = 4

[form]
kind = "screened_poisson"
lambda = { steel = 1.0, 7 = 2 }

[source]
value = "x + y"

[exact]
value = "x^2*y"

[[dirichlet]]
tags = ["inlet", 3]
value = 0.5

[[neumann]]
tags = ["outlet"]
value = "z"

[solver]
method = "cg"
preconditioner = "none"
tolerance = 1e-10
max_iterations = 1_000

[quadrature]
kind = "gauss_lobatto"
points_1d = 5

[output]
vtu = "out/result.vtu"
fields = ["solution", "error"]

[run]
precision = "fp32"
threads = 2
data_level = "partial"
device = "cuda:1"
scatter = "deterministic"
factors = "single"
"#;

const SMALL: &str = "[mesh]\nfile = 'a.msh'\n[space]\ndegree = 1\n[form]\nkind = 'poisson'\n";

fn parse(text: &str) -> Result<Case, CaseError> {
    Case::parse(Document::new(Path::new("cases/test.toml"), text.to_owned()))
}

fn mistake(text: &str) -> Box<Mistake> {
    match parse(text) {
        Err(CaseError::Mistake(mistake)) => mistake,
        other => panic!("{text}\nis not a mistake but {other:?}"),
    }
}

/// α and g of a Robin condition, with valid and invalid values.
#[test]
fn robin_conditions_have_two_values() {
    let head = "[mesh]\nfile = \"a.msh\"\n[space]\ndegree = 2\n[form]\nkind = \"poisson\"\n";
    let text = |robin: &str| format!("{head}{robin}");
    let good = text("[[robin]]\ntags = [\"out\", 3]\nalpha = \"1 + x\"\nvalue = 20\n");
    let case = parse(&good).unwrap();
    let [robin] = &case.robin[..] else {
        panic!("{:?}", case.robin)
    };
    let tags = robin.boundary.tags.iter().map(|tag| &tag.value[..]);
    assert_eq!(tags.collect::<Vec<_>>(), ["out", "3"]);
    assert_eq!(robin.boundary.value.functions[0].as_constant(), Some(20.0));
    assert_eq!(robin.alpha.functions[0].as_constant(), None);
    let twice = "[[neumann]]\ntags = [1]\nvalue = 1\n\
                 [[robin]]\ntags = [1]\nalpha = 1\nvalue = 1\n";
    let too_many = "[[robin]]\ntags = [1]\ncomponents = [\"x\"]\nalpha = [1, 2]\nvalue = 1\n";
    for (robin, word) in [
        ("[[robin]]\ntags = [1]\nvalue = 1\n", "alpha"),
        ("[[robin]]\ntags = [1]\nalpha = 1\n", "value"),
        ("[[robin]]\ntags = []\nalpha = 1\nvalue = 1\n", "group"),
        (twice, "[[neumann]]"),
        (too_many, "one, for the one component"),
    ] {
        let error = parse(&text(robin)).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
}

#[test]
fn a_full_case_is_read() {
    let case = parse(FULL).unwrap();
    assert_eq!(case.title, "everything");
    let MeshSource::Box(source) = &case.mesh else {
        panic!("{:?}", case.mesh)
    };
    assert_eq!(
        (&source.mesh.cells[..], source.mesh.geometry_degree),
        (&[2, 3, 4][..], 2)
    );
    assert_eq!(
        (&source.mesh.lower[..], &source.mesh.upper[..]),
        (&[-1.0, 0.0, 0.0][..], &[1.0, 1.0, 2.5][..])
    );
    let moved = source.deformation.as_ref().unwrap().of([1.0, 0.5, 3.0]);
    assert_eq!(moved, [1.1, 0.5, 6.0]);
    assert_eq!(case.degree, 4);
    let Form::ScreenedPoisson(Coefficient::ByGroup(groups)) = &case.form else {
        panic!()
    };
    let groups: Vec<_> = groups
        .iter()
        .map(|(tag, lambda)| (tag.value.as_str(), *lambda))
        .collect();
    assert_eq!(groups, [("7", 2.0), ("steel", 1.0)]);
    let gradient = case.exact.unwrap().functions[0].gradient().map(|along| {
        let mut value = [0.0];
        along.evaluate(&[[3.0, 5.0, 0.0]], 0.0, &mut value);
        value[0]
    });
    assert_eq!(gradient, [30.0, 9.0, 0.0]);
    let tags: Vec<_> = case.dirichlet[0]
        .tags
        .iter()
        .map(|tag| tag.value.as_str())
        .collect();
    assert_eq!(tags, ["inlet", "3"]);
    assert_eq!(
        case.dirichlet[0].value.functions[0].as_constant(),
        Some(0.5)
    );
    assert_eq!(case.dirichlet[0].components, None);
    assert_eq!(case.neumann.len(), 1);
    assert_eq!(case.solver.preconditioner, PreconditionerKind::None);
    assert_eq!(case.solver.params.method, Some(Method::Cg));
    assert_eq!(
        (
            case.solver.params.tolerance(case.run.precision),
            case.solver.params.max_iterations
        ),
        (1e-10, 1000)
    );
    assert_eq!(case.quadrature, Quadrature::Collocated);
    assert_eq!(
        case.output.vtu.as_deref(),
        Some(Path::new("cases/out/result.vtu"))
    );
    assert_eq!(
        case.output.fields,
        Some(vec![Field::Solution, Field::Error])
    );
    assert_eq!(
        (case.run.precision, case.run.threads),
        (Precision::Fp32, Some(2))
    );
    assert_eq!(case.run.data_level, DataLevel::Partial);
    assert_eq!(case.run.factors, FactorPrecision::Single);
    assert_eq!(case.run.scatter, Scatter::Deterministic);
    assert_eq!(case.run.device.unwrap().to_string(), "cuda:1");
}

#[test]
fn conditions_may_share_a_group_by_components() {
    let conditions = "[[dirichlet]]\ntags = [1]\ncomponents = ['z', 0]\nvalue = [3, 'x']\n\
                      [[neumann]]\ntags = [1]\ncomponents = ['y']\nvalue = 5\n";
    let case = parse(&format!("{SMALL}{conditions}")).unwrap();
    let constant = |f: Option<&dyn Function>| f.map(Function::as_constant);
    let held = case.dirichlet[0].functions(3).of_components(3).unwrap();
    let held: Vec<_> = held.into_iter().map(constant).collect();
    assert_eq!(held, [Some(None), None, Some(Some(3.0))]);
    let flux = case.neumann[0].functions(3).of_components(3).unwrap();
    let flux: Vec<_> = flux.into_iter().map(constant).collect();
    assert_eq!(flux, [None, Some(Some(5.0)), None]);
}

#[test]
fn omitted_keys_have_defaults() {
    let case = parse(SMALL).unwrap();
    assert_eq!(case.title, "test");
    assert!(matches!(case.mesh, MeshSource::File(path) if path == Path::new("cases/a.msh")));
    assert!(matches!(case.form, Form::Poisson));
    assert!(case.source.is_zero());
    assert!(case.exact.is_none() && case.dirichlet.is_empty() && case.output.vtu.is_none());
    assert_eq!(
        (
            case.solver.params.tolerance(case.run.precision),
            case.run.precision
        ),
        (1e-8, Precision::Fp64)
    );
}

/// One change to the full case, and the position and words of the error.
#[test]
fn mistakes_are_found_where_they_are() {
    #[rustfmt::skip]
    let mistakes = [
        ("everything", "\\u001b[2J", 1, 9, "`title` must be a text without line breaks and control characters"),
        ("tolerance =", "tolerence =", 30, 1, "unknown key `tolerence` in [solver]; did you mean `tolerance`? Known keys: method, preconditioner, cycle_precision, smoother, tolerance, max_iterations, restart, max_newton_steps"),
        ("[solver]", "[sover]", 27, 2, "unknown key `sover` in the case; did you mean `solver`?"),
        ("lower =", "lowr =", 4, 28, "did you mean `lower`?"),
        ("degree = 4", "degree = 16", 7, 10, "`degree` in [space] must be from 1 to 15, found the integer 16"),
        ("degree = 4", "degree = \"4\"", 7, 10, "must be an integer, found the string \"4\""),
        ("degree = 4", "", 6, 1, "[space] needs the key `degree`"),
        ("\"x + y\"", "\"x + sni(y)\"", 14, 14, "there is no function `sni`; did you mean `sin`?"),
        ("\"x + y\"", "\"\"\"\nx +\n  q*y\"\"\"", 16, 3, "`q` is not known. Known names: e, pi, x, y, z"),
        ("\"x + y\"", "\"\\u0078 + q\"", 14, 9, "`q` is not known"),
        ("\"x + y\"", "true", 14, 9, "must be an expression or a number, found the boolean true"),
        ("\"x + y\"", "nan", 14, 9, "must be a finite number, found the float nan"),
        ("\"y\", \"2*z\"", "\"y\"", 4, 104, "must be an array of 3 elements, found 2"),
        ("\"2*z\"", "\"2*\"", 4, 134, "expected a number, a name or `(`, found the end of the expression"),
        ("= \"none\"", "= \"jakobi\"", 29, 18, "cannot be `jakobi`; did you mean `jacobi`? Supported: automatic, multigrid, jacobi, none"),
        ("= \"none\"", "= \"none\"\ncycle_precision = \"fp32\"", 30, 19, "has no meaning here: only the preconditioner `multigrid` has cycles"),
        ("= \"none\"", "= \"none\"\nsmoother = \"schwarz\"", 30, 12, "has no meaning here: only the preconditioner `multigrid` has cycles"),
        ("= \"none\"", "= \"none\"\nrestart = 9", 30, 11, "has no meaning here: conjugate gradients do not restart"),
        ("= \"none\"", "= \"none\"\nmax_newton_steps = 9", 30, 20, "has no meaning here: `cg` and `gmres` solve a linear form without Newton's method"),
        ("= \"none\"", "= \"multigrid\"\nsmoother = \"jacobi\"", 30, 12, "cannot be `jacobi`. Supported: automatic, diagonal, schwarz, lines"),
        ("screened_poisson", "poisson", 11, 10, "has no meaning here: only the forms screened_poisson, elasticity and neo_hookean have it"),
        ("tags = [\"outlet\"]", "tags = [1.5]", 24, 9, "must be the name or the number of a group, found the float 1.5"),
        ("tags = [\"outlet\"]", "tags = []", 24, 8, "must be at least one group, found the array []"),
        ("tags = [\"outlet\"]", "tags = \"outlet\"", 24, 8, "must be an array, found the string \"outlet\""),
        ("[[neumann]]", "[neumann]", 23, 1, "must be in two pairs of brackets"),
        ("\"outlet\"]", "\"inlet\"]", 24, 9, "group `inlet` has a condition already, in [[dirichlet]]; a group has one"),
        ("\"outlet\"]", "\"outlet\", \"outlet\"]", 24, 19, "group `outlet` has a condition already, in [[neumann]]"),
        ("\"inlet\", 3]", "3, \"3\"]", 20, 12, "group `3` has a condition already, in [[dirichlet]]"),
        ("value = 0.5", "components = [\"x\", 0]\nvalue = 0.5", 21, 20, "has no meaning here: it is in the list already"),
        ("value = 0.5", "components = [\"w\"]\nvalue = 0.5", 21, 15, "cannot be `w`. Supported: x, y, z"),
        ("value = 0.5", "components = [-1]\nvalue = 0.5", 21, 15, "must be at least 0, found the integer -1"),
        ("value = 0.5", "components = []\nvalue = 0.5", 21, 14, "must be at least one component, found the array []"),
        ("value = 0.5", "components = \"x\"\nvalue = 0.5", 21, 14, "must be an array, found the string \"x\""),
        ("value = 0.5", "components = [\"x\"]\nvalue = [0, 1]", 22, 9, "must be one, for the one component, found the array [0, 1]"),
        ("value = 0.5", "components = [\"x\", 1]\nvalue = [0, 1, 2]", 22, 9, "must be one for all of these components, or 2, found the array [0, 1, 2]"),
        ("value = 0.5", "value = 0.5\ncomponents = [1]\n[[dirichlet]]\ntags = [3]\nvalue = 0", 24, 9, "group `3` has a condition already, in [[dirichlet]]; a group has one for each component"),
        ("1e-10", "2", 30, 13, "must be below 1, as it is relative, found the integer 2"),
        ("[mesh]", "[mesh]\nfile = \"a.msh\"", 3, 1, "[mesh] needs exactly one of file, box"),
        ("threads = 2", "threads = 0", 43, 11, "must be from 1 to 4096, found the integer 0"),
        ("threads = 2", "threads = 99999999999999999999", 43, 11, "must be an integer of 64 bits"),
        ("threads = 2", "threads 2", 43, 9, "this is not TOML"),
        ("points_1d = 5", "points_1d = 6", 35, 13, "`points_1d` in [quadrature] must be 5, found the integer 6"),
        ("kind = \"gauss_lobatto\"\npoints_1d = 5", "points_1d = 4", 34, 13, "must be from 5 to 64, found the integer 4"),
        ("\"error\"]", "\"solution\"]", 39, 23, "has no meaning here: it is in the list already"),
        ("[exact]\nvalue = \"x^2*y\"", "", 38, 23, "has no meaning here: the case has no section [exact]"),
        ("\"partial\"", "\"patrial\"", 44, 14, "cannot be `patrial`; did you mean `partial`?"),
        ("\"cuda:1\"", "\"cuda:one\"", 45, 10, "there is no device \"cuda:one\"; these exist: host, cuda"),
        ("[[dirichlet]]", "[[exact]]", 19, 3, "this is not TOML"),
    ];
    let mut wrong_answers = Vec::new();
    for (right, wrong, line, column, message) in mistakes {
        let text = FULL.replacen(right, wrong, 1);
        assert_ne!(text, FULL, "{right} is not in the case");
        let mistake = mistake(&text);
        let problem = mistake.problem.to_string();
        let place = (mistake.line, mistake.column);
        if !problem.contains(message) || place != (line, column) {
            wrong_answers.push(format!("{wrong:?}: {place:?} {problem}"));
        }
    }
    assert!(wrong_answers.is_empty(), "{}", wrong_answers.join("\n"));
}

#[test]
fn a_mistake_shows_its_line() {
    let text = FULL.replace("tolerance", "tolerence");
    let expected = "\
cases/test.toml:30:1: unknown key `tolerence` in [solver]; did you mean `tolerance`? \
Known keys: method, preconditioner, cycle_precision, smoother, tolerance, max_iterations, restart, max_newton_steps
  30 | tolerence = 1e-10
     | ^^^^^^^^^";
    assert_eq!(mistake(&text).to_string(), expected);
}

#[test]
fn a_missing_section_or_file_is_named() {
    let without_form = mistake("[mesh]\nfile = 'a.msh'\n[space]\ndegree = 1\n");
    assert_eq!(
        without_form.problem.to_string(),
        "the case needs the key `form`"
    );
    let error = Document::read(Path::new("/nowhere/a.toml"))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("cannot read the case `/nowhere/a.toml`: "),
        "{error}"
    );
}

/// No prefix, and no case with a byte changed, makes the reader panic.
#[test]
fn damaged_cases_are_errors_or_cases() {
    for end in 0..FULL.len() {
        let _ = parse(&FULL[..end]).map_err(|error| error.to_string());
        for byte in ["\"", "[", "=", "€", "\n", "9", "."] {
            let text = format!("{}{byte}{}", &FULL[..end], &FULL[end + 1..]);
            let _ = parse(&text).map_err(|error| error.to_string());
        }
    }
    let _ = parse(&"[".repeat(100_000)).map_err(|error| error.to_string());
    let _ = parse(&format!("a = {}", "[".repeat(100_000))).map_err(|error| error.to_string());
    let _ = parse(&format!("a = {}", "{a=".repeat(100_000))).map_err(|error| error.to_string());
}
