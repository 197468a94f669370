"""Measures the Laplacian on a mesh of tetrahedra in NGSolve: compare.py runs this.

Usage: ngsolve_rates.py MESH DEGREE CORES SECONDS. Prints the number of unknowns and the seconds of an application, for each
way to apply it.
"""

import json
import sys
import time

import ngsolve as ng
from netgen.read_gmsh import ReadGmsh

WAYS = ["assembled", "factors", "points"]


def operator(space, way):
    u, v = space.TnT()
    if way == "factors":
        fields = ng.VectorL2(space.mesh, order=space.globalorder - 1, piola=True)
        gradient = ng.BilinearForm(trialspace=space, testspace=fields, geom_free=True)
        gradient += ng.grad(u) * fields.TestFunction() * ng.dx
        gradient.Assemble()
        return gradient.mat.T @ fields.Mass(1).Inverse() @ gradient.mat
    form = ng.BilinearForm(space, nonassemble=way == "points")
    form += ng.grad(u) * ng.grad(v) * ng.dx
    return form.Assemble().mat


def main(mesh, degree, cores, seconds):
    ng.SetNumThreads(int(cores))
    space = ng.H1(ng.Mesh(ReadGmsh(mesh)), order=int(degree))
    function = ng.GridFunction(space)
    function.Set(ng.x + 2 * ng.y + 3 * ng.z)
    volume = ng.Integrate(1, space.mesh)
    took = {}
    with ng.TaskManager():
        for way in WAYS:
            matrix = operator(space, way)
            x, y = function.vec, function.vec.CreateVector()
            matrix.Mult(x, y)
            energy = ng.InnerProduct(x, y)
            if abs(energy / (14 * volume) - 1) > 1e-10:
                sys.exit(f"{way}: the energy of x + 2y + 3z is {energy}, not 14 times the volume {volume}")
            repeats, elapsed = 1, 0.0
            while elapsed < float(seconds):
                repeats *= 2
                start = time.perf_counter()
                for _ in range(repeats):
                    matrix.Mult(x, y)
                elapsed = time.perf_counter() - start
            took[way] = elapsed / repeats
    print(json.dumps({"unknowns": space.ndof, "seconds": took}))


main(*sys.argv[1:])
