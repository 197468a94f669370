//! The schedule of the pencil kernel: its knobs and rules.

use super::padding::{Places, Stage, Strides};
use super::{PointStep, Problem};
use crate::dialect::BlockShape;
use crate::family::fields::FieldKind;
use crate::family::sum_factorization::Storage;
use crate::family::sum_factorization::work::Shape;
use crate::family::{Limits, ScheduleError};
use crate::roofline::Precision;
use core::fmt;

/// The knobs of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Elements of a block: several at low degree, so that a block fills some warps.
    pub elements_per_block: u32,
    /// Blocks that shall fit a compute unit at the same time; the compiler limits registers by it.
    pub blocks_per_unit: u32,
    /// Contractions by even and odd parts: about half of the products.
    pub even_odd: bool,
    /// No element belongs to two warps, so that only warps wait for themselves; for at most 32
    /// pencils. Elements of a block are then a multiple of [`warp_elements`].
    pub by_warp: bool,
    /// The memory of the values and derivatives of the point step.
    pub points: PointData,
}

/// The memory of the values and derivatives of the point step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PointData {
    /// For factors: of one component, derivatives along ξ and η in shared memory.
    Factors {
        /// A third array in shared memory, which spares a barrier. Only with gradients.
        third_cube: bool,
        /// Values stay in registers while the derivatives are taken; needed without a third cube.
        keep_values: bool,
        /// Points of a pencil that the metric step is unrolled by; 0 for all of them, with the
        /// derivative along the pencil in registers. Others need the third cube.
        metric_unroll: u32,
        /// Factors at points are copied to shared memory from when an element begins.
        staged: bool,
    },
    /// For forms: derivatives along ξ and η in shared memory, the others in registers; loops are unrolled.
    Registers,
    /// For forms: everything in shared memory.
    Shared,
    /// For forms: everything in private memory, which is in caches; needs least shared memory.
    Private,
}

impl PointData {
    /// The choice for factors that needs least of a device.
    pub(super) const FACTORS: Self = Self::Factors {
        third_cube: false,
        keep_values: true,
        metric_unroll: 0,
        staged: false,
    };

    /// Whether factors are staged in shared memory.
    pub(super) fn is_staged(self) -> bool {
        matches!(self, Self::Factors { staged: true, .. })
    }
}

/// Threads that execute together, of the devices that `by_warp` is for.
pub(super) const WARP: u32 = 32;

/// Elements that fit a warp.
pub fn warp_elements(shape: &Shape) -> u32 {
    WARP / shape.pencils() as u32
}

