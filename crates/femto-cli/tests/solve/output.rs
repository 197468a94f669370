//! What other programs read of the output.

use crate::assert_close;
use crate::common::{case_path, femto, json, scratch, text, write};
use serde_json::Value;

/// VTK reads what femto reports, and so does meshio.
#[test]
fn vtk_reads_the_output() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let folder = scratch("vtk");
    let (all, alone) = (["error", "exact", "solution", "source"], ["solution"]);
    // VTK's Lagrange hexahedra, tetrahedra, triangles and quadrilaterals.
    for (name, fields, volume, cell) in [
        ("box-sine", &all[..], 1.0, 72),
        ("finned-elbow", &alone[..], 95_074.0, 72),
        ("neo-hookean-block", &alone[..], 2.0, 71),
        ("p-laplacian", &all[..], 4.0, 69),
        (
            "quarter-annulus",
            &all[..3],
            // The area of VTK's polygons for the arcs, 48 sides a quarter.
            72.0 * (std::f64::consts::PI / 96.0).sin(),
            70,
        ),
    ] {
        let vtu = folder.join(format!("{name}.vtu"));
        let vtu = vtu.to_str().unwrap();
        let output = femto(&[
            "solve",
            &case_path(name),
            "--output",
            vtu,
            "--json",
            "--no-roofline",
        ]);
        let report = json(&output);
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/python/vtu_ranges.py"
        );
        let read = std::process::Command::new(&python)
            .args([script, vtu])
            .output()
            .unwrap();
        assert!(read.status.success(), "{}", text(&read.stderr));
        let seen = json(&read);
        let components = if name == "neo-hookean-block" { 3 } else { 1 };
        let points = seen["points"].as_u64().map(|points| components * points);
        assert_eq!(points, report["unknowns"]["all"].as_u64());
        assert_eq!(seen["cells"], report["mesh"]["cells"]);
        assert_eq!(seen["types"], Value::from(vec![cell]), "{name}");
        let meshio = [&seen["points"], &seen["cells"], &Value::from(fields)];
        assert!(meshio.into_iter().eq(seen["meshio"].as_array().unwrap()));
        let names: Vec<_> = seen["point_data"].as_object().unwrap().keys().collect();
        assert_eq!(names, fields);
        let greatest = seen["point_data"]["solution"][1].as_f64().unwrap();
        // VTK's nodes are equispaced, femto's are not: their maxima differ slightly.
        assert_close(
            "greatest",
            greatest,
            report["solution"]["max"].as_f64().unwrap(),
            1e-3,
        );
        assert_close("volume", seen["volume"].as_f64().unwrap(), volume, 1e-4);
    }
}

/// The stress of a bar that is pulled with 3 along x, and the flux of heat through a wall.
#[test]
fn fluxes_are_written() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON") else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let folder = scratch("flux");
    let bar = "kind = \"elasticity\"\nyoung = 10\npoisson = 0.25\n[[dirichlet]]\ntags = [\"xmin\", \"ymin\"]\n\
               normal = true\nvalue = 0\n[[neumann]]\ntags = [\"xmax\"]\nnormal = true\nvalue = 3\n";
    let wall = "kind = \"poisson\"\n[[dirichlet]]\ntags = [\"xmin\"]\nvalue = 0\n[[neumann]]\ntags = [\"xmax\"]\n\
                value = 3\n";
    for (form, components) in [(bar, 9), (wall, 3)] {
        let case = format!(
            "[mesh.box]\ncell = \"triangle\"\ncells = [3, 2]\n[space]\ndegree = 2\n[form]\n{form}[solver]\n\
             tolerance = 1e-12\n[output]\nvtu = \"flux.vtu\"\nfields = [\"flux\"]\n"
        );
        let case = write(&folder, "case.toml", &case);
        let output = femto(&["solve", &case, "--no-roofline"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let script = "import sys, meshio, numpy as np\n\
                      flux = meshio.read(sys.argv[1]).point_data['flux'].reshape(-1, int(sys.argv[2]))\n\
                      wanted = np.zeros(int(sys.argv[2])); wanted[0] = 3\n\
                      assert np.allclose(flux, wanted, atol=1e-8), flux\n";
        let vtu = folder.join("flux.vtu");
        let read = std::process::Command::new(&python)
            .args(["-c", script, vtu.to_str().unwrap(), &components.to_string()])
            .output()
            .unwrap();
        assert!(read.status.success(), "{}", text(&read.stderr));
    }
}
