//! A compiled kernel, and what it is given.

use super::arrays::{Arrays, Lists};
use crate::Number;
use crate::operator::accelerator::contributions::Contributions;
use femto_kernel::family::simplex_quadrature::Shape;
use femto_kernel::family::simplex_quadrature::schedule::Schedule;
use femto_kernel::family::simplex_quadrature::source::{Operand, SimplexKernel};
use femto_platform::cache::KernelCache;
use femto_platform::device::DeviceError;
use femto_platform::device::accelerator::{
    Accelerator, AcceleratorBuffer, Argument, Kernel, KernelText, Launch,
};

/// A kernel with its source; none before it is compiled.
#[derive(Debug)]
pub(super) struct Compiled(Option<(SimplexKernel, Kernel)>);

/// What the operands of a launch are.
pub(super) struct Call<'a, T: Number> {
    pub(super) shape: &'a Shape,
    pub(super) arrays: &'a Arrays<T>,
    pub(super) lists: Option<&'a Lists<T>>,
    /// Fields in the solution's space, and the distance of L-vectors among them.
    pub(super) fields: &'a AcceleratorBuffer<T>,
    pub(super) field_stride: usize,
    pub(super) conditions: &'a AcceleratorBuffer<T>,
    /// Nodes of u and v, and the distance of their components.
    pub(super) nodes: usize,
    pub(super) stride: usize,
    pub(super) contributions: Option<(&'a Contributions<T>, &'a mut AcceleratorBuffer<T>)>,
    /// Cells of groups before this one.
    pub(super) first: usize,
}

impl Compiled {
    pub(super) const NONE: Self = Self(None);

    pub(super) fn new(
        device: &Accelerator,
        cache: &KernelCache,
        source: SimplexKernel,
        entry: &str,
    ) -> Result<Self, DeviceError> {
        let text = KernelText::new(&source.name, &source.text);
        let kernel = device.compile(&text, cache)?.kernel(entry)?;
        Ok(Self(Some((source, kernel))))
    }

    pub(super) fn schedule(&self) -> Option<Schedule> {
        self.0.as_ref().map(|(source, _)| source.schedule)
    }

    /// Whether it reads lists of nodes per block.
    pub(super) fn has_lists(&self) -> bool {
        matches!(self.schedule(), Some(Schedule::BlockLocal(_)))
    }

    /// The schedule in words.
    pub(super) fn words(&self) -> String {
        self.schedule().map(|it| it.to_string()).unwrap_or_default()
    }

    /// Starts it over all cells of the call.
    pub(super) fn launch<T: Number>(
        &self,
        device: &Accelerator,
        call: &mut Call<'_, T>,
        u: &AcceleratorBuffer<T>,
        v: &mut AcceleratorBuffer<T>,
    ) -> Result<(), DeviceError> {
        let Some((source, kernel)) = &self.0 else {
            return Ok(());
        };
        let launch = Launch {
            blocks: source.schedule.blocks(call.shape, call.cells()),
            threads: source.block.threads,
            shared_bytes: source.block.shared_bytes(T::PRECISION),
        };
        let arguments: Vec<Argument<'_>> = source
            .operands
            .iter()
            .filter_map(|&operand| call.argument(operand, u, v))
            .collect();
        device.launch(kernel, &launch, &arguments)
    }
}

impl<T: Number> Call<'_, T> {
    /// Cells, or places for them in fans.
    fn cells(&self) -> usize {
        self.lists.map_or(self.arrays.cells, |lists| lists.cells)
    }

    /// What an operand is; what a kernel of these arrays does not ask for is missing.
    fn argument<'b>(
        &'b self,
        operand: Operand,
        u: &'b AcceleratorBuffer<T>,
        v: &'b AcceleratorBuffer<T>,
    ) -> Option<Argument<'b>> {
        let number = |number: usize| Some(Argument::U32(number as u32));
        let arrays = self.arrays;
        let contributions = self.contributions.as_ref();
        match operand {
            Operand::Blocks => self.lists.map(|lists| Argument::input(&lists.blocks)),
            Operand::BlockLocal => self.lists.map(|lists| Argument::input(&lists.local)),
            Operand::BlockEnds => self.lists.map(|lists| Argument::input(&lists.ends)),
            Operand::BlockSlots => self.lists.map(|lists| Argument::input(&lists.slots)),
            Operand::BlockList => self.lists.map(|lists| Argument::input(&lists.list)),
            Operand::Geometry => Some(Argument::input(&arrays.geometry)),
            Operand::Coordinates => arrays.coordinates.as_deref().map(Argument::input),
            // At degree 1 they are the nodes.
            Operand::Vertices => {
                let vertices = arrays.vertices.as_ref().unwrap_or(&arrays.nodes);
                Some(Argument::input(vertices))
            }
            Operand::Nodes => Some(Argument::input(&arrays.nodes)),
            Operand::NodeCount => number(self.nodes),
            Operand::ComponentStride => number(self.stride),
            Operand::Contributions => contributions.map(|(_, buffer)| Argument::input(&**buffer)),
            Operand::ContributionStride => {
                number(contributions.map_or(0, |(contributions, _)| contributions.stride()))
            }
            Operand::ContributionFirst => number(self.first),
            Operand::CellFields => {
                let of_fans = self.lists.map(|lists| &lists.cell_fields);
                let fields = of_fans.unwrap_or(&arrays.cell_fields);
                fields.as_ref().map(Argument::input)
            }
            Operand::NodalFields => Some(Argument::input(self.fields)),
            Operand::FieldStride => number(self.field_stride),
            Operand::PointFields => arrays.point_fields.as_ref().map(Argument::input),
            Operand::EvalContext => Some(Argument::input(self.conditions)),
            Operand::U => Some(Argument::input(u)),
            Operand::V => Some(Argument::input(v)),
            Operand::Cells => number(self.cells()),
        }
    }
}
