//! Lines of a level of elements, with a separable model of the operator along them.
//!
//! On an element that is a product with a line along an axis, a line of nodes lies over each node c of the cell across the
//! axis. With strengths s_0 of the mass, s_a along the axis, s_f along other directions, and the matrices K and M of a line,
//!
//! ```text
//! A_l = s_a m_c K + (s_0 m_c + Σ_f s_f k_cf) M
//! ```
//!
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
use femto_element::basis::LagrangeBasis;
use femto_element::quadrature::rule;
use femto_element::tables::DenseTables;
use femto_element::{Cell, Degree};
use femto_fem::parallel;

/// The part of all entries at which the diagonal of the model may be another one.
const FEW: f64 = 0.001;

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

    fn new(cell: Cell, degree: Degree, axis: usize) -> Result<Option<Self>, MultigridError> {
        let Some(across) = cell.across(axis) else {
            return Ok(None);
        };
        // If they differ, the axis points upwards.
        let [horizontal, vertical] = [degree.horizontal, degree.vertical];
        let rule = rule(across, 2 * horizontal).map_err(OperatorError::from)?;
        let tables = DenseTables::new(&LagrangeBasis::new(across, horizontal)?, &rule);
        let axes: Vec<usize> = (0..cell.dim()).filter(|&other| other != axis).collect();
        let integral = |of: &dyn Fn(usize) -> f64| -> f64 {
            let points = rule.weights.iter().enumerate();
            points.map(|(point, weight)| weight * of(point)).sum()
        };
        let place = cell.lattice_places(degree);
        let (mut nodes, mut mass, mut stiffness) = (Vec::new(), Vec::new(), Vec::new());
        let pairs = coupled(cell);
        for (c, steps) in across.lattice(horizontal).into_iter().enumerate() {
            for along in 0..=vertical {
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
            places[node] = [number / (vertical + 1), number % (vertical + 1)];
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
    /// M⁻¹ of a level of degree 2 or more, from the diagonal of its matrix. `None` where it is a poor one, unless lines are
    /// `wanted`: coefficients vary within cells so much that the model's diagonal is another one, or lines are rings.
    pub(in crate::multigrid) fn lines<T: Number, D: Backend + VectorOps<T>>(
        &self,
        level: &ConstrainedLevel<T, D>,
        (diagonal, wanted): (&D::Buffer<T>, bool),
    ) -> Result<Option<LineInverse<T, D>>, MultigridError> {
        let device = level.operator.device();
        let space = &level.blocks[0].space;
        let (degree, components) = (space.degree().vertical, self.components);
        let line = Line::new(degree)?;
        let mut of_axes = Vec::new();
        for axis in line_axes(self.cell) {
            of_axes.extend(Lines::new(self.cell, space.degree(), axis)?);
        }
        let listed = space.listed_nodes();
        let per_element = space.nodes_per_element();
        let places = places(level.blocks.iter().map(|block| &block.space));
        let chains = self.chains(&of_axes, (&listed, &places), (per_element, space.nodes()));
        if chains.has_rings && !wanted {
            return Ok(None);
        }
        let along = Along::new(&chains, components);
        let is_held = level.is_held();
        let directions = self.functions() - 1;
        // An element's part of a row.
        let add = |(node, component): (u32, usize), place: u32, row: &mut [f64]| {
            let (item, local) = (place as usize / per_element, place as usize % per_element);
            let nodes = &listed[item / components * per_element..][..per_element];
            let strengths = self.of_item(item);
            for (number, lines) in of_axes.iter().enumerate() {
                let [c, k] = lines.places[local];
                let own = lines.line(c);
                let stiffness = strengths[1 + lines.axis] * lines.mass[c];
                let across = &lines.stiffness[c * directions..][..directions];
                let across = strengths[1..].iter().zip(across).map(|(s, k)| s * k);
                // Each strength has its own least value, and together they may be too small.
                let mass = strengths[0] * lines.mass[c] + across.sum::<f64>().max(0.0);
                let value = |other: usize| {
                    stiffness * line.stiffness(k, other) + mass * line.mass(k, other)
                };
                // The diagonal is the same along every axis.
                if number == 0 {
                    row[0] += value(k);
                }
                for (other, &local) in own.iter().enumerate().filter(|it| it.0 != k) {
                    let there = nodes[local];
                    let before = along.before(node, there);
                    if before.is_none() || is_held[along.entry(there, component)] {
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
            let entry = along.entry(node, component);
            if !is_held[entry] {
                let places = places.row_columns(entry).iter();
                places.for_each(|&place| add((node, component), place, row));
            }
        };
        let slanted = Some(level.projector.slanted.clone());
        let lines = LineInverse::new(device, &along, (degree, Some(&exact)), &row)?;
        Ok((lines.off <= FEW || wanted).then_some(LineInverse { slanted, ..lines }))
    }

    /// Lines of nodes along the strongest axes, where elements disagree that of the one with the largest ratio.
    fn chains(
        &self,
        of_axes: &[Lines],
        (listed, places): (&[u32], &Csr<()>),
        (per_element, nodes): (usize, usize),
    ) -> Chains {
        // Of each element its axis, a place in `of_axes`, and the ratio, 0 if none is dominant.
        let dominant = parallel::map(self.elements(), |element| {
            let (axis, ratio) = self.dominant_axis(element).unwrap_or_default();
            let number = of_axes.iter().position(|lines| lines.axis == axis);
            (number.unwrap_or(0), ratio)
        });
        // The nodes before and after one on an element's line.
        let beside = |place: u32, lines: &Lines| {
            let (element, local) = (place as usize / per_element, place as usize % per_element);
            let [c, k] = lines.places[local];
            let line = lines.line(c);
            let own = &listed[element / self.components * per_element..][..per_element];
            [k.wrapping_sub(1), k + 1].map(|k| line.get(k).map_or(NONE, |&node| own[node]))
        };
        let chosen = |node: usize| {
            let places = places.row_columns(node * self.components);
            let of_element = |&place: &u32| {
                let (number, ratio) = dominant[place as usize / per_element / self.components];
                (ratio > 0.0).then(|| (ratio, beside(place, &of_axes[number])))
            };
            let strongest = |all: &mut dyn Iterator<Item = (f64, [u32; 2])>| {
                let none = (0.0, [NONE; 2]);
                all.fold(none, |best, it| if it.0 > best.0 { it } else { best })
                    .1
            };
            let best = strongest(&mut places.iter().filter_map(of_element));
            let ([NONE, only] | [only, NONE]) = best else {
                return best;
            };
            // Another line ends here too, and may go on.
            let others = places.iter().filter_map(of_element);
            let mut others = others.filter_map(|(ratio, both)| match both {
                [NONE, other] | [other, NONE] if other != only => Some((ratio, [other, NONE])),
                _ => None,
            });
            let [other, _] = strongest(&mut others);
            // Not round a corner of an element: what it couples from one side to the other is no part of a line.
            let is_corner = other != NONE
                && places.iter().any(|&place| {
                    let axis = |node: u32| {
                        of_axes
                            .iter()
                            .position(|it| beside(place, it).contains(&node))
                    };
                    matches!([axis(only), axis(other)], [Some(a), Some(b)] if a != b)
                });
            [only, if is_corner { NONE } else { other }]
        };
        Chains::new(&parallel::map(nodes, chosen))
    }
}
