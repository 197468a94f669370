//! Triangles and quadrilaterals in one operator on accelerators, against the oracle and the host.

use crate::accelerator;
use crate::common::forms::Busy;
use crate::common::oracle::{on_blocks, rule};
use crate::common::{Random, blocks, difference, mixed};
use femto::fem::space::{Layout, SpaceParams};
use femto::kernel::form::{Mass, Poisson};
use femto::operator::{Auxiliary, Typed};
use femto::platform::device::Device;
use femto::vector::VectorOps;
use femto::{Host, Operator, OperatorParams, Quadrature, Scatter};

#[test]
fn products_are_those_of_the_oracle() {
    let Some(device) = accelerator() else { return };
    let mut random = Random::new();
    for (geometry_degree, degree, layout) in [
        (1, 1, Layout::Interleaved),
        (2, 2, Layout::Blocked),
        (2, 3, Layout::Interleaved),
    ] {
        let mesh = mixed(7, geometry_degree);
        let blocks = blocks(
            &mesh,
            SpaceParams {
                degree,
                components: 2,
                layout,
                chunk_nodes: 40,
                ..SpaceParams::default()
            },
        );
        let quadrature = Quadrature::GaussOrExact(2 * degree);
        let cells: usize = blocks.iter().map(|block| block.space.elements()).sum();
        let points = blocks
            .iter()
            .map(|block| block.space.elements() * rule(&block.space, quadrature).points.len());
        let points = points.sum();
        let space = &blocks[0].space;
        let (dofs, nodes) = (space.dofs(), space.nodes());
        for scatter in [Scatter::Atomic, Scatter::Deterministic] {
            let params = OperatorParams {
                quadrature,
                scatter,
                auxiliary: vec![
                    Auxiliary::PerCell(random.vector(cells)),
                    Auxiliary::Nodal(random.vector(nodes)),
                    Auxiliary::AtPoints(random.vector(points)),
                ],
                time: random.next(),
                parameters: vec![random.next()],
                ..OperatorParams::default()
            };
            let u = random.vector(dofs);
            let wanted = on_blocks::<Busy, 2, 2>(&Busy, &blocks, &params, &u);
            let form = Typed::<_, 2, 2>(Busy);
            let operator = Operator::<f64, _>::of_blocks(&device, &blocks, &form, params);
            let operator = operator.unwrap();
            let u = device.upload(&u).unwrap();
            let mut v = device.zeros(dofs).unwrap();
            let mut found = [vec![0.0; dofs], vec![0.0; dofs]];
            for found in &mut found {
                device.fill(f64::NAN, &mut v).unwrap();
                operator.apply(&u, &mut v).unwrap();
                device.read(&v, found).unwrap();
            }
            let error = difference(&found[0], &wanted);
            assert!(error < 1e-13, "degree {degree}, {scatter:?}: {error:e}");
            if scatter == Scatter::Deterministic {
                assert_eq!(found[0], found[1]);
            }
            assert_eq!(operator.warnings(), Vec::<String>::new());
        }
    }
}

/// Forms whose coefficients quadrilaterals fold into stored factors, and diagonals; neither is compared
/// with the oracle elsewhere.
#[test]
fn products_and_diagonals_are_those_of_the_host() {
    let Some(device) = accelerator() else { return };
    let host = Host::with_threads(2).unwrap();
    let mut random = Random::new();
    for degree in 1..=3 {
        let mesh = mixed(6, 1);
        let params = SpaceParams {
            degree,
            chunk_nodes: 30,
            ..SpaceParams::default()
        };
        let blocks = blocks(&mesh, params);
        let u = random.vector(blocks[0].space.dofs());
        for scatter in [Scatter::Atomic, Scatter::Deterministic] {
            let params = OperatorParams {
                scatter,
                ..OperatorParams::default()
            };
            let forms = [
                &Typed::<_, 2, 1>(Poisson) as &dyn femto::operator::AnyForm,
                &Typed::<_, 2, 1>(Mass),
            ];
            for form in forms {
                let wanted = Operator::<f64, _>::of_blocks(&host, &blocks, form, params.clone());
                let wanted = results(&wanted.unwrap(), &u);
                let found = Operator::<f64, _>::of_blocks(&device, &blocks, form, params.clone());
                let found = results(&found.unwrap(), &u);
                for (found, wanted) in found.iter().zip(&wanted) {
                    let error = difference(found, wanted);
                    assert!(error < 1e-13, "degree {degree}, {scatter:?}: {error:e}");
                }
            }
        }
    }
}

/// A u and the diagonal.
fn results<B>(operator: &Operator<f64, B>, u: &[f64]) -> [Vec<f64>; 2]
where
    B: femto::operator::Backend + VectorOps<f64>,
{
    let device = operator.device();
    let mut v = device.zeros(u.len()).unwrap();
    let mut results = [vec![0.0; u.len()], vec![0.0; u.len()]];
    device.fill(f64::NAN, &mut v).unwrap();
    operator.apply(&device.upload(u).unwrap(), &mut v).unwrap();
    device.read(&v, &mut results[0]).unwrap();
    device.fill(f64::NAN, &mut v).unwrap();
    operator.diagonal(&mut v).unwrap();
    device.read(&v, &mut results[1]).unwrap();
    results
}
