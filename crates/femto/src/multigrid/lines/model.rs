//! Lines of a level of elements, with a separable model of the operator along them.
//!
//! On an element that is a product with a line along an axis, a line of nodes lies over each node c of the cell across the
//! axis. With strengths s_0 of the mass, s_a along the axis, s_f along other directions, and the matrices K and M of a line,
//!
//! ```text
//! A_l = s_a m_c K + (s_0 m_c + Σ_f s_f k_cf) M
//! ```
//! where m_c and k_cf are diagonal entries of the matrices of the mass and of the derivatives of the cell across. On boxes and
//! on straight columns with level layers that is A between nodes of the line. Each line is scaled to have the sum of
//! the diagonal entries of A.

use super::super::MultigridError;
use super::super::hierarchy::ConstrainedLevel;
use super::super::modes::Line;
use super::super::strengths::{Strengths, coupled, line_axes};
use super::chains::NONE;
use super::{Along, Chains, LineInverse};
use crate::Number;
use crate::elements::places;
use crate::operator::{Backend, OperatorError};
use crate::vector::{Csr, VectorOps, download_f64};
use femto_element::Cell;
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use rayon::prelude::*;

/// The lines of an element along an axis.
struct Lines {
    axis: usize,
    /// The nodes of each line, `[line][node]`.
    nodes: Vec<usize>,
    /// The line of each node, and its place there.
    places: Vec<[usize; 2]>,
    /// m, `[line]`.
    mass: Vec<f64>,
    /// k, `[line][direction]`; zero for the axis.
    stiffness: Vec<f64>,
}

impl Lines {
    /// The nodes of a line.
    fn line(&self, line: usize) -> &[usize] {
        let count = self.nodes.len() / self.mass.len();
        &self.nodes[line * count..][..count]
    }

    fn new(cell: Cell, degree: usize, axis: usize) -> Result<Option<Self>, MultigridError> {
        let Some(across) = cell.across(axis) else {
            return Ok(None);
        };
        let rule = rule(across, 2 * degree).map_err(OperatorError::from)?;
        let tables = DenseTables::new(&LagrangeBasis::new(across, degree)?, &rule);
        let axes: Vec<usize> = (0..cell.dim()).filter(|&other| other != axis).collect();
        let integral = |of: &dyn Fn(usize) -> f64| -> f64 {
            let points = rule.weights.iter().enumerate();
            points.map(|(point, weight)| weight * of(point)).sum()
        };
        let place = cell.lattice_places(degree);
        let (mut nodes, mut mass, mut stiffness) = (Vec::new(), Vec::new(), Vec::new());
        let pairs = coupled(cell);
        for (c, steps) in across.lattice(degree).into_iter().enumerate() {
            for along in 0..=degree {
                let mut at = [0; 3];
                axes.iter()
                    .zip(steps)
                    .for_each(|(&other, step)| at[other] = step);
                at[axis] = along;
                nodes.extend(place(at));
            }
            mass.push(integral(&|point| tables.value(point, c).powi(2)));
            let slopes = |[a, b]: [usize; 2]| {
                let number = |axis: usize| axes.iter().position(|&other| other == axis);
                let (Some(a), Some(b)) = (number(a), number(b)) else {
                    return 0.0;
                };
                integral(&|point| {
                    let slope = tables.gradient(point, c);
                    slope[a] * slope[b]
                })
            };
            // G_ab = (s_{a+b} - s_a - s_b)/2, and both G_ab and G_ba count.
            for a in 0..cell.dim() {
                let with_others = pairs.iter().filter(|pair| pair.contains(&a));
                let less: f64 = with_others.map(|&pair| slopes(pair)).sum();
                stiffness.push(slopes([a, a]) - less);
            }
            stiffness.extend(pairs.iter().map(|&pair| slopes(pair)));
        }
        let mut places = vec![[0; 2]; nodes.len()];
        for (number, &node) in nodes.iter().enumerate() {
            places[node] = [number / (degree + 1), number % (degree + 1)];
        }
        Ok(Some(Self {
            axis,
            nodes,
            places,
            mass,
            stiffness,
        }))
    }
}

