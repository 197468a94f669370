//! Lagrange bases on cells, evaluated at any points.
//!
//! On simplices, prisms and pyramids an orthogonal basis is used: with modes ψ_m and their values
//! V\[i\]\[m\] = ψ_m(x_i) at the nodes, ℓ(x) = V⁻ᵀ ψ(x). On tensor products, a product of bases on the line.

use super::modes::modes;
use super::{BasisError, Matrix, check, lagrange, nodes};
use crate::Degree;
use crate::cell::Cell;

/// A Lagrange basis on a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LagrangeBasis {
    cell: Cell,
    degree: Degree,
    nodes: Vec<[f64; 3]>,
    /// V⁻¹, unless the cell is a tensor product, `[modes][nodes]`.
    from_modes: Option<Matrix>,
    /// For a tensor product the nodes along each axis, `[axis][degree + 1]`, and the indices of each node among
    /// them, `[nodes][axis]`.
    lines: [Vec<f64>; 3],
    lattice: Vec<[usize; 3]>,
}

/// Values and gradients of a basis at points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// Values of the basis, `[points][nodes]`.
    pub interp: Vec<f64>,
    /// Derivatives of the basis along the reference axes, `[points][nodes][dim]`.
    pub grad: Vec<f64>,
}

impl LagrangeBasis {
    /// The basis of a degree on a cell.
    ///
    /// # Errors
    /// A cell without bases, or a degree out of range: see [`check`].
    pub fn new(cell: Cell, degree: impl Into<Degree>) -> Result<Self, BasisError> {
        let degree = degree.into();
        check(cell, degree)?;
        let nodes = nodes::positions(cell, degree);
        let from_modes = (!cell.is_tensor_product()).then(|| {
            let mut values = Matrix::zeros(nodes.len(), nodes.len());
            for (i, &node) in nodes.iter().enumerate() {
                for (m, mode) in modes(cell, degree, node).iter().enumerate() {
                    values[(i, m)] = mode.value;
                }
            }
            values.inverse()
        });
        Ok(Self {
            cell,
            degree,
            nodes,
            from_modes,
            lines: cell.steps(degree).map(nodes::gll),
            lattice: cell.lattice(degree),
        })
    }

    /// The cell.
    pub fn cell(&self) -> Cell {
        self.cell
    }

    /// Polynomial degree.
    pub fn degree(&self) -> Degree {
        self.degree
    }

    /// Positions of the nodes, `[nodes][3]`, in femto's order.
    pub fn nodes(&self) -> &[[f64; 3]] {
        &self.nodes
    }

    /// Values and gradients of the basis at points, `[points][3]`, which may lie anywhere;
    /// coordinates beyond the dimension are ignored.
    pub fn at(&self, points: &[[f64; 3]]) -> Values {
        let (nodes, dim) = (self.nodes.len(), self.cell.dim());
        let mut values = Values {
            interp: Vec::with_capacity(points.len() * nodes),
            grad: Vec::with_capacity(points.len() * nodes * dim),
        };
        for &point in points {
            match &self.from_modes {
                None => self.push_product(point, &mut values),
                Some(_) if self.degree == 1 && self.cell.is_simplex() => {
                    self.push_barycentric(point, &mut values);
                }
                Some(from_modes) => self.push_modes(from_modes, point, &mut values),
            }
        }
        values
    }

    fn push_modes(&self, from_modes: &Matrix, point: [f64; 3], values: &mut Values) {
        let dim = self.cell.dim();
        let modes = modes(self.cell, self.degree, point);
        for node in 0..self.nodes.len() {
            let mut value = 0.0;
            let mut gradient = [0.0; 3];
            for (m, mode) in modes.iter().enumerate() {
                let weight = from_modes[(m, node)];
                value += weight * mode.value;
                for (sum, slope) in gradient.iter_mut().zip(mode.gradient) {
                    *sum += weight * slope;
                }
            }
            values.interp.push(value);
            values.grad.extend(&gradient[..dim]);
        }
    }

    /// Degree 1 without rounding: the basis functions are the barycentric coordinates.
    fn push_barycentric(&self, point: [f64; 3], values: &mut Values) {
        let dim = self.cell.dim();
        let axes = &point[..dim];
        values.interp.push(1.0 - axes.iter().sum::<f64>());
        values.interp.extend(axes);
        values.grad.extend(vec![-1.0; dim]);
        for node in 0..dim {
            let slope = |axis| if axis == node { 1.0 } else { 0.0 };
            values.grad.extend((0..dim).map(slope));
        }
    }

