// The operators of the bake-off problems: gather, evaluate, one stage at the points, integrate, scatter.
#pragma once

#include "trilinear_map.h"

#include <deal.II/matrix_free/fe_evaluation.h>

// `begin_gradients` is read here as [component][axis][point], the layout of this version.
static_assert(DEAL_II_VERSION_MAJOR == 9 && DEAL_II_VERSION_MINOR == 4);

/// A linear operator on vectors of unknowns.
class Operator
{
public:
  virtual ~Operator() = default;
  /// y = A x
  virtual void apply(Vector &y, const Vector &x) const = 0;
};

/// An operator whose cells are evaluated by `Stage::apply(evaluation, batch)` between evaluation and integration of
/// what `Stage::FLAGS` tells.
template <int components, class Stage>
class CellOperator : public Operator
{
public:
  using Evaluation = dealii::FEEvaluation<3, DEGREE, Stage::POINTS_1D, components, double, Lanes>;

  CellOperator(const CellData &data, const dealii::Quadrature<1> &rule)
    : data(data)
    , stage(data, rule)
  {}

  void apply(Vector &y, const Vector &x) const override
  {
    data.cell_loop(&CellOperator::apply_to_batches, this, y, x, true);
  }

private:
  void apply_to_batches(const CellData                              &data,
                        Vector                                      &y,
                        const Vector                                &x,
                        const std::pair<unsigned int, unsigned int> &batches) const
  {
    Evaluation evaluation(data);
    for (unsigned int batch = batches.first; batch < batches.second; ++batch)
      {
        evaluation.reinit(batch);
        evaluation.gather_evaluate(x, Stage::FLAGS);
        stage.apply(evaluation, batch);
        evaluation.integrate_scatter(Stage::FLAGS, y);
      }
  }

  const CellData &data;
  const Stage     stage;
};

/// ∫ φ u with deal.II's stored factors: one number per point.
template <int points_1d>
struct StoredMass
{
  static constexpr int  POINTS_1D = points_1d;
  static constexpr auto FLAGS     = dealii::EvaluationFlags::values;

  StoredMass(const CellData &, const dealii::Quadrature<1> &) {}

  template <class Evaluation>
  void apply(Evaluation &evaluation, unsigned int) const
  {
    for (unsigned int point = 0; point < evaluation.n_q_points; ++point)
      evaluation.submit_value(evaluation.get_value(point), point);
  }
};

/// ∫ ∇φ · ∇u with deal.II's stored factors: ten numbers per point.
template <int points_1d>
struct StoredPoisson
{
  static constexpr int  POINTS_1D = points_1d;
  static constexpr auto FLAGS     = dealii::EvaluationFlags::gradients;

  StoredPoisson(const CellData &, const dealii::Quadrature<1> &) {}

  template <class Evaluation>
  void apply(Evaluation &evaluation, unsigned int) const
  {
    for (unsigned int point = 0; point < evaluation.n_q_points; ++point)
      evaluation.submit_gradient(evaluation.get_gradient(point), point);
  }
};

/// ∫ ∇φ · ∇u with the symmetric matrix w det J · J⁻¹ J⁻ᵀ stored: six numbers per point.
template <int points_1d>
class MergedPoisson
{
public:
  static constexpr int  POINTS_1D = points_1d;
  static constexpr auto FLAGS     = dealii::EvaluationFlags::gradients;

  MergedPoisson(const CellData &data, const dealii::Quadrature<1> &rule)
    : metrics(data.n_cell_batches() * POINTS)
  {
    for (unsigned int batch = 0; batch < data.n_cell_batches(); ++batch)
      for_each_point<points_1d>(TrilinearMap::of_batch(data, batch),
                                rule,
                                [&](unsigned int point, double weight, const Cofactors &at) {
                                  Metric &metric = metrics[batch * POINTS + point];
                                  for (unsigned int i = 0; i < 3; ++i)
                                    for (unsigned int j = i; j < 3; ++j)
                                      metric[i][j] =
                                        weight / at.determinant * dot(at.row[i], at.row[j]);
                                });
  }

