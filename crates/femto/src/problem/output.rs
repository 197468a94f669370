//! Solutions as VTU files.

use super::function::values;
use super::{Function, GridFunction, cell_tags};
use crate::elements::collect;
use femto_element::basis::lagrange::interpolation;
use femto_element::basis::nodes::{equispaced, gll};
use femto_element::basis::{BasisError, LagrangeBasis};
use femto_element::{Cell, Degree};
use femto_fem::geometry::Points;
use femto_fem::io::IoError;
use femto_fem::io::vtu::{Field, VtuGrid, write_vtu};
use femto_fem::mesh::Mesh;
use femto_fem::space::Space;
use femto_kernel::scalar::SimdLevel;
use femto_kernel::vector::Strides;
use femto_kernel::vector::interpolation::{InterpolationShape, interpolate};
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

/// A field at the points of an output file. Functions are given one per component.
#[derive(Clone, Copy)]
pub enum OutputField<'a> {
    /// The solution.
    Solution,
    /// Functions of position.
    Function(&'a [&'a dyn Function]),
    /// The solution minus these functions, one per component.
    Error(&'a [&'a dyn Function]),
    /// Functions of the solution's space, one along each axis as of [`Problem::flux`](super::Problem::flux): a vector,
    /// or a tensor whose rows are components.
    Axes(&'a [GridFunction]),
}

/// A grid function on a grid of Lagrange cells with equispaced nodes, as VTK expects.
///
/// A point is an L-vector node, moved within its vertex, edge, face or cell to VTK's position. A node on
/// periodic sides becomes a point on each.
#[derive(Clone, Debug)]
pub struct LagrangeGrid {
    /// Degree of the cells.
    pub degree: Degree,
    /// `[points][3]`.
    pub points: Vec<[f64; 3]>,
    /// By shape, `[elements][nodes]` in the order of the shape's reference element.
    pub cells: Vec<(Cell, Vec<u32>)>,
    /// The grid function at the points, `[component][points]`.
    pub values: Vec<Vec<f64>>,
    /// The points that the last ones repeat elsewhere on periodic sides.
    repeated: Vec<u32>,
}

/// The map from the nodes of the space's elements to equispaced ones.
struct Equispaced {
    points: Points,
    shape: InterpolationShape,
    /// `[to][from]`
    matrix: Vec<f64>,
}

impl Equispaced {
    fn new(space: &Space) -> Result<Self, BasisError> {
        let (cell, degree) = (space.cell(), space.degree());
        let (axes, nodes, points, matrix) = if cell.is_tensor_product() && degree.is_uniform() {
            let degree = degree.horizontal;
            let line = |i| Cell::Line.position(degree, [i, 0, 0])[0];
            let line: Vec<f64> = (0..=degree).map(line).collect();
            let matrix = interpolation(&gll(degree), &line).into_vec();
            (cell.dim(), line.len(), Points::Grid(line), matrix)
        } else {
            let points = equispaced(cell, degree);
            let matrix = LagrangeBasis::new(cell, degree)?.at(&points).interp;
            (1, points.len(), Points::List(points), matrix)
        };
        let (from, to) = (nodes, nodes);
        Ok(Self {
            points,
            shape: InterpolationShape { axes, from, to },
            matrix,
        })
    }
}

impl LagrangeGrid {
    /// The grid of a grid function.
    ///
    /// # Errors
    /// [`IoError::FieldLength`] if the grid function is not an L-vector of its space.
    pub fn new(u: &GridFunction) -> Result<Self, IoError> {
        let (mut points, mut cells) = (Vec::new(), Vec::new());
        let mut degree = Degree::from(0);
        for block in &u.blocks {
            let space = &block.space;
            let (np, to) = (space.nodes_per_element(), Equispaced::new(space)?);
            degree = space.degree();
            points.resize(space.nodes(), [0.0; 3]);
            let positions = |elements: Range<usize>| {
                let (mut given, mut own) = (Vec::with_capacity(elements.len() * np), Vec::new());
                for &cell in &space.cells()[elements] {
                    (block.geometry).positions(cell as usize, &to.points, &mut own);
                    given.extend_from_slice(&own);
                }
                Ok(given)
            };
            // Neighbours agree up to rounding, so any of them will do.
            let Ok(()) = collect::<_, Infallible>(space, np, positions, last, &mut points);
            cells.push((space.cell(), space.listed_nodes()));
        }
        let mut grid = Self {
            degree,
            points,
            cells,
            values: Vec::new(),
            repeated: Vec::new(),
        };
        grid.open_seams(u)?;
        grid.values = grid.at_points("solution", u)?;
        Ok(grid)
    }

