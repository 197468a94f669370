//! How strongly a form couples along the directions of each element.

use super::hierarchy::ConstrainedLevel;
use super::{MultigridError, SmootherKind};
use crate::Number;
use crate::operator::{Backend, OperatorError};
use crate::vector::VectorOps;
use femto_element::basis::nodes::positions;
use femto_element::quadrature::{Rule, rule};
use femto_element::{Cell, Degree};
use femto_fem::parallel;

/// √(the ratio of two strengths), for a box its length over its width, from which on iterations with Schwarz take less time than
/// with the diagonal: from 5 to 8 on a core, about 6 on an H200, less on sheared cells (`docs/multigrid.md`).
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

/// Strengths of a form on the elements of a space: the energies (f, A f) of linear functions f, whose gradients are the
/// [`directions`]; they hold the map and any coefficient.
pub(super) struct Strengths {
    pub(super) cell: Cell,
    pub(super) components: usize,
    /// Of the reference cell along each of the [`directions`], in steps between nodes.
    extents: Vec<f64>,
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
        let functions = 1 + directions.len();
        // `[element][component][function]`.
        let mut strengths = vec![0.0; space.elements() * components * functions];
        let (mut energies, mut mean_squares) = (Energies::new(base)?, Vec::new());
        let all = std::iter::once(None).chain(directions.iter().map(Some));
        for (a, direction) in all.enumerate() {
            let (of_items, mean_square) = energies.of(direction)?;
            parallel::chunks(&mut strengths, functions, |item, own| {
                own[a] = of_items[item]
            });
            mean_squares.push(mean_square);
        }
        let separated = parallel::try_chunks(&mut strengths, functions, |_, own| {
            separate(own, &mean_squares[1..]).then_some(()).ok_or(())
        });
        if separated.is_err() {
            return Ok(None);
        }
        Ok(Some(Self {
            cell,
            components,
            extents: directions.iter().map(|it| extent(cell, it)).collect(),
            values: strengths,
        }))
    }

    /// For smoothing a space of a degree: if it is higher vertically, nodes are as much nearer to each other there.
    pub(super) fn of_degree(mut self, degree: Degree) -> Self {
        let steps = self.cell.steps(degree);
        for (extent, direction) in self.extents.iter_mut().zip(directions(self.cell)) {
            let along = (0..3).filter(|&axis| direction[axis] != 0.0);
            let steps = along.map(|axis| steps[axis]).max().unwrap_or(1);
            *extent *= degree.horizontal as f64 / steps as f64;
        }
        self
    }

    /// Numbers of an item.
    pub(super) fn functions(&self) -> usize {
        1 + self.extents.len()
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
        let strength = |(a, extent): (usize, &f64)| {
            let items = (0..self.components).map(|c| element * self.components + c);
            items.map(|item| self.of_item(item)[1 + a]).sum::<f64>() / (extent * extent)
        };
        let all: Vec<f64> = self.extents.iter().enumerate().map(strength).collect();
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
        let few = FEW * self.elements() as f64;
        let [are_left, are_stretched, are_thin] = self.counts().map(|count| count as f64 > few);
        Ok(match () {
            () if are_left => SmootherKind::Schwarz,
            () if are_stretched && self.sheared(base)? as f64 > few => SmootherKind::Schwarz,
            () if are_thin => SmootherKind::Lines,
            () if are_stretched => SmootherKind::Schwarz,
            () => SmootherKind::Diagonal,
        })
    }

    /// Numbers of elements: which are stretched so that solves along lines leave a part, which are stretched at all, and
    /// which are thin.
    fn counts(&self) -> [usize; 3] {
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
        let add = |a: [usize; 3], b: [usize; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        parallel::reduce(self.elements(), [0; 3], kind, add)
    }

    /// The number of elements with a shear that hides how weakly errors are coupled which change along and across lines alike:
    /// with the metric G, G_ab² is close to G_aa G_bb.
    fn sheared<T: Number, D: Backend + VectorOps<T>>(
        &self,
        base: &ConstrainedLevel<T, D>,
    ) -> Result<usize, MultigridError> {
        let (dim, components) = (self.cell.dim(), self.components);
        let mut energies = Energies::new(base)?;
        let mut is_sheared = vec![false; self.elements()];
        for (a, b) in (0..dim).flat_map(|b| (0..b).map(move |a| (a, b))) {
            let (of_items, mean_square) = energies.of(Some(&sum([a, b])))?;
            parallel::each(&mut is_sheared, |element, is_sheared| {
                let total = |of: &dyn Fn(usize) -> f64| -> f64 {
                    (0..components).map(|c| of(element * components + c)).sum()
                };
                let [own, other] = [a, b].map(|a| total(&|item| self.of_item(item)[1 + a]));
                let both = total(&|item| of_items[item] - self.of_item(item)[0] * mean_square);
                let shear = (both - own - other) / 2.0;
                let is_dominant = own.max(other) > THIN * THIN * own.min(other);
                *is_sheared |= shear * shear > SHEARED * own * other && !is_dominant;
            });
        }
        Ok(is_sheared.into_iter().filter(|&it| it).count())
    }
}