  template <class Evaluation>
  void apply(Evaluation &evaluation, unsigned int batch) const
  {
    Lanes *gradients = evaluation.begin_gradients();
    for (unsigned int point = 0; point < POINTS; ++point)
      {
        const Metric &metric = metrics[batch * POINTS + point];
        for (unsigned int component = 0; component < Evaluation::n_components; ++component)
          {
            Lanes      *at = gradients + 3 * component * POINTS + point;
            const Lanes x = at[0], y = at[POINTS], z = at[2 * POINTS];
            for (unsigned int axis = 0; axis < 3; ++axis)
              at[axis * POINTS] = metric[axis][0] * x + metric[axis][1] * y + metric[axis][2] * z;
          }
      }
  }

private:
  static constexpr unsigned int POINTS = points_1d * points_1d * points_1d;
  using Metric                         = dealii::SymmetricTensor<2, 3, Lanes>;
  dealii::AlignedVector<Metric> metrics;
};

/// What operators need that compute the geometry: the maps of all batches, and the points.
struct MapsOfBatches
{
  MapsOfBatches(const CellData &data, const dealii::Quadrature<1> &rule)
    : maps(data.n_cell_batches())
    , rule(rule)
  {
    for (unsigned int batch = 0; batch < data.n_cell_batches(); ++batch)
      maps[batch] = TrilinearMap::of_batch(data, batch);
  }

  dealii::AlignedVector<TrilinearMap> maps;
  dealii::Quadrature<1>               rule;
};

/// ∫ φ u with determinants computed from the vertices.
template <int points_1d>
class TrilinearMass : MapsOfBatches
{
public:
  static constexpr int  POINTS_1D = points_1d;
  static constexpr auto FLAGS     = dealii::EvaluationFlags::values;

  using MapsOfBatches::MapsOfBatches;

  template <class Evaluation>
  void apply(Evaluation &evaluation, unsigned int batch) const
  {
    constexpr unsigned int points = points_1d * points_1d * points_1d;
    Lanes                 *values = evaluation.begin_values();
    for_each_point<points_1d>(maps[batch],
                              rule,
                              [=](unsigned int point, double weight, const Cofactors &at) {
                                const Lanes factor = weight * at.determinant;
                                for (unsigned int c = 0; c < Evaluation::n_components; ++c)
                                  values[c * points + point] *= factor;
                              });
  }
};

/// ∫ ∇φ · ∇u with Jacobians computed from the vertices.
template <int points_1d>
class TrilinearPoisson : MapsOfBatches
{
public:
  static constexpr int  POINTS_1D = points_1d;
  static constexpr auto FLAGS     = dealii::EvaluationFlags::gradients;

  using MapsOfBatches::MapsOfBatches;

  template <class Evaluation>
  void apply(Evaluation &evaluation, unsigned int batch) const
  {
    constexpr unsigned int points    = points_1d * points_1d * points_1d;
    Lanes                 *gradients = evaluation.begin_gradients();
    for_each_point<points_1d>(
      maps[batch],
      rule,
      [=](unsigned int point, double weight, const Cofactors &at) {
        const Lanes factor = weight / at.determinant;
        for (unsigned int c = 0; c < Evaluation::n_components; ++c)
          {
            Lanes *g = gradients + 3 * c * points + point;
            Triple flux;
            for (unsigned int axis = 0; axis < 3; ++axis)
              flux[axis] = (at.row[0][axis] * g[0] + at.row[1][axis] * g[points] +
                            at.row[2][axis] * g[2 * points]) *
                           factor;
            for (unsigned int axis = 0; axis < 3; ++axis)
              g[axis * points] = dot(at.row[axis], flux);
          }
      });
  }
};
