//! Screened Poisson with a manufactured solution on meshes from files: errors fall exponentially with the
//! degree.

use super::mesh_paths::{own, shared};
use crate::common::interpreted;
use femto::fem::mesh::Mesh;
use femto::kernel::form::ScreenedPoisson;
use femto::problem::{Boundary, Exact, Problem, SolverParams};
use femto::{Host, OperatorParams, Quadrature};
use std::path::Path;

const LAMBDA: f64 = 1.5;
/// Of the errors of consecutive degrees.
const RATIO: f64 = 0.25;

/// u = sin(k·(x + y/2)) + cos(k·(z - x/3)): a wave whose length is set by the mesh's size.
#[derive(Clone, Copy)]
struct Wave {
    k: f64,
}

impl Wave {
    fn phases(self, [x, y, z]: [f64; 3]) -> [f64; 2] {
        [self.k * (x + y / 2.0), self.k * (z - x / 3.0)]
    }

    fn value(self, x: [f64; 3]) -> f64 {
        let [p, q] = self.phases(x);
        p.sin() + q.cos()
    }

    fn derivative(self, axis: usize, x: [f64; 3]) -> f64 {
        let [p, q] = self.phases(x);
        let [dp, dq] = [[1.0, -1.0 / 3.0], [0.5, 0.0], [0.0, 1.0]][axis];
        self.k * (dp * p.cos() - dq * q.sin())
    }

    /// -Δu + λ u.
    fn source(self, x: [f64; 3]) -> f64 {
        let [p, q] = self.phases(x);
        let k2 = self.k * self.k;
        (1.25 * k2 + LAMBDA) * p.sin() + (10.0 / 9.0 * k2 + LAMBDA) * q.cos()
    }
}

/// Relative L2 and H1 errors for each of the degrees of a case.
fn errors(mesh: &Mesh, case: &Case, quadrature: Quadrature) -> Vec<[f64; 2]> {
    let wave = Wave { k: case.k };
    let (value, source) = (|x| wave.value(x), |x| wave.source(x));
    let [dx, dy, dz] = [0, 1, 2].map(|axis| move |x| wave.derivative(axis, x));
    let fluxes = [-1.0, 1.0].map(|sign| move |x| sign * wave.derivative(2, x));
    let neumann = case.bottom_and_top.iter().zip(&fluxes);
    let neumann: Vec<Boundary<'_>> = neumann
        .map(|(&group, flux)| Boundary::new(group, flux))
        .collect();
    let host = Host::new().expect("threads");
    let solve = |&degree: &usize| {
        let problem = Problem {
            source: vec![&source],
            neumann: neumann.clone(),
            dirichlet: case
                .groups
                .iter()
                .map(|&group| Boundary::new(group, &value))
                .collect(),
            exact: Some(Exact {
                value: vec![&value],
                gradient: Some(vec![vec![&dx, &dy, &dz]]),
            }),
            operator: OperatorParams {
                quadrature,
                ..OperatorParams::default()
            },
            solver: SolverParams {
                relative_tolerance: Some(1e-12),
                max_iterations: 5000,
                ..SolverParams::default()
            },
            ..interpreted(
                mesh,
                degree,
                ScreenedPoisson::<3> {
                    lambda: Some(LAMBDA),
                },
            )
        };
        let solution = problem.solve::<f64, _>(&host, &mut ()).expect("solved");
        let errors = solution
            .errors
            .expect("the exact solution is given")
            .expect("finite");
        [
            errors.l2_relative(),
            errors.h1_relative().expect("the gradient is given"),
        ]
    };
    case.degrees.iter().map(solve).collect()
}

/// A mesh, conditions on its whole boundary, and the required decrease of the errors.
struct Case {
    /// Groups with Dirichlet conditions.
    groups: &'static [&'static str],
    /// Groups with Neumann conditions and the normals -z and +z.
    bottom_and_top: &'static [&'static str],
    k: f64,
    degrees: &'static [usize],
    /// The maximum error as a fraction of the previous degree's. Over all degrees the mean must be
    /// [`RATIO`]: waves on few cells gain more from some degrees than from others.
    ratio: f64,
    /// The L2 and H1 errors at the last degree, if known; collocated points may be slightly worse.
    last: Option<[f64; 2]>,
}

fn check(path: &Path, case: &Case) {
    check_rules(path, case, &[Quadrature::Gauss, Quadrature::Collocated]);
}