    fn push_product(&self, point: [f64; 3], values: &mut Values) {
        let dim = self.cell.dim();
        let along = |(line, &x): (&Vec<f64>, &f64)| {
            let values = lagrange::interpolation(line, &[x]).into_vec();
            (values, lagrange::differentiation(line, &[x]).into_vec())
        };
        let axes: Vec<_> = self.lines.iter().zip(&point[..dim]).map(along).collect();
        for steps in &self.lattice {
            let factor = |axis: usize| axes[axis].0[steps[axis]];
            values.interp.push((0..dim).map(factor).product());
            values.grad.extend((0..dim).map(|a| {
                let others = (0..dim).filter(|&b| b != a).map(factor);
                axes[a].1[steps[a]] * others.product::<f64>()
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::max_degree;

    const CELLS: [Cell; 7] = [
        Cell::Line,
        Cell::Triangle,
        Cell::Quadrilateral,
        Cell::Tetrahedron,
        Cell::Hexahedron,
        Cell::Prism,
        Cell::Pyramid,
    ];

    /// A polynomial of full degree without symmetry, and its gradient.
    fn polynomial(degree: usize, [x, y, z]: [f64; 3]) -> (f64, [f64; 3]) {
        let n = degree as i32;
        let (a, b) = (1.0 + x - 0.5 * y + 0.7 * z, 0.3 - x + 0.2 * y - 1.1 * z);
        let slopes = |c: f64| f64::from(n) * c.powi(n - 1);
        let gradient = [
            slopes(a) - slopes(b),
            -0.5 * slopes(a) + 0.2 * slopes(b),
            0.7 * slopes(a) - 1.1 * slopes(b),
        ];
        (a.powi(n) + b.powi(n), gradient)
    }

    fn flat(dim: usize, mut x: [f64; 3]) -> [f64; 3] {
        x[dim..].fill(0.0);
        x
    }

    const POINTS: [[f64; 3]; 4] = [
        [0.1, 0.2, 0.3],
        [0.7, 0.05, 0.21],
        [0.0, 1.0, 0.0],
        [-0.4, 1.3, 0.2],
    ];

    /// The Lebesgue constants that [`nodes::positions`] states, on a fine lattice.
    #[test]
    fn lebesgue_constants_are_those_documented() {
        const TRIANGLE: [f64; 8] = [1.0, 1.67, 2.11, 2.66, 3.41, 3.90, 4.43, 5.08];
        const TETRAHEDRON: [f64; 8] = [1.0, 2.0, 2.93, 4.09, 5.54, 7.17, 9.12, 11.67];
        for (cell, documented) in [(Cell::Triangle, TRIANGLE), (Cell::Tetrahedron, TETRAHEDRON)] {
            for (degree, documented) in (1..=8).zip(documented) {
                let basis = LagrangeBasis::new(cell, degree).unwrap();
                let values = basis.at(&nodes::equispaced(cell, 24)).interp;
                let sums = values.chunks_exact(basis.nodes().len());
                let sums = sums.map(|values| values.iter().map(|x| x.abs()).sum::<f64>());
                let constant = sums.fold(0.0, f64::max);
                let error = constant / documented - 1.0;
                assert!(error.abs() < 0.02, "{cell:?} {degree}: {constant:.2}");
            }
        }
    }

    #[test]
    fn the_basis_is_nodal_and_reproduces_polynomials() {
        for cell in CELLS {
            let dim = cell.dim();
            for degree in 1..=max_degree(cell).min(8) {
                let basis = LagrangeBasis::new(cell, degree).unwrap();
                let nodes = basis.nodes().len();
                let values = basis.at(basis.nodes());
                for (i, &value) in values.interp.iter().enumerate() {
                    let delta = f64::from(i / nodes == i % nodes);
                    assert!(
                        (value - delta).abs() < 1e-12,
                        "{cell:?} {degree} {i}: {value}"
                    );
                }
                let at_nodes: Vec<f64> = (basis.nodes().iter())
                    .map(|&x| polynomial(degree, x).0)
                    .collect();
                let values = basis.at(&POINTS.map(|x| flat(dim, x)));
                for (p, x) in POINTS.map(|x| flat(dim, x)).into_iter().enumerate() {
                    let interp = &values.interp[p * nodes..][..nodes];
                    let one: f64 = interp.iter().sum();
                    assert!((one - 1.0).abs() < 1e-11, "{cell:?} {degree}: {one}");
                    let (value, gradient) = polynomial(degree, x);
                    let found: f64 = interp.iter().zip(&at_nodes).map(|(l, u)| l * u).sum();
                    assert!(
                        (found - value).abs() < 1e-9,
                        "{cell:?} {degree}: {found} {value}"
                    );
                    for (axis, expected) in gradient.into_iter().enumerate().take(dim) {
                        let slope = |node| values.grad[(p * nodes + node) * dim + axis];
                        let terms = at_nodes.iter().enumerate();
                        let found: f64 = terms.map(|(node, u)| slope(node) * u).sum();
                        assert!((found - expected).abs() < 1e-8, "{cell:?} {degree} {axis}");
                    }
                }
            }
        }
    }

    /// Of products with a line, functions of another degree upwards: those on a facet are the facet's own.
    #[test]
    fn degrees_may_differ_upwards() {
        for (cell, [horizontal, vertical]) in [
            (Cell::Prism, [1, 3]),
            (Cell::Prism, [4, 2]),
            (Cell::Quadrilateral, [3, 1]),
            (Cell::Hexahedron, [2, 5]),
        ] {
            let degree = Degree::new(horizontal, vertical);
            let basis = LagrangeBasis::new(cell, degree).unwrap();
            let last = cell.dim() - 1;
            let function = |x: [f64; 3]| {
                let across = if last == 2 { 0.4 * x[1] } else { 0.0 };
                let upwards = (0.5 + x[last]).powi(vertical as i32);
                (1.0 + x[0] - across).powi(horizontal as i32) * upwards
            };
            let at_nodes: Vec<f64> = basis.nodes().iter().map(|&x| function(x)).collect();
            let points = POINTS.map(|x| flat(cell.dim(), x));
            let values = basis.at(&points).interp;
            for (x, interp) in points.into_iter().zip(values.chunks_exact(at_nodes.len())) {
                let found: f64 = interp.iter().zip(&at_nodes).map(|(l, u)| l * u).sum();
                assert!((found - function(x)).abs() < 1e-10, "{cell:?} {degree}");
            }
            for (number, facet) in cell.facets().iter().enumerate() {
                let own = cell.facet_degree(degree, number);
                let on_facet = LagrangeBasis::new(facet.cell, own).unwrap();
                let nodes = cell.facet_nodes(degree, number);
                assert_eq!(nodes.len(), on_facet.nodes().len());
                for (node, &own) in nodes.into_iter().zip(on_facet.nodes()) {
                    let apart = cell.facet_point(number, own);
                    let apart = (0..3).map(|a| (apart[a] - basis.nodes()[node][a]).abs());
                    assert!(apart.fold(0.0, f64::max) < 1e-14, "{cell:?} {number}");
                }
            }
            let vtk = cell.lattice_in(degree, cell.vtk_order());
            let places: std::collections::BTreeSet<_> = vtk.into_iter().collect();
            assert_eq!(places.len(), at_nodes.len());
        }
        let degree = Degree::new(1, 2);
        let error = LagrangeBasis::new(Cell::Tetrahedron, degree).unwrap_err();
        let text = "degree 1 horizontally and 2 vertically on tetrahedra: only prisms may have another degree vertically";
        assert!(error.to_string().starts_with(text), "{error}");
    }

    #[test]
    fn what_is_no_basis_is_an_error() {
        let error = |cell, degree| LagrangeBasis::new(cell, degree).unwrap_err().to_string();
        let degree = error(Cell::Triangle, 9);
        assert!(
            degree.contains("degree 9 on triangles") && degree.contains("1 to 8"),
            "{degree}"
        );
        assert!(error(Cell::Hexahedron, 16).contains("1 to 15"));
        assert!(error(Cell::Triangle, 0).contains("degree 0"));
        assert!(error(Cell::Pyramid, 3).contains("degree 3 on pyramids"));
        assert!(error(Cell::Point, 1).contains("points are not supported"));
        assert_eq!(
            LagrangeBasis::new(Cell::Tetrahedron, 3)
                .unwrap()
                .nodes()
                .len(),
            20
        );
    }
}