/// Finds energies on the elements of a level of degree 1.
struct Energies<'a, T: Number, D: Backend> {
    base: &'a ConstrainedLevel<T, D>,
    /// Exact for squares of linear functions.
    rule: Rule,
    /// E-vectors, on the host and on the device.
    values: Vec<T>,
    u: D::Buffer<T>,
    v: D::Buffer<T>,
}

impl<'a, T: Number, D: Backend + VectorOps<T>> Energies<'a, T, D> {
    fn new(base: &'a ConstrainedLevel<T, D>) -> Result<Self, MultigridError> {
        let (space, device) = (&base.blocks[0].space, base.operator.device());
        let len = space.element_dofs();
        Ok(Self {
            base,
            rule: rule(space.cell(), 2).map_err(OperatorError::from)?,
            values: vec![T::default(); len],
            u: device.zeros(len)?,
            v: device.zeros(len)?,
        })
    }

    /// Those of the linear function with this gradient that is zero at the centre, or of 1, in each component alone,
    /// `[element][component]`, and the mean of its square; energies relative to the volume of the reference cell.
    fn of(&mut self, gradient: Option<&[f64; 3]>) -> Result<(Vec<f64>, f64), MultigridError> {
        let space = &self.base.blocks[0].space;
        let (cell, components) = (space.cell(), space.components());
        let centre = cell.centre();
        let function = |x: &[f64; 3]| -> f64 {
            let linear = |g: &[f64; 3]| (0..3).map(|b| g[b] * (x[b] - centre[b])).sum();
            gradient.map_or(1.0, linear)
        };
        let volume: f64 = self.rule.weights.iter().sum();
        let points = self.rule.points.iter().zip(&self.rule.weights);
        let square: f64 = points.map(|(x, w)| w * function(x).powi(2)).sum();
        let at_corners: Vec<f64> = positions(cell, 1).iter().map(function).collect();
        let (corners, device) = (at_corners.len(), self.base.operator.device());
        let mut energies = vec![0.0; space.elements() * components];
        for c in 0..components {
            parallel::chunks(&mut self.values, corners, |item, values| {
                let size = if item % components == c { 1.0 } else { 0.0 };
                for (value, at_corner) in values.iter_mut().zip(&at_corners) {
                    *value = T::from_f64(size * at_corner);
                }
            });
            device.write(&self.values, &mut self.u)?;
            self.base.operator.apply_elements(&self.u, &mut self.v)?;
            device.read(&self.v, &mut self.values)?;
            let values = |item: usize| &self.values[item * corners..][..corners];
            parallel::chunks(&mut energies, components, |element, energies| {
                let energy = &mut energies[c];
                let products = values(element * components + c).iter().zip(&at_corners);
                let product: f64 = products.map(|(v, at_corner)| at_corner * v.to_f64()).sum();
                *energy = product / volume;
            });
        }
        Ok((energies, square / volume))
    }
}

/// The axes along which a cell is a product with a line.
pub(super) fn line_axes(cell: Cell) -> impl Iterator<Item = usize> {
    (0..cell.dim()).filter(move |&axis| cell.across(axis).is_some())
}

/// The directions whose energies determine the metric, as far as a product with lines needs it: each axis, then the sum of
/// each of the [`coupled`] pairs.
fn directions(cell: Cell) -> Vec<[f64; 3]> {
    let axes = (0..cell.dim()).map(|a| sum([a]));
    axes.chain(coupled(cell).into_iter().map(sum)).collect()
}

/// The sum of the unit vectors along some axes.
fn sum<const N: usize>(axes: [usize; N]) -> [f64; 3] {
    [0, 1, 2].map(|a| if axes.contains(&a) { 1.0 } else { 0.0 })
}

/// The extent of a reference cell along a direction: how much the linear function with this gradient changes.
fn extent(cell: Cell, direction: &[f64; 3]) -> f64 {
    let at = |v: usize| -> f64 { (0..3).map(|b| direction[b] * cell.vertex(v)[b]).sum() };
    let ends = (0..cell.vertices())
        .map(at)
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| {
            [low.min(x), high.max(x)]
        });
    ends[1] - ends[0]
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
