"""Measures the Laplacian on a mesh of tetrahedra in DOLFINx: compare.py runs this, a process for each core.

Usage: dolfinx_rates.py MESH DEGREE CORES SECONDS. Prints the number of unknowns and the seconds of an application, for each
way to apply it.
"""

import json
import sys
import time

import numpy as np
import ufl
from dolfinx import fem, la, mesh
from dolfinx.fem import petsc
from mpi4py import MPI

WORLD = MPI.COMM_WORLD
COMPILED = {"cffi_extra_compile_args": ["-O3", "-march=native", "-ffast-math"], "timeout": 600}


def read(path):
    """Coordinates and tetrahedra of an ASCII file in version 2.2 of Gmsh's format, on the first process."""
    if WORLD.rank > 0:
        return np.empty((0, 3)), np.empty((0, 4), dtype=np.int64)
    lines = open(path, encoding="ascii").read().splitlines()
    nodes, elements = lines.index("$Nodes"), lines.index("$Elements")
    points = np.loadtxt(lines[nodes + 2 : nodes + 2 + int(lines[nodes + 1])])
    rows = [line.split() for line in lines[elements + 2 : elements + 2 + int(lines[elements + 1])]]
    cells = np.array([row[-4:] for row in rows if row[1] == "4"], dtype=np.int64)
    return points[:, 1:], cells - 1


def applications(space):
    """Functions that apply the operator, each with the vectors it reads and writes, local parts without ghosts."""
    u, v = ufl.TrialFunction(space), ufl.TestFunction(space)
    form = fem.form(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, jit_params=COMPILED)
    matrix = petsc.assemble_matrix(form)
    matrix.assemble()
    x, y = matrix.createVecs()

    yield "assembled", lambda: matrix.mult(x, y), x.array_w, y.array_r
    given, result = fem.Function(space), fem.Function(space)
    action = fem.form(ufl.inner(ufl.grad(given), ufl.grad(v)) * ufl.dx, jit_params=COMPILED)

    def apply():
        given.x.scatter_forward()
        result.x.array[:] = 0
        fem.assemble_vector(result.x.array, action)
        result.x.scatter_reverse(la.ScatterMode.add)

    own = space.dofmap.index_map.size_local
    yield "action", apply, given.x.array[:own], result.x.array[:own]


def main(path, degree, cores, seconds):
    points, cells = read(path)
    straight = ufl.Mesh(ufl.VectorElement("Lagrange", ufl.tetrahedron, 1))
    domain = mesh.create_mesh(WORLD, cells, points, straight)
    space = fem.FunctionSpace(domain, ("Lagrange", int(degree)))
    linear = fem.Function(space)
    linear.interpolate(lambda x: x[0] + 2 * x[1] + 3 * x[2])
    own = space.dofmap.index_map.size_local
    one = fem.Constant(domain, 1.0)
    volume = WORLD.allreduce(fem.assemble_scalar(fem.form(one * ufl.dx)))
    took = {}
    for way, apply, x, y in applications(space):
        x[:] = linear.x.array[:own]
        apply()
        energy = WORLD.allreduce(float(np.dot(x, y)))
        if abs(energy / (14 * volume) - 1) > 1e-10:
            sys.exit(f"{way}: the energy of x + 2y + 3z is {energy}, not 14 times the volume {volume}")
        repeats, elapsed = 1, 0.0
        while elapsed < float(seconds):
            repeats *= 2
            WORLD.barrier()
            start = time.perf_counter()
            for _ in range(repeats):
                apply()
            elapsed = WORLD.allreduce(time.perf_counter() - start, op=MPI.MAX)
        took[way] = elapsed / repeats
    if WORLD.rank == 0:
        print(json.dumps({"unknowns": space.dofmap.index_map.size_global, "seconds": took}))


main(*sys.argv[1:])
