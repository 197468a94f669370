//! cell_quadrature as a family.

use super::host::HostPlan;
use super::lists::Lists;
use super::schedule::Schedule;
use super::source::{self, Interleave, KernelSpec, diagonal_source};
use super::work::{self, Counts, knepley::Model};
use super::{Shape, Storage, choice};
use crate::family::batch::ElementKernel;
use crate::family::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    Family, KernelSource, MapInput, Operand, Scatter, Target, Vectors, legal_candidates,
};
use crate::form::Form;
use crate::roofline::Work;
use crate::scalar::{SimdLevel, Vectorizable};
use femto_element::tables::{DenseTables, Tables};
use femto_element::{Cell, MapKind};
use std::sync::Arc;

/// Quadrature cell by cell with dense tables.
#[derive(Clone, Copy, Debug)]
pub struct CellQuadrature;

impl Family for CellQuadrature {
    const NAME: &'static str = "cell_quadrature";
    type Block = Block;

    fn supports(_: Cell, _: usize) -> bool {
        true
    }

    fn block(
        operator: &Arc<ElementOperator>,
        map: MapKind,
        stored: bool,
    ) -> Result<Block, BlockError> {
        let Tables::Dense(element) = &operator.tables else {
            return Err(BlockError::Tables { family: Self::NAME });
        };
        // Only maps of simplices can be recomputed.
        let is_facet = operator.cell.dim() < operator.form.dim;
        let storage = match (map, stored) {
            _ if is_facet || !operator.cell.is_simplex() => Storage::Jacobians,
            (MapKind::Affine, true) => Storage::Affine,
            (MapKind::Affine, false) => Storage::Vertices,
            (MapKind::Multilinear | MapKind::Extruded | MapKind::Curved, _) => Storage::Jacobians,
        };
        Ok(Block {
            shape: Shape::new(element, &operator.inspection, operator.fields, storage),
            element: Arc::clone(element),
            operator: Arc::clone(operator),
        })
    }
}

/// The operator on cells of one kind of map.
#[derive(Clone, Debug)]
pub struct Block {
    operator: Arc<ElementOperator>,
    element: Arc<DenseTables>,
    shape: Shape,
}

impl Block {
    fn plan(&self, level: SimdLevel) -> HostPlan<'_> {
        HostPlan {
            element: &self.element,
            shape: self.shape,
            level,
        }
    }

    pub(in crate::family) fn kernel<T, F, const D: usize, const C: usize>(
        &self,
        form: &F,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        self.plan(level).build::<T, F, D, C>(form)
    }
}

impl BlockOperator for Block {
    fn map_input(&self) -> MapInput {
        match self.shape.storage {
            Storage::Jacobians => MapInput::Points,
            Storage::Vertices | Storage::Affine => MapInput::Vertices,
        }
    }

    fn geometry_numbers(&self) -> usize {
        self.shape.geometry_numbers()
    }

    fn pack(&self, map: CellMap, _: (f64, f64), out: &mut [f64]) {
        super::pack(&self.shape, map, |n, number| {
            out[n] = number;
        });
    }

    fn reads_vertices(&self) -> bool {
        self.shape.storage == Storage::Vertices
    }

    fn folds_coefficients(&self) -> bool {
        false
    }

    fn scheduled_flops(&self) -> u64 {
        work::host_flops(&self.shape, &self.element)
    }

    /// As counted by Knepley, Rupp, Terrel 2016, eq. 7.
    fn nominal_flops(&self) -> u64 {
        Model::new(&self.shape, 1, size_of::<f64>()).flops_per_cell()
    }

    fn stored(&self) -> String {
        match self.shape.storage {
            Storage::Vertices => "vertices alone, Jacobian recomputed".to_owned(),
            Storage::Affine => "inverse Jacobian and determinant an element".to_owned(),
            Storage::Jacobians => format!("Jacobian at {} points an element", self.shape.points),
        }
    }

