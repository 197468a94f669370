//! One form of each kind against an independent code, scikit-fem.
//!
//! Needs `FEMTO_PYTHON`, a Python with the wheels of tests/python/requirements.txt; `cargo xtask
//! test` sets it.

use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::SimplexBox;
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::{Coefficient, ConvectionDiffusion, LinearElasticity, NonlinearDiffusion};
use femto::platform::device::Device;
use femto::problem::ProblemForm;
use femto::{Host, Operator, OperatorParams, Quadrature};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest difference allowed, relative to the largest entry.
const TOLERANCE: f64 = 1e-12;

fn irregular<const D: usize>(cells: usize) -> SimplexBox<D> {
    SimplexBox {
        cells: [cells; D],
        lower: [0.0; D],
        upper: [1.3; D],
        geometry_degree: 1,
        irregular: Some(11),
    }
}

#[test]
fn one_form_of_each_kind_is_that_of_scikit_fem() {
    let Some(python) = std::env::var_os("FEMTO_PYTHON").map(PathBuf::from) else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let triangles = irregular::<2>(5).build(|[x, y]| [x + 0.2 * y, y]);
    let tetrahedra = irregular::<3>(3).build(|[x, y, z]| [x, y + 0.1 * z, z]);
    let (triangles, tetrahedra) = (triangles.expect("legal"), tetrahedra.expect("legal"));
    let wind = ConvectionDiffusion::<2> {
        kappa: 0.5.into(),
        velocity: [Coefficient::Constant(1.5), Coefficient::Constant(-1.0)],
    };
    let elasticity = LinearElasticity::<3> {
        lambda: 1.2.into(),
        mu: 0.8.into(),
    };
    let nonlinear = NonlinearDiffusion::<2>::default();
    let forms = [
        (&triangles, ProblemForm::interpreted(&wind)),
        (&tetrahedra, ProblemForm::interpreted(&elasticity)),
        (&triangles, ProblemForm::interpreted(&nonlinear)),
    ];
    for (number, (mesh, form)) in forms.into_iter().enumerate() {
        let form = form.expect("of usual dimensions");
        for degree in [1, 2] {
            compare(&python, number, (mesh, degree), &form);
        }
    }
}

/// Form number `number` on the space of this degree, applied to irregular numbers.
fn compare(python: &Path, number: usize, (mesh, degree): (&Mesh, usize), form: &ProblemForm) {
    let components = form.components();
    let geometry = Geometry::new(mesh).expect("simplices");
    let params = SpaceParams {
        degree: degree.into(),
        components,
        ..SpaceParams::default()
    };
    let space = Space::new(mesh, &geometry, params).expect("legal");
    let exact = 4 * degree;
    let u: Vec<f64> = (0..space.dofs()).map(|i| ((i * i) as f64).sin()).collect();
    let host = Host::with_threads(2).expect("two threads");
    let params = OperatorParams {
        quadrature: Quadrature::Exact(exact),
        ..OperatorParams::default()
    };
    let operator = Operator::<f64, _>::of_form(&host, &space, &geometry, form.form(), params);
    let operator = operator.expect("legal");
    let mut found = host.zeros(u.len()).expect("memory");
    operator
        .apply(&host.upload(&u).expect("memory"), &mut found)
        .expect("lengths fit");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [input, output] =
        ["in", "out"].map(|end| folder.join(format!("form-{number}-{degree}.{end}")));
    let header = [number, space.dim(), degree, exact, components];
    std::fs::write(&input, bytes(&header, (mesh, &geometry, &space), &u)).expect("written");
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/python/skfem_forms.py"
    );
    let run = Command::new(python)
        .arg(script)
        .arg(&input)
        .arg(&output)
        .output();
    let run = run.expect("Python runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.success(),
        "form {number}, degree {degree}: {said}"
    );
    let wanted = std::fs::read(&output).expect("readable");
    let wanted: Vec<f64> = wanted
        .as_chunks()
        .0
        .iter()
        .map(|&b| f64::from_le_bytes(b))
        .collect();
    assert_eq!(wanted.len(), found.len());
    let size = wanted.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (found, wanted) in found.iter().zip(&wanted) {
        // Not `>`, so that NaN fails.
        let same = (found - wanted).abs() <= TOLERANCE * size;
        assert!(same, "form {number}, degree {degree}: {found} {wanted}");
    }
}

/// The script's input; its header has the format.
fn bytes(
    header: &[usize],
    (mesh, geometry, space): (&Mesh, &Geometry, &Space),
    u: &[f64],
) -> Vec<u8> {
    let sizes = [mesh.coordinates.len(), geometry.len(), space.nodes()];
    let integers = header.iter().chain(&sizes).map(|&n| n as u64);
    let mut out: Vec<u8> = integers.flat_map(u64::to_le_bytes).collect();
    let mut push = |numbers: &[f64]| out.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
    push(&mesh.coordinates.iter().flatten().collect::<Vec<_>>());
    let cells = (0..geometry.len()).flat_map(|cell| geometry.vertex_nodes(cell).each());
    // Integers of 64 bits between numbers of 64 bits.
    let cells: Vec<f64> = cells.map(|node| f64::from_bits(node.into())).collect();
    push(&cells);
    push(space.node_positions(geometry).as_flattened());
    push(u);
    out
}
