//! The host kernels against the oracle.

use super::HostPlan;
use crate::family::EvalContext;
use crate::family::batch::{
    Batch, LOCAL_NODES, NodeTable, Nodes, Source, Target, Vertices, Workspace, row_len,
};
use crate::family::cell_quadrature::samples::{
    Cell, Everything, KINDS, Nonlinear, Random, Variable, element, shape,
};
use crate::family::cell_quadrature::{FieldKind, Shape, Storage, at_points, pack};
use crate::family::oracle;
use crate::form::{Form, Mass, Poisson};
use crate::scalar::{Real, SimdLevel, Vectorizable};
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use std::sync::Arc;

const CONTEXT: EvalContext = EvalContext {
    time: 0.7,
    parameters: &[1.3],
};

const STORAGES: [Storage; 3] = [Storage::Vertices, Storage::Affine, Storage::Jacobians];

/// Cells for a form, packed for one kernel; lanes without a cell hold NaN.
struct Packed<T> {
    table: Vec<u16>,
    vertex_table: Vec<u16>,
    coordinates: Vec<T>,
    geometry: Vec<T>,
    auxiliary: Vec<T>,
    points: Vec<T>,
}

/// Numbers of each cell in lanes, `[number][lane]`.
fn lanes<T: Real>(width: usize, cells: &[Cell], numbers: impl Fn(&Cell) -> Vec<f64>) -> Vec<T> {
    let rows: Vec<Vec<f64>> = cells.iter().map(numbers).collect();
    let count = rows[0].len();
    let at = |n: usize| rows.get(n % width).map_or(f64::NAN, |row| row[n / width]);
    (0..count * width).map(|n| T::from_f64(at(n))).collect()
}

impl<T: Real> Packed<T> {
    /// No two cells share a node; vertices are numbered in reverse.
    fn new(width: usize, shape: &Shape, cells: &[Cell]) -> Self {
        let nodes = NodeTable::listed(shape.nodes);
        let mut table = vec![0; nodes.len(width)];
        let corners = shape.dim + 1;
        let vertices = cells.len() * corners;
        let mut vertex_table = vec![0; corners * width];
        let axes = row_len(shape.dim);
        let mut coordinates = vec![T::from_f64(f64::NAN); LOCAL_NODES * axes];
        for (lane, cell) in cells.iter().enumerate() {
            nodes.pack((lane, width), |p| place(shape, lane, p), &mut table);
            for (corner, x) in cell.vertices.iter().enumerate() {
                let vertex = vertices - 1 - (lane * corners + corner);
                vertex_table[corner * width + lane] = vertex as u16;
                for d in 0..shape.dim {
                    coordinates[vertex * axes + d] = T::from_f64(x[d]);
                }
            }
        }
        let geometry = lanes(width, cells, |cell| {
            let mut numbers = vec![f64::NAN; shape.geometry_numbers()];
            pack(shape, cell.geometry(shape.storage), |n, value| {
                numbers[n] = value;
            });
            numbers
        });
        Self {
            table,
            vertex_table,
            coordinates,
            geometry,
            auxiliary: lanes(width, cells, |cell| cell.cell.clone()),
            points: lanes(width, cells, |cell| cell.points.clone()),
        }
    }
}

/// The index of a node in local vectors.
fn place(shape: &Shape, cell: usize, node: usize) -> u16 {
    (7 + 5 * (cell * shape.nodes + node)) as u16
}

/// Local vectors with the node values of each cell, and NaN elsewhere.
fn local<T: Real>(shape: &Shape, cells: &[Cell], values: impl Fn(&Cell) -> &[f64]) -> Vec<T> {
    let row = row_len(values(&cells[0]).len() / shape.nodes);
    let mut local = vec![T::from_f64(f64::NAN); row * LOCAL_NODES];
    for (number, cell) in cells.iter().enumerate() {
        for (n, &value) in values(cell).iter().enumerate() {
            let at = usize::from(place(shape, number, n % shape.nodes));
            local[at * row + n / shape.nodes] = T::from_f64(value);
        }
    }
    // Lanes without a cell read index 0.
    local
        .iter_mut()
        .take(row)
        .for_each(|x| *x = T::from_f64(1.0));
    local
}

fn close<T: Real>(found: &[T], expected: &[f64]) {
    let tolerance = if T::BYTES == 8 { 1e-13 } else { 2e-5 };
    let most = expected.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
    assert_eq!(found.len(), expected.len());
    for (n, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (found.to_f64() - expected).abs();
        // Not for NaN.
        assert!(
            difference <= tolerance * most,
            "entry {n} is {found}, not {expected}"
        );
    }
}

