#include "problem.h"

#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_q.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/grid/tria_description.h>
#include <deal.II/numerics/vector_tools_interpolate.h>

// The templates whose instantiations in the library are of another width. Those that choose a degree at run time are
// only used for the maps, of degree 1.
#define FE_EVAL_FACTORY_DEGREE_MAX 1
#include <deal.II/matrix_free/dof_info.templates.h>
#include <deal.II/matrix_free/evaluation_template_face_factory.templates.h>
// Both files have the same include guard.
#undef dealii_matrix_free_evaluation_template_factory_templates_h
#include <deal.II/matrix_free/evaluation_template_factory.templates.h>
#include <deal.II/matrix_free/evaluation_template_factory_hanging_nodes.templates.h>
#include <deal.II/matrix_free/mapping_info.templates.h>
#include <deal.II/matrix_free/mapping_info_storage.templates.h>
#include <deal.II/matrix_free/matrix_free.templates.h>
#include <deal.II/matrix_free/shape_info.templates.h>

#include <cmath>
#include <fstream>
#include <stdexcept>

template class dealii::MatrixFree<3, double, Lanes>;
template struct dealii::internal::FEEvaluationFactory<3, Lanes>;
template struct dealii::internal::FEFaceEvaluationFactory<3, Lanes>;
template struct dealii::internal::FEEvaluationHangingNodesFactory<3, double, Lanes>;

namespace
{
/// sin(x + c) + y z
class Probe : public dealii::Function<3>
{
public:
  using Function::Function;

  double value(const dealii::Point<3> &x, unsigned int component) const override
  {
    return std::sin(x[0] + component) + x[1] * x[2];
  }
};

/// Gives every process as many cells, in the file's order.
void partition(dealii::Triangulation<3> &mesh, unsigned int processes)
{
  std::size_t position = 0;
  for (const auto &cell : mesh.active_cell_iterators())
    cell->set_subdomain_id(position++ * processes / mesh.n_active_cells());
}
} // namespace

Problem::Problem(const std::string &mesh_file, unsigned int degree, unsigned int components)
  : triangulation(MPI_COMM_WORLD)
  , element(dealii::FE_Q<3>(degree), components)
{
  std::ifstream file(mesh_file);
  if (!file)
    throw std::runtime_error("cannot read " + mesh_file);
  dealii::Triangulation<3> whole;
  dealii::GridIn<3>(whole).read_msh(file);
  partition(whole, dealii::Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));
  namespace Description = dealii::TriangulationDescription::Utilities;
  triangulation.create_triangulation(
    Description::create_description_from_triangulation(whole, MPI_COMM_WORLD));
  space.reinit(triangulation);
  space.distribute_dofs(element);
}

std::unique_ptr<CellData> Problem::cell_data(const dealii::Quadrature<1> &quadrature) const
{
  dealii::IndexSet relevant;
  dealii::DoFTools::extract_locally_relevant_dofs(space, relevant);
  dealii::AffineConstraints<double> none(relevant);
  none.close();
  CellData::AdditionalData options;
  options.mapping_update_flags  = dealii::update_gradients | dealii::update_JxW_values;
  options.tasks_parallel_scheme = CellData::AdditionalData::none;
  auto data = std::make_unique<CellData>();
  data->reinit(mapping, space, none, quadrature, options);
  return data;
}

Vector Problem::interpolant(const CellData &data) const
{
  Vector values;
  data.initialize_dof_vector(values);
  dealii::VectorTools::interpolate(mapping, space, Probe(element.n_components()), values);
  return values;
}
