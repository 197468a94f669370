//! How strongly a form couples along the directions of each element.

use super::hierarchy::ConstrainedLevel;
use super::{MultigridError, SmootherKind};
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use femto_element::Cell;
use femto_element::basis::nodes::positions;
use femto_element::quadrature::rule;
use rayon::prelude::*;

/// √(the ratio of two strengths), for a box its length over its width, from which on iterations with Schwarz take less time than
/// with the diagonal: from 5 to 8 on a core, about 7 on an H200, less on sheared cells (`docs/multigrid.md`).
const STRETCHED: f64 = 5.0;

/// The same for solves along lines, on a core; on an H200 it is about 4.
const THIN: f64 = 3.0;

/// An axis has segments of lines if its strength is this many times that of any other direction.
const DOMINANT: f64 = 2.0;

/// G_ab²/(G_aa G_bb) of a sheared cell: of a slope of 2.
const SHEARED: f64 = 0.8;

/// The part of all cells that may be stretched.
const FEW: f64 = 0.001;

/// The least strength of a direction, as a part of that of the mass.
const LEAST: f64 = 1e-3;

/// Strengths of a form on the elements of a space: the energies (f, A f) of linear functions f, which hold the map and any
/// coefficient.
pub(super) struct Strengths {
    pub(super) cell: Cell,
    pub(super) components: usize,
    /// The gradients of the functions: each axis, then the sum of each pair of axes that are not products with the others.
    pub(super) directions: Vec<[f64; 3]>,
    /// `[element][component][1 + directions]`, that of the mass first.
    pub(super) values: Vec<f64>,
}

/// An element's strengths along an axis, of which it is a product with a line, and along other directions, relative to its
/// extent in reference coordinates along each.
struct Compared {
    axis: usize,
    along: f64,
    /// The most and the least.
    others: [f64; 2],
}

impl Strengths {
    /// Of the operator of degree 1; `None` unless all cells have one shape that is a product with a line, and the form
    /// derivatives of each component along each axis.
    pub(super) fn new<T: Number, D: Backend + VectorOps<T>>(
        base: &ConstrainedLevel<T, D>,
    ) -> Result<Option<Self>, MultigridError> {
        let [block] = &base.blocks[..] else {
            return Ok(None);
        };
        let space = &block.space;
        let (cell, components) = (space.cell(), space.components());
        if line_axes(cell).next().is_none() {
            return Ok(None);
        }
        let directions = directions(cell);
        let rule = rule(cell, 2).map_err(OperatorError::from)?;
        let volume: f64 = rule.weights.iter().sum();
        let centre = cell.centre();
        let linear = |direction: &[f64; 3], x: &[f64; 3]| -> f64 {
            (0..3).map(|b| direction[b] * (x[b] - centre[b])).sum()
        };
        let mean_square = |direction: &[f64; 3]| -> f64 {
            let points = rule.points.iter().zip(&rule.weights);
            points
                .map(|(x, w)| w * linear(direction, x).powi(2))
                .sum::<f64>()
                / volume
        };
        let mean_squares: Vec<f64> = directions.iter().map(mean_square).collect();
        let functions = 1 + directions.len();
        // `[element][component][function]`.
        let mut strengths = vec![0.0; space.elements() * components * functions];
        for a in 0..functions {
            let at_corner = |x: &[f64; 3]| match a {
                0 => 1.0,
                a => linear(&directions[a - 1], x),
            };
            let at_corners: Vec<f64> = positions(cell, 1).iter().map(at_corner).collect();
            let energies = energies(base, &at_corners)?;
            let own = strengths.par_chunks_exact_mut(functions);
            own.zip(energies)
                .for_each(|(own, energy)| own[a] = energy / volume);
        }
        let of_items = strengths.par_chunks_exact_mut(functions);
        if of_items.any(|strengths| !separate(strengths, &mean_squares)) {
            return Ok(None);
        }
        Ok(Some(Self {
            cell,
            components,
            directions,
            values: strengths,
        }))
    }

    /// Numbers of an item.
    pub(super) fn functions(&self) -> usize {
        1 + self.directions.len()
    }