    /// A named grid function of the same space at the points, `[component][points]`.
    fn at_points(&self, name: &str, u: &GridFunction) -> Result<Vec<Vec<f64>>, IoError> {
        let mut values = Vec::new();
        for block in &u.blocks {
            let space = &block.space;
            let items = self.points.len() - self.repeated.len();
            if space.nodes() != items || u.values.len() != space.dofs() {
                return Err(IoError::FieldLength {
                    name: name.to_owned(),
                    location: "nodes",
                    found: u.values.len(),
                    items,
                    components: space.components(),
                });
            }
            let (np, to) = (space.nodes_per_element(), Equispaced::new(space)?);
            let nodes = space.listed_nodes();
            values.resize(space.components(), vec![0.0; space.nodes()]);
            for (component, values) in values.iter_mut().enumerate() {
                let strides = Strides {
                    node: space.entry(1, 0),
                    ..Strides::SCALAR
                };
                let at_points = |elements: Range<usize>| {
                    let mut given = vec![0.0; elements.len() * np];
                    let mut scratch = vec![0.0; to.shape.scratch()];
                    let nodes = &nodes[elements.start * np..elements.end * np];
                    interpolate(
                        SimdLevel::detect(),
                        (to.shape, &to.matrix),
                        (nodes, strides),
                        &u.values[space.entry(0, component)..],
                        (&mut scratch, &mut given),
                    );
                    Ok(given)
                };
                let Ok(()) = collect::<_, Infallible>(space, np, at_points, last, values);
            }
        }
        for values in &mut values {
            let further = self.repeated.iter().map(|&point| values[point as usize]);
            let further: Vec<f64> = further.collect();
            values.extend(further);
        }
        Ok(values)
    }

    /// Gives nodes on periodic sides a separate point for each of their positions.
    fn open_seams(&mut self, u: &GridFunction) -> Result<(), IoError> {
        let mut further: HashMap<u32, Vec<u32>> = HashMap::new();
        let mut positions = Vec::new();
        for (block, (_, cells)) in u.blocks.iter().zip(&mut self.cells) {
            let space = &block.space;
            if !space.is_periodic() {
                continue;
            }
            let to = Equispaced::new(space)?;
            let elements = cells.chunks_exact_mut(space.nodes_per_element());
            for (points, &cell) in elements.zip(space.cells()) {
                (block.geometry).positions(cell as usize, &to.points, &mut positions);
                let extents = positions.iter().map(|&x| distance(positions[0], x));
                let near = 1e-6 * extents.fold(0.0, f64::max);
                for (point, &x) in points.iter_mut().zip(&positions) {
                    let is_there = |other: u32| distance(self.points[other as usize], x) < near;
                    if is_there(*point) {
                        continue;
                    }
                    let others = further.entry(*point).or_default();
                    let other = others.iter().copied().find(|&other| is_there(other));
                    let place = other.unwrap_or(self.points.len() as u32);
                    if other.is_none() {
                        others.push(place);
                        self.points.push(x);
                        self.repeated.push(*point);
                    }
                    *point = place;
                }
            }
        }
        Ok(())
    }