fn check_rules(path: &Path, case: &Case, rules: &[Quadrature]) {
    let file = path.display();
    let mesh = Mesh::read(path).expect("a good mesh");
    for &quadrature in rules {
        let found = errors(&mesh, case, quadrature);
        for pair in found.windows(2) {
            for (before, after) in pair[0].iter().zip(pair[1]) {
                assert!(
                    after <= case.ratio * before,
                    "{file} {quadrature:?}: {found:?}"
                );
            }
        }
        let (first, last) = (found[0], found[found.len() - 1]);
        let all = RATIO.powi(found.len() as i32 - 1);
        for (first, last) in first.iter().zip(last) {
            assert!(last <= all * first, "{file} {quadrature:?}: {found:?}");
        }
        for (found, wanted) in last.iter().zip(case.last.iter().flatten()) {
            assert!(
                (0.95..1.15).contains(&(found / wanted)),
                "{file} {quadrature:?}: {last:?}"
            );
        }
    }
}

#[test]
fn a_coaxial_cable() {
    let Some(path) = shared("palace-coaxial.msh") else {
        return;
    };
    let cable = Case {
        groups: &["boundaries", "port1", "port2"],
        bottom_and_top: &[],
        k: 0.5,
        degrees: &[1, 2, 3, 4, 5, 6],
        ratio: RATIO,
        last: Some([7.75e-8, 9.87e-7]),
    };
    check(&path, &cable);
}

#[test]
fn cylinders() {
    let cylinder = Case {
        groups: &["exterior"],
        bottom_and_top: &["bottom", "top"],
        k: 0.8,
        degrees: &[1, 2, 3, 4, 5, 6, 7],
        ratio: 0.3,
        last: None,
    };
    check(&own("cylinder-hex27.msh"), &cylinder);
    if let Some(path) = shared("palace-cylinder-hex.msh") {
        let last = Some([8.50e-8, 1.18e-6]);
        let ratio = RATIO;
        check(
            &path,
            &Case {
                last,
                ratio,
                ..cylinder
            },
        );
    }
    // Columns of prisms, of which those at the wall are curved.
    let rules = [Quadrature::Gauss];
    let prisms = Case {
        degrees: &[1, 2, 3, 4],
        ..cylinder
    };
    check_rules(&own("cylinder-prism18.msh"), &prisms, &rules);
    if let Some(path) = shared("palace-cylinder-prism.msh") {
        check_rules(&path, &prisms, &rules);
    }
}

/// Neighbours in every relative orientation.
#[test]
fn unstructured_hexahedra() {
    let solid = Case {
        groups: &["xmin", "xmax", "ymin", "ymax"],
        bottom_and_top: &["zmin", "zmax"],
        k: 2.0,
        degrees: &[1, 2, 3, 4, 5, 6],
        ratio: RATIO,
        last: None,
    };
    check(&own("cube-hex8.msh"), &solid);
    // Sides z = 0 and z = 1 stay in place.
    check(&own("sheared-hex27.msh"), &solid);
    if let Some(ball) = shared("dealii-sphere_r6.msh") {
        let case = Case {
            groups: &["2"],
            bottom_and_top: &[],
            k: 1.0,
            degrees: &[1, 2, 3],
            last: Some([9.58e-5, 9.67e-4]),
            ..solid
        };
        check(&ball, &case);
    }
}

#[test]
fn rings_of_four_cells() {
    let ring = Case {
        groups: &["start", "outer", "end", "inner"],
        bottom_and_top: &["bottom", "top"],
        k: 2.0,
        degrees: &[1, 2, 3, 4, 5, 6, 7, 8],
        ratio: 0.5,
        last: None,
    };
    check(&own("ring-hex20.msh"), &ring);
    if let Some(path) = shared("petsc-gmsh-hex-20node.msh") {
        let last = Some([9.96e-9, 1.07e-7]);
        let ratio = RATIO;
        check(
            &path,
            &Case {
                last,
                ratio,
                ..ring
            },
        );
    }
}

/// Curved cells outside, affine ones inside.
#[test]
fn tetrahedra_to_degree_8() {
    let Some(path) = shared("palace-cylinder-tet.msh") else {
        return;
    };
    let cylinder = Case {
        groups: &["exterior"],
        bottom_and_top: &["bottom", "top"],
        k: 0.5,
        degrees: &[1, 2, 3, 4, 5, 6, 7, 8],
        ratio: 0.5,
        last: None,
    };
    check_rules(&path, &cylinder, &[Quadrature::Gauss]);
}