    /// Number of elements.
    pub(super) fn elements(&self) -> usize {
        self.values.len() / (self.components * self.functions())
    }

    /// Those of an item, an element times a component.
    pub(super) fn of_item(&self, item: usize) -> &[f64] {
        &self.values[item * self.functions()..][..self.functions()]
    }

    /// An element's strengths; its components count together, since each of them may be stiffer along its own axis. The axis
    /// is that of the strongest line.
    fn compared(&self, element: usize) -> Compared {
        let extent = |direction: &[f64; 3]| {
            let at =
                |v: usize| -> f64 { (0..3).map(|b| direction[b] * self.cell.vertex(v)[b]).sum() };
            let all = (0..self.cell.vertices()).map(at);
            let ends = all.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
                [low.min(x), high.max(x)]
            });
            ends[1] - ends[0]
        };
        let strength = |(a, direction): (usize, &[f64; 3])| {
            let items = (0..self.components).map(|c| element * self.components + c);
            items.map(|item| self.of_item(item)[1 + a]).sum::<f64>() / extent(direction).powi(2)
        };
        let all: Vec<f64> = self.directions.iter().enumerate().map(strength).collect();
        let axis = line_axes(self.cell).max_by(|&a, &b| all[a].total_cmp(&all[b]));
        let axis = axis.unwrap_or(0);
        let others = all.iter().enumerate().filter(|&(a, _)| a != axis);
        let others = others.map(|(_, &strength)| strength);
        Compared {
            axis,
            along: all[axis],
            others: [
                others.clone().fold(0.0, f64::max),
                others.fold(f64::INFINITY, f64::min),
            ],
        }
    }

    /// The axis along which nodes of an element are coupled more strongly than along others, and how much.
    pub(super) fn dominant_axis(&self, element: usize) -> Option<(usize, f64)> {
        let Compared {
            axis,
            along,
            others: [next, _],
        } = self.compared(element);
        (along > DOMINANT * next).then_some((axis, along / next))
    }

    /// What smooths best: the diagonal unless more than a few cells are stretched.
    pub(super) fn best<T: Number, D: Backend + VectorOps<T>>(
        &self,
        base: &ConstrainedLevel<T, D>,
    ) -> Result<SmootherKind, MultigridError> {
        let is_tensor = self.cell.is_tensor_product();
        let kind = |element: usize| {
            let Compared {
                along,
                others: [next, least],
                ..
            } = self.compared(element);
            // Solves along lines leave the ratio of the others, here more than they take away.
            let is_left = next * next > 2.0 * along * least;
            let is_stretched = is_tensor && along > STRETCHED * STRETCHED * least;
            let is_thin = along > THIN * THIN * least && along > DOMINANT * next;
            [is_stretched && is_left, is_stretched, is_thin].map(usize::from)
        };
        let sum = |a: [usize; 3], b: [usize; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        let kinds = (0..self.elements()).into_par_iter().map(kind);
        let counts = kinds.reduce(|| [0; 3], sum);
        let few = FEW * self.elements() as f64;
        let [are_left, are_stretched, are_thin] = counts.map(|count| count as f64 > few);
        Ok(match () {
            () if are_left => SmootherKind::Schwarz,
            () if are_stretched && self.sheared(base)? as f64 > few => SmootherKind::Schwarz,
            () if are_thin => SmootherKind::Lines,
            () if are_stretched => SmootherKind::Schwarz,
            () => SmootherKind::Diagonal,
        })
    }

    /// The number of elements with a shear that hides how weakly errors are coupled which change along and across lines alike:
    /// with the metric G, G_ab² is close to G_aa G_bb.
    fn sheared<T: Number, D: Backend + VectorOps<T>>(
        &self,
        base: &ConstrainedLevel<T, D>,
    ) -> Result<usize, MultigridError> {
        let (dim, components) = (self.cell.dim(), self.components);
        let volume = 2.0_f64.powi(dim as i32);
        let mut is_sheared = vec![false; self.elements()];
        for (a, b) in (0..dim).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let corners = positions(self.cell, 1);
            let at_corners: Vec<f64> = corners.iter().map(|x| x[a] + x[b]).collect();
            let energies = energies(base, &at_corners)?;
            let elements = is_sheared.par_iter_mut().enumerate();
            elements.for_each(|(element, is_sheared)| {
                let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
                    (0..components).map(|c| of(element * components + c)).sum()
                };
                let [own, other] = [a, b].map(|a| sum(&|item| self.of_item(item)[1 + a]));
                // The mean of (ξ_a + ξ_b)² is 2/3.
                let both = sum(&|item| energies[item] / volume - self.of_item(item)[0] * 2.0 / 3.0);
                let shear = (both - own - other) / 2.0;
                let is_dominant = own.max(other) > THIN * THIN * own.min(other);
                *is_sheared |= shear * shear > SHEARED * own * other && !is_dominant;
            });
        }
        Ok(is_sheared.into_par_iter().filter(|&it| it).count())
    }
}