    /// The values of a field at the points, `[component][points]`.
    fn field(
        &self,
        name: &str,
        field: OutputField<'_>,
        time: f64,
    ) -> Result<Vec<Vec<f64>>, IoError> {
        let evaluate = |&function: &&dyn Function| values(function, &self.points, time);
        let difference = |(u, exact): (&Vec<f64>, &&dyn Function)| {
            let exact = evaluate(exact);
            u.iter().zip(&exact).map(|(u, exact)| u - exact).collect()
        };
        Ok(match field {
            OutputField::Solution => self.values.clone(),
            OutputField::Function(functions) => functions.iter().map(evaluate).collect(),
            OutputField::Error(exact) if exact.len() != self.values.len() => {
                return Err(IoError::Field {
                    name: name.to_owned(),
                    fault: "needs one exact function for each component of the solution",
                });
            }
            OutputField::Error(exact) => self.values.iter().zip(exact).map(difference).collect(),
            OutputField::Axes(axes) => {
                let axes = axes.iter().map(|along| self.at_points(name, along));
                let axes: Vec<_> = axes.collect::<Result<_, IoError>>()?;
                let rows = if self.values.len() == 1 { 1 } else { 3 };
                // In the plane the third row and column of a tensor are zero.
                let entry = |(row, axis): (usize, usize)| {
                    let found = axes.get(axis).and_then(|along| along.get(row));
                    found.map_or_else(|| vec![0.0; self.points.len()], Clone::clone)
                };
                let entries = (0..rows).flat_map(|row| (0..3).map(move |axis| (row, axis)));
                entries.map(entry).collect()
            }
        })
    }
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares = (0..3).map(|axis| (a[axis] - b[axis]).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Combines neighbours' values at a node: keeps the last one.
fn last<V>(old: &mut V, new: V) {
    *old = new;
}

/// The components of a field interleaved, `[points][components]`, and their number. Vectors in the plane
/// get a third component, zero, so that readers recognise them as vectors.
fn interleaved(mut field: Vec<Vec<f64>>) -> (usize, Vec<f64>) {
    if field.len() == 1 {
        return (1, field.swap_remove(0));
    }
    if field.len() == 2 {
        field.push(vec![0.0; field[0].len()]);
    }
    let points = field.first().map_or(0, Vec::len);
    let values = (0..points).flat_map(|point| field.iter().map(move |along| along[point]));
    (field.len(), values.collect())
}

/// Writes a grid function and named fields to a VTU file of Lagrange cells, with the group number
/// (`tag`) and the mesh cell number (`cell`) of every cell.
///
/// Functions are evaluated at `time`. `mesh` is the mesh of the grid function's space. Returns the names of the fields with
/// values that are not finite, as that of 1/x at a node with x = 0.
///
/// # Errors
/// The file cannot be written, two fields have the same name, or one does not fit the solution.
pub fn write_solution(
    path: impl AsRef<std::path::Path>,
    mesh: &Mesh,
    u: &GridFunction,
    fields: &[(&str, OutputField<'_>)],
    time: f64,
) -> Result<Vec<String>, IoError> {
    let grid = LagrangeGrid::new(u)?;
    let values = fields.iter();
    let values =
        values.map(|&(name, field)| Ok((name, interleaved(grid.field(name, field, time)?))));
    let values: Vec<(&str, (usize, Vec<f64>))> = values.collect::<Result<_, IoError>>()?;
    let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    let not_finite = values.iter().filter(|(_, (_, values))| !is_finite(values));
    let not_finite = not_finite.map(|(name, _)| (*name).to_owned()).collect();
    let point_fields: Vec<Field<'_>> = values
        .iter()
        .map(|(name, (components, values))| Field::new(name, *components, &values[..]))
        .collect();
    let tags = cell_tags(mesh);
    let numbers = u.blocks.iter().flat_map(|block| {
        let first = block.geometry.first_cell();
        let cells = block.space.cells().iter();
        cells.map(move |&cell| first + cell as usize)
    });
    let numbers: Vec<usize> = numbers.collect();
    let tag_of = |&cell: &usize| tags.get(cell).copied().unwrap_or(0);
    let tags: Vec<i32> = numbers.iter().map(tag_of).collect();
    let numbers: Vec<i64> = numbers.iter().map(|&cell| cell as i64).collect();
    let cell_fields = [
        Field::scalar("tag", &tags[..]),
        Field::scalar("cell", &numbers[..]),
    ];
    let vtu = VtuGrid {
        degree: grid.degree,
        points: &grid.points,
        cells: grid
            .cells
            .iter()
            .map(|(cell, own)| (*cell, &own[..]))
            .collect(),
    };
    write_vtu(path, &vtu, &point_fields, &cell_fields)?;
    Ok(not_finite)
}
