//! Operators on the host against the oracle, and their mathematical properties.

mod any;
mod oracle;
mod properties;
mod vectors;

use crate::common::{Shape, mesh};
use femto::element::MapKind;
use femto::fem::geometry::Geometry;
use femto::fem::space::{Space, SpaceParams};
use femto::platform::device::Device;
use femto::{Host, Number, Operator, Quadrature};

const RULES: [Quadrature; 2] = [Quadrature::Gauss, Quadrature::Collocated];

/// Relative error allowed against double precision (project standard).
fn tolerance<T: Number>() -> f64 {
    if T::BYTES == 8 { 1e-13 } else { 1e-5 }
}

fn round<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::from_f64(value)).collect()
}

fn widen<T: Number>(values: &[T]) -> Vec<f64> {
    values.iter().map(|value| value.to_f64()).collect()
}

/// A u on the host, with the output initially NaN.
fn apply<T: Number>(operator: &Operator<T, Host>, u: &[f64]) -> Vec<f64> {
    let host = operator.device();
    let u = host.upload(&round::<T>(u)).expect("memory");
    let mut v = host
        .upload(&vec![T::from_f64(f64::NAN); u.len()])
        .expect("memory");
    operator.apply(&u, &mut v).expect("lengths fit");
    widen(&v)
}

fn space_on(shape: Shape, cells: [usize; 3], params: SpaceParams) -> (Geometry, Space) {
    let mesh = mesh(shape, cells);
    let geometry = Geometry::new(&mesh).expect("hexahedra");
    let kind = match shape {
        Shape::Affine => MapKind::Affine,
        Shape::Trilinear => MapKind::Multilinear,
        Shape::Curved => MapKind::Curved,
    };
    assert!(geometry.kinds().iter().all(|&found| found == kind));
    let space = Space::new(&mesh, &geometry, params).expect("legal");
    (geometry, space)
}
