// Jacobians of trilinear maps, computed at the points of a batch of cells from their vertices.
#pragma once

#include "problem.h"

#include <array>

/// A vector in space on every lane.
using Direction = dealii::Tensor<1, 3, Lanes>;

/// The map X(ξ, η, ζ) = … + x ξ + y η + z ζ + xy ξη + yz ηζ + xz ξζ + xyz ξηζ of a cell's unit cube, a cell per lane.
struct TrilinearMap
{
  Direction x, y, z, xy, yz, xz, xyz;

  static TrilinearMap of_batch(const CellData &data, unsigned int batch)
  {
    std::array<Direction, 8> vertex;
    const unsigned int       filled = data.n_active_entries_per_cell_batch(batch);
    for (unsigned int lane = 0; lane < Lanes::size(); ++lane)
      {
        // Lanes without a cell repeat the first one's, so that no determinant is zero.
        const auto cell = data.get_cell_iterator(batch, lane < filled ? lane : 0);
        for (unsigned int v = 0; v < 8; ++v)
          for (unsigned int axis = 0; axis < 3; ++axis)
            vertex[v][axis][lane] = cell->vertex(v)[axis];
      }
    TrilinearMap map;
    map.x   = vertex[1] - vertex[0];
    map.y   = vertex[2] - vertex[0];
    map.z   = vertex[4] - vertex[0];
    map.xy  = vertex[3] - vertex[2] - map.x;
    map.yz  = vertex[6] - vertex[4] - map.y;
    map.xz  = vertex[5] - vertex[4] - map.x;
    map.xyz = vertex[7] - vertex[6] - vertex[5] + vertex[4] - map.xy;
    return map;
  }
};

/// Three numbers on every lane. GCC copies tensors in halves through memory, where a load of the whole then waits, so the
/// loops over points use arrays, and compute them component by component.
using Triple = Lanes[3];

/// sum = a + b factor
template <class Vector, class Factor>
inline DEAL_II_ALWAYS_INLINE void add_scaled(Triple &sum, const Vector &a, const Vector &b, const Factor factor)
{
  for (unsigned int axis = 0; axis < 3; ++axis)
    sum[axis] = a[axis] + b[axis] * factor;
}

inline DEAL_II_ALWAYS_INLINE void cross(Triple &product, const Triple &a, const Triple &b)
{
  product[0] = a[1] * b[2] - a[2] * b[1];
  product[1] = a[2] * b[0] - a[0] * b[2];
  product[2] = a[0] * b[1] - a[1] * b[0];
}

inline DEAL_II_ALWAYS_INLINE Lanes dot(const Triple &a, const Triple &b)
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/// The Jacobian J at a point as the rows of det J · J⁻¹, which are cross products of the tangents.
struct Cofactors
{
  Triple row[3];
  Lanes  determinant;
};

/// Calls `stage(point, weight, cofactors)` at the points of a tensor rule, the first axis fastest.
template <int points_1d, class Stage>
inline DEAL_II_ALWAYS_INLINE void
for_each_point(const TrilinearMap &map, const dealii::Quadrature<1> &rule, const Stage &stage)
{
  for (unsigned int k = 0, point = 0; k < points_1d; ++k)
    for (unsigned int j = 0; j < points_1d; ++j)
      {
        const double eta = rule.point(j)[0], zeta = rule.point(k)[0];
        const double weight = rule.weight(j) * rule.weight(k);
        // The tangents: along ξ constant on this line of points, the other two linear.
        Triple along_x, along_x_1, along_y_0, along_y_1, along_z_0, along_z_1;
        add_scaled(along_x, map.x, map.xy, eta);
        add_scaled(along_x_1, map.xz, map.xyz, eta);
        add_scaled(along_x, along_x, along_x_1, zeta);
        add_scaled(along_y_0, map.y, map.yz, zeta);
        add_scaled(along_y_1, map.xy, map.xyz, zeta);
        add_scaled(along_z_0, map.z, map.yz, eta);
        add_scaled(along_z_1, map.xz, map.xyz, eta);
        for (unsigned int i = 0; i < points_1d; ++i, ++point)
          {
            const double xi = rule.point(i)[0];
            Triple       along_y, along_z;
            add_scaled(along_y, along_y_0, along_y_1, xi);
            add_scaled(along_z, along_z_0, along_z_1, xi);
            Cofactors at;
            cross(at.row[0], along_y, along_z);
            cross(at.row[1], along_z, along_x);
            cross(at.row[2], along_x, along_y);
            at.determinant = dot(along_x, at.row[0]);
            stage(point, weight * rule.weight(i), at);
          }
      }
}
