//! The sections of a case, one function each.

use super::deformation::Deformation;
use super::document::Document;
use super::error::{CaseError, MistakeKind};
use super::section::{Section, Value};
use super::{
    Boundary, BoxSource, Case, Expression, Extrusion, Field, Located, MeshSource, Method, Output,
    Places, PreconditionerKind, Run, SmootherKind, Solver, Vector, read_boundary, read_form,
};
use femto::element::Cell;
use femto::element::basis::{MAX_DEGREE, MAX_POINTS_1D};
use femto::element::quadrature::MAX_SIMPLEX_RULE_DEGREE;
use femto::fem::mesh::Layers;
use femto::fem::mesh::boxes::AnyBox;
use femto::kernel::scalar::Precision;
use femto::{DataLevel, FactorPrecision, Host, Quadrature, Scatter};
use toml::de::DeTable;

const SECTIONS: [&str; 16] = [
    "title",
    "mesh",
    "space",
    "form",
    "fields",
    "parameters",
    "source",
    "exact",
    "start",
    "dirichlet",
    "neumann",
    "robin",
    "solver",
    "quadrature",
    "output",
    "run",
];

impl Case {
    /// Reads and checks the case in `document`.
    ///
    /// # Errors
    /// The first mistake, with its position.
    pub fn parse(document: Document) -> Result<Self, CaseError> {
        let text = document.text().to_owned();
        let root = DeTable::parse(&text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            document.mistake(
                span,
                MistakeKind::Syntax {
                    message: error.message().to_owned(),
                },
            )
        })?;
        // Errors about the whole file point at its start.
        let root = Section::new(&document, None, (root.get_ref(), 0..0), &SECTIONS)?;
        let optional = |name| root.optional(name);
        let Located {
            value: degree,
            span: degree_place,
        } = degree(&root.required("space")?)?;
        let places = Places {
            mesh: root.required("mesh")?.span(),
            form: root.required("form")?.span(),
            quadrature: optional("quadrature").map_or(degree_place.clone(), |it| it.span()),
            degree: degree_place,
            solver: optional("solver").map_or(0..0, |it| it.span()),
            output: optional("output").map_or(0..0, |it| it.span()),
            run: optional("run").map_or(0..0, |it| it.span()),
        };
        let exact = optional("exact").as_ref().map(value).transpose()?;
        let groups = |name, read: fn(&Value<'_>) -> Result<Vec<Boundary>, CaseError>| {
            optional(name).as_ref().map_or(Ok(vec![]), read)
        };
        let dirichlet = groups("dirichlet", read_boundary::dirichlet)?;
        let neumann = groups("neumann", read_boundary::neumann)?;
        let robin = optional("robin")
            .as_ref()
            .map_or(Ok(vec![]), read_boundary::robins)?;
        read_boundary::check_groups([&dirichlet, &neumann], &robin, &document)?;
        let (mesh, extrude, periodic) = mesh(&root.required("mesh")?, &document)?;
        let run = optional("run").as_ref().map_or(Ok(Run::default()), run)?;
        Ok(Self {
            title: match optional("title") {
                Some(title) => title.text()?.to_owned(),
                None => document
                    .path()
                    .file_stem()
                    .unwrap_or_default()
                    .display()
                    .to_string(),
            },
            mesh,
            extrude,
            periodic,
            degree,
            form: read_form::form(
                &root.required("form")?,
                optional("fields"),
                optional("parameters"),
            )?,
            source: match optional("source") {
                Some(section) => value(&section)?,
                None => Vector::zero(),
            },
            start: optional("start").as_ref().map(value).transpose()?,
            dirichlet,
            neumann,
            robin,
            solver: match optional("solver") {
                Some(section) => solver(&section, run.precision)?,
                None => Solver::of(run.precision),
            },
            quadrature: match optional("quadrature") {
                Some(section) => quadrature(&section, degree)?,
                None => Quadrature::default(),
            },
            output: match optional("output") {
                Some(section) => output(&section, &document, exact.is_some())?,
                None => Output::default(),
            },
            exact,
            places,
            run,
            document,
        })
    }
}

/// Pairs of groups.
type Pairs = Vec<Located<[String; 2]>>;

/// The mesh, its layers if it is extruded, and the periodic sides if the case gives them.
fn mesh(
    section: &Value<'_>,
    document: &Document,
) -> Result<(MeshSource, Option<Extrusion>, Option<Pairs>), CaseError> {
    let section = section.section(&["file", "box", "extrude", "periodic"])?;
    let source = match section.either(["file", "box"])? {
        ("file", file) => MeshSource::File(document.resolve(file.text()?)),
        (_, description) => MeshSource::Box(Box::new(box_source(&description)?)),
    };
    let pair = |pair: &Value<'_>| {
        let sides = pair.per_axis::<_, 2>(Value::tag)?;
        Ok(pair.located(sides.map(|side| side.value)))
    };
    let pairs = |list: Value<'_>| list.list()?.iter().map(pair).collect();
    let layers = section.optional("extrude");
    let layers = layers.as_ref().map(extrusion).transpose()?;
    let periodic = section.optional("periodic").map(pairs).transpose()?;
    Ok((source, layers, periodic))
}

