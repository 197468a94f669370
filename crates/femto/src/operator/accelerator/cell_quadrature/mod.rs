//! cell_quadrature on accelerators: packing, operands, work of its blocks.

mod choice;
mod lists;

use super::family::Family;
use super::pack::{Packer, bytes_of};
use crate::Number;
use crate::operator::tables::{Shape as AnyShape, Tables};
use crate::operator::{Binding, OperatorError};
use femto_element::tables::DenseTables;
use femto_kernel::dialect::Language;
use femto_kernel::family::cell_quadrature::schedule::Schedule;
use femto_kernel::family::cell_quadrature::source::{Interleave, Problem, diagonal_source, source};
use femto_kernel::family::cell_quadrature::work::{Counts, work};
use femto_kernel::family::cell_quadrature::{CellGeometry, Shape, Storage, pack};
use femto_kernel::family::{KernelSource, Limits, Operand, Scatter, ScheduleError, Vectors};
use femto_kernel::roofline::Work;
use femto_platform::device::accelerator::{Accelerator, AcceleratorBuffer, Argument};
use femto_platform::device::{Buffer, Device};
use lists::Lists;

/// The family for one operator.
#[derive(Debug)]
pub(super) struct CellQuadrature<T: Number> {
    element: DenseTables,
    /// The points of the rule, `[point][3]`.
    points: Vec<[f64; 3]>,
    point_form: String,
    language: Language,
    limits: Limits,
    vectors: Vectors,
    /// `[vertex][dim]`, where the geometry is recomputed: of L-vector nodes at degree 1.
    coordinates: Option<AcceleratorBuffer<T>>,
}

/// The data of a block.
#[derive(Debug)]
pub(super) struct Data<T: Number> {
    shape: Shape,
    /// Stored numbers of a cell.
    geometry: Option<AcceleratorBuffer<T>>,
    /// Vertices of each cell, where they are not its nodes.
    vertices: Option<AcceleratorBuffer<u32>>,
    lists: Option<Lists<T>>,
}

impl<T: Number> CellQuadrature<T> {
    /// `vectors` are the L-vectors of the operator.
    pub(super) fn new(
        device: &Accelerator,
        binding: &Binding<'_, ()>,
        (language, limits): (Language, Limits),
        vectors: Vectors,
    ) -> Result<Self, OperatorError> {
        let plan = binding.plan;
        let Tables::Dense(element, points) = &plan.tables else {
            return Err(OperatorError::NoKernel);
        };
        Ok(Self {
            element: element.clone(),
            points: points.clone(),
            point_form: plan.form.point_function(T::PRECISION, language)?,
            language,
            limits,
            vectors,
            coordinates: coordinates(device, binding)?,
        })
    }

    fn problem(&self, shape: Shape, vectors: Vectors) -> Problem<'_> {
        Problem {
            element: &self.element,
            shape,
            vectors,
            interleave: Interleave::NONE,
            point_form: &self.point_form,
            precision: T::PRECISION,
            language: self.language,
        }
    }

    /// Stored geometry, `[cell][number]`.
    fn geometry(&self, packer: &Packer<'_>, shape: &Shape) -> Vec<T> {
        let geometry = packer.binding.geometry;
        packer.geometry(shape.geometry_numbers(), |cell, at, out| {
            let vertices;
            let from = if shape.storage == Storage::Jacobians {
                geometry.at_listed_points(cell, &self.points, at);
                CellGeometry::Points {
                    jacobian: &at.jacobian,
                    position: &at.position,
                }
            } else {
                vertices = geometry.simplex_vertices(cell);
                CellGeometry::Vertices(&vertices[..=shape.dim])
            };
            pack(shape, &self.element, from, |n, number| {
                out[n] = T::from_f64(number)
            });
        })
    }
}

impl<T: Number> Family<T> for CellQuadrature<T> {
    const WRITES_INSIDE: bool = false;
    type Schedule = Schedule;
    type Data = Data<T>;

    fn pack(&self, packer: &Packer<'_>) -> Result<Data<T>, OperatorError> {
        let AnyShape::Simplex(shape) = packer.shape else {
            return Err(OperatorError::NoKernel);
        };
        let device = packer.device;
        let recomputed = shape.storage == Storage::Vertices;
        let (geometry, vertices) = match recomputed {
            false => (Some(device.upload(&self.geometry(packer, &shape))?), None),
            true if shape.degree_one => (None, None),
            true => (None, Some(device.upload(&vertices(packer))?)),
        };
        let mut data = Data {
            shape,
            geometry,
            vertices,
            lists: None,
        };
        if self.vectors.scatter() == Some(Scatter::Atomic) {
            data.lists = Lists::new(packer, &shape, |schedule| {
                let legal = self.validate(&data, schedule, self.vectors, &self.limits);
                legal.is_ok()
            })?;
        }
        Ok(data)
    }

    fn reads_fields(&self) -> bool {
        true
    }

