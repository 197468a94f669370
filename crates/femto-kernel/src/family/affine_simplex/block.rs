//! affine_simplex as a family.

use super::choice::defaults;
use super::schedule::{Rows, Schedule};
use super::source::{KernelSpec, matrices_rows, tables};
use super::{Matrices, fragments, host, orbits};
use crate::family::batch::ElementKernel;
use crate::family::{
    Array, BlockError, BlockKernels, BlockOperator, Candidate, CellMap, ElementOperator, Elements,
    Family, KernelSource, MapInput, MatrixLayout, Operand, Role, Target, Vectors, legal_candidates,
};
use crate::form::Form;
use crate::scalar::{SimdLevel, Vectorizable};
use femto_element::tables::Tables;
use femto_element::{Cell, MapKind};
use std::sync::Arc;

/// The lowest degree at which it was measured to be faster on an H200 than cell_quadrature between L-vectors, for ∇φ·∇u on
/// tetrahedra in fp64. On hosts it is at every degree.
const LEAST_DEGREE_ON_ACCELERATORS: usize = 3;

/// Sums of matrices of the reference cell.
#[derive(Clone, Copy, Debug)]
pub struct AffineSimplex;

impl Family for AffineSimplex {
    const NAME: &'static str = "affine_simplex";
    const ROLE: Role = Role::Special;
    type Block = Block;

    fn supports(cell: Cell, dim: usize) -> bool {
        matches!(cell, Cell::Triangle | Cell::Tetrahedron) && cell.dim() == dim
    }

    fn takes(
        operator: &ElementOperator,
        map: MapKind,
        accelerator: bool,
    ) -> Result<(), &'static str> {
        let least = operator.cell.lattice(LEAST_DEGREE_ON_ACCELERATORS).len();
        if accelerator && operator.tables.nodes() < least {
            return Err("the degree is so low that the other family was measured to be faster");
        }
        match (map, &operator.coefficients) {
            (MapKind::Multilinear | MapKind::Extruded | MapKind::Curved, _) => {
                Err("the cells are curved")
            }
            (MapKind::Affine, None) => Err(
                "the form is not λ u, κ ∇u with coefficients that are constant in each cell and may be folded",
            ),
            (MapKind::Affine, Some(_)) => Ok(()),
        }
    }

    fn folds(_: Cell) -> bool {
        true
    }

    fn block(operator: &Arc<ElementOperator>, _: MapKind, _: bool) -> Result<Block, BlockError> {
        let Tables::Dense(element) = &operator.tables else {
            return Err(BlockError::Tables { family: Self::NAME });
        };
        let inspection = &operator.inspection;
        let mass = inspection.reads_values && inspection.writes_values;
        let [on_host, on_devices] = Matrices::on_both(element, (mass, inspection.gradients()));
        Ok(Block {
            on_host,
            on_devices,
            components: inspection.components,
        })
    }
}

/// The operator on affine cells.
#[derive(Clone, Debug)]
pub struct Block {
    on_host: Arc<Matrices>,
    on_devices: Arc<Matrices>,
    components: usize,
}

impl Block {
    pub(in crate::family) fn kernel<T, F, const D: usize, const C: usize>(
        &self,
        _: &F,
        level: SimdLevel,
    ) -> Box<dyn ElementKernel<T>>
    where
        T: Vectorizable,
        F: Form<D, C> + Clone + 'static,
    {
        host::build(&self.on_host, self.components, level)
    }
}

impl BlockOperator for Block {
    fn map_input(&self) -> MapInput {
        MapInput::Vertices
    }

    fn geometry_numbers(&self) -> usize {
        self.on_host.factors()
    }

    fn pack(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        self.on_host.pack(map, coefficients, out);
    }

    fn pack_for_device(&self, map: CellMap, coefficients: (f64, f64), out: &mut [f64]) {
        self.on_devices.pack(map, coefficients, out);
    }

    fn folds_coefficients(&self) -> bool {
        true
    }

    fn scheduled_flops(&self) -> u64 {
        self.components as u64 * self.on_host.host_flops()
    }

    /// As Karakus, Warburton et al. count them for seven matrices.
    fn nominal_flops(&self) -> u64 {
        self.components as u64 * self.on_host.flops(self.on_host.factors())
    }

    fn stored(&self) -> String {
        format!("{} factors an element", self.on_host.factors())
    }

    fn kernels(
        &self,
        target: &Target,
        elements: &dyn Elements,
    ) -> Result<Box<dyn BlockKernels>, BlockError> {
        let matrices = self.on_devices.for_kernels(target.precision);
        let mut arrays = vec![(Operand::Tables, Array::Reals(tables(&matrices, true)))];
        if target.limits.matrix_units {
            let fragments = fragments(&matrices, target.precision);
            arrays.push((Operand::Fragments, Array::Reals(fragments)));
            arrays.push((Operand::Orbits, Array::U16(orbits(&matrices.symmetry))));
        }
        Ok(Box::new(Kernels {
            matrices,
            components: self.components,
            target: *target,
            elements: elements.count(),
            arrays,
        }))
    }
}

/// The kernels of a block on a device.
#[derive(Debug)]
struct Kernels {
    matrices: Arc<Matrices>,
    components: usize,
    target: Target,
    elements: usize,
    arrays: Vec<(Operand, Array)>,
}

impl Kernels {
    fn problem(&self, vectors: Vectors) -> KernelSpec<'_> {
        KernelSpec {
            matrices: &self.matrices,
            components: self.components,
            vectors,
            precision: self.target.precision,
            language: self.target.language,
        }
    }
}

impl BlockKernels for Kernels {
    fn matrices(&self, layout: MatrixLayout) -> Option<KernelSource> {
        let spec = self.problem(Vectors::ELEMENT);
        let schedule = Schedule::Rows(matrices_rows(layout));
        let legal = schedule.validate(spec.sizes(), self.target.precision, &self.target.limits);
        legal.ok().map(|()| spec.matrices_source(layout))
    }

    fn prefers_l1(&self) -> bool {
        true
    }

    fn take_arrays(&mut self) -> Vec<(Operand, Array)> {
        std::mem::take(&mut self.arrays)
    }

    fn candidates(&self, vectors: Vectors) -> Result<Vec<Candidate>, BlockError> {
        let problem = self.problem(vectors);
        let sizes = problem.sizes();
        let mut schedules = defaults(sizes.nodes, self.target.precision);
        schedules.push(Schedule::Rows(Rows::PLAIN));
        legal_candidates(schedules, |schedule| {
            schedule.validate(sizes, self.target.precision, &self.target.limits)?;
            Ok(Candidate {
                schedule: schedule.to_string(),
                source: problem.source(&schedule),
                places: self.elements,
                work: problem.work(&schedule, self.elements),
            })
        })
    }

    fn diagonal(&self, vectors: Vectors) -> Result<KernelSource, BlockError> {
        Ok(self.problem(vectors).diagonal_source(&self.target.limits))
    }
}
