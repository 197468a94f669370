//! Warnings about cases that can be solved, but probably not as they were meant.

use super::report::Solver;
use crate::case::{self, Case, Located};
use femto::fem::mesh::Mesh;
use femto::fem::space::{Block, BoundaryFacet};
use femto::kernel::scalar::Precision;
use femto::multigrid::CONVECTIVE;
use femto::operator::AnyOperator;
use femto::problem::{LooseParts, Method, MultigridLevel, PreconditionerReason, Problem};

/// Poisson's ratios from here on are near 1/2.
const NEAR_HALF: f64 = 0.49;

/// A warning about a body that is nearly incompressible.
pub(super) fn nearly_incompressible(case: &Case) -> Option<String> {
    let (case::Form::Elasticity(moduli) | case::Form::NeoHookean(moduli)) = &case.form else {
        return None;
    };
    let ratio = moduli.largest_ratio().filter(|&ratio| ratio >= NEAR_HALF)?;
    Some(format!(
        "Poisson's ratio {ratio} is near 1/2: displacements of degree 1 and 2 come out too small (locking), and \
         iterations grow with 1/sqrt(1 - 2 nu)"
    ))
}

/// A warning about conjugate gradients for an operator that they are not for.
pub(super) fn not_symmetric(case: &Case, operator: &dyn AnyOperator) -> Option<String> {
    let is_wrong =
        case.solver.params.method == Some(Method::Cg) && !operator.inspection().symmetric;
    let warning = "the form is not symmetric, and `cg` converges for symmetric ones: leave `method` out, or take \"gmres\"";
    is_wrong.then(|| warning.to_owned())
}

/// A warning about convection that multigrid does not smooth.
pub(super) fn convective(levels: &[MultigridLevel]) -> Option<String> {
    let found = PreconditionerReason::much_convection(levels, CONVECTIVE)?;
    Some(format!(
        "{found}: from {CONVECTIVE:.0} on iterations with multigrid grow, and `jacobi` may take less time"
    ))
}

/// A warning about a residual above the limit that is only rounding.
pub(super) fn rounding(case: &Case, solver: &Solver) -> Option<String> {
    let residual = solver.true_relative_residual?;
    let better = match case.run.precision {
        Precision::Fp32 => ": fp64 reaches that",
        Precision::Fp64 => "",
    };
    Some(format!(
        "a relative residual of {residual:.1e} is what rounding leaves, more than the default `tolerance`{better}"
    ))
}

/// A warning about a solution whose residual is small only beside its largest loads, from
/// [`Solution::settling`](femto::problem::Solution::settling).
pub(super) fn unsettled(case: &Case, solver: &Solver, settling: Option<f64>) -> Option<String> {
    let is_newton = solver.method == Method::Newton.name();
    // With multigrid, or after runs that changed it, it is nearer to the error than a step of Jacobi iteration is.
    let least = if is_newton { 1e-6 } else { 0.0 };
    let limit = largest_change(case).max(least);
    let found = settling.filter(|&found| found > limit)?;
    let iteration = match (is_newton, solver.preconditioner) {
        (true, "multigrid") => "multigrid",
        _ => "Jacobi iteration",
    };
    Some(format!(
        "the solution is not accurate: a step of {iteration} would change it by {found:.1e} of its size, or the last iterations did. \
         Coefficients, cells or derivatives differ so much that the largest loads hide the residual elsewhere. Lower `tolerance`, \
         take fp64 where it is fp32, or, where a Robin term is very stiff, prescribe the solution"
    ))
}

/// A warning about constants or motions that hardly anything holds, from
/// [`Solution::undecided`](femto::problem::Solution::undecided).
pub(super) fn undecided(case: &Case, undecided: Option<f64>) -> Option<String> {
    let found = undecided.filter(|&found| found > largest_change(case))?;
    Some(format!(
        "a constant or a motion of the solution is held so weakly that the tolerance, or rounding, leaves {found:.1e} of its size \
         undecided: give the solution somewhere, lower `tolerance`, or take fp64"
    ))
}

/// A warning about a motion along surfaces, from [`Solution::barely_held`](femto::problem::Solution::barely_held).
pub(super) fn barely_held(part: Option<f64>) -> Option<String> {
    Some(format!(
        "a rigid motion is free but for the shape of the cells: at nodes where components along normals are given, no more than \
         {:.1e} of it is along these. Loads may move the body that way by any amount: hold it somewhere",
        part?
    ))
}

