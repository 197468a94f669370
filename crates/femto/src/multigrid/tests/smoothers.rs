//! Models of the operator where they are exact.

use super::*;
use crate::vector::Csr;
use femto_platform::device::host::HostBuffer;

/// -Σ_a ∂_a (s_a ∂_a u) + λ u with other s, λ for each component.
#[derive(Clone)]
struct Layered<const D: usize>;

impl<const D: usize> Form<D, 2> for Layered<D> {
    #[inline(always)]
    fn f0<S: Scalar>(&self, point: &Point<S, D, 2>) -> [S; 2] {
        [point.u[0] * 3.0, point.u[1] * 5.0]
    }

    #[inline(always)]
    fn f1<S: Scalar>(&self, point: &Point<S, D, 2>) -> [[S; D]; 2] {
        let mut flux = point.grad_u;
        for (c, flux) in flux.iter_mut().enumerate() {
            for (a, flux) in flux.iter_mut().enumerate() {
                *flux = *flux * (1.0 + a as f64 + 10.0 * c as f64);
            }
        }
        flux
    }
}

/// Levels of a degree and of degree 1 of [`Layered`] on a mesh, with some entries held.
fn levels(host: &Host, mesh: &Mesh, degree: usize) -> Hierarchy<f64, Host> {
    let level = |degree: usize| {
        let blocks = blocks(mesh, degree, 2);
        let Block { space, geometry } = &blocks[0];
        // Different on every axis of every component.
        let params = OperatorParams::default();
        let operator = match space.dim() {
            2 => Operator::new(host, space, geometry, &Layered::<2>, params),
            _ => Operator::new(host, space, geometry, &Layered::<3>, params),
        };
        let tags = [("xmax", &[0][..]), ("ymin", &[1][..])];
        FormLevel {
            constraints: Constraints::of_blocks(&blocks, &tags).unwrap(),
            operator: operator.unwrap(),
            blocks,
        }
    };
    let params = (MultigridParams::default(), false);
    Hierarchy::new(host, vec![level(degree), level(1)], params).unwrap()
}

/// The level of [`levels`] and that of degree 1, with the first one's diagonal.
fn parts(
    hierarchy: &Hierarchy<f64, Host>,
) -> (
    [&hierarchy::ConstrainedLevel<f64, Host>; 2],
    HostBuffer<f64>,
) {
    let [fine, base] = &hierarchy.levels[..] else {
        panic!("two levels")
    };
    let mut diagonal = hierarchy.device.zeros(fine.size()).unwrap();
    fine.operator.diagonal(&mut diagonal).unwrap();
    ([fine, base], diagonal)
}

/// The largest difference of entries.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let all = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    all.fold(0.0, f64::max)
}

/// On one box the model is the operator, whatever the strengths of its axes, and its inverse is exact.
#[test]
fn schwarz_is_exact_on_one_box() {
    let host = Host::with_threads(2).unwrap();
    for (cell, dim) in [(Cell::Quadrilateral, 2), (Cell::Hexahedron, 3)] {
        let mesh = AnyBox {
            upper: [2.0, 0.3, 0.7][..dim].to_vec(),
            ..AnyBox::unit(cell, 1)
        };
        let hierarchy = levels(&host, &mesh.build(|x| x).unwrap(), 4);
        let ([fine, base], diagonal) = parts(&hierarchy);
        let strengths = strengths::Strengths::new(base).unwrap().unwrap();
        assert_ne!(strengths.best(base).unwrap(), SmootherKind::Diagonal);
        let schwarz = strengths.schwarz(fine, &diagonal).unwrap();
        let mut x = host.upload(&randoms(8, fine.size())).unwrap();
        fine.hold(&mut x).unwrap();
        let mut product = host.zeros(fine.size()).unwrap();
        fine.apply(&x, &mut product).unwrap();
        let mut elements = host.upload(&vec![f64::NAN; schwarz.scratch()]).unwrap();
        let mut found = host.upload(&vec![f64::NAN; fine.size()]).unwrap();
        schwarz.apply(&product, &mut elements, &mut found).unwrap();
        let worst = difference(&found, &x);
        assert!(worst < 1e-11, "{cell:?}: {worst:.1e}");
    }
}

/// Boxes and columns of level layers, short along the last axis: the model has the operator's entries along it.
#[test]
fn lines_are_exact_on_thin_boxes() {
    let host = Host::with_threads(2).unwrap();
    for (cell, degree) in [
        (Cell::Quadrilateral, 5),
        (Cell::Hexahedron, 2),
        (Cell::Hexahedron, 3),
        (Cell::Prism, 2),
        (Cell::Prism, 3),
    ] {
        let dim = cell.dim();
        let mesh = AnyBox {
            cells: [3, 2, 4][3 - dim..].to_vec(),
            upper: [2.0, 1.0, 0.1][3 - dim..].to_vec(),
            ..AnyBox::unit(cell, 1)
        };
        let hierarchy = levels(&host, &mesh.build(|x| x).unwrap(), degree);
        let ([fine, base], diagonal) = parts(&hierarchy);
        let strengths = strengths::Strengths::new(base).unwrap().unwrap();
        assert_eq!(strengths.best(base).unwrap(), SmootherKind::Lines);
        let lines = strengths.lines(fine, (&diagonal, false)).unwrap().unwrap();
        let positions = Block::node_positions(&fine.blocks);
        let is_along = |row: usize, column: usize| {
            let [a, b] = [row, column].map(|entry| positions[entry / 2]);
            let apart = (0..dim - 1).map(|axis| (a[axis] - b[axis]).abs());
            row % 2 == column % 2 && apart.fold(0.0, f64::max) < 1e-9
        };
        let matrix = constrained_matrix(&fine.operator, &fine.constraints).unwrap();
        let along = Csr::by_rows((fine.size(), fine.size()), |row, entries| {
            entries.extend(matrix.row(row).filter(|it| is_along(row, it.0 as usize)));
        });
        let mut x = host.upload(&randoms(8, fine.size())).unwrap();
        fine.hold(&mut x).unwrap();
        let product = host.upload(&along.product(&x)).unwrap();
        let mut rows = host.upload(&vec![f64::NAN; lines.scratch()]).unwrap();
        let mut found = host.upload(&vec![f64::NAN; fine.size()]).unwrap();
        lines.apply(&product, &mut rows, &mut found).unwrap();
        let worst = difference(&found, &x);
        assert!(worst < 1e-10, "{cell:?} of degree {degree}: {worst:.1e}");
    }
}