fn extrusion(section: &Value<'_>) -> Result<Extrusion, CaseError> {
    let section = section.section(&["layers", "levels", "ratio", "bottom", "top"])?;
    let layers = match section.either(["layers", "levels"])? {
        ("layers", layers) => {
            let ratio = match section.optional("ratio") {
                Some(ratio) => ratio.positive_number()?,
                None => 1.0,
            };
            let levels = Layers::graded(layers.integer(1..=MAX_LAYERS)?, ratio).levels;
            match (section.optional("ratio"), levels.is_sorted_by(|a, b| a < b)) {
                (Some(ratio), false) => {
                    return Err(ratio.out_of_range("nearer to 1: some layers would have no height"));
                }
                _ => Layers { levels },
            }
        }
        (_, levels) => {
            if let Some(ratio) = section.optional("ratio") {
                return Err(ratio.meaningless("`levels` has the height of every layer"));
            }
            let numbers = levels.list()?;
            let numbers: Vec<f64> = numbers
                .iter()
                .map(Value::number)
                .collect::<Result<_, _>>()?;
            if numbers.len() < 2 {
                return Err(levels.out_of_range("at least two numbers, from 0 to 1"));
            }
            Layers { levels: numbers }
        }
    };
    let height = |key, default| match section.optional(key) {
        Some(height) => height.plane_expression(),
        None => Ok(Expression::constant(default)),
    };
    Ok(Extrusion {
        layers,
        bottom: height("bottom", 0.0)?,
        top: height("top", 1.0)?,
    })
}

/// More layers than any mesh can have with 32-bit numbers and a few columns.
const MAX_LAYERS: usize = 1_000_000;

fn box_source(section: &Value<'_>) -> Result<BoxSource, CaseError> {
    let section = section.section(&[
        "cell",
        "cells",
        "lower",
        "upper",
        "geometry_degree",
        "irregular",
        "deformation",
    ])?;
    let choices = AnyBox::CELLS.map(|cell| (cell.name(), cell));
    let cell = match section.optional("cell") {
        Some(cell) => cell.choice(&choices)?,
        None => Cell::Hexahedron,
    };
    let corner = |key, default: f64| match section.optional(key) {
        Some(corner) => along_axes(&corner, cell, Value::number),
        None => Ok(vec![default; cell.dim()]),
    };
    let cells = section.required("cells")?;
    let mesh = AnyBox {
        cell,
        cells: along_axes(&cells, cell, |cells| cells.integer(1..=usize::MAX))?,
        lower: corner("lower", 0.0)?,
        upper: corner("upper", 1.0)?,
        geometry_degree: match section.optional("geometry_degree") {
            Some(degree) => degree.integer(1..=cell.max_map_order())?,
            None => 1,
        },
        irregular: match section.optional("irregular") {
            Some(seed) if cell.is_tensor_product() => {
                return Err(seed.meaningless(
                    "only boxes of triangles, tetrahedra, prisms or pyramids have it",
                ));
            }
            Some(seed) => Some(seed.integer(0..=usize::MAX)? as u64),
            None => None,
        },
    };
    Ok(BoxSource {
        mesh,
        deformation: match section.optional("deformation") {
            Some(map) => {
                let read = match cell.dim() {
                    2 => Value::plane_expression,
                    _ => Value::expression,
                };
                let mut along = along_axes(&map, cell, read)?.into_iter();
                let mut next = || along.next().unwrap_or(Expression::constant(0.0));
                Some(Deformation([next(), next(), next()]))
            }
            None => None,
        },
    })
}

/// An array with one element per axis of a cell.
fn along_axes<'a, T>(
    value: &Value<'a>,
    cell: Cell,
    read: impl Fn(&Value<'a>) -> Result<T, CaseError>,
) -> Result<Vec<T>, CaseError> {
    match cell.dim() {
        2 => value.per_axis::<T, 2>(read).map(Vec::from),
        _ => value.per_axis::<T, 3>(read).map(Vec::from),
    }
}

fn degree(section: &Value<'_>) -> Result<Located<usize>, CaseError> {
    let degree = section.section(&["degree"])?.required("degree")?;
    Ok(degree.located(degree.integer(1..=MAX_DEGREE)?))
}

/// The only key of `[source]`, `[exact]` and `[start]`.
fn value(section: &Value<'_>) -> Result<Vector, CaseError> {
    section.section(&["value"])?.required("value")?.vector()
}