/// A warning about parts of the mesh, from [`Solution::loose_parts`](femto::problem::Solution::loose_parts).
pub(super) fn loose_parts(case: &Case, found: Option<LooseParts>) -> Option<String> {
    let found = found?;
    let in_file = super::mesh::in_case(case, &[found.cell]);
    Some(format!("{found}{in_file}. A constant is free there"))
}

/// Good solutions stay below this.
fn largest_change(case: &Case) -> f64 {
    (1e3 * case.solver.params.tolerance(case.run.precision)).min(1e-3)
}

/// A warning about positions that fp32 cannot tell apart.
pub(super) fn rounded_positions(case: &Case, problem: &Problem<'_>) -> Option<String> {
    let is_rounded = case.run.precision == Precision::Fp32 && problem.needs_double_positions();
    let warning = "so far from the origin, fp32 rounds the positions that the form reads by 1 % of a cell or more";
    is_rounded.then(|| warning.to_owned())
}

/// A warning about vectors on periodic sides that are turned against each other.
pub(super) fn turned_sides(case: &Case, mesh: &Mesh, components: usize) -> Option<String> {
    let number = mesh.turned_sides()? + 1;
    let fields = case.output.fields.as_deref().unwrap_or_default();
    let has_flux = fields.contains(&case::Field::Flux);
    let vectors = match (components > 1, has_flux) {
        (true, _) => "the components of the solution",
        (false, true) => "those of the flux",
        (false, false) => return None,
    };
    Some(format!(
        "the periodic sides of pair {number} are turned or deformed against each other: {vectors} are equated as they are, which \
         is wrong for a vector"
    ))
}

/// Warnings about fluxes given inside the domain.
pub(super) fn loads_inside(case: &Case, blocks: &[Block]) -> Vec<String> {
    let robin = case.robin.iter().map(|it| &it.boundary);
    let tags = case.neumann.iter().chain(robin).flat_map(|it| &it.tags);
    let warning = |tag: &Located<String>| {
        let space = &blocks.first()?.space;
        let facets = facets(space.boundary().inside(&tag.value).unwrap_or(0))?;
        let tag = &tag.value;
        Some(format!(
            "{facets} of `{tag}` between two cells: a flux there is a source inside the domain"
        ))
    };
    tags.filter_map(warning).collect()
}

/// A number of facets in words; `None` for 0.
fn facets(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("1 facet".to_owned()),
        _ => Some(format!("{count} facets")),
    }
}

/// Warnings about fluxes given where another group gives the solution.
pub(super) fn loads_without_effect(case: &Case, blocks: &[Block]) -> Vec<String> {
    let robin = case.robin.iter().map(|it| &it.boundary);
    let mut warnings = Vec::new();
    for flux in case.neumann.iter().chain(robin) {
        let given = case.dirichlet.iter().filter(|it| gives_all(it, flux));
        let held = given.flat_map(|it| &it.tags);
        for (tag, held) in held.flat_map(|held| flux.tags.iter().map(move |tag| (tag, held))) {
            let common = |block: &Block| {
                let of = |tag: &Located<String>| block.space.boundary().tagged(&tag.value);
                let (own, held) = (of(tag).unwrap_or_default(), of(held).unwrap_or_default());
                // Both ascend.
                let place = |facet: &BoundaryFacet| (facet.element, facet.number);
                let is_held = |facet: &&BoundaryFacet| {
                    held.binary_search_by_key(&place(facet), place).is_ok()
                };
                own.iter().filter(is_held).count()
            };
            if let Some(facets) = facets(blocks.iter().map(common).sum()) {
                let (tag, held) = (&tag.value, &held.value);
                warnings.push(format!(
                    "{facets} of `{tag}` in `{held}` too, where the solution is given: a flux has no effect there, except on reactions"
                ));
            }
        }
    }
    warnings
}

/// Whether the components that a flux is given for, or its direction, are all given.
fn gives_all(given: &case::Boundary, flux: &case::Boundary) -> bool {
    if given.is_normal {
        return flux.is_normal;
    }
    match (&given.components, &flux.components) {
        (None, _) => true,
        (Some(given), Some(own)) if !flux.is_normal => {
            let is_given = |it: &Located<usize>| given.iter().any(|other| other.value == it.value);
            own.iter().all(is_given)
        }
        (Some(_), _) => false,
    }
}
