//! The numbers of a matrix beside sums over the points.

use super::*;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::factors::factors;
use crate::form::{ScreenedPoisson, inspect};
use femto_element::Cell;

/// x = ξ + 0.1 ηζ, y = η + 0.2 ξζ, z = ζ + 0.3 ξηζ.
fn map() -> [[f64; 3]; 8] {
    let mut c = [[0.0; 3]; 8];
    (c[1][0], c[6][0]) = (1.0, 0.1);
    (c[2][1], c[5][1]) = (1.0, 0.2);
    (c[4][2], c[7][2]) = (1.0, 0.3);
    c
}

/// The matrix by its numbers.
fn of_numbers(numbers: &[f64], (values, gradients): (bool, bool)) -> [[f64; NODES]; NODES] {
    let mut matrix = [[0.0; NODES]; NODES];
    if !gradients {
        for (part, number) in numbers.iter().enumerate() {
            for i in nodes_of_part(part) {
                nodes_of_part(part).for_each(|j| matrix[i][j] += number);
            }
        }
        return matrix;
    }
    // A monomial's coefficient for a unit at a node, times eight.
    let sign = |m: usize, node: usize| {
        let minus = (m & !node).count_ones() % 2 == 1;
        if minus { -1.0 } else { 1.0 }
    };
    for (&number, (m, n)) in numbers.iter().zip(entries(values)) {
        for (i, j) in (0..NODES * NODES).map(|p| (p / NODES, p % NODES)) {
            matrix[i][j] += number * sign(m, i) * sign(n, j);
            if m < n {
                matrix[i][j] += number * sign(n, i) * sign(m, j);
            }
        }
    }
    matrix
}

/// The matrix by sums over the points, with λ = 1.5 and κ = 0.7.
fn of_points(basis: &TensorTables, (values, gradients): (bool, bool)) -> [[f64; NODES]; NODES] {
    let mut matrix = [[0.0; NODES]; NODES];
    let g = basis.points_1d;
    for p in 0..g * g * g {
        let at = [p % g, p / g % g, p / (g * g)];
        let [x, y, z] = at.map(|n| basis.points[n]);
        let j = [
            [1.0, 0.1 * z, 0.1 * y],
            [0.2 * z, 1.0, 0.2 * x],
            [0.3 * y * z, 0.3 * x * z, 1.0 + 0.3 * x * y],
        ];
        let weight = at.iter().map(|&n| basis.weights[n]).product();
        let wanted = (true, true);
        let factors = factors(&j, weight, (1.5, 0.7), wanted);
        let factors: Vec<f64> = factors.collect();
        let metric = [[0, 1, 2], [1, 3, 4], [2, 4, 5]].map(|row| row.map(|n| factors[n]));
        // ℓ and ∂ℓ of a node.
        let node = |n: usize| {
            let [a, b, c] = [0, 1, 2].map(|axis| 2.0 * (n >> axis & 1) as f64 - 1.0);
            let [u, v, w] = [1.0 + a * x, 1.0 + b * y, 1.0 + c * z];
            let slopes = [a * v * w, u * b * w, u * v * c];
            (u * v * w / 8.0, slopes.map(|slope| slope / 8.0))
        };
        for (i, row) in matrix.iter_mut().enumerate() {
            for (j, sum) in row.iter_mut().enumerate() {
                let ((value, slopes), (other, others)) = (node(i), node(j));
                if values {
                    *sum += factors[6] * value * other;
                }
                for (a, b) in (0..9).map(|n| (n / 3, n % 3)).filter(|_| gradients) {
                    *sum += metric[a][b] * slopes[a] * others[b];
                }
            }
        }
    }
    matrix
}

#[test]
fn numbers_are_those_of_the_matrix() {
    let gauss = |points| TensorTables::gauss(Cell::Hexahedron, 1, points).expect("few points");
    let collocated = TensorTables::collocated(Cell::Hexahedron, 1).expect("degree 1");
    let form = ScreenedPoisson { lambda: Some(1.5) };
    let inspection = inspect::<_, 3, 1>(&form);
    for basis in [gauss(2), gauss(3), gauss(5), collocated] {
        for (values, gradients) in [(true, false), (false, true), (true, true)] {
            let shape = Shape {
                values,
                gradients,
                ..Shape::new(&basis, &inspection, Storage::Entries)
            };
            let mut numbers = vec![f64::NAN; shape.geometry_numbers() as usize];
            let (entries, stride) = (Entries::new(&basis, &shape), numbers.len());
            entries.pack(
                &[CellMap::Map(&map())],
                &[(1.5, 0.7)],
                (&mut numbers, stride),
            );
            let found = of_numbers(&numbers, (values, gradients));
            let wanted = of_points(&basis, (values, gradients));
            for (found, wanted) in found.iter().flatten().zip(wanted.iter().flatten()) {
                assert!(
                    (found - wanted).abs() < 1e-14,
                    "{found} instead of {wanted}"
                );
            }
        }
    }
}
