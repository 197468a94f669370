//! Prisms in columns: what the launch of their kernels may be, and which meshes are columns.

use crate::common::bound::{Bound, accelerator};
use crate::common::meshes::{blocks, columns};
use crate::common::{Random, difference};
use crate::mesh_paths::{own, shared};
use crate::operators::{bind, of_degree, on_host, screened, worst};
use femto::element::{Degree, Layering, MapKind};
use femto::fem::mesh::boxes::{SimplexBox, SolidBox, Solids};
use femto::fem::mesh::{Layers, Mesh};
use femto::fem::space::SpaceParams;
use femto::{OperatorParams, Quadrature, Scatter};
use std::path::Path;

/// The nodes of columns beside other cells are not numbered evenly: each prism is evaluated by itself.
#[test]
fn columns_beside_hexahedra() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let of_file = |path: &Path, layers| (Mesh::read(path).unwrap(), layers);
    let mut meshes = vec![of_file(&own("hybrid.msh"), 2)];
    meshes.extend(shared("petsc-hybrid_hexwedge.msh").map(|path| of_file(&path, 1)));
    for ((mesh, layers), degree) in meshes
        .iter()
        .flat_map(|it| [1, 2].map(|degree| (it, degree)))
    {
        assert_eq!(mesh.columns().unwrap().layers, *layers);
        let params = SpaceParams {
            degree: degree.into(),
            ..SpaceParams::default()
        };
        let blocks = blocks(mesh, params);
        let (form, params) = (screened(Some(1.0)), OperatorParams::default());
        let there = bind(&accelerator, &blocks, &form, &params);
        assert_eq!(there.warnings(), [] as [&str; 0]);
        let explanation = there.explain(None, None).to_string();
        assert!(explanation.contains("prism_column"), "{explanation}");
        assert!(!explanation.contains("not prism_column"), "{explanation}");
        let host = on_host(&blocks, &form, &params);
        let u = Random::new().vector(blocks[0].space.dofs());
        let error = difference(&Bound::apply(&there, &u), &Bound::apply(&host, &u));
        assert!(error < 1e-13, "{error:e}");
    }
}

/// Columns without curved sides, and prisms without slanted edges, are evaluated as columns, the others by the family for any prisms.
#[test]
fn other_prisms_beside_columns() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let prisms = |geometry_degree| SolidBox {
        cells: [4, 2, 3],
        geometry_degree,
        ..SolidBox::unit_cube(Solids::Prisms, 1)
    };
    let hills = |[x, y, z]: [f64; 3]| [x, y, z * (1.0 + 0.2 * x)];
    let straight = prisms(2).build(hills).unwrap();
    let curved = prisms(2).build(|x| {
        let beyond = (x[0] - 0.5).max(0.0);
        [x[0], x[1] + 0.2 * beyond * beyond, x[2]]
    });
    let mut slanted = prisms(1).build(hills).unwrap();
    slanted.coordinates.to_mut()[0][0] += 0.02;
    let beside = (slanted.blocks[0].cells()).filter(|cell| cell.contains(&0));
    let beside = beside.count();
    for (mesh, of_columns, counts) in [
        (straight, (16, 3), [48, 0]),
        (curved.unwrap(), (16, 3), [24, 24]),
        (slanted, (48 - beside, 1), [48 - beside, beside]),
    ] {
        let blocks = blocks(&mesh, of_degree(2));
        let geometry = &blocks[0].geometry;
        let columns = geometry.columns().expect("columns");
        assert_eq!((columns.count, columns.layers), of_columns);
        for (kind, count) in [MapKind::Extruded, MapKind::Curved].into_iter().zip(counts) {
            let of_kind = geometry.kinds().iter().filter(|&&it| it == kind);
            assert_eq!(of_kind.count(), count, "{kind:?}");
        }
        let (form, params) = (screened(Some(1.0)), OperatorParams::default());
        let there = bind(&accelerator, &blocks, &form, &params);
        let explanation = there.explain(None, None).to_string();
        let kinds = [("extruded", counts[0]), ("curved", counts[1])];
        for (kind, count) in kinds {
            let listed = explanation.contains(&format!("{count} {kind} prisms: "));
            assert_eq!(listed, count > 0, "{explanation}");
        }
        let others = explanation.matches("not prism_column").count();
        assert_eq!(others, usize::from(counts[1] > 0), "{explanation}");
        let error = worst(&on_host(&blocks, &form, &params), &there, &blocks[0]);
        assert!(error < 1e-13, "{error:e}");
    }
}

