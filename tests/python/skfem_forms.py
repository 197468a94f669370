"""Evaluate weak forms with scikit-fem on triangles and tetrahedra: an oracle for operators.

usage: skfem_forms.py INPUT OUTPUT

For a form f0, f1 and a function u this is the vector  ∫ φ·f0(u, ∇u) + ∇φ : f1(u, ∇u)  for all basis
functions φ of degree 1 or 2 on straight cells, with a quadrature that is exact for the integrand.
Unknowns are matched by position, so numberings need not agree.

    0  convection-diffusion, triangles:    f0 = b·∇u, f1 = κ ∇u with b = (1.5, -1), κ = 0.5
    1  linear elasticity, tetrahedra:      f1 = λ tr(ε) I + 2 μ ε with λ = 1.2, μ = 0.8
    2  nonlinear diffusion, triangles:     f1 = (1 + u²) ∇u

All numbers are little-endian and 64 bits wide, with no padding.

INPUT
    int64    form, dimension, degree, degree of exactness, components
    int64    mesh nodes, cells, nodes of the space
    float64  coordinates         [mesh nodes][3]
    int64    cells               [cells][dimension + 1]
    float64  positions of nodes  [nodes][3]
    float64  u                   [nodes][components]
OUTPUT
    float64  the vector          [nodes][components]
"""

import sys

import numpy as np
from scipy.spatial import cKDTree
from skfem import (Basis, ElementTetP1, ElementTetP2, ElementTriP1, ElementTriP2, LinearForm, MeshTet,
                   MeshTri)
from skfem.helpers import dot, grad

ELEMENTS = {(2, 1): ElementTriP1, (2, 2): ElementTriP2, (3, 1): ElementTetP1, (3, 2): ElementTetP2}


def read(path):
    data = np.fromfile(path, dtype="<f8")
    header = [int(n) for n in data[:8].view("<i8")]
    _, dim, _, _, components, nodes, cells, unknowns = header
    lengths = [3 * nodes, (dim + 1) * cells, 3 * unknowns, components * unknowns]
    coordinates, cells, positions, u, rest = np.split(data[8:], np.cumsum(lengths))
    assert rest.size == 0, f"{path}: {rest.size} numbers too many"
    return (header, coordinates.reshape(-1, 3)[:, :dim], cells.view("<i8").reshape(-1, dim + 1),
            positions.reshape(-1, 3)[:, :dim], u.reshape(-1, components))


def fluxes(form, u, grad_u):
    """f0 [component] and f1 [component][axis] at the points, from lists of arrays likewise."""
    if form == 0:
        return [1.5 * grad_u[0][0] - grad_u[0][1]], [0.5 * grad_u[0]]
    if form == 2:
        return [0 * u[0]], [(1 + u[0] ** 2) * grad_u[0]]
    gradient = np.array(grad_u)
    trace = sum(gradient[i, i] for i in range(3))
    stress = 0.8 * (gradient + gradient.swapaxes(0, 1))
    for i in range(3):
        stress[i, i] += 1.2 * trace
    return [0 * trace] * 3, list(stress)


@LinearForm
def weak(v, w):
    return w["f0"] * v + dot(w["f1"], grad(v))


def match(positions, locations, tolerance):
    """For each position its index in `locations`, which must be the same points in another order."""
    assert len(positions) == len(locations), f"{len(positions)} points here, {len(locations)} in scikit-fem"
    distance, index = cKDTree(locations).query(positions)
    assert distance.max() <= tolerance, f"a point lies {distance.max():g} from any of scikit-fem's"
    assert len(set(index)) == len(index), "two points lie at one position"
    return index


def main():
    (form, dim, degree, exact, *_), coordinates, cells, positions, u = read(sys.argv[1])
    used, corner = np.unique(cells, return_inverse=True)
    arrays = coordinates[used].T, corner.reshape(cells.shape).T
    mesh = {2: MeshTri, 3: MeshTet}[dim](*map(np.ascontiguousarray, arrays))
    basis = Basis(mesh, ELEMENTS[dim, degree](), intorder=exact)
    index = match(positions, basis.doflocs.T, 1e-9 * np.ptp(coordinates, axis=0).max())
    in_skfem = np.empty_like(u)
    in_skfem[index] = u
    fields = [basis.interpolate(np.ascontiguousarray(component)) for component in in_skfem.T]
    f0, f1 = fluxes(form, [np.asarray(f.value) for f in fields], [np.asarray(f.grad) for f in fields])
    results = [weak.assemble(basis, f0=a, f1=b)[index] for a, b in zip(f0, f1)]
    np.array(results).T.astype("<f8").tofile(sys.argv[2])


if __name__ == "__main__":
    main()