/// Compares kernels in precision `T` of every instruction set with the oracle, on vectors of both kinds,
/// with a workspace used before by other kernels.
fn check<T, F, const D: usize, const C: usize>(
    (random, workspace): (&mut Random, &mut Workspace),
    (form, element): (&F, &DenseTables),
    shape: Shape,
    diagonal: bool,
) where
    T: Vectorizable,
    F: Form<D, C> + Clone + 'static,
{
    let shared = Arc::new(element.clone());
    for &level in SimdLevel::available() {
        let plan = HostPlan {
            element: &shared,
            shape,
            level,
        };
        let kernel = plan.build::<T, F, D, C>(form);
        let lanes = kernel.lanes();
        let count = if random.number() < 0.0 {
            lanes
        } else {
            1 + lanes / 3
        };
        let cells: Vec<Cell> = (0..count)
            .map(|_| Cell::new(random, element, &shape))
            .collect();
        let packed = Packed::<T>::new(lanes, &shape, &cells);
        assert_eq!(packed.geometry.len(), kernel.geometry_len());
        let expected = |cell: &Cell| {
            let (fields, geometry) = (cell.fields(shape.fields), cell.at_points());
            let environment = (&fields, &CONTEXT);
            if diagonal {
                oracle::diagonal::<F, D, C>(form, element, geometry, environment)
            } else {
                oracle::apply::<F, D, C>(form, element, geometry, environment, &cell.u)
            }
        };
        let expected: Vec<Vec<f64>> = cells.iter().map(expected).collect();
        let mut batch = Batch {
            elements: count,
            nodes: Nodes::Element,
            vertices: Vertices {
                coordinates: &packed.coordinates,
                table: &packed.vertex_table,
            },
            geometry: &packed.geometry,
            auxiliary: &packed.auxiliary,
            nodal: Source::of(&[]),
            points: &packed.points,
            context: &CONTEXT,
        };
        let mut run = |batch: &Batch<T>, u: &[T], v: &mut [T]| {
            if diagonal {
                kernel.diagonal(batch, Target::of(v), workspace);
            } else {
                kernel.apply(batch, Source::of(u), Target::of(v), workspace);
            }
        };
        let together = |rows: fn(&Cell) -> &[f64]| -> Vec<T> {
            let all = cells.iter().flat_map(rows);
            all.map(|&value| T::from_f64(value)).collect()
        };
        let nodal = together(|cell| &cell.nodal);
        batch.nodal = Source::of(&nodal);
        let mut v = vec![T::from_f64(f64::NAN); count * shape.unknowns()];
        run(&batch, &together(|cell| &cell.u), &mut v);
        close(&v, &expected.concat());

        let nodal = local(&shape, &cells, |cell| &cell.nodal);
        let u = local(&shape, &cells, |cell| &cell.u);
        batch.nodal = Source::of(&nodal);
        batch.nodes = Nodes::Local(&packed.table);
        let row = row_len(C);
        let mut v = vec![T::from_f64(0.5); row * LOCAL_NODES];
        run(&batch, &u, &mut v);
        for (number, expected) in expected.iter().enumerate() {
            let at = |n: usize| {
                let place = usize::from(place(&shape, number, n % shape.nodes));
                let value = v[place * row + n / shape.nodes];
                T::from_f64(value.to_f64() - 0.5)
            };
            let found: Vec<T> = (0..expected.len()).map(at).collect();
            close(&found, expected);
        }
    }
}

/// The form that reads all inputs, and its diagonal.
fn everything<T: Vectorizable, const D: usize, const C: usize>(degrees: &[usize], diagonal: bool) {
    let (mut random, mut workspace): (_, Workspace) = (Random::new(), Box::new(()));
    let mut reversed = KINDS;
    reversed.reverse();
    for &degree in degrees {
        for storage in STORAGES {
            let element = element(&mut random, D, degree, 1 + degree);
            assert_eq!(element.is_degree_one(), degree == 1);
            for kinds in [KINDS, reversed] {
                let (shape, inspection) = shape::<_, D, C>(&Everything, &element, &kinds, storage);
                assert!(inspection.linear && shape.position);
                assert_eq!(shape.field_gradients, kinds == KINDS);
                let own = (&mut random, &mut workspace);
                check::<T, _, D, C>(own, (&Everything, &element), shape, diagonal);
            }
        }
    }
}

