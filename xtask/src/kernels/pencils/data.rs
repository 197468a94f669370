//! Random elements and values for the checks.

use femto_element::Cell;
use femto_element::tables::TensorTables;
use femto_kernel::family::oracle::OracleGeometry;
use femto_kernel::family::sum_factorization::kernel::Problem;
use femto_kernel::family::sum_factorization::{ElementGeometry, Storage};
use rand::RngExt;

use super::{ELEMENTS, LAMBDA};

/// Random elements and values.
pub(super) struct Data {
    maps: Vec<[[f64; 3]; 8]>,
    pub(super) geometry: Vec<f64>,
    pub(super) rule: Vec<f64>,
    pub(super) u: Vec<f64>,
}

impl Data {
    pub(super) fn new(problem: &Problem) -> Self {
        let (basis, shape) = (problem.basis, &problem.shape);
        let mut random = rand::rng();
        let mut number = |size: f64| random.random_range(-size..size);
        let bent = if shape.storage == Storage::ElementFactors {
            0.0
        } else {
            0.1
        };
        let map = |number: &mut dyn FnMut(f64) -> f64| {
            let mut c = [[0.0; 3]; 8];
            for (m, c) in c.iter_mut().enumerate().skip(1) {
                let size = if m.is_power_of_two() {
                    0.1
                } else {
                    bent + 1e-300
                };
                *c = [0, 1, 2].map(|_| number(size));
            }
            for axis in 0..3 {
                c[1 << axis][axis] += 1.0;
            }
            c
        };
        let maps: Vec<_> = (0..ELEMENTS).map(|_| map(&mut number)).collect();
        let len = problem.geometry_len();
        let mut geometry = vec![0.0; ELEMENTS * len];
        for (map, out) in maps.iter().zip(geometry.chunks_exact_mut(len)) {
            let (jacobian, position) = at_points(map, basis);
            let given = if shape.storage == Storage::PointFactors {
                ElementGeometry::Points {
                    jacobian: &jacobian,
                    position: &position,
                }
            } else {
                ElementGeometry::Map(map)
            };
            problem.pack(given, (LAMBDA, 1.0), out);
        }
        let rule = basis.points.iter().zip(&basis.weights);
        Self {
            geometry,
            rule: rule.flat_map(|(&x, &w)| [x, w]).collect(),
            u: (0..ELEMENTS * shape.components * basis.nodes())
                .map(|_| number(1.0))
                .collect(),
            maps,
        }
    }

    /// What `oracle` makes of each component of each element.
    pub(super) fn each(
        &self,
        basis: &TensorTables,
        oracle: impl Fn(OracleGeometry, &[f64]) -> Vec<f64>,
    ) -> Vec<f64> {
        let components = self.u.len() / self.maps.len() / basis.nodes();
        let maps = self.maps.iter().flat_map(|map| vec![map; components]);
        let elements = maps.zip(self.u.chunks_exact(basis.nodes()));
        let each = elements.flat_map(|(map, u)| {
            let (jacobian, position) = at_points(map, basis);
            let geometry = OracleGeometry {
                jacobian: &jacobian,
                position: &position,
            };
            oracle(geometry, u)
        });
        each.collect()
    }
}

/// Jacobians and positions of a trilinear map at the points, from its definition; of quadrilaterals with ζ at its
/// first point.
pub(in crate::kernels) fn at_points(
    c: &[[f64; 3]; 8],
    basis: &TensorTables,
) -> (Vec<[[f64; 3]; 3]>, Vec<[f64; 3]>) {
    let n = basis.points_1d;
    let power = |x: f64, exponent: usize| if exponent == 1 { x } else { 1.0 };
    let derivative = |exponent: usize| exponent as f64;
    let points = (0..basis.points()).map(|p| {
        let [x, y, z] = [p % n, p / n % n, p / (n * n)].map(|i| basis.points[i]);
        let mut jacobian = [[0.0; 3]; 3];
        let mut position = [0.0; 3];
        for (m, c) in c.iter().enumerate() {
            let (a, b, d) = (m & 1, m >> 1 & 1, m >> 2);
            let (px, py, pz) = (power(x, a), power(y, b), power(z, d));
            let along = [
                derivative(a) * py * pz,
                derivative(b) * px * pz,
                derivative(d) * px * py,
            ];
            for (row, &c) in c.iter().enumerate() {
                position[row] += c * px * py * pz;
                for (column, along) in along.iter().enumerate() {
                    jacobian[row][column] += c * along;
                }
            }
        }
        (jacobian, position)
    });
    points.unzip()
}

/// Tables of a degree, at its own nodes or at Gauss points.
pub(in crate::kernels) fn basis(cell: Cell, degree: usize, collocated: bool) -> TensorTables {
    let tables = match collocated {
        true => TensorTables::collocated(cell, degree),
        false => TensorTables::gauss(cell, degree, degree + 2),
    };
    tables.expect("degrees up to 15")
}
