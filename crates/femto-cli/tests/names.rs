//! Names and values in the expressions of cases: mistakes have their place, and exit with code 2.

mod common;

use common::{femto, scratch, text, write};

/// The inputs of a form on triangles, and some unknown names.
#[test]
fn unknown_names_are_bad_input() {
    let folder = scratch("names");
    let head = "[mesh.box]\ncell = \"triangle\"\ncells = [2, 2]\n[space]\ndegree = 1\n";
    let case = |rest: &str| {
        let case = write(&folder, "case.toml", &format!("{head}{rest}"));
        femto(&["solve", &case, "--no-roofline"])
    };
    for (rest, place, message) in [
        (
            "[form]\nf0 = \"u + sin(t)*u\"",
            ":7:15: ",
            "`t` has no meaning here: a case has no time",
        ),
        (
            "[form]\nf0 = \"u\"\nf1 = [\"u_x\", \"t*u_y\"]",
            ":8:15: ",
            "`t` has no meaning here",
        ),
        ("[form]\nf0 = \"z*u\"", ":7:7: ", "`z` is not known"),
        (
            "[form]\nkind = \"diffusion\"\nkappa = \"1 + z^2\"",
            ":8:9: ",
            "`z` has no meaning here: the mesh lies in the plane",
        ),
        (
            "[form]\nkind = \"diffusion\"\nkappa = \"x - 0.6\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
            ":8:9: ",
            "`kappa` in [form] must be above zero, found -0.",
        ),
        // Only at points of the rule next to the boundary.
        (
            "[form]\nkind = \"diffusion\"\nkappa = \"x - 0.06\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0\n[quadrature]\ndegree = 6",
            ":8:9: ",
            "`kappa` in [form] must be above zero, found -0.",
        ),
        (
            "[form]\nkind = \"elasticity\"\nyoung = 1\npoisson = \"0.4 + 0.1*sqrt(y - 0.5)\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
            ":9:11: ",
            "`poisson` in [form] must be above -1 and below 0.5, found NaN at [",
        ),
        (
            "[form]\nf0 = \"a*u\"\n[fields]\na = \"2 + z\"",
            ":9:5: ",
            "`z` has no meaning here",
        ),
        (
            "[form]\nf0 = \"a*u\"\n[parameters]\na = 2\nb = 3",
            ":10:1: ",
            "no expression of the form reads `b`",
        ),
        (
            "[form]\nf0 = \"u\"\n[fields]\nrate = 3",
            ":9:1: ",
            "no expression of the form reads `rate`",
        ),
        (
            "[form]\nf0 = \"u\"\n[parameters]\nu = 3",
            ":9:1: ",
            "`u` has a meaning already",
        ),
        (
            "[form]\nf0 = \"u\"\nf1 = [\"u_x\", \"u_y\", \"0\"]",
            ":8:6: ",
            "f1 is one text, or 2, one for each axis; found a list of 3",
        ),
    ] {
        let output = case(rest);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{rest} {error}");
        assert!(error.contains(place) && error.contains(message), "{error}");
    }
    // κ is zero on the boundary only, where values are not checked.
    let output = case(
        "[form]\nkind = \"diffusion\"\nkappa = \"x*y\"\n[[dirichlet]]\ntags = [\"xmax\"]\nvalue = 0",
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let good =
        "[form]\nf0 = \"a*u\"\nf1 = \"k_x*grad(u)\"\n[fields]\nk = \"x\"\n[parameters]\na = 2\n";
    let output = case(good);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}