impl Strengths {
    /// M⁻¹ of a level of degree 2 or more, from the diagonal of its matrix.
    pub(in crate::multigrid) fn lines<T: Number, D: Backend + VectorOps<T>>(
        &self,
        level: &ConstrainedLevel<T, D>,
        diagonal: &D::Buffer<T>,
    ) -> Result<LineInverse<T, D>, MultigridError> {
        let device = level.operator.device();
        let space = &level.blocks[0].space;
        let (degree, components) = (space.degree(), self.components);
        let line = Line::new(degree)?;
        let mut of_axes = Vec::new();
        for axis in line_axes(self.cell) {
            of_axes.extend(Lines::new(self.cell, degree, axis)?);
        }
        let listed = space.listed_nodes();
        let per_element = space.nodes_per_element();
        let places = places(level.blocks.iter().map(|block| &block.space));
        let chains = self.chains(&of_axes, (&listed, &places), (per_element, space.nodes()));
        let along = Along::new(&chains, components);
        let is_held = level.is_held();
        let directions = self.directions.len();
        // An element's part of a row.
        let add = |(node, component): (u32, usize), place: u32, row: &mut [f64]| {
            let (item, local) = (place as usize / per_element, place as usize % per_element);
            let nodes = &listed[item / components * per_element..][..per_element];
            let strengths = self.of_item(item);
            for (number, lines) in of_axes.iter().enumerate() {
                let [c, k] = lines.places[local];
                let own = lines.line(c);
                let next = if k == 0 { 1 } else { k - 1 };
                let is_along = along.before(node, nodes[own[next]]).is_some();
                // The diagonal is the same along every axis.
                if number > 0 && !is_along {
                    continue;
                }
                let stiffness = strengths[1 + lines.axis] * lines.mass[c];
                let across = &lines.stiffness[c * directions..][..directions];
                let across = strengths[1..].iter().zip(across).map(|(s, k)| s * k);
                let mass = strengths[0] * lines.mass[c] + across.sum::<f64>();
                let value = |other: usize| {
                    stiffness * line.stiffness(k, other) + mass * line.mass(k, other)
                };
                if number == 0 {
                    row[0] += value(k);
                }
                for (other, &local) in own.iter().enumerate().filter(|it| is_along && it.0 != k) {
                    let there = nodes[local];
                    let before = along.before(node, there);
                    if before.is_none() || is_held[there as usize * components + component] {
                        continue;
                    }
                    match before {
                        Some(before @ 1..) if before as usize <= degree => {
                            row[before as usize] += value(other);
                        }
                        // Coupled by a detour: M remains positive definite without it.
                        Some(before) if before.unsigned_abs() as usize > degree => {
                            row[0] += value(other).abs();
                        }
                        _ => {}
                    }
                }
            }
        };
        let exact = download_f64(device, diagonal)?;
        let row = |node: u32, component: usize, row: &mut [f64]| {
            let entry = node as usize * components + component;
            if !is_held[entry] {
                let places = places.row_columns(entry).iter();
                places.for_each(|&place| add((node, component), place, row));
            }
        };
        let slanted = Some(level.projector.slanted.clone());
        let lines = LineInverse::new(device, &along, (degree, Some(&exact)), row)?;
        Ok(LineInverse { slanted, ..lines })
    }

    /// Lines of nodes along the strongest axes, where elements disagree that of the one with the largest ratio.
    fn chains(
        &self,
        of_axes: &[Lines],
        (listed, places): (&[u32], &Csr<()>),
        (per_element, nodes): (usize, usize),
    ) -> Chains {
        // Of each element its axis, a place in `of_axes`, and the ratio, 0 if none is dominant.
        let dominant = (0..self.elements()).into_par_iter().map(|element| {
            let (axis, ratio) = self.dominant_axis(element).unwrap_or_default();
            let number = of_axes.iter().position(|lines| lines.axis == axis);
            (number.unwrap_or(0), ratio)
        });
        let dominant: Vec<(usize, f64)> = dominant.collect();
        let chosen = |node: usize| {
            let mut chosen = [NONE; 2];
            let mut ratios = [0.0; 2];
            for &place in places.row_columns(node * self.components) {
                let element = place as usize / per_element / self.components;
                let (number, ratio) = dominant[element];
                if ratio == 0.0 {
                    continue;
                }
                let lines = &of_axes[number];
                let [c, k] = lines.places[place as usize % per_element];
                let line = lines.line(c);
                let at = |k: usize| {
                    line.get(k)
                        .map_or(NONE, |&it| listed[element * per_element + it])
                };
                match [at(k.wrapping_sub(1)), at(k + 1)] {
                    [NONE, only] | [only, NONE] => {
                        // The two best of those that differ.
                        let least = usize::from(ratios[1] < ratios[0]);
                        if !chosen.contains(&only) && ratio > ratios[least] {
                            (chosen[least], ratios[least]) = (only, ratio);
                        }
                    }
                    both if ratio > ratios[0] => (chosen, ratios) = (both, [ratio; 2]),
                    _ => {}
                }
            }
            chosen
        };
        let nodes = (0..nodes).into_par_iter();
        Chains::new(&nodes.map(chosen).collect::<Vec<_>>())
    }
}
