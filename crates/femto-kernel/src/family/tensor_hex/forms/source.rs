//! The text of a problem.

use super::{FormSchedule, PointData};
use crate::dialect::{BlockShape, KernelFile, Language, SourceBuilder};
use crate::expr::{GraphError, Input};
use crate::family::fields::FieldKind;
use crate::family::tensor_hex::pencils::source::{define_vectors, matrices, products, rule};
use crate::family::tensor_hex::pencils::{Scatter, Vectors, warp_elements};
use crate::family::tensor_hex::work::Shape;
use crate::family::tensor_hex::{Basis, Storage};
use crate::form::TracedForm;
use crate::roofline::Precision;

/// What is evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The element.
    pub basis: &'a Basis,
    /// What is evaluated on it.
    pub shape: Shape,
    /// The form.
    pub form: &'a TracedForm,
    /// From where to where.
    pub vectors: Vectors,
    /// The numbers.
    pub precision: Precision,
    /// The language.
    pub language: Language,
}

/// An argument of a kernel. Numbers are 32-bit and without sign. Of fields those of a kind are together,
/// in the order of the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// Of each element the numbers that [`pack`](super::pack) puts.
    Geometry,
    /// Points and weights, `[points_1d][2]`.
    Rule,
    /// Of each element its nodes, `[k][j][i]`.
    Nodes,
    /// The number of nodes of u and v that are not constrained.
    NodeCount,
    /// The distance of components in u and v.
    ComponentStride,
    /// Contributions `[component][contribution_first + element][k][j][i]`.
    Contributions,
    /// The distance of components of contributions.
    ContributionStride,
    /// The number of elements in contributions before those of this launch.
    ContributionFirst,
    /// Which element of E-vectors each element is.
    Elements,
    /// Fields constant in elements, `[element][field]`.
    CellFields,
    /// Fields in the solution's space: `[element][field][k][j][i]` beside E-vectors, otherwise L-vectors of
    /// all nodes.
    NodalFields,
    /// The distance of those L-vectors.
    FieldStride,
    /// Fields at the points, `[element][field][k][j][i]`.
    PointFields,
    /// The time, then the parameters, as numbers of the precision.
    EvalContext,
    /// The input.
    U,
    /// The output; written, but where shared nodes are summed by atomic additions added to.
    V,
    /// The number of elements.
    Count,
}

/// A text to compile and how to start it.
#[derive(Clone, Debug)]
pub struct FormKernel {
    /// A name for reports, such as `tensor_hex form, degree 7, fp64`.
    pub name: String,
    /// The translation unit.
    pub text: String,
    /// Its kernel.
    pub entry: &'static str,
    /// The block of threads.
    pub block: BlockShape,
    /// The schedule of the text.
    pub schedule: FormSchedule,
    /// What the kernel is given, in this order.
    pub operands: Vec<Operand>,
}

macro_rules! file {
    ($name:literal) => {
        KernelFile {
            name: concat!("family/tensor_hex/text/", $name),
            text: include_str!(concat!("../text/", $name)),
        }
    };
}

/// The text that applies the operator.
///
/// # Errors
/// A constant of the form that is not finite in this precision.
pub fn source(problem: &Problem, schedule: &FormSchedule) -> Result<FormKernel, GraphError> {
    let mut source = begin(problem, schedule)?;
    source.include(file!("forms.c"));
    Ok(FormKernel {
        name: name("form", problem),
        text: source.finish(),
        entry: "apply",
        block: schedule.block(&problem.shape),
        schedule: *schedule,
        operands: operands(problem, true),
    })
}

/// The text of the diagonal of a linear form's operator.
///
/// # Errors
/// A constant of the form that is not finite in this precision.
pub fn diagonal_source(problem: &Problem) -> Result<FormKernel, GraphError> {
    let schedule = FormSchedule::plain();
    let mut source = begin(problem, &schedule)?;
    products(&mut source, problem.basis);
    source.include(file!("products.h"));
    source.include(file!("forms_diagonal.c"));
    Ok(FormKernel {
        name: name("diagonal of a form", problem),
        text: source.finish(),
        entry: "diagonal",
        block: schedule.block(&problem.shape),
        schedule,
        operands: operands(problem, false),
    })
}

/// What both texts begin with.
fn begin(problem: &Problem, schedule: &FormSchedule) -> Result<SourceBuilder, GraphError> {
    let block = schedule.block(&problem.shape);
    let mut source = SourceBuilder::new(problem.language, problem.precision, block);
    define_vectors(&mut source, &problem.shape, problem.vectors);
    define_schedule(&mut source, &problem.shape, schedule);
    define_form(&mut source, problem);
    matrices(&mut source, problem.basis, schedule.even_odd);
    rule(&mut source, problem.basis);
    let point_form = problem
        .form
        .point_function(problem.precision, problem.language)?;
    source.code("form", &point_form);
    for file in [
        file!("contraction.h"),
        file!("nodes.h"),
        file!("map.h"),
        file!("jacobian.h"),
        file!("forms.h"),
    ] {
        source.include(file);
    }
    Ok(source)
}

