"""Measures the Laplacian on a mesh of tetrahedra in NGSolve: compare.py runs this.

Usage: ngsolve_rates.py MESH DEGREE CORES SECONDS. Prints the number of unknowns and the seconds of an application, for each
way to apply it.
"""

import json
import sys
import time

import ngsolve as ng
from netgen.read_gmsh import ReadGmsh

WAYS = ["assembled", "factors", "points", "geom_free"]


def operator(space, way):
    """A function of input and output vector."""
    u, v = space.TnT()
    if way == "factors":
        fields = ng.VectorL2(space.mesh, order=space.globalorder - 1, piola=True)
        gradient = ng.BilinearForm(trialspace=space, testspace=fields, geom_free=True)
        gradient += ng.grad(u) * fields.TestFunction() * ng.dx
        gradient.Assemble()
        inverse = fields.Mass(1).Inverse()
        derivatives, fluxes = gradient.mat.CreateColVector(), gradient.mat.CreateColVector()

        # Faster than their product, which makes vectors anew.
        def apply(x, y):
            gradient.mat.Mult(x, derivatives)
            inverse.Mult(derivatives, fluxes)
            gradient.mat.T.Mult(fluxes, y)

        return apply
    form = ng.BilinearForm(space, nonassemble=way == "points", geom_free=way == "geom_free")
    form += ng.grad(u) * ng.grad(v) * ng.dx
    form.Assemble()
    return lambda x, y: form.mat.Mult(x, y)


def main(mesh, degree, cores, seconds):
    ng.SetNumThreads(int(cores))
    space = ng.H1(ng.Mesh(ReadGmsh(mesh)), order=int(degree))
    function = ng.GridFunction(space)
    function.Set(ng.x + 2 * ng.y + 3 * ng.z)
    volume = ng.Integrate(1, space.mesh)
    took = {}
    with ng.TaskManager():
        for way in WAYS:
            apply = operator(space, way)
            x, y = function.vec, function.vec.CreateVector()
            apply(x, y)
            energy = ng.InnerProduct(x, y)
            if abs(energy / (14 * volume) - 1) > 1e-10:
                if way == "geom_free":
                    continue  # The cells are not alike.
                sys.exit(f"{way}: the energy of x + 2y + 3z is {energy}, not 14 times the volume {volume}")
            repeats, elapsed = 1, 0.0
            while elapsed < float(seconds):
                repeats *= 2
                start = time.perf_counter()
                for _ in range(repeats):
                    apply(x, y)
                elapsed = time.perf_counter() - start
            took[way] = elapsed / repeats
    print(json.dumps({"unknowns": space.ndof, "seconds": took}))


main(*sys.argv[1:])
