#!/usr/bin/env python3
"""Measures femto and another library in turns on the same tetrahedra, and prints the ratios of their rates.

The operator is the Laplacian's, of H1 with no unknown constrained, applied to vectors of all unknowns in fp64. femto
makes a mesh of a deformed box, both programs read its file, and each measures in a process of its own, in turns.
femto's time is the operator's in the report of `femto solve`. NGSolve applies the operator in three ways: `assembled`, a
product with its sparse matrix; `factors`, Bᵀ M⁻¹ B with the gradient B to discontinuous fields, whose element matrices
are the same for all cells, and their mass matrix M; `points`, its evaluation at the points; and with `--uniform`
`geom_free`, the form with `geom_free=True`, which is right where cells are alike. DOLFINx does in two:
`assembled`, a product with PETSc's sparse matrix; `action`, the assembly of the vector of the form's action on u by the
kernel that it compiles for the form. README.md beside this file says how to install them.

A ratio above 1 says that femto is faster. It is the median over the passes, with the smallest and largest in brackets.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parents[2] / "target"
PEERS = ["ngsolve", "dolfinx"]
# Seconds of a peer's sample, at least.
SECONDS = "0.3"
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


def measure_peer(options, mesh, degree, cores):
    """Unknowns, and the seconds of an application for each way. NGSolve has threads, DOLFINx a process for each core."""
    command = pinned(cores)
    if options.peer == "dolfinx":
        command += ["env", "OMP_NUM_THREADS=1"]
        command += ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", str(cores)] if cores > 1 else []
    command += [options.python, str(HERE / f"{options.peer}_rates.py"), str(mesh), str(degree), str(cores), SECONDS]
    out, err, code = run(command)
    if code != 0:
        sys.exit(f"{options.peer}: {err or out}")
    found = json.loads(out.splitlines()[-1])
    return found["unknowns"], found["seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--degree", default="1,2,3,4", help="default %(default)s")
    parser.add_argument("--cores", default="1,2", help="default %(default)s")
    parser.add_argument("--dofs", type=float, default=1e6, help="about so many unknowns; default %(default)s")
    parser.add_argument("--uniform", action="store_true", help="do not deform the box")
    parser.add_argument("--data-level", default="automatic", help="femto's; default %(default)s")
    parser.add_argument("--passes", type=int, default=5, help="default %(default)s")
    parser.add_argument("--femto", type=pathlib.Path, default=TARGET / "release" / "femto")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the peer; default this one")
    parser.add_argument("--csv", type=pathlib.Path, help="also write the rows to this file")
    options = parser.parse_args()
    rows = []
    print(f"{'degree':>6} {'cores':>5} {'femto':>8} {options.peer:>8} MDOF/s {'':>11}  ratio")
    with tempfile.TemporaryDirectory() as folder:
        for degree in map(int, options.degree.split(",")):
            cells = round((options.dofs / degree**3) ** (1 / 3))
            mesh, case = pathlib.Path(folder) / f"{degree}.msh", pathlib.Path(folder) / f"{degree}.toml"
            command = [str(options.femto), "mesh", "box", "--cell", "tetrahedron", "--cells", *[str(cells)] * 3]
            command += [] if options.uniform else ["--deform", *SINE]
            _, err, code = run(command + ["--format", "2.2", "--ascii", str(mesh)])
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
    ratios, rates, own = {}, {}, []
    for _ in range(options.passes):
        seconds, unknowns = measure_femto(options, case, cores)
        others, ways = measure_peer(options, mesh, degree, cores)
        if others != unknowns:
            sys.exit(f"{unknowns} unknowns in femto, {others} in {options.peer}")
        own.append(unknowns / seconds / 1e6)
        for way, took in ways.items():
            ratios.setdefault(way, []).append(took / seconds)
            rates.setdefault(way, []).append(unknowns / took / 1e6)
    rows = []
    for way, found in ratios.items():
        ratio, rate = statistics.median(found), statistics.median(rates[way])
        femto = statistics.median(own)
        print(
            f"{degree:6} {cores:5} {femto:8.1f} {rate:8.1f} {way:>18}  {ratio:.2f} ({min(found):.2f}..{max(found):.2f})",
            flush=True,
        )
        rows.append(
            {
                "degree": degree,
                "cores": cores,
                "unknowns": unknowns,
                "peer": options.peer,
                "way": way,
                "femto_mdofs": femto,
                "peer_mdofs": rate,
                "ratio": ratio,
                "ratio_least": min(found),
                "ratio_most": max(found),
            }
        )
    return rows


if __name__ == "__main__":
    main()
