//! Invalid expressions of forms, and their error messages.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use femto_kernel::form::{Expressions, FormExpressions, FormParseError, TracedForm};

fn some<T: Into<Expressions>>(expressions: T) -> Option<Expressions> {
    Some(expressions.into())
}

fn error<const D: usize, const C: usize>(
    f0: Option<Expressions>,
    f1: Option<Expressions>,
) -> String {
    let (fields, parameters) = (vec!["kappa".to_owned()], vec!["mu".to_owned()]);
    let expressions = FormExpressions {
        f0,
        f1,
        fields,
        parameters,
    };
    TracedForm::parse(&expressions, D, C)
        .unwrap_err()
        .to_string()
}

/// A scalar is no flux, but axes may have equal expressions of their own.
#[test]
fn a_flux_has_a_direction() {
    let wanted = "f1 is the same along all axes";
    assert!(error::<2, 1>(None, some("0.5*u")).starts_with(wanted));
    assert!(error::<2, 2>(None, some(["u0", "grad(u1)"])).starts_with(wanted));
    for f1 in [some("0"), some(["u", "u"]), some("u*grad(u)")] {
        let expressions = FormExpressions {
            f1,
            ..FormExpressions::default()
        };
        assert!(TracedForm::parse(&expressions, 2, 1).is_ok());
    }
}

#[test]
fn errors_name_the_text_the_place_and_what_is_known() {
    let found = error::<3, 1>(some("grad(u)*2"), None);
    let wanted = "f0: `grad(u)` is a vector and a number is needed here: write `u_x`, `u_y` or `u_z` \
                  (column 1)\n  grad(u)*2\n  ^^^^";
    assert_eq!(found, wanted);
    let found = error::<2, 1>(None, some("2*kapa*grad(u)"));
    assert!(
        found.starts_with("f1: `kapa` is not known; did you mean `kappa`? Known"),
        "{found}"
    );
    assert!(found.ends_with("\n  2*kapa*grad(u)\n    ^^^^"), "{found}");
    let known = "Known names: e, kappa, kappa_x, kappa_y, mu, pi, t, u, u_x, u_y, x, y (column 3)";
    assert!(found.contains(known), "{found}");
    let found = error::<2, 2>(None, some([["0", "0"], ["u0_y", "u_y"]]));
    assert!(
        found.starts_with("f1[1][1]: `u_y` is not known; did you mean `u0_y`?"),
        "{found}"
    );
    let found = error::<2, 2>(some(["u0", "u2"]), None);
    assert!(
        found.starts_with("f0[1]: `u2` is not known; did you mean"),
        "{found}"
    );
    let found = error::<2, 1>(None, some("grad(u*kappa)"));
    assert!(
        found.contains("expected `)`, because `grad` takes a name"),
        "{found}"
    );
    let found = error::<2, 1>(None, some("grad(mu)"));
    let wanted = "f1: `grad` takes a name, and found `mu`. Gradients: kappa, u (column 6)";
    assert!(found.starts_with(wanted), "{found}");
    let found = error::<2, 1>(None, some("grd(u)"));
    assert!(found.contains("did you mean `grad`?"), "{found}");
    let found = error::<2, 1>(None, some("grad*u"));
    assert!(
        found.contains("`grad` is a function: write `grad(...)`"),
        "{found}"
    );
    let found = error::<2, 1>(None, some(["u_x", "u_z"]));
    assert!(found.starts_with("f1[1]: `u_z` is not known"), "{found}");
}

#[test]
fn wrong_numbers_of_texts_are_refused() {
    let found = error::<3, 1>(some(["u", "u"]), None);
    assert_eq!(found, "f0 is one text; found a list of 2");
    let found = error::<3, 2>(some(["u0", "u1", "u1"]), None);
    assert_eq!(
        found,
        "f0 is one text, or 2, one for each component; found a list of 3"
    );
    let found = error::<3, 1>(None, some([["u_x", "u_y"]]));
    assert_eq!(
        found,
        "f1 is one text, or 3, one for each axis; found lists of 2"
    );
    let ragged = vec![vec![String::new(); 2], vec![String::new()]];
    let found = error::<2, 2>(None, Some(Expressions::Matrix(ragged)));
    let wanted =
        "f1 is one text, or 2, one for each component, or 2 lists of 2; found lists of 2, 1";
    assert_eq!(found, wanted);
}

fn named(fields: &[&str], parameters: &[&str]) -> FormParseError {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let expressions = FormExpressions {
        fields: owned(fields),
        parameters: owned(parameters),
        ..FormExpressions::default()
    };
    TracedForm::parse(&expressions, 2, 2).unwrap_err()
}

#[test]
fn names_stand_for_one_thing() {
    use FormParseError as E;
    for name in ["x", "t", "u", "u1", "u0_y", "pi", "sin", "grad", "select"] {
        assert!(matches!(named(&[name], &[]), E::NameTaken { .. }), "{name}");
        assert!(matches!(named(&[], &[name]), E::NameTaken { .. }), "{name}");
    }
    for name in ["", "2a", "a b", "a-b", "a\n", "sin(x)"] {
        assert!(matches!(named(&[], &[name]), E::NotAName { .. }), "{name}");
    }
    assert!(matches!(named(&["a", "a"], &[]), E::NameTaken { .. }));
    assert!(matches!(named(&["a"], &["a_x"]), E::NameTaken { .. }));
    assert!(matches!(named(&["a_x", "a"], &[]), E::NameTaken { .. }));
    let nine = ["a", "b", "c", "d", "f", "g", "h", "i", "j"];
    let found = named(&nine, &[]).to_string();
    assert_eq!(found, "9 fields are named; at most 8 are supported");
    assert!(matches!(
        named(&[], &nine),
        E::TooManyNames { found: 9, .. }
    ));
}

#[test]
fn the_work_of_a_form_is_limited() {
    let terms: String = (0..3000).map(|i| format!(" + sin(u + {i})")).collect();
    let long = format!("u{terms}");
    let found = error::<3, 1>(some(&long[..]), None);
    assert_eq!(
        found,
        "the form has 8999 operations; at most 4096 are supported"
    );
    let found = error::<3, 1>(some(&"(".repeat(1000)[..]), None);
    assert!(
        found.starts_with("f0: the expression is nested too deeply"),
        "{found}"
    );
}
