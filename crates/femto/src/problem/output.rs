//! Solutions as VTU files.

use super::contract::to_points;
use super::elements::{collect, gather_group};
use super::{Function, GridFunction, cell_tags};
use femto_fem::io::IoError;
use femto_fem::io::vtu::{Field, VtuGrid, equispaced, write_vtu};
use femto_fem::mesh::Mesh;
use femto_fem::reference::lagrange::interpolation;
use femto_fem::reference::nodes::gll;
use rayon::prelude::*;
use std::convert::Infallible;

/// Points that one task evaluates a function at.
const POINTS: usize = 4096;

/// A field over the points of an output file.
#[derive(Clone, Copy)]
pub enum OutputField<'a> {
    /// The solution.
    Solution,
    /// A function of position.
    Function(&'a dyn Function),
    /// The solution minus this function.
    Error(&'a dyn Function),
}

/// A grid function on a grid of Lagrange hexahedra with equispaced nodes, as VTK wants it.
///
/// A point is an L-vector node, moved along its vertex, edge, face or cell to where VTK has it.
#[derive(Clone, Debug)]
pub struct LagrangeGrid {
    /// Degree of the cells.
    pub degree: usize,
    /// `[points][3]`.
    pub points: Vec<[f64; 3]>,
    /// `[elements][k][j][i]`.
    pub cells: Vec<u32>,
    /// The grid function at the points.
    pub values: Vec<f64>,
}

impl LagrangeGrid {
    /// The grid of a grid function.
    pub fn new(u: &GridFunction) -> Self {
        let (space, geometry) = (&*u.space, &*u.geometry);
        let (degree, nodes_1d) = (space.degree(), space.nodes_1d());
        let nodes = equispaced(degree);
        let to_equispaced = interpolation(&gll(degree), &nodes).into_vec();
        let np = space.nodes_per_element();
        let give = |elements: std::ops::Range<usize>| {
            let count = elements.len();
            let at_nodes = gather_group(space, elements.clone(), &u.values);
            let values = to_points([&to_equispaced; 3], nodes_1d, &at_nodes);
            let mut given = vec![[0.0; 4]; count * np];
            let mut positions = Vec::with_capacity(np);
            for (index, element) in elements.enumerate() {
                geometry.node_positions(space.cells()[element] as usize, &nodes, &mut positions);
                for (node, &[x, y, z]) in positions.iter().enumerate() {
                    given[node * count + index] = [x, y, z, values[index * np + node]];
                }
            }
            Ok(given)
        };
        // Neighbours agree but for rounding: any of them will do.
        let last = |old: &mut [f64; 4], new| *old = new;
        let Ok(at_points) = collect::<_, Infallible>(space, np, give, last);
        let elements = (0..space.elements()).into_par_iter();
        Self {
            degree,
            points: at_points.iter().map(|&[x, y, z, _]| [x, y, z]).collect(),
            cells: elements
                .flat_map_iter(|element| space.element_nodes(element))
                .collect(),
            values: at_points.iter().map(|&[_, _, _, value]| value).collect(),
        }
    }

    /// The values of a field at the points.
    fn field(&self, field: OutputField<'_>, time: f64) -> Vec<f64> {
        let evaluate = |function: &dyn Function| {
            let mut values = vec![0.0; self.points.len()];
            let parts = values
                .par_chunks_mut(POINTS)
                .zip(self.points.par_chunks(POINTS));
            parts.for_each(|(values, points)| function.evaluate(points, time, values));
            values
        };
        match field {
            OutputField::Solution => self.values.clone(),
            OutputField::Function(function) => evaluate(function),
            OutputField::Error(exact) => {
                let exact = evaluate(exact);
                self.values
                    .iter()
                    .zip(&exact)
                    .map(|(u, exact)| u - exact)
                    .collect()
            }
        }
    }
}

/// Writes a grid function and named fields to a VTU file of Lagrange hexahedra, with the group
/// number (`tag`) and the mesh cell number (`cell`) of every cell.
///
/// Functions are taken at `time`. `mesh` is the one that the grid function's space was made on.
///
/// # Errors
/// The file cannot be written, two fields have one name.
pub fn write_solution(
    path: impl AsRef<std::path::Path>,
    mesh: &Mesh,
    u: &GridFunction,
    fields: &[(&str, OutputField<'_>)],
    time: f64,
) -> Result<(), IoError> {
    let grid = LagrangeGrid::new(u);
    let values: Vec<(&str, Vec<f64>)> = fields
        .iter()
        .map(|&(name, field)| (name, grid.field(field, time)))
        .collect();
    let point_fields: Vec<Field<'_>> = values
        .iter()
        .map(|(name, values)| Field::scalar(name, &values[..]))
        .collect();
    let tags = cell_tags(mesh);
    let cells = u.space.cells();
    let tag_of = |&cell: &u32| tags.get(cell as usize).copied().unwrap_or(0);
    let tags: Vec<i32> = cells.iter().map(tag_of).collect();
    let numbers: Vec<i64> = cells.iter().map(|&cell| i64::from(cell)).collect();
    let cell_fields = [
        Field::scalar("tag", &tags[..]),
        Field::scalar("cell", &numbers[..]),
    ];
    let vtu = VtuGrid {
        degree: grid.degree,
        points: &grid.points,
        cells: &grid.cells,
    };
    write_vtu(path, &vtu, &point_fields, &cell_fields)
}
