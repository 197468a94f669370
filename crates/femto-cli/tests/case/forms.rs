//! The forms of cases, their coefficients and methods.

use super::{SMALL, mistake, parse};
use femto_cli::case::{Coefficient, Form, Moduli};

/// Impossible materials, and coefficients that make a form indefinite.
#[test]
fn coefficients_have_their_ranges() {
    let head = "[mesh]\nfile = \"a.msh\"\n[space]\ndegree = 2\n[form]\n";
    #[rustfmt::skip]
    let mistakes = [
        ("kind = 'elasticity'\nyoung = -1.0\npoisson = 0.3", 9, "above zero, found the float -1.0"),
        ("kind = 'elasticity'\nlambda = -2.0\nmu = 1.0", 10, "above -2/3 of mu, found the float -2.0"),
        ("kind = 'elasticity'\nlambda = \"-10\"\nmu = 1.0", 10, "above -2/3 of mu, found the string \"-10\""),
        ("kind = 'elasticity'\nlambda = -1\nmu = { a = 2, b = 1 }", 10, "above -2/3 of mu, found the integer -1"),
        ("kind = 'elasticity'\nlambda = { a = 1, b = -10.0 }\nmu = \"1\"", 23, "above -2/3 of mu, found the float -10.0"),
        ("kind = 'elasticity'\nlambda = { a = 1, b = -1 }\nmu = { a = 2, b = 1 }", 23, "above -2/3 of mu, found the integer -1"),
        ("kind = 'elasticity'\npoisson = 0.5\nyoung = 1.0", 11, "above -1 and below 0.5, found the float 0.5"),
        ("kind = 'neo_hookean'\npoisson = -1\nyoung = 1.0", 11, "above -1 and below 0.5, found the integer -1"),
        ("kind = 'elasticity'\nmu = 0\nlambda = 1.0", 6, "above zero, found the integer 0"),
        ("kind = 'diffusion'\nkappa = 0.0", 9, "above zero, found the float 0.0"),
        ("kind = 'diffusion'\nkappa = \"1 - 2\"", 9, "above zero, found the string \"1 - 2\""),
        ("kind = 'diffusion'\nkappa = { a = 1, b = -2 }", 22, "above zero, found the integer -2"),
        ("kind = 'diffusion'\nkappa = nan", 9, "a finite number, found the float nan"),
        ("kind = 'screened_poisson'\nlambda = inf", 10, "a finite number, found the float inf"),
    ];
    for (form, column, expected) in mistakes {
        let found = mistake(&format!("{head}{form}\n"));
        let problem = found.problem.to_string();
        assert!(problem.contains(expected), "{problem}");
        assert_eq!((found.line, found.column), (7, column), "{form}");
    }
    let indefinite = format!("{head}kind = 'screened_poisson'\nlambda = -1\n");
    assert!(parse(&indefinite).is_ok(), "Helmholtz's equation");
    let moduli = "lambda = { a = -1, b = 1 }\nmu = { a = 2, b = 1 }";
    let by_group = format!("{head}kind = 'elasticity'\n{moduli}\n");
    assert!(parse(&by_group).is_ok(), "each group is stable");
}

/// A form that is not linear is solved by Newton's method, whatever solves for its directions.
#[test]
fn newtons_method_has_its_number_of_steps_with_any_method() {
    let solver = |method: &str| format!("[solver]\nmethod = '{method}'\nmax_newton_steps = 9\n");
    for form in ["kind = 'p_laplacian'\np = 3", "f0 = 'u^3'"] {
        let case = SMALL.replace("kind = 'poisson'", form);
        for method in ["cg", "gmres", "newton"] {
            let case = parse(&format!("{case}{}", solver(method))).unwrap();
            assert_eq!(case.solver.params.max_newton_steps, 9, "{form}, {method}");
        }
    }
    let linear = |method| format!("{SMALL}{}", solver(method));
    assert!(parse(&linear("newton")).is_ok());
    let refused = mistake(&linear("gmres")).problem.to_string();
    assert!(refused.contains("solve a linear form"), "{refused}");
}

/// The end of a case, and the expected error.
#[test]
fn forms_are_read_and_mistakes_in_them_found() {
    let head = "[mesh.box]\ncell = 'triangle'\ncells = [2, 2]\n[space]\ndegree = 1\n[form]\n";
    let form = |text: &str| parse(&format!("{head}{text}")).unwrap().form;
    let Form::Elasticity(Moduli::Young { young, poisson }) =
        form("kind = 'elasticity'\nyoung = { left = 1, right = 2 }\npoisson = '0.3 + 0.1*x'")
    else {
        panic!("elasticity")
    };
    assert!(matches!(young, Coefficient::ByGroup(groups) if groups.len() == 2));
    assert!(matches!(poisson, Coefficient::Function(_)));
    let Form::Text(source) =
        form("f0 = 'a*u'\nf1 = ['k*u_x', 'u_y']\n[fields]\nk = '1 + x'\n[parameters]\na = 2.5")
    else {
        panic!("a text")
    };
    assert_eq!(
        (&source.expressions.fields[..], source.parameters[0].1),
        (&["k".to_owned()][..], 2.5)
    );
    assert_eq!(source.places.len(), 3);
    #[rustfmt::skip]
    let mistakes = [
        ("kind = 'elastisity'", 7, "cannot be `elastisity`; did you mean `elasticity`?"),
        ("components = 2", 6, "[form] needs the key `kind`, `f0` or `f1`"),
        ("kind = 'elasticity'\nlambda = 1", 6, "[form] needs the key `mu`"),
        ("kind = 'elasticity'\nlambda = 1\nmu = 1\nyoung = 2", 6, "needs exactly one of young, lambda"),
        ("kind = 'elasticity'\nlambda = 1\nmu = 1\npoisson = 2", 10, "`lambda` goes with `mu`"),
        ("kind = 'p_laplacian'\np = 1", 8, "must be above 1"),
        ("kind = 'poisson'\nf1 = 'grad(u)'", 7, "has no meaning here: it goes without f0 and f1"),
        ("kind = 'poisson'\n[fields]\na = 1", 8, "only a form with f0 and f1 has names"),
        ("f1 = true", 7, "must be an expression or a number"),
        ("kind = 'diffusion'\nkappa = 'x +'", 8, "expected a number, a name or `(`"),
        ("kind = 'poisson'\n[solver]\nmethod = 'gmrse'", 9, "cannot be `gmrse`; did you mean `gmres`? Supported: cg, gmres, newton"),
        ("kind = 'poisson'\n[quadrature]\ndegree = 3\npoints_1d = 2", 10, "`degree` says which rule it is"),
    ];
    for (text, line, message) in mistakes {
        let mistake = mistake(&format!("{head}{text}"));
        let problem = mistake.problem.to_string();
        assert!(
            problem.contains(message) && mistake.line == line,
            "{text}: {} {problem}",
            mistake.line
        );
    }
    let irregular = SMALL.replace(
        "file = 'a.msh'",
        "box = { cells = [1, 1, 1], irregular = 3 }",
    );
    assert!(
        mistake(&irregular)
            .problem
            .to_string()
            .contains("only boxes of triangles, tetrahedra, prisms or pyramids have it")
    );
}