fn define_schedule(source: &mut SourceBuilder, shape: &Shape, schedule: &FormSchedule) {
    let strides = schedule.strides(shape);
    let by_warp = match schedule.by_warp {
        true => warp_elements(shape),
        false => 0,
    };
    source.define("ELEMENTS_PER_BLOCK", schedule.elements_per_block);
    source.define("WARP_ELEMENTS", by_warp);
    source.define("SLOT", strides.slot);
    source.define("LAYER", strides.layer);
    source.define("ROW", strides.row);
    source.define("EVEN_ODD", u8::from(schedule.even_odd));
    for (name, points) in [
        ("POINTS_IN_REGISTERS", PointData::Registers),
        ("POINTS_IN_SHARED", PointData::Shared),
        ("POINTS_PRIVATE", PointData::Private),
    ] {
        source.define(name, u8::from(schedule.points == points));
    }
    for (name, storage) in [
        ("GEOMETRY_AFFINE", Storage::Affine),
        ("GEOMETRY_TRILINEAR", Storage::Trilinear),
        ("GEOMETRY_JACOBIANS", Storage::Jacobians),
    ] {
        source.define(name, u8::from(shape.storage == storage));
    }
}

/// What the form reads beside the solution.
fn define_form(source: &mut SourceBuilder, problem: &Problem) {
    let shape = &problem.shape;
    source.define("POSITION", u8::from(shape.position));
    source.define("FIELDS", shape.fields.len());
    for (count, list, kind) in [
        ("CELL_FIELDS", "CELL_FIELD_LIST", FieldKind::Cell),
        ("NODAL_FIELDS", "NODAL_FIELD_LIST", FieldKind::Nodal),
        ("POINT_FIELDS", "POINT_FIELD_LIST", FieldKind::Points),
    ] {
        let fields: Vec<String> = shape.fields.of(kind).map(|i| i.to_string()).collect();
        source.define(count, fields.len());
        source.define(list, format!("{{{}}}", fields.join(", ")));
    }
    let nodal = shape.fields.of(FieldKind::Nodal).enumerate();
    let read = nodal.filter(|(_, field)| shape.field_gradients >> field & 1 == 1);
    source.define(
        "NODAL_GRADIENTS",
        read.fold(0, |mask, (n, _)| mask | 1 << n),
    );
    source.define("PARAMETERS", parameters(problem.form));
    source.define("CONDITIONS", u8::from(has_conditions(problem.form)));
}

/// Run-time parameters that must be given.
fn parameters(form: &TracedForm) -> usize {
    let of = |input| match input {
        Input::Parameter(index) => usize::from(index) + 1,
        _ => 0,
    };
    form.inputs().into_iter().map(of).max().unwrap_or(0)
}

fn has_conditions(form: &TracedForm) -> bool {
    parameters(form) > 0 || form.inputs().contains(&Input::Time)
}

/// The arguments of a kernel, as `FORM_ARGUMENTS` of `family/tensor_hex/text/forms.h` has them.
fn operands(problem: &Problem, input: bool) -> Vec<Operand> {
    let mut all = vec![Operand::Geometry, Operand::Rule];
    let nodal = match problem.vectors {
        Vectors::Element { listed } => {
            all.extend(listed.then_some(Operand::Elements));
            false
        }
        Vectors::Nodal { scatter, .. } => {
            all.extend([Operand::Nodes, Operand::NodeCount, Operand::ComponentStride]);
            if scatter == Scatter::Deterministic {
                all.extend([
                    Operand::Contributions,
                    Operand::ContributionStride,
                    Operand::ContributionFirst,
                ]);
            }
            true
        }
    };
    let has = |kind| problem.shape.fields.count(kind) > 0;
    all.extend(has(FieldKind::Cell).then_some(Operand::CellFields));
    if has(FieldKind::Nodal) {
        all.push(Operand::NodalFields);
        all.extend(nodal.then_some(Operand::FieldStride));
    }
    all.extend(has(FieldKind::Points).then_some(Operand::PointFields));
    all.extend(has_conditions(problem.form).then_some(Operand::EvalContext));
    all.extend(input.then_some(Operand::U));
    all.extend([Operand::V, Operand::Count]);
    all
}

fn name(what: &str, problem: &Problem) -> String {
    let (degree, precision) = (problem.shape.nodes_1d - 1, problem.precision.name());
    format!("tensor_hex {what}, degree {degree}, {precision}")
}
