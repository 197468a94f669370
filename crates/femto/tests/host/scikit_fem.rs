//! The action of mass and stiffness against an independent code, scikit-fem.
//!
//! Needs `FEMTO_PYTHON`, a Python with the wheels of tests/python/requirements.txt; `cargo xtask
//! test` sets it.

use femto_element::Cell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::mesh_paths::{own, shared};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::{Mesh, boxes::BoxMesh};
use femto::fem::space::{Space, SpaceParams};
use femto::kernel::form::{Form, GraphForm, Mass, Poisson};
use femto::platform::device::Device;
use femto::{DataLevel, Host, Operator, OperatorParams, Quadrature};

/// Largest difference allowed, relative to the largest entry.
const TOLERANCE: f64 = 1e-12;

#[test]
fn skewed_hexahedra_of_8_nodes() {
    let skewed =
        |[x, y, z]: [f64; 3]| [x + 0.2 * y * z, y - 0.1 * x * z + 0.1 * x, z + 0.1 * x * y];
    compare("skewed", &box_mesh(1).build(skewed).unwrap());
}

#[test]
fn curved_hexahedra_of_27_nodes() {
    let curved = |[x, y, z]: [f64; 3]| {
        [
            x + 0.1 * (3.0 * y).sin(),
            y + 0.1 * (2.0 * z + x).cos(),
            z + 0.1 * (2.0 * x).sin(),
        ]
    };
    compare("curved", &box_mesh(2).build(curved).unwrap());
}

#[test]
fn curved_hexahedra_of_a_file() {
    compare_file("cylinder-hex27", &own("cylinder-hex27.msh"));
    if let Some(cable) = shared("palace-coaxial.msh") {
        compare_file("coaxial", &cable);
    }
}

/// Neighbours in every relative orientation.
#[test]
fn unstructured_hexahedra() {
    compare_file("cube-hex8", &own("cube-hex8.msh"));
    compare_file("sheared-hex27", &own("sheared-hex27.msh"));
    if let Some(ball) = shared("dealii-sphere_r6.msh") {
        compare_file("ball", &ball);
    }
}

fn box_mesh(geometry_degree: usize) -> BoxMesh {
    let (lower, upper) = ([0.0; 3], [1.0, 1.5, 2.0]);
    BoxMesh {
        cells: [3, 2, 4],
        lower,
        upper,
        geometry_degree,
    }
}

fn compare_file(name: &str, path: &Path) {
    compare(name, &Mesh::read(path).unwrap());
}

/// Compares degrees 1 and 2, Gauss and collocated, both data levels.
fn compare(name: &str, mesh: &Mesh) {
    let Some(python) = std::env::var_os("FEMTO_PYTHON").map(PathBuf::from) else {
        eprintln!("skipped: FEMTO_PYTHON is not set (`cargo xtask test` sets it)");
        return;
    };
    let geometry = Geometry::new(mesh).unwrap();
    for degree in [1, 2] {
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let space = Space::new(mesh, &geometry, params).unwrap();
        let u = irregular(space.dofs());
        for quadrature in [Quadrature::Gauss, Quadrature::Collocated] {
            let case = format!("{name}-{degree}-{quadrature:?}");
            let problem = Problem {
                mesh,
                space: &space,
                geometry: &geometry,
                quadrature,
                u: &u,
            };
            let [mass, stiffness] = problem.ask(&python, &case);
            for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
                let case = format!("{case} {}", data_level.name());
                assert_same(
                    &format!("{case} mass"),
                    &problem.apply(&Mass, data_level),
                    &mass,
                );
                let found = problem.apply(&Poisson, data_level);
                assert_same(&format!("{case} stiffness"), &found, &stiffness);
            }
        }
    }
}

struct Problem<'a> {
    mesh: &'a Mesh,
    space: &'a Space,
    geometry: &'a Geometry,
    quadrature: Quadrature,
    u: &'a [f64],
}

impl Problem<'_> {
    /// `A u` by femto.
    fn apply(&self, form: &impl Form<3>, data_level: DataLevel) -> Vec<f64> {
        let host = Host::new().unwrap();
        let form = GraphForm::<3>::of(form);
        let quadrature = self.quadrature;
        let params = OperatorParams {
            quadrature,
            data_level,
            ..OperatorParams::default()
        };
        let operator =
            Operator::<f64, _>::new(&host, self.space, self.geometry, &form, params).unwrap();
        let u = host.upload(self.u).unwrap();
        let mut v = host.zeros(self.u.len()).unwrap();
        operator.apply(&u, &mut v).unwrap();
        v.to_vec()
    }

    /// `M u` and `K u` by scikit-fem.
    fn ask(&self, python: &Path, case: &str) -> [Vec<f64>; 2] {
        let script = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/python/skfem_apply.py"
        );
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let input = folder.join(format!("{case}.in"));
        let output = folder.join(format!("{case}.out"));
        self.write(&input).unwrap();
        let run = Command::new(python)
            .arg(script)
            .arg(&input)
            .arg(&output)
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{case}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        let bytes = std::fs::read(&output).unwrap();
        let numbers: Vec<f64> = bytes
            .as_chunks()
            .0
            .iter()
            .map(|&b| f64::from_le_bytes(b))
            .collect();
        let (mass, stiffness) = numbers.split_at(self.u.len());
        [mass.to_vec(), stiffness.to_vec()]
    }

    /// The script's input; its header has the format.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let hexahedra: Vec<_> = self
            .mesh
            .blocks
            .iter()
            .filter(|block| block.cell_type.cell() == Cell::Hexahedron)
            .collect();
        let [block] = hexahedra[..] else {
            panic!("one block of hexahedra, not {hexahedra:?}")
        };
        let degree = self.space.degree().horizontal;
        let (rule, points_1d) = match self.quadrature {
            Quadrature::Collocated => (1, degree + 1),
            _ => (0, degree + 2),
        };
        let positions = self.space.node_positions(self.geometry);
        let mut out = BufWriter::new(File::create(path)?);
        let header = [
            degree,
            block.cell_type.nodes(),
            rule,
            points_1d,
            self.mesh.coordinates.len(),
            block.len(),
            self.u.len(),
        ];
        for number in header.map(|n| n as u64) {
            out.write_all(&number.to_le_bytes())?;
        }
        for number in self.mesh.coordinates.iter().flatten() {
            out.write_all(&number.to_le_bytes())?;
        }
        for node in block.cells().flat_map(|cell| cell.each()) {
            out.write_all(&u64::from(node).to_le_bytes())?;
        }
        for number in positions.as_flattened().iter().chain(self.u) {
            out.write_all(&number.to_le_bytes())?;
        }
        out.flush()
    }
}

fn assert_same(what: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    let difference = found
        .iter()
        .zip(expected)
        .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    let relative = difference / size;
    // Not `>`, so that NaN fails.
    assert!(
        relative <= TOLERANCE,
        "{what}: relative difference {relative:e}"
    );
}

/// Numbers in [-1, 1] without a pattern.
fn irregular(len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * i) as f64).sin()).collect()
}
