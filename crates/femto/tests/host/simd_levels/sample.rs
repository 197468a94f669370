//! Sample elements for testing kernels.

use crate::common::Random;
use femto::kernel::family::CellMap;
use femto::kernel::family::fields::{CellFields, FieldKind, Fields};
use femto::kernel::family::sum_factorization::Storage;
use femto::kernel::form::MAX_FIELDS;
use femto_element::tables::TensorTables;

/// The kind of a sample's map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Affine,
    Trilinear,
    Curved,
}

impl Kind {
    /// The storages that can hold such a map.
    pub fn storages(self) -> &'static [Storage] {
        match self {
            Self::Affine => &[Storage::Affine, Storage::ElementFactors],
            Self::Trilinear => &[
                Storage::Multilinear,
                Storage::MapFactors,
                Storage::Jacobians,
                Storage::PointFactors,
            ],
            Self::Curved => &[Storage::Jacobians, Storage::PointFactors],
        }
    }
}

/// The map of a sample, and derived quantities at the points.
pub struct Map {
    coefficients: [[f64; 3]; 8],
    pub jacobian: Vec<[[f64; 3]; 3]>,
    pub position: Vec<[f64; 3]>,
}

impl Map {
    /// `x = Σ c_m ξ^a η^b ζ^c + b |ξ|²` near the identity, m = a + 2b + 4c; of a quadrilateral that of the layer
    /// over it, at ζ = 0.
    fn near_identity(random: &mut Random, basis: &TensorTables, kind: Kind) -> Self {
        let dim = basis.cell.dim();
        let entry = |m: usize, d: usize, x: f64| match m {
            _ if d >= dim || m >= 1 << dim => f64::from(u8::from(m == 1 << d)),
            0 => x,
            1 | 2 | 4 => f64::from(u8::from(m == 1 << d)) + 0.15 * x,
            _ if kind == Kind::Affine => 0.0,
            _ => 0.05 * x,
        };
        let coefficients = core::array::from_fn(|m| [0, 1, 2].map(|d| entry(m, d, random.next())));
        let bulge = [0, 1, 2].map(|d| match kind {
            Kind::Curved if d < dim => 0.04 * random.next(),
            _ => 0.0,
        });
        let (n, points) = (basis.points_1d, &basis.points);
        let zeta = |p: usize| if dim == 3 { points[p / (n * n)] } else { 0.0 };
        let at = |p: usize| [points[p % n], points[p / n % n], zeta(p)];
        let power = |m: usize, axis: usize, xi: f64| if m >> axis & 1 == 1 { xi } else { 1.0 };
        // Monomial m at ξ, or its derivative along an axis.
        let monomial = |m: usize, xi: [f64; 3], along: Option<usize>| match along {
            Some(axis) if m >> axis & 1 == 0 => 0.0,
            Some(axis) => {
                let others = (0..3).filter(|&other| other != axis);
                others.map(|other| power(m, other, xi[other])).product()
            }
            None => (0..3).map(|axis| power(m, axis, xi[axis])).product(),
        };
        let square = |xi: [f64; 3], along: Option<usize>| match along {
            Some(axis) => 2.0 * xi[axis],
            None => xi.iter().map(|x| x * x).sum(),
        };
        let sum = |p: usize, d: usize, along: Option<usize>| -> f64 {
            let term = |m: usize| coefficients[m][d] * monomial(m, at(p), along);
            (0..8).map(term).sum::<f64>() + bulge[d] * square(at(p), along)
        };
        let jacobian = |p| [0, 1, 2].map(|d| [0, 1, 2].map(|axis| sum(p, d, Some(axis))));
        Self {
            jacobian: (0..basis.points()).map(jacobian).collect(),
            position: (0..basis.points())
                .map(|p| [0, 1, 2].map(|d| sum(p, d, None)))
                .collect(),
            coefficients,
        }
    }

    pub fn for_storage(&self, storage: Storage) -> CellMap<'_> {
        match storage.is_at_points() {
            false => CellMap::Map(&self.coefficients),
            true => CellMap::Points {
                jacobian: &self.jacobian,
                position: &self.position,
            },
        }
    }
}

/// An element, and more auxiliary fields of each kind than a form reads.
pub struct Sample {
    pub map: Map,
    /// `[field]`, between 0.5 and 2.5.
    pub cell: Vec<f64>,
    /// `[field][node]`, between -0.05 and 0.05 or less: small, like displacements, so that no element is
    /// turned inside out.
    pub nodal: Vec<f64>,
    /// `[field][point]`, between 0.5 and 2.5.
    pub points: Vec<f64>,
}

impl Sample {
    /// The fields that a form with these kinds reads.
    pub fn fields(&self, fields: Fields) -> CellFields<'_> {
        CellFields {
            fields,
            cell: &self.cell[..fields.count(FieldKind::Cell)],
            nodal: &self.nodal,
            points: &self.points,
        }
    }
}

/// Random elements.
pub fn samples(random: &mut Random, basis: &TensorTables, kind: Kind, count: usize) -> Vec<Sample> {
    let small = 0.1 / ((basis.nodes_1d - 1).pow(2).max(2) as f64);
    // Numbers that are exact in both precisions.
    let round = |x: f64| f64::from(x as f32);
    let sample = |_| Sample {
        map: Map::near_identity(random, basis, kind),
        cell: random
            .vector(MAX_FIELDS)
            .iter()
            .map(|x| round(1.5 + x))
            .collect(),
        nodal: random
            .vector(MAX_FIELDS * basis.nodes())
            .iter()
            .map(|x| round(small * x))
            .collect(),
        points: random
            .vector(MAX_FIELDS * basis.points())
            .iter()
            .map(|x| round(1.5 + x))
            .collect(),
    };
    (0..count).map(sample).collect()
}