fn solver(section: &Value<'_>, precision: Precision) -> Result<Solver, CaseError> {
    let section = section.section(&[
        "method",
        "preconditioner",
        "cycle_precision",
        "smoother",
        "tolerance",
        "max_iterations",
        "restart",
        "max_newton_steps",
    ])?;
    let mut solver = Solver::of(precision);
    let params = &mut solver.params;
    if let Some(method) = section.optional("method") {
        let choices = [Method::Cg, Method::Gmres, Method::Newton];
        let choices = choices.map(|method| (method.name(), method));
        params.method = Some(method.choice(&choices)?);
    }
    if let Some(restart) = section.optional("restart") {
        params.restart = restart.integer(1..=usize::MAX)?;
    }
    if let Some(steps) = section.optional("max_newton_steps") {
        params.max_newton_steps = steps.integer(1..=usize::MAX)?;
    }
    if let Some(preconditioner) = section.optional("preconditioner") {
        let choices = PreconditionerKind::ALL.map(|kind| (kind.name(), kind));
        solver.preconditioner = preconditioner.choice(&choices)?;
    }
    let has_cycles = !matches!(
        solver.preconditioner,
        PreconditionerKind::Jacobi | PreconditionerKind::None
    );
    for key in ["cycle_precision", "smoother"] {
        if let (Some(value), false) = (section.optional(key), has_cycles) {
            return Err(value.meaningless("only the preconditioner `multigrid` has cycles"));
        }
    }
    if let Some(precision) = section.optional("cycle_precision") {
        solver.multigrid.precision = precision.precision()?;
    }
    if let Some(smoother) = section.optional("smoother") {
        let choices = SmootherKind::ALL.map(|kind| (kind.name(), kind));
        solver.multigrid.smoother = smoother.choice(&choices)?;
    }
    if let Some(tolerance) = section.optional("tolerance") {
        params.relative_tolerance = tolerance.positive_number()?;
        if params.relative_tolerance >= 1.0 {
            return Err(tolerance.out_of_range("below 1, as it is relative"));
        }
    }
    if let Some(iterations) = section.optional("max_iterations") {
        params.max_iterations = iterations.integer(1..=usize::MAX)?;
    }
    Ok(solver)
}

fn quadrature(section: &Value<'_>, degree: usize) -> Result<Quadrature, CaseError> {
    let section = section.section(&["kind", "points_1d", "degree"])?;
    if let Some(exact) = section.optional("degree") {
        if let Some(other) = section.optional("kind").or(section.optional("points_1d")) {
            return Err(other.meaningless("`degree` says which rule it is"));
        }
        let degree = exact.integer(0..=MAX_SIMPLEX_RULE_DEGREE)?;
        return Ok(Quadrature::Exact(degree));
    }
    let choices = [
        ("gauss", Quadrature::Gauss),
        ("gauss_lobatto", Quadrature::Collocated),
    ];
    let kind = match section.optional("kind") {
        Some(kind) => kind.choice(&choices)?,
        None => Quadrature::default(),
    };
    let Some(points_1d) = section.optional("points_1d") else {
        return Ok(kind);
    };
    let nodes_1d = degree + 1;
    match kind {
        Quadrature::Collocated => points_1d.integer(nodes_1d..=nodes_1d).map(|_| kind),
        _ => points_1d
            .integer(nodes_1d..=MAX_POINTS_1D)
            .map(Quadrature::GaussPoints),
    }
}

fn output(section: &Value<'_>, document: &Document, has_exact: bool) -> Result<Output, CaseError> {
    let section = section.section(&["vtu", "fields"])?;
    let choices = [
        ("solution", Field::Solution),
        ("exact", Field::Exact),
        ("error", Field::Error),
        ("source", Field::Source),
    ];
    let field = |value: &Value<'_>| match value.choice(&choices)? {
        Field::Exact | Field::Error if !has_exact => {
            Err(value.meaningless("the case has no section [exact]"))
        }
        field => Ok(field),
    };
    let fields = |values: Value<'_>| {
        let mut fields = Vec::new();
        for value in values.list()? {
            match field(&value)? {
                twice if fields.contains(&twice) => {
                    return Err(value.meaningless("it is in the list already"));
                }
                new => fields.push(new),
            }
        }
        Ok(fields)
    };
    Ok(Output {
        vtu: match section.optional("vtu") {
            Some(path) => Some(document.resolve(path.text()?)),
            None => None,
        },
        fields: section.optional("fields").map(fields).transpose()?,
    })
}

fn run(section: &Value<'_>) -> Result<Run, CaseError> {
    let section = section.section(&[
        "precision",
        "device",
        "threads",
        "data_level",
        "factors",
        "scatter",
    ])?;
    let mut run = Run::default();
    if let Some(precision) = section.optional("precision") {
        run.precision = precision.precision()?;
    }
    if let Some(device) = section.optional("device") {
        run.device = Some(device.device()?);
    }
    if let Some(threads) = section.optional("threads") {
        run.threads = Some(threads.integer(1..=Host::MAX_THREADS)?);
    }
    if let Some(level) = section.optional("data_level") {
        run.data_level = level.choice(&DataLevel::ALL.map(|level| (level.name(), level)))?;
    }
    if let Some(factors) = section.optional("factors") {
        let choices = FactorPrecision::ALL.map(|choice| (choice.name(), choice));
        run.factors = factors.choice(&choices)?;
    }
    if let Some(scatter) = section.optional("scatter") {
        let choices = [Scatter::Atomic, Scatter::Deterministic];
        run.scatter = scatter.choice(&choices.map(|choice| (choice.name(), choice)))?;
    }
    Ok(run)
}
