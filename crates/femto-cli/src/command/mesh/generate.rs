//! `femto mesh box`

use super::output::Output;
use crate::case::{BoxSource, Deformation, Expression};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::solve::needs::check_mesh_of_boxes;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use femto::element::Cell;
use femto::fem::mesh::boxes::AnyBox;

/// Generate a box of cells of one shape, possibly deformed, as a Gmsh file.
///
/// The sides are the groups xmin, xmax, ymin, ymax, zmin, zmax; the cells are the group domain.
#[derive(Debug, Args)]
pub(in crate::command) struct GenerateBox {
    /// The shape of the cells; of tetrahedra and pyramids there are 6 in each box, of prisms 2.
    #[arg(long, default_value = "hexahedron", value_parser = solid())]
    cell: Cell,
    /// Boxes along x, y, z.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], required = true)]
    cells: Vec<usize>,
    /// The corner with the smallest coordinates.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [0.0; 3])]
    #[arg(allow_negative_numbers = true)]
    lower: Vec<f64>,
    /// The opposite corner.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = [1.0; 3])]
    #[arg(allow_negative_numbers = true)]
    upper: Vec<f64>,
    /// New positions of the mesh nodes: three functions of x, y, z, such as "x + 0.1*sin(pi*y)" y z.
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], value_parser = Expression::parse)]
    #[arg(allow_hyphen_values = true)]
    deform: Vec<Expression>,
    /// 1 for straight edges, 2 for cells that can be curved, 3 for tetrahedra alone.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=3))]
    geometry_degree: u8,
    /// A seed: tetrahedra of all shapes, in random order; prisms and pyramids rotated at random.
    #[arg(long, value_name = "SEED")]
    irregular: Option<u64>,
    #[command(flatten)]
    output: Output,
}

impl GenerateBox {
    pub(super) fn run(&self, console: Console) -> Result<(), Failure> {
        let source = self.source();
        check_mesh_of_boxes(&source.mesh)?;
        let mut progress = Progress::new(!console.is_json());
        progress.stage("mesh");
        self.output.write(&source.build()?, progress, console)
    }

    fn source(&self) -> BoxSource {
        BoxSource {
            mesh: AnyBox {
                cell: self.cell,
                cells: per_axis(&self.cells).unwrap_or_default().into(),
                lower: per_axis(&self.lower).unwrap_or_default().into(),
                upper: per_axis(&self.upper).unwrap_or_default().into(),
                geometry_degree: self.geometry_degree.into(),
                irregular: self.irregular,
            },
            deformation: per_axis(&self.deform).map(Deformation),
        }
    }
}

/// Reads the name of a shape that boxes are made of.
fn solid() -> impl TypedValueParser<Value = Cell> {
    let solids = || AnyBox::CELLS.into_iter().filter(|cell| cell.dim() == 3);
    let names = PossibleValuesParser::new(solids().map(Cell::name));
    names.try_map(move |name| {
        let mut named = solids().filter(|cell| cell.name() == name);
        named.next().ok_or("no such shape")
    })
}

/// One value per axis; the argument parser has already counted them.
fn per_axis<T: Clone>(list: &[T]) -> Option<[T; 3]> {
    list.to_vec().try_into().ok()
}