/// Forms that use only some inputs and outputs.
fn others<T: Vectorizable, const D: usize, const C: usize>(degrees: &[usize]) {
    let (mut random, mut workspace): (_, Workspace) = (Random::new(), Box::new(()));
    for &degree in degrees {
        for storage in STORAGES {
            let element = element(&mut random, D, degree, degree);
            let (plain, _) = shape::<_, D, C>(&Nonlinear, &element, &[], storage);
            let own = (&mut random, &mut workspace);
            check::<T, _, D, C>(own, (&Nonlinear, &element), plain, false);
            let kinds = [FieldKind::Points];
            let (variable, _) = shape::<_, D, C>(&Variable, &element, &kinds, storage);
            assert!(!variable.reads_values && !variable.writes_values);
            let own = (&mut random, &mut workspace);
            check::<T, _, D, C>(own, (&Variable, &element), variable, false);
        }
    }
}

#[test]
fn scalars() {
    everything::<f64, 2, 1>(&[1, 2, 3], false);
    everything::<f32, 3, 1>(&[1, 2, 3], false);
    others::<f64, 3, 1>(&[1, 2]);
}

#[test]
fn systems() {
    everything::<f32, 2, 2>(&[1, 2], false);
    everything::<f64, 3, 3>(&[1, 2, 3], false);
    everything::<f64, 2, 4>(&[1], false);
    others::<f32, 2, 2>(&[1, 2]);
}

/// A real basis and a rule, between sums over orbits of nodes and of points.
fn symmetric<T: Vectorizable, const D: usize, const C: usize>(degree: usize, exact: usize) {
    let (mut random, mut workspace): (_, Workspace) = (Random::new(), Box::new(()));
    let element = real(D, degree, exact);
    assert!(super::classes(&element).is_some());
    for storage in STORAGES {
        let (all, _) = shape::<_, D, C>(&Everything, &element, &KINDS, storage);
        for diagonal in [false, true] {
            let own = (&mut random, &mut workspace);
            check::<T, _, D, C>(own, (&Everything, &element), all, diagonal);
        }
        let (plain, _) = shape::<_, D, C>(&Nonlinear, &element, &[], storage);
        let own = (&mut random, &mut workspace);
        check::<T, _, D, C>(own, (&Nonlinear, &element), plain, false);
    }
}

fn real(dim: usize, degree: usize, exact: usize) -> DenseTables {
    let cell = match dim {
        2 => femto_element::Cell::Triangle,
        _ => femto_element::Cell::Tetrahedron,
    };
    let basis = LagrangeBasis::new(cell, degree).unwrap();
    DenseTables::new(&basis, &rule(cell, exact).unwrap())
}

/// Rules of 14, 35, 19 and 12 points: orbits of all sizes.
#[test]
fn classes() {
    symmetric::<f64, 3, 3>(3, 5);
    symmetric::<f32, 3, 1>(4, 7);
    symmetric::<f64, 2, 1>(7, 9);
    symmetric::<f32, 2, 2>(6, 6);
}

#[test]
fn all_symmetric_rules_have_classes() {
    for exact in 1..=16 {
        assert!(super::classes(&real(2, 6, exact)).is_some(), "{exact}");
        assert!(super::classes(&real(3, 3, exact)).is_some(), "{exact}");
    }
}

/// A conical product is not symmetric.
#[test]
fn other_rules_have_no_classes() {
    assert!(super::classes(&real(2, 6, 17)).is_none());
    assert!(super::classes(&real(3, 3, 17)).is_none());
}

#[test]
fn diagonals() {
    everything::<f64, 2, 1>(&[1, 2, 3], true);
    everything::<f64, 3, 3>(&[1, 2], true);
}

#[test]
fn mass_and_stiffness_of_the_unit_triangle() {
    let element = DenseTables {
        cell: femto_element::Cell::Triangle,
        degree: 1.into(),
        dim: 2,
        nodes: 3,
        points: 3,
        weights: vec![1.0 / 6.0; 3],
        positions: vec![0.5, 0.0, 0.5, 0.5, 0.0, 0.5],
        interp: vec![0.5, 0.5, 0.0, 0.0, 0.5, 0.5, 0.5, 0.0, 0.5],
        grad: [-1.0, -1.0, 1.0, 0.0, 0.0, 1.0].repeat(3),
    };
    let (jacobian, position) = at_points(&element, &[[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
    let geometry = oracle::OracleGeometry {
        jacobian: &jacobian,
        position: &position,
    };
    let environment = (&oracle::CellFields::default(), &EvalContext::default());
    let u = [1.0, 0.0, 0.0];
    let mass = oracle::apply::<_, 2, 1>(&Mass, &element, geometry, environment, &u);
    close(&mass, &[1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0]);
    let stiffness = oracle::apply::<_, 2, 1>(&Poisson, &element, geometry, environment, &u);
    close(&stiffness, &[1.0, -0.5, -0.5]);
    assert_eq!(position[1], [1.0, 1.0, 0.0]);
}