/// The energies of a function on each element, given at its vertices, in each component alone: `[element][component]`.
fn energies<T: Number, D: Backend + VectorOps<T>>(
    base: &ConstrainedLevel<T, D>,
    at_corners: &[f64],
) -> Result<Vec<f64>, MultigridError> {
    let space = &base.blocks[0].space;
    let (components, corners) = (space.components(), at_corners.len());
    let device = base.operator.device();
    let len = space.elements() * components * corners;
    let [mut u, mut v] = [device.zeros(len)?, device.zeros(len)?];
    let mut values = vec![T::default(); len];
    let mut energies = vec![0.0; space.elements() * components];
    for c in 0..components {
        let of_items = values.par_chunks_exact_mut(corners).enumerate();
        of_items.for_each(|(item, values)| {
            let size = if item % components == c { 1.0 } else { 0.0 };
            for (value, at_corner) in values.iter_mut().zip(at_corners) {
                *value = T::from_f64(size * at_corner);
            }
        });
        device.write(&values, &mut u)?;
        base.operator.apply_elements(&u, &mut v)?;
        device.read(&v, &mut values)?;
        let own = energies
            .par_iter_mut()
            .zip(values.par_chunks_exact(corners));
        let own = own.enumerate().filter(|(item, _)| item % components == c);
        own.for_each(|(_, (energy, values))| {
            let products = values.iter().zip(at_corners);
            *energy = products.map(|(v, at_corner)| at_corner * v.to_f64()).sum();
        });
    }
    Ok(energies)
}

/// The axes along which a cell is a product with a line.
pub(super) fn line_axes(cell: Cell) -> impl Iterator<Item = usize> {
    (0..cell.dim()).filter(move |&axis| cell.across(axis).is_some())
}

/// The directions whose energies determine the metric, as far as a product with lines needs it.
fn directions(cell: Cell) -> Vec<[f64; 3]> {
    let unit = |a: usize| [0, 1, 2].map(|b| if a == b { 1.0 } else { 0.0 });
    let axes = (0..cell.dim()).map(unit);
    let pairs = coupled(cell).into_iter();
    let pairs = pairs.map(|[a, b]| [0, 1, 2].map(|axis| unit(a)[axis] + unit(b)[axis]));
    axes.chain(pairs).collect()
}

/// The pairs of axes that are not products with the others.
pub(super) fn coupled(cell: Cell) -> Vec<[usize; 2]> {
    let axes = (0..cell.dim()).filter(|&axis| cell.across(axis).is_none());
    let axes: Vec<usize> = axes.collect();
    let pairs = axes.iter().flat_map(|&a| axes.iter().map(move |&b| [a, b]));
    pairs.filter(|[a, b]| a < b).collect()
}

/// Makes strengths of the energies of 1 and each function, given the means of its square, those of the mass first; whether
/// they are positive.
fn separate(energies: &mut [f64], mean_squares: &[f64]) -> bool {
    let Some((mass, others)) = energies.split_first_mut() else {
        return false;
    };
    let are_positive = others.iter_mut().zip(mean_squares).all(|(energy, mean)| {
        let is_positive = *energy > 0.0 && energy.is_finite();
        // Where the mass dominates, rounding counts.
        *energy = (*energy - *mass * mean).max(LEAST * *mass);
        is_positive
    });
    let is_finite = mass.is_finite();
    *mass = mass.max(0.0);
    are_positive && is_finite
}
