#!/usr/bin/env python3
"""Measures femto and NGSolve in turns on the same tetrahedra, and prints the ratios of their rates.

The operator is the Laplacian's, of H1 with no unknown constrained, applied to vectors of all unknowns in fp64. femto
makes a mesh of a deformed box, both programs read its file, and each measures in a process of its own, in turns.
femto's time is the operator's in the report of `femto solve`. NGSolve applies the operator in three ways: `assembled`, a
product with its sparse matrix; `factors`, Bᵀ M⁻¹ B with the gradient B to discontinuous fields, whose element matrices
are the same for all cells, and their mass matrix M; `points`, its evaluation at the points. README.md beside this file
says how to install it.

A ratio above 1 says that femto is faster. It is the median over the passes, with the smallest and largest in brackets.
"""

import argparse
import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

TARGET = pathlib.Path(__file__).resolve().parents[3] / "target"
WAYS = ["assembled", "factors", "points"]
CASE = """
[mesh]
file = "{mesh}"
[space]
degree = {degree}
[form]
kind = "poisson"
[source]
value = 1
[[dirichlet]]
tags = ["xmin"]
value = 0
[solver]
method = "cg"
preconditioner = "jacobi"
max_iterations = 1
"""
# The mesh `sine` of `femto bench`.
SINE = ["x + 0.08*sin(pi*(y + z))", "y + 0.08*sin(pi*(x + z) + 1)", "z + 0.08*sin(pi*(x + y) + 2)"]


def measure_ngsolve(mesh, degree, cores, seconds):
    """Prints a row for each way, in a process of its own; checks uᵀAu of a linear function."""
    import time

    import ngsolve as ng
    from netgen.read_gmsh import ReadGmsh

    ng.SetNumThreads(cores)
    space = ng.H1(ng.Mesh(ReadGmsh(str(mesh))), order=degree)
    u, v = space.TnT()
    function = ng.GridFunction(space)
    function.Set(ng.x + 2 * ng.y + 3 * ng.z)
    volume = ng.Integrate(1, space.mesh)

    def operator(way):
        if way == "factors":
            fields = ng.VectorL2(space.mesh, order=degree - 1, piola=True)
            gradient = ng.BilinearForm(trialspace=space, testspace=fields, geom_free=True)
            gradient += ng.grad(u) * fields.TestFunction() * ng.dx
            gradient.Assemble()
            return gradient.mat.T @ fields.Mass(1).Inverse() @ gradient.mat
        form = ng.BilinearForm(space, nonassemble=way == "points")
        form += ng.grad(u) * ng.grad(v) * ng.dx
        return form.Assemble().mat

    rows = {}
    with ng.TaskManager():
        for way in WAYS:
            matrix = operator(way)
            x, y = function.vec, function.vec.CreateVector()
            matrix.Mult(x, y)
            energy = ng.InnerProduct(x, y)
            if abs(energy / (14 * volume) - 1) > 1e-10:
                sys.exit(f"{way}: the energy of x + 2y + 3z is {energy}, not 14 times the volume {volume}")
            repeats, took = 1, 0.0
            while True:
                start = time.perf_counter()
                for _ in range(repeats):
                    matrix.Mult(x, y)
                took = time.perf_counter() - start
                if took >= seconds:
                    break
                repeats *= 2
            rows[way] = took / repeats
    print(json.dumps({"unknowns": space.ndof, "seconds": rows}))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def pinned(cores):
    return ["taskset", "-c", f"0-{cores - 1}"]


def measure_femto(options, case, cores):
    command = pinned(cores) + [str(options.femto), "--json", "solve", str(case), "--no-output"]
    command += ["--set", f"run.threads={cores}", "--set", f"run.data_level={options.data_level}"]
    out, err, _ = run(command)
    # One iteration does not converge, which is not a failure here.
    try:
        operator = json.loads(out)["operator"]
        return operator["measured_seconds"], operator["dofs"]
    except (json.JSONDecodeError, KeyError, TypeError):
        sys.exit(f"femto: {err or out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degree", default="1,2,3,4", help="default %(default)s")
    parser.add_argument("--cores", default="1,2", help="default %(default)s")
    parser.add_argument("--dofs", type=float, default=1e6, help="about so many unknowns; default %(default)s")
    parser.add_argument("--data-level", default="automatic", help="femto's; default %(default)s")
    parser.add_argument("--passes", type=int, default=5, help="default %(default)s")
    parser.add_argument("--femto", type=pathlib.Path, default=TARGET / "release" / "femto")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has NGSolve; default this one")
    parser.add_argument("--csv", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("--measure", nargs=4, metavar=("MESH", "DEGREE", "CORES", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        mesh, degree, cores, seconds = options.measure
        return measure_ngsolve(mesh, int(degree), int(cores), float(seconds))
    rows = []
    print(f"{'degree':>6} {'cores':>5} {'femto':>8} {'NGSolve':>8} MDOF/s {'':>11}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for degree in map(int, options.degree.split(",")):
            cells = round((options.dofs / degree**3) ** (1 / 3))
            mesh, case = pathlib.Path(folder) / f"{degree}.msh", pathlib.Path(folder) / f"{degree}.toml"
            command = [str(options.femto), "mesh", "box", "--cell", "tetrahedron", "--cells", *[str(cells)] * 3]
            _, err, code = run(command + ["--deform", *SINE, "--format", "2.2", "--ascii", str(mesh)])
            if code != 0:
                sys.exit(f"femto: {err}")
            case.write_text(CASE.format(mesh=mesh, degree=degree))
            for cores in map(int, options.cores.split(",")):
                rows += compare(options, (mesh, case), degree, cores)
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


def compare(options, files, degree, cores):
    mesh, case = files
    ratios, rates, own = {way: [] for way in WAYS}, {way: [] for way in WAYS}, []
    for _ in range(options.passes):
        seconds, unknowns = measure_femto(options, case, cores)
        command = pinned(cores) + [options.python, __file__, "--measure", str(mesh), str(degree), str(cores), "0.3"]
        out, err, code = run(command)
        if code != 0:
            sys.exit(f"NGSolve: {err or out}")
        other = json.loads(out.splitlines()[-1])
        if other["unknowns"] != unknowns:
            sys.exit(f"{unknowns} unknowns in femto, {other['unknowns']} in NGSolve")
        own.append(unknowns / seconds / 1e6)
        for way in WAYS:
            ratios[way].append(other["seconds"][way] / seconds)
            rates[way].append(unknowns / other["seconds"][way] / 1e6)
    rows = []
    for way in WAYS:
        ratio, rate = statistics.median(ratios[way]), statistics.median(rates[way])
        femto = statistics.median(own)
        print(
            f"{degree:6} {cores:5} {femto:8.1f} {rate:8.1f} {way:>18}  {ratio:.2f} "
            f"({min(ratios[way]):.2f}..{max(ratios[way]):.2f})",
            flush=True,
        )
        rows.append(
            {
                "degree": degree,
                "cores": cores,
                "unknowns": unknowns,
                "ngsolve": way,
                "femto_mdofs": femto,
                "ngsolve_mdofs": rate,
                "ratio": ratio,
                "ratio_least": min(ratios[way]),
                "ratio_most": max(ratios[way]),
            }
        )
    return rows


if __name__ == "__main__":
    main()