    fn schedules(&self, data: &Data<T>, vectors: Vectors, _: &Limits) -> Vec<Schedule> {
        let nodal = vectors.scatter().is_some();
        let of_lists = data.lists.as_ref().filter(|_| nodal);
        let best = of_lists.map_or(Schedule::usual(&data.shape), |lists| lists.schedule);
        vec![best, choice::plainest()]
    }

    fn validate(
        &self,
        data: &Data<T>,
        schedule: &Schedule,
        vectors: Vectors,
        limits: &Limits,
    ) -> Result<(), ScheduleError> {
        let vectors = (vectors, Interleave::NONE);
        schedule.validate(&data.shape, vectors, T::PRECISION, limits)
    }

    fn source(
        &self,
        data: &Data<T>,
        schedule: &Schedule,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError> {
        Ok(source(&self.problem(data.shape, vectors), schedule))
    }

    fn diagonal_source(
        &self,
        data: &Data<T>,
        vectors: Vectors,
    ) -> Result<KernelSource, OperatorError> {
        Ok(diagonal_source(&self.problem(data.shape, vectors)))
    }

    fn argument<'a>(
        &'a self,
        data: &'a Data<T>,
        source: &KernelSource,
        operand: Operand,
    ) -> Option<Argument<'a>> {
        match operand {
            Operand::Geometry => data.geometry.as_ref().map(Argument::input),
            Operand::Coordinates => self.coordinates.as_ref().map(Argument::input),
            Operand::Vertices => data.vertices.as_ref().map(Argument::input),
            _ => {
                let lists = data.lists.as_ref().filter(|_| has_lists(source));
                lists.and_then(|lists| lists.argument(operand))
            }
        }
    }

    fn places(&self, data: &Data<T>, source: &KernelSource) -> Option<usize> {
        let lists = data.lists.as_ref().filter(|_| has_lists(source));
        lists.map(|lists| lists.places)
    }

    fn work(&self, data: &Data<T>, schedule: &Schedule, vectors: Vectors, elements: usize) -> Work {
        let by_lists = matches!(schedule, Schedule::BlockLocal(_));
        let lists = data.lists.as_ref().filter(|_| by_lists);
        let counts = Counts {
            cells: elements,
            ..lists.map(Lists::counts).unwrap_or_default()
        };
        // What contributions cost is counted with their sums.
        let vectors = match vectors {
            Vectors::Element { .. } => vectors,
            Vectors::Nodal { interleaved, .. } => Vectors::Nodal {
                interleaved,
                scatter: Scatter::Atomic,
            },
        };
        work(&data.shape, schedule, vectors, T::PRECISION, counts)
    }

    fn bytes(&self, data: &Data<T>) -> usize {
        let vertices = data.vertices.as_ref().map_or(0, Buffer::len);
        let lists = data.lists.as_ref().map_or(0, Lists::bytes);
        bytes_of(&data.geometry) + vertices * size_of::<u32>() + lists
    }

    fn shared_bytes(&self) -> (usize, usize) {
        let coordinates = bytes_of(&self.coordinates);
        (coordinates, coordinates)
    }
}

/// Whether a kernel reads lists of nodes per block.
fn has_lists(source: &KernelSource) -> bool {
    source.operands.contains(&Operand::Blocks)
}

/// Mesh nodes at the vertices of cells.
fn vertices(packer: &Packer<'_>) -> Vec<u32> {
    let of_cell = |&cell: &u32| {
        let cell = packer.binding.mesh_cell(cell as usize);
        packer.binding.geometry.vertex_nodes(cell).iter().copied()
    };
    packer.elements.iter().flat_map(of_cell).collect()
}

/// Coordinates that the geometry is recomputed from, where it is.
fn coordinates<T: Number>(
    device: &Accelerator,
    binding: &Binding<'_, ()>,
) -> Result<Option<AcceleratorBuffer<T>>, OperatorError> {
    let recomputed = |shape: &AnyShape| match shape {
        AnyShape::Simplex(shape) => Some(*shape).filter(|it| it.storage == Storage::Vertices),
        AnyShape::Hex(_) => None,
    };
    let mut kinds = binding.plan.kinds.iter();
    let Some(shape) = kinds.find_map(|kind| recomputed(&kind.shape)) else {
        return Ok(None);
    };
    let (space, geometry) = (binding.space, binding.geometry);
    let mesh = geometry.coordinates();
    let positions: Vec<[f64; 3]> = if shape.degree_one {
        let mut positions = vec![[0.0; 3]; space.nodes()];
        for element in 0..space.elements() {
            let vertices = geometry.vertex_nodes(binding.mesh_cell(element));
            for (node, &vertex) in space.element_nodes(element).iter().zip(vertices) {
                positions[*node as usize] = mesh[vertex as usize];
            }
        }
        positions
    } else {
        mesh.to_vec()
    };
    let numbers = positions.iter().flat_map(|x| &x[..shape.dim]);
    let numbers: Vec<T> = numbers.map(|&x| T::from_f64(x)).collect();
    Ok(Some(device.upload(&numbers)?))
}
