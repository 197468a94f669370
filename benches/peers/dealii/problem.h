// A mesh from a file, a space of continuous hexahedra on it, and deal.II's data of their batches of cells.
#pragma once

#include "vector_width.h"

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/dofs/dof_handler.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/matrix_free.h>

#include <memory>
#include <string>

using Vector   = dealii::LinearAlgebra::distributed::Vector<double>;
using CellData = dealii::MatrixFree<3, double, Lanes>;

/// A mesh and a space on it.
class Problem
{
public:
  /// Reads a Gmsh file; the space has nodes at Gauss-Lobatto points, and no constraints.
  Problem(const std::string &mesh_file, unsigned int degree, unsigned int components);

  /// deal.II's data, with the metric terms of trilinear maps at the points.
  std::unique_ptr<CellData> cell_data(const dealii::Quadrature<1> &quadrature) const;

  /// The interpolant of sin(x + c) + y z, with c = 0, 1, 2 the component.
  Vector interpolant(const CellData &data) const;

  std::size_t cells() const { return triangulation.n_global_active_cells(); }
  std::size_t unknowns() const { return space.n_dofs(); }

private:
  dealii::parallel::fullydistributed::Triangulation<3> triangulation;
  dealii::MappingQ1<3>                                 mapping;
  dealii::FESystem<3>                                  element;
  dealii::DoFHandler<3>                                space;
};
