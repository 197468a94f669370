//! Bases of the triangle and of the line whose products are the prism's, at the points whose products are its rule's.

use femto_element::basis::{LagrangeBasis, lagrange, nodes};
use femto_element::tables::{BasisAtPoints, DenseTables};
use femto_element::{Cell, Degree};

/// The factors of a prism's tables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tables {
    /// Degree of the basis.
    pub(super) degree: Degree,
    /// Nodes of the triangle, and points of its rule.
    pub(super) triangle: [usize; 2],
    /// Nodes of the line, and points of its rule.
    pub(super) line: [usize; 2],
    /// Values and derivatives of the triangle's basis, `[point][node]` and `[point][node][2]`; weights, `[point]`, and
    /// positions, `[point][2]`; then likewise of the line's.
    pub(super) numbers: Vec<f64>,
    /// The place in the prism of node (t, k), t of the triangle and k upwards, `[t][k]`.
    pub(super) places: Vec<usize>,
}

impl Tables {
    /// Bytes of the numbers in double precision, and of the places and steps of nodes.
    pub(super) fn bytes(&self) -> usize {
        8 * (self.numbers.len() + self.places.len())
    }

    /// The factors, if the tables are those of a prism with a rule that is a product.
    pub(super) fn new(tables: &DenseTables) -> Option<Self> {
        if tables.cell != Cell::Prism {
            return None;
        }
        let degree = tables.degree;
        let positions = tables.positions_3d();
        let points = positions
            .iter()
            .take_while(|x| x[2] == positions[0][2])
            .count();
        let levels: Vec<f64> = positions.iter().step_by(points).map(|x| x[2]).collect();
        let in_plane: Vec<[f64; 3]> = positions[..points]
            .iter()
            .map(|x| [x[0], x[1], 0.0])
            .collect();
        let weights = |level: usize| &tables.weights[level * points..][..points];
        // The reference triangle has area 1/2.
        let upwards: Vec<f64> = (0..levels.len())
            .map(|level| 2.0 * weights(level).iter().sum::<f64>())
            .collect();
        let around: Vec<f64> = weights(0)
            .iter()
            .map(|weight| weight / upwards[0])
            .collect();
        let is_product = |n: usize| {
            let [x, y, z] = positions[n];
            let (level, point) = (n / points, n % points);
            let weight = upwards[level] * around[point];
            [x, y, z] == [in_plane[point][0], in_plane[point][1], levels[level]]
                && (tables.weights[n] - weight).abs() < 1e-13
        };
        if levels.len() * points != tables.points || !(0..tables.points).all(is_product) {
            return None;
        }
        let values = LagrangeBasis::new(Cell::Triangle, degree.horizontal)
            .ok()?
            .at(&in_plane);
        let line = nodes::gll(degree.vertical);
        let in_plane = in_plane.iter().flat_map(|x| &x[..2]).copied().collect();
        let numbers = [
            values.interp,
            values.grad,
            around,
            in_plane,
            lagrange::interpolation(&line, &levels).into_vec(),
            lagrange::differentiation(&line, &levels).into_vec(),
            upwards,
            levels.clone(),
        ];
        let place = Cell::Prism.lattice_places(degree);
        let of_triangle = Cell::Triangle.lattice(degree.horizontal);
        let over = |&[i, j, _]: &[usize; 3]| {
            (0..=degree.vertical)
                .filter_map(|k| place([i, j, k]))
                .collect::<Vec<_>>()
        };
        Some(Self {
            degree,
            triangle: [of_triangle.len(), points],
            line: [degree.vertical + 1, levels.len()],
            numbers: numbers.concat(),
            places: of_triangle.iter().flat_map(over).collect(),
        })
    }

    /// Nodes of a prism.
    pub(super) fn nodes(&self) -> usize {
        self.triangle[0] * self.line[0]
    }

    /// Points of a prism.
    pub(super) fn points(&self) -> usize {
        self.triangle[1] * self.line[1]
    }
}

/// The basis of the triangle at the points of its rule.
pub(super) struct InPlane<'a>(pub(super) &'a Tables);

impl BasisAtPoints for InPlane<'_> {
    fn nodes(&self) -> usize {
        self.0.triangle[0]
    }

    fn points(&self) -> usize {
        self.0.triangle[1]
    }

    fn weight(&self, point: usize) -> f64 {
        let [nodes, points] = self.0.triangle;
        self.0.numbers[3 * nodes * points + point]
    }

    fn at(&self, point: usize, node: usize) -> (f64, [f64; 3]) {
        let [nodes, points] = self.0.triangle;
        let (values, rest) = self.0.numbers.split_at(points * nodes);
        let n = point * nodes + node;
        (values[n], [rest[2 * n], rest[2 * n + 1], 0.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::quadrature::rule;

    /// Products of the factors are the prism's own tables.
    #[test]
    fn products_are_the_tables_of_the_prism() {
        for [horizontal, vertical] in [[1, 1], [2, 2], [3, 3], [4, 4], [1, 3], [4, 2], [2, 1]] {
            let degree = Degree::new(horizontal, vertical);
            let basis = LagrangeBasis::new(Cell::Prism, degree).unwrap();
            let exact = degree.map(|n| 2 * n + 1);
            let dense = DenseTables::new(&basis, &rule(Cell::Prism, exact).unwrap());
            let found = Tables::new(&dense).unwrap();
            let ([nt, qt], [nz, qz]) = (found.triangle, found.line);
            assert_eq!(
                (found.degree, nt * nz, qt * qz),
                (degree, dense.nodes, dense.points)
            );
            let line = &found.numbers[qt * (3 * nt + 3)..];
            for q in 0..dense.points {
                let (a, b) = (q % qt, q / qt);
                for t in 0..nt {
                    for k in 0..nz {
                        let value = found.numbers[a * nt + t] * line[b * nz + k];
                        let slope = found.numbers[a * nt + t] * line[(qz + b) * nz + k];
                        let node = found.places[t * nz + k];
                        assert!((dense.value(q, node) - value).abs() < 1e-12);
                        assert!((dense.gradient(q, node)[2] - slope).abs() < 1e-11);
                        let along = found.numbers[qt * nt + 2 * (a * nt + t)] * line[b * nz + k];
                        assert!((dense.gradient(q, node)[0] - along).abs() < 1e-11);
                    }
                }
            }
        }
    }
}