impl Schedule {
    /// Whether a device can run it for a problem.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub fn validate(&self, problem: &Problem, limits: &Limits) -> Result<(), ScheduleError> {
        if let Err(rule) = self.rules(problem) {
            return Err(ScheduleError::Rule {
                schedule: self.to_string(),
                rule,
            });
        }
        if problem.precision == Precision::Fp64 && !limits.fp64 {
            return Err(ScheduleError::Fp64);
        }
        let block = self.block(problem);
        let ([asked, ..], most) = (block.threads, limits.threads.min(limits.threads_xyz[0]));
        if asked > most {
            return Err(ScheduleError::Threads {
                asked: block.threads,
                most: limits.threads,
                most_xyz: limits.threads_xyz,
            });
        }
        let (asked, most) = (block.shared_bytes(problem.precision), limits.shared_bytes);
        if asked > most {
            return Err(ScheduleError::SharedMemory { asked, most });
        }
        Ok(())
    }

    /// The rules that hold on every device.
    fn rules(&self, problem: &Problem) -> Result<(), &'static str> {
        let shape = &problem.shape;
        if self.elements_per_block == 0 || self.blocks_per_unit == 0 {
            return Err("a block has elements, and a compute unit blocks");
        }
        if shape.points_1d < shape.nodes_1d {
            return Err("there are at least as many points as nodes");
        }
        if self.by_warp {
            match warp_elements(shape) {
                0 => return Err("an element by warp has at most 32 pencils"),
                several if !self.elements_per_block.is_multiple_of(several) => {
                    return Err("elements of a block are a multiple of those of a warp");
                }
                _ => {}
            }
        }
        match (problem.step, self.points) {
            (PointStep::Factors(_), _) if shape.dim == 2 => {
                Err("factors are folded on hexahedra alone")
            }
            (PointStep::Factors(_), PointData::Factors { .. }) => self.factor_rules(shape.storage),
            (PointStep::Factors(_), _) => Err("factors have a place of their own for point data"),
            (PointStep::Form(_), PointData::Factors { .. }) => {
                Err("point data of factors are not for any form")
            }
            (PointStep::Form(_), _) => match shape.storage {
                Storage::ElementFactors | Storage::PointFactors => {
                    Err("factors are not for any form, as this kernel is")
                }
                _ => Ok(()),
            },
        }
    }

    fn factor_rules(&self, storage: Storage) -> Result<(), &'static str> {
        let PointData::Factors {
            third_cube,
            keep_values,
            metric_unroll,
            staged,
        } = self.points
        else {
            return Ok(());
        };
        if !(third_cube || keep_values) {
            return Err("without a third cube values stay in registers");
        }
        if metric_unroll > 0 && !third_cube {
            return Err("a metric step that is not wholly unrolled needs a third cube");
        }
        if staged && storage != Storage::PointFactors {
            return Err("only factors at points are staged");
        }
        match storage {
            Storage::ElementFactors | Storage::Multilinear | Storage::PointFactors => Ok(()),
            Storage::Affine | Storage::Jacobians => {
                Err("the form is not lambda u, kappa grad u, which this kernel is for")
            }
        }
    }

    /// The block of threads and its shared memory.
    pub fn block(&self, problem: &Problem) -> BlockShape {
        let places = Places::of(self, &problem.shape);
        BlockShape {
            threads: [places.threads, 1, 1],
            blocks_per_unit: self.blocks_per_unit,
            shared_reals: match self.points.is_staged() {
                true => Stage::of(self, problem).end,
                false => places.slots * Strides::of(self, &problem.shape).slot,
            },
        }
    }

    /// Arrays of points in shared memory; of forms as `CUBE_OF` of `family/sum_factorization/text/forms.h`
    /// numbers them.
    pub(super) fn cubes(&self, shape: &Shape) -> u32 {
        let (components, fields) = (shape.components, shape.fields.count(FieldKind::Nodal));
        let (field_gradients, dim) = (shape.field_gradients != 0, shape.dim);
        let cubes = match (self.points, shape.gradients) {
            (PointData::Factors { third_cube, .. }, true) => 2 + usize::from(third_cube),
            (PointData::Registers, true) if field_gradients => {
                1 + (dim - 1) * (components + fields)
            }
            (PointData::Registers, true) => 1 + (dim - 1) * components,
            (PointData::Shared, gradients) => {
                let of_component = match gradients {
                    true => dim + usize::from(shape.values),
                    false => 1,
                };
                let of_field = if field_gradients { dim + 1 } else { 1 };
                components * of_component + fields * of_field
            }
            _ => 1,
        };
        cubes as u32
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (elements, blocks) = (self.elements_per_block, self.blocks_per_unit);
        let layout = format!("{elements} elements a block, {blocks} blocks a unit");
        let form = match self.points {
            PointData::Factors {
                third_cube,
                keep_values,
                metric_unroll,
                staged,
            } => {
                write!(f, "pencils, {layout}")?;
                let set = [
                    (self.even_odd, "even-odd"),
                    (third_cube, "third cube"),
                    (keep_values, "values in registers"),
                    (staged, "factors staged"),
                    (self.by_warp, "by warp"),
                ];
                write_set(f, &set)?;
                return match metric_unroll {
                    0 => Ok(()),
                    points => write!(f, ", metric unrolled by {points}"),
                };
            }
            PointData::Registers => "registers",
            PointData::Shared => "shared memory",
            PointData::Private => "private memory",
        };
        write!(f, "forms, {layout}, points in {form}")?;
        write_set(f, &[(self.even_odd, "even-odd"), (self.by_warp, "by warp")])
    }
}

fn write_set(f: &mut fmt::Formatter<'_>, words: &[(bool, &str)]) -> fmt::Result {
    let mut set = words.iter().filter(|(set, _)| *set);
    set.try_for_each(|(_, words)| write!(f, ", {words}"))
}