    /// Also makes node lists per block, if a schedule reads them and sums are atomic.
    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError> {
        let form = &self.operator.form;
        let mut kernels = Kernels {
            point_form: form.point_function(target.precision, target.language)?,
            block: self.clone(),
            target: *target,
            elements: elements.count(),
            coordinates: 0,
            arrays: Vec::new(),
            lists: None,
            units: None,
        };
        if self.reads_vertices() {
            let coordinates = match self.shape.degree_one {
                true => elements.node_coordinates(),
                false => elements.coordinates(),
            };
            kernels.coordinates = coordinates.len();
            let coordinates = Array::Reals(coordinates);
            kernels.arrays.push((Operand::Coordinates, coordinates));
            // At degree 1 vertices and nodes coincide.
            if !self.shape.degree_one {
                let vertices = Array::U32(elements.vertices());
                kernels.arrays.push((Operand::Vertices, vertices));
            }
        }
        if !self.shape.has_constant_tables(target.precision) {
            let tables = Array::Reals(source::tables(&self.element));
            kernels.arrays.push((Operand::Tables, tables));
        }
        let mut units = choice::matrix_units(&self.shape, target.precision).into_iter();
        kernels.units = units.find(|it| kernels.validate(it, target.vectors).is_ok());
        if let Some(Schedule::MatrixUnits(it)) = kernels.units {
            let (fragments, orbits) = it.tables(&self.element, target.precision);
            let fragments = (Operand::Fragments, Array::Reals(fragments));
            kernels.arrays.push(fragments);
            let orbits = orbits.map(|orbits| (Operand::Orbits, Array::U16(orbits)));
            kernels.arrays.extend(orbits);
        }
        if target.vectors.scatter() == Some(Scatter::Atomic) && !target.is_applied_once {
            let is_legal = |schedule: &Schedule| kernels.validate(schedule, target.vectors).is_ok();
            kernels.lists = Lists::new(&self.shape, target.precision, elements, is_legal);
        }
        Ok(Box::new(kernels))
    }
}

/// The kernels of a block on a device.
#[derive(Debug)]
struct Kernels {
    block: Block,
    target: Target,
    /// The printed form.
    point_form: String,
    elements: usize,
    /// Coordinates that an application reads.
    coordinates: usize,
    arrays: Vec<(Operand, Array)>,
    lists: Option<Lists>,
    /// The schedule with matrix units, if it is legal.
    units: Option<Schedule>,
}

impl Kernels {
    fn spec(&self, vectors: Vectors) -> KernelSpec<'_> {
        KernelSpec {
            element: &self.block.element,
            shape: self.block.shape,
            vectors,
            interleave: Interleave::NONE,
            point_form: &self.point_form,
            precision: self.target.precision,
            language: self.target.language,
        }
    }

    fn validate(
        &self,
        schedule: &Schedule,
        vectors: Vectors,
    ) -> Result<(), crate::family::ScheduleError> {
        let Target {
            precision, limits, ..
        } = &self.target;
        let vectors = (vectors, Interleave::NONE);
        schedule.validate(&self.block.shape, vectors, *precision, limits)
    }

    /// The lists, if `vectors` are nodal.
    fn lists(&self, vectors: Vectors) -> Option<&Lists> {
        let nodal = vectors.scatter().is_some();
        self.lists.as_ref().filter(|_| nodal)
    }

    fn work(&self, schedule: &Schedule, vectors: Vectors, lists: Option<&Lists>) -> Work {
        let counts = Counts {
            cells: self.elements,
            ..lists.map(|lists| lists.counts).unwrap_or_default()
        };
        // The cost of contributions is counted with their sums.
        let vectors = match vectors {
            Vectors::Element { .. } => vectors,
            Vectors::Nodal { interleaved, .. } => Vectors::Nodal {
                interleaved,
                scatter: Scatter::Atomic,
            },
        };
        let precision = self.target.precision;
        let coordinates = Work {
            bytes_read: (self.coordinates * precision.bytes()) as u64,
            ..Work::default()
        };
        coordinates + work::work(&self.block.shape, schedule, vectors, precision, counts)
    }
}

impl BlockKernels for Kernels {
    fn take_arrays(&mut self) -> Vec<(Operand, Array)> {
        let lists = self.lists.as_mut().map(|lists| &mut lists.arrays);
        let lists = lists.into_iter().flat_map(std::mem::take);
        std::mem::take(&mut self.arrays)
            .into_iter()
            .chain(lists)
            .collect()
    }

    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError> {
        let lists = self.lists(vectors);
        let usual = Schedule::usual(&self.block.shape);
        let best = lists.map_or(usual, |lists| lists.schedule);
        let all = self.units.into_iter().chain([best, choice::plainest()]);
        legal_candidates(all, |schedule| {
            self.validate(&schedule, vectors)?;
            let lists = lists.filter(|lists| lists.schedule == schedule);
            Ok(Candidate {
                schedule: schedule.to_string(),
                source: source::source(&self.spec(vectors), &schedule),
                places: lists.map_or(self.elements, |lists| lists.places),
                work: self.work(&schedule, vectors, lists),
            })
        })
    }

    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError> {
        Ok(diagonal_source(&self.spec(vectors)))
    }
}
