//! The sections of a case, one function each.

use super::document::Document;
use super::error::{CaseError, MistakeKind};
use super::section::{Section, Value};
use super::{
    Case, Field, Form, Located, Method, Output, Places, PreconditionerKind, Run, SmootherKind,
    Solver, VTU, VTU_NAME, Vector, read_boundary, read_form, read_mesh,
};
use femto::element::Degree;
use femto::element::basis::{MAX_DEGREE, MAX_POINTS_1D, MAX_SIMPLEX_DEGREE};
use femto::element::quadrature::MAX_SIMPLEX_RULE_DEGREE;
use femto::{DataLevel, FactorPrecision, Host, Quadrature, Scatter};
use toml::de::{DeTable, DeValue};

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
        let parts = document.parts();
        let parsed = |text| {
            DeTable::parse(text).map_err(|error| {
                document.mistake(
                    error.span().unwrap_or_default(),
                    MistakeKind::Syntax {
                        message: error.message().to_owned(),
                    },
                )
            })
        };
        let mut root = DeTable::new();
        for text in &parts {
            merge(&mut root, parsed(text)?.into_inner());
        }
        // Errors about the whole file point at its start.
        let root = Section::new(&document, None, (&root, 0..0), &SECTIONS)?;
        let optional = |name| root.optional(name);
        let Located {
            value: degree,
            span: degree_place,
        } = degree(&root.required("space")?)?;
        let of_mesh = root.required("mesh")?;
        let extrude = of_mesh.section(&[])?.optional("extrude");
        let places = Places {
            mesh: of_mesh.span(),
            extrude: extrude.map_or(of_mesh.span(), |it| it.span()),
            form: root.required("form")?.span(),
            quadrature: optional("quadrature").map_or(degree_place.clone(), |it| it.span()),
            degree: degree_place,
            solver: optional("solver").map_or(0..0, |it| it.span()),
            output: optional("output").map_or(0..0, |it| it.span()),
            run: optional("run").map_or(0..0, |it| it.span()),
        };
        let exact = optional("exact").as_ref().map(value).transpose()?;
        let groups = |name| {
            let sections = optional(name);
            sections
                .as_ref()
                .map_or(Ok(vec![]), read_boundary::boundaries)
        };
        let (dirichlet, neumann) = (groups("dirichlet")?, groups("neumann")?);
        let robin = optional("robin")
            .as_ref()
            .map_or(Ok(vec![]), read_boundary::robins)?;
        read_boundary::check_groups([&dirichlet, &neumann], &robin, &document)?;
        let (source, group_sources) = match optional("source") {
            Some(sections) if sections.is_list() => {
                (Vector::zero(), read_boundary::group_sources(&sections)?)
            }
            Some(section) => (value(&section)?, vec![]),
            None => (Vector::zero(), vec![]),
        };
        let (mesh, extrude, periodic) = read_mesh::mesh(&root.required("mesh")?, &document)?;
        let run = optional("run").as_ref().map_or(Ok(Run::default()), run)?;
        let form = read_form::form(
            &root.required("form")?,
            optional("fields"),
            optional("parameters"),
        )?;
        let missing = [
            (exact.is_none()).then_some("the case has no section [exact]"),
            (!group_sources.is_empty())
                .then_some("it is given by group, and jumps at nodes between these"),
        ];
        Ok(Self {
            title: match optional("title") {
                Some(title) => self::title(&title)?,
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
            source,
            group_sources,
            start: optional("start").as_ref().map(value).transpose()?,
            dirichlet,
            neumann,
            robin,
            solver: match optional("solver") {
                Some(section) => solver(&section, &form)?,
                None => Solver::default(),
            },
            quadrature: match optional("quadrature") {
                Some(section) => quadrature(&section, degree)?,
                None => Quadrature::default(),
            },
            output: match optional("output") {
                Some(section) => output(&section, &document, missing)?,
                None => Output::default(),
            },
            exact,
            form,
            places,
            run,
            document,
        })
    }
}

/// Puts values in place of those with the same keys, within tables.
fn merge<'a>(into: &mut DeTable<'a>, from: DeTable<'a>) {
    for (key, value) in from {
        let name: &str = key.get_ref();
        let old = into.get_mut(name).map(|old| old.get_mut());
        match (old, value.get_ref()) {
            (Some(DeValue::Table(old)), DeValue::Table(_)) => {
                if let DeValue::Table(new) = value.into_inner() {
                    merge(old, new);
                }
            }
            _ => {
                into.remove(name);
                into.insert(key, value);
            }
        }
    }
}

