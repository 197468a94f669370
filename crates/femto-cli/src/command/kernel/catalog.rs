//! The kernels by name.

use super::operators::Example;
use femto::kernel::expr::suggest;
use femto_bench::helmholtz;
use femto_bench::ladder::{self, Step};
use femto_bench::simplices::Listed;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

/// A kernel text, or several that belong together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CatalogEntry {
    /// A step of a published ladder on hexahedra.
    Step(Step),
    /// A step of the ladder of the Helmholtz Challenge.
    Helmholtz(helmholtz::Step),
    /// A kernel of the benchmark on simplices.
    Simplices(Listed),
    /// femto's own kernel of an operator.
    Operator(Example),
    /// The kernel of its diagonal.
    Diagonal(Example),
    /// Prepares an output for atomic sums.
    Zero,
    /// Sums contributions in a fixed order.
    Sum,
    /// The loops over vectors.
    Vectors,
    /// Interpolation between degrees, shown from degree 2 to degree 4 on hexahedra.
    Interpolation,
    /// Separable problems on elements, shown for degree 4 on hexahedra.
    ElementInverse,
    /// Systems along lines of nodes, shown for degree 4.
    LineSolve,
    /// Random numbers for measurements.
    Random,
    /// Kernels that measure ceilings.
    Probe,
}

impl CatalogEntry {
    /// All kernels: the ladders, then femto's own.
    pub(super) fn all() -> Vec<Self> {
        let mut all: Vec<Self> = ladder::steps().into_iter().map(Self::Step).collect();
        all.extend(helmholtz::steps().into_iter().map(Self::Helmholtz));
        all.extend(Listed::all().map(Self::Simplices));
        all.extend(Example::all().map(Self::Operator));
        let linear = Example::all().filter(|example| example.is_linear());
        all.extend(linear.map(Self::Diagonal));
        all.extend([Self::Zero, Self::Sum]);
        all.extend([Self::Vectors, Self::Interpolation]);
        all.extend([Self::ElementInverse, Self::LineSolve]);
        all.extend([Self::Random, Self::Probe]);
        all
    }

    /// What a step changes relative to the previous one, or what the kernel does.
    pub(super) fn description(self) -> String {
        match self {
            Self::Step(step) => step.change.to_owned(),
            Self::Helmholtz(step) => step.change.to_owned(),
            Self::Simplices(it) => it.description.to_owned(),
            Self::Operator(it) => it.description(),
            Self::Diagonal(it) => format!("the diagonal: {}", it.description()),
            Self::Zero => {
                "sets the nodes that elements share to zero, before atomic sums".to_owned()
            }
            Self::Sum => {
                "sums elements' contributions in a fixed order, deterministic to the bit".to_owned()
            }
            Self::Vectors => {
                "loops over vectors, sums of conjugate gradients, sparse products".to_owned()
            }
            Self::Interpolation => "interpolates from degree 2 to degree 4 on hexahedra".to_owned(),
            Self::ElementInverse => {
                "solves separable problems on hexahedra of degree 4, to smooth".to_owned()
            }
            Self::LineSolve => "solves systems along lines of degree 4, to smooth".to_owned(),
            Self::Random => "fills a vector with random numbers, for measurements".to_owned(),
            Self::Probe => "measures the ceilings of a device".to_owned(),
        }
    }

    /// Whether the text depends on the degree.
    pub(super) fn has_degree(self) -> bool {
        matches!(self, Self::Step(_)) || self.is_of_mesh()
    }

    /// Whether the text depends on the mesh, the vectors, the data level and the knobs.
    pub(super) fn is_of_mesh(self) -> bool {
        matches!(self, Self::Operator(_) | Self::Diagonal(_))
    }
}

impl Display for CatalogEntry {
    /// The name on the command line.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => step.fmt(f),
            Self::Helmholtz(step) => step.fmt(f),
            Self::Simplices(it) => f.write_str(it.name),
            Self::Operator(it) => write!(f, "operators/{}", it.name()),
            Self::Diagonal(it) => write!(f, "diagonals/{}", it.name()),
            Self::Zero => f.write_str("zero"),
            Self::Sum => f.write_str("sum"),
            Self::Vectors => f.write_str("vectors"),
            Self::Interpolation => f.write_str("interpolation"),
            Self::ElementInverse => f.write_str("element_inverse"),
            Self::LineSolve => f.write_str("line_solve"),
            Self::Random => f.write_str("random"),
            Self::Probe => f.write_str("probe"),
        }
    }
}

/// No kernel has this name.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("there is no such kernel{}; `femto kernel list` has all", did_you_mean(.suggestion.as_deref()))]
pub(super) struct UnknownKernel {
    suggestion: Option<String>,
}

fn did_you_mean(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(", did you mean `{name}`?"))
}

impl UnknownKernel {
    fn new(name: &str) -> Self {
        let mut names: Vec<String> = Vec::new();
        for kernel in CatalogEntry::all() {
            let name = kernel.to_string();
            let slashes = name.match_indices('/').map(|(at, _)| name[..at].to_owned());
            names.extend(slashes);
            names.push(name);
        }
        let suggestion = suggest(name, names.iter().map(String::as_str));
        Self {
            suggestion: suggestion.map(str::to_owned),
        }
    }
}

impl FromStr for CatalogEntry {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        let mut all = Self::all().into_iter();
        all.find(|kernel| kernel.to_string() == name)
            .ok_or_else(|| UnknownKernel::new(name))
    }
}

/// A selection of kernels: `all`, one, or those whose name contains this, such as `cubes`, `bk5/layers`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection(pub(super) Vec<CatalogEntry>);

impl FromStr for Selection {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        let mut all = CatalogEntry::all();
        if name != "all" {
            all.retain(|kernel| format!("/{kernel}/").contains(&format!("/{name}/")));
        }
        match all.is_empty() {
            true => Err(UnknownKernel::new(name)),
            false => Ok(Self(all)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_to_its_kernel() {
        for kernel in CatalogEntry::all() {
            assert_eq!(kernel.to_string().parse(), Ok(kernel));
        }
        assert_eq!(CatalogEntry::all().len(), 46 + 10 + 3 + 13 + 12 + 7 + 1);
    }

    #[test]
    fn a_part_of_a_name_selects() {
        let count = |name: &str| name.parse().map(|Selection(kernels)| kernels.len());
        assert_eq!(count("all"), Ok(CatalogEntry::all().len()));
        assert_eq!(count("bk5"), Ok(16 + 2));
        assert_eq!(count("bk5/layers"), Ok(10));
        assert_eq!(count("cubes/6"), Ok(2));
        assert_eq!(count("operators"), Ok(13));
        assert_eq!(count("bk5/layers/1"), Ok(1));
        assert!(count("").is_err() && count("layer").is_err());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let message = |name: &str| match name.parse::<Selection>() {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name} is known"),
        };
        assert!(message("bk5/layrs/7").contains("did you mean `bk5/layers/7`?"));
        assert!(message("operator").contains("did you mean `operators`?"));
        assert!(!message("gravity").contains("did you mean"));
    }
}
