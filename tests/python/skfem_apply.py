"""Apply scikit-fem's mass and stiffness matrices to a vector: an oracle for operators.

usage: skfem_apply.py INPUT OUTPUT

scikit-fem assembles M and K, as in  M u = ∫ φ u  and  K u = ∫ ∇φ·∇u,  with Lagrange hexahedra of
degree 1 or 2 (whose nodes are also the GLL nodes) and no boundary conditions, on hexahedra of 8 or 27
nodes. The quadrature is a tensor rule made here with NumPy: K's integrand is rational on skewed
cells, so two codes only agree to rounding if they use the same rule. Unknowns are matched by position,
so numberings need not agree.

All numbers are little-endian and 64 bits wide, with no padding.

INPUT
    int64    degree: 1 or 2
    int64    nodes of a cell: 8 or 27
    int64    rule: 0 for Gauss, 1 for Gauss-Lobatto
    int64    points_1d of the rule
    int64    mesh nodes, cells, unknowns
    float64  coordinates            [mesh nodes][3]
    int64    cells                  [cells][nodes of a cell], mesh nodes in Gmsh's order
    float64  positions of unknowns  [unknowns][3]
    float64  u                      [unknowns]
OUTPUT
    float64  M u                    [unknowns], in the order of the input's unknowns
    float64  K u                    [unknowns]
"""

import sys

import numpy as np
from numpy.polynomial import legendre
from scipy.spatial import cKDTree
from skfem import Basis, BilinearForm, ElementHex1, ElementHex2, MeshHex, MeshHex2
from skfem.helpers import dot, grad

# Gmsh's nodes in the cube [0, 1]^3: 8 vertices, then the middles of 12 edges and 6 faces, the centre.
VERTICES = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0],
                     [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], dtype=float)
MIDDLES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7),
           (0, 2), (0, 5), (0, 7), (1, 6), (2, 7), (4, 6),
           (0, 6)]
GMSH = np.concatenate([VERTICES, [(VERTICES[a] + VERTICES[b]) / 2 for a, b in MIDDLES]])


def read(path):
    data = np.fromfile(path, dtype="<f8")
    degree, per_cell, rule, points_1d, nodes, cells, unknowns = (int(n) for n in data[:7].view("<i8"))
    lengths = [3 * nodes, per_cell * cells, 3 * unknowns, unknowns]
    *parts, rest = np.split(data[7:], np.cumsum(lengths))
    assert rest.size == 0, f"{path}: {rest.size} numbers too many"
    coordinates, cells, positions, u = parts
    cells = cells.view("<i8").reshape(-1, per_cell)
    return (degree, quadrature(rule, points_1d), coordinates.reshape(-1, 3), cells,
            positions.reshape(-1, 3), u)


def quadrature(rule, n):
    """Points [3][n^3] and weights [n^3] of the tensor rule on [0, 1]^3."""
    if rule == 0:
        x, w = legendre.leggauss(n)
    else:
        last = legendre.Legendre.basis(n - 1)
        x = np.concatenate([[-1.0], last.deriv().roots(), [1.0]])
        w = 2 / (n * (n - 1) * last(x) ** 2)
    x, w = (x + 1) / 2, w / 2
    points = np.array(np.meshgrid(x, x, x)).reshape(3, -1)
    return points, np.einsum("i,j,k->ijk", w, w, w).ravel()


def gmsh_nodes(element):
    """For each node of scikit-fem's element the Gmsh node at the same reference position."""
    return match(element.doflocs, GMSH[:len(element.doflocs)], 1e-12)


def make_mesh(coordinates, cells):
    vertices = cells[:, gmsh_nodes(ElementHex1())]
    used, corner = np.unique(vertices, return_inverse=True)
    mesh = MeshHex(*contiguous(coordinates[used].T, corner.reshape(vertices.shape).T), sort_t=False)
    if cells.shape[1] == 8:
        return mesh
    nodes = MeshHex2.from_mesh(mesh)
    doflocs = nodes.doflocs.copy()
    in_order = cells[:, gmsh_nodes(ElementHex2())]
    doflocs[:, nodes.dofs.element_dofs] = coordinates[in_order].T
    return MeshHex2(doflocs, mesh.t, sort_t=False)


def contiguous(*arrays):
    """scikit-fem warns about arrays that are not."""
    return [np.ascontiguousarray(array) for array in arrays]


@BilinearForm
def mass(u, v, _):
    return u * v


@BilinearForm
def stiffness(u, v, _):
    return dot(grad(u), grad(v))


def match(positions, locations, tolerance):
    """For each position its index in `locations`, which must be the same points in another order."""
    assert len(positions) == len(locations), f"{len(positions)} points here, {len(locations)} in scikit-fem"
    distance, index = cKDTree(locations).query(positions)
    assert distance.max() <= tolerance, f"a point lies {distance.max():g} from any of scikit-fem's"
    assert len(set(index)) == len(index), "two points lie at one position"
    return index


def main():
    degree, rule, coordinates, cells, positions, u = read(sys.argv[1])
    mesh = make_mesh(coordinates, cells)
    element = {1: ElementHex1, 2: ElementHex2}[degree]()
    basis = Basis(mesh, element, quadrature=rule)
    index = match(positions, basis.doflocs.T, 1e-9 * np.ptp(coordinates, axis=0).max())
    in_skfem = np.empty_like(u)
    in_skfem[index] = u
    results = [(form.assemble(basis) @ in_skfem)[index] for form in (mass, stiffness)]
    np.concatenate(results).astype("<f8").tofile(sys.argv[2])


if __name__ == "__main__":
    main()