/// A title, which terminals show as it is.
fn title(value: &Value<'_>) -> Result<String, CaseError> {
    let text = value.text()?;
    match text.contains(char::is_control) {
        true => Err(value.out_of_range("a text without line breaks and control characters")),
        false => Ok(text.to_owned()),
    }
}

/// A degree, or one for each direction.
fn degree(section: &Value<'_>) -> Result<Located<Degree>, CaseError> {
    let value = section.section(&["degree"])?.required("degree")?;
    let degree = match value.is_table() {
        false => value.integer(1..=MAX_DEGREE)?.into(),
        true => {
            let both = value.section(&["horizontal", "vertical"])?;
            // Of prisms.
            let number = |key| both.required(key)?.integer(1..=MAX_SIMPLEX_DEGREE);
            Degree::new(number("horizontal")?, number("vertical")?)
        }
    };
    Ok(value.located(degree))
}

/// The only key of `[source]`, `[exact]` and `[start]`.
fn value(section: &Value<'_>) -> Result<Vector, CaseError> {
    section.section(&["value"])?.required("value")?.vector()
}

fn solver(section: &Value<'_>, form: &Form) -> Result<Solver, CaseError> {
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
    let mut solver = Solver::default();
    let params = &mut solver.params;
    if let Some(method) = section.optional("method") {
        let choices = [Method::Cg, Method::Gmres, Method::Newton];
        let choices = choices.map(|method| (method.name(), method));
        params.method = Some(method.choice(&choices)?);
    }
    if let Some(restart) = section.optional("restart") {
        if params.method == Some(Method::Cg) {
            return Err(restart.meaningless("conjugate gradients do not restart"));
        }
        params.restart = restart.integer(1..=usize::MAX)?;
    }
    if let Some(steps) = section.optional("max_newton_steps") {
        // Whether a text is linear is not known yet.
        if form.is_linear_kind() && matches!(params.method, Some(Method::Cg | Method::Gmres)) {
            let reason = "`cg` and `gmres` solve a linear form without Newton's method";
            return Err(steps.meaningless(reason));
        }
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
        solver.multigrid.precision = Some(precision.precision()?);
    }
    if let Some(smoother) = section.optional("smoother") {
        let choices = SmootherKind::ALL.map(|kind| (kind.name(), kind));
        solver.multigrid.smoother = smoother.choice(&choices)?;
    }
    if let Some(tolerance) = section.optional("tolerance") {
        let number = tolerance.positive_number()?;
        if number >= 1.0 {
            return Err(tolerance.out_of_range("below 1, as it is relative"));
        }
        params.relative_tolerance = Some(number);
    }
    if let Some(iterations) = section.optional("max_iterations") {
        params.max_iterations = iterations.integer(1..=usize::MAX)?;
    }
    Ok(solver)
}

fn quadrature(section: &Value<'_>, degree: Degree) -> Result<Quadrature, CaseError> {
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
    // Cells with points by axis have one degree.
    let nodes_1d = degree.horizontal + 1;
    match kind {
        Quadrature::Collocated => points_1d.integer(nodes_1d..=nodes_1d).map(|_| kind),
        _ => points_1d
            .integer(nodes_1d..=MAX_POINTS_1D)
            .map(Quadrature::GaussPoints),
    }
}

/// `[output]`; why there are no fields of the exact solution and of the source, if there are none.
fn output(
    section: &Value<'_>,
    document: &Document,
    [no_exact, no_source]: [Option<&'static str>; 2],
) -> Result<Output, CaseError> {
    let section = section.section(&["vtu", "fields", "reactions"])?;
    let choices = Field::ALL.map(|field| (field.name(), field));
    let field = |value: &Value<'_>| {
        let field = value.choice(&choices)?;
        let missing = match field {
            Field::Exact | Field::Error => no_exact,
            Field::Source => no_source,
            Field::Solution | Field::Flux => None,
        };
        missing.map_or(Ok(field), |why| Err(value.meaningless(why)))
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
            Some(path) if !path.text()?.ends_with(VTU) => return Err(path.out_of_range(VTU_NAME)),
            Some(path) => Some(document.resolve(path.text()?)),
            None => None,
        },
        fields: section.optional("fields").map(fields).transpose()?,
        reactions: match section.optional("reactions") {
            Some(wanted) => wanted.truth()?,
            None => false,
        },
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