/// Threads that go up stacks of prisms, of which the highest of a column has fewer, on a space with shared nodes.
#[test]
fn stacks_of_prisms() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let mesh = columns(&[4, 3, 7], Layering::Any);
    for (knobs, words) in [
        (
            "stack=3+columns=2",
            "a stack of 3 prisms per thread, 6 stacks a block, sums",
        ),
        (
            "stack=9+columns=5",
            "a stack of 7 prisms per thread, 5 stacks a block",
        ),
    ] {
        for (degree, scatter) in [
            (1, Scatter::Atomic),
            (2, Scatter::Atomic),
            (2, Scatter::Deterministic),
        ] {
            let blocks = blocks(&mesh, of_degree(degree));
            let (form, params) = (
                screened(Some(1.0)),
                OperatorParams {
                    knobs: knobs.parse().unwrap(),
                    scatter,
                    ..OperatorParams::default()
                },
            );
            let there = bind(&accelerator, &blocks, &form, &params);
            let explanation = there.explain(None, None).to_string();
            let is_stacked = explanation.contains(words);
            assert_eq!(is_stacked, scatter == Scatter::Atomic, "{explanation}");
            let host = OperatorParams::default();
            let error = worst(&on_host(&blocks, &form, &host), &there, &blocks[0]);
            assert!(error < 1e-13, "{knobs}: {error:e}");
        }
    }
}

/// Sums that are deterministic are the same bits for any launch, others the same to rounding.
#[test]
fn launches_of_any_shape_agree() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let mesh = columns(&[4, 3, 7], Layering::Any);
    for degree in [1, 2] {
        let blocks = blocks(&mesh, of_degree(degree));
        let u = Random::new().vector(blocks[0].space.dofs());
        for scatter in [Scatter::Deterministic, Scatter::Atomic] {
            let mut found: Vec<(String, Vec<f64>)> = Vec::new();
            for knobs in ["elements=32", "columns=1", "columns=3"] {
                let params = OperatorParams {
                    knobs: knobs.parse().unwrap(),
                    scatter,
                    ..OperatorParams::default()
                };
                let there = bind(&accelerator, &blocks, &screened(Some(1.0)), &params);
                found.push((
                    there.explain(None, None).to_string(),
                    Bound::apply(&there, &u),
                ));
            }
            for (n, (explanation, sums)) in found.iter().enumerate().skip(1) {
                let (before, first) = &found[n - 1];
                assert_ne!(before, explanation, "launches differ");
                let error = difference(sums, first);
                let most = if scatter == Scatter::Atomic {
                    1e-14
                } else {
                    0.0
                };
                assert!(error <= most, "{explanation}: {error:e}");
            }
        }
    }
}

/// Of columns that chunks cut each prism is evaluated by itself.
#[test]
fn columns_that_are_too_tall_are_cut() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let base = SimplexBox::unit_square(1).build(|x| x).unwrap();
    let layers = Layers::uniform(5500);
    let mesh = base.extrude(&layers, |_| 0.0, |_| 1000.0).unwrap();
    let params = SpaceParams {
        degree: 2.into(),
        chunk_nodes: 1 << 16,
        ..SpaceParams::default()
    };
    let short = base.extrude(&Layers::uniform(3), |_| 0.0, |_| 1.0).unwrap();
    for (mesh, is_even) in [(short, true), (mesh, false)] {
        let blocks = blocks(&mesh, params.clone());
        let (form, params) = (screened(Some(1.0)), OperatorParams::default());
        let there = bind(&accelerator, &blocks, &form, &params);
        let explanation = there.explain(None, None).to_string();
        assert!(explanation.starts_with("prism_column"), "{explanation}");
        let is_carried = explanation.contains("carried downwards");
        assert_eq!(is_carried, is_even, "{explanation}");
        let error = worst(&on_host(&blocks, &form, &params), &there, &blocks[0]);
        assert!(error < 1e-13, "{error:e}");
    }
}

/// Tables that do not fit constant memory are for the family for any prisms.
#[test]
fn columns_with_many_points_are_evaluated_as_prisms() {
    let Some(accelerator) = accelerator() else {
        return;
    };
    let base = SimplexBox::unit_square(1).build(|x| x).unwrap();
    let mesh = base.extrude(&Layers::uniform(3), |_| 0.0, |[x, _]| 1.0 + 0.1 * x);
    let mesh = mesh.unwrap();
    let params = SpaceParams {
        degree: Degree {
            horizontal: 6,
            vertical: 1,
        },
        ..SpaceParams::default()
    };
    let blocks = blocks(&mesh, params);
    let form = screened(Some(1.0));
    for (degree, family) in [(10, "prism_column"), (18, "cell_quadrature")] {
        let params = OperatorParams {
            quadrature: Quadrature::Exact(degree),
            ..OperatorParams::default()
        };
        let there = bind(&accelerator, &blocks, &form, &params);
        let explanation = there.explain(None, None).to_string();
        assert!(explanation.starts_with(family), "{explanation}");
        let error = worst(&on_host(&blocks, &form, &params), &there, &blocks[0]);
        assert!(error < 1e-12, "{family}: {error:e}");
    }
}
