#!/usr/bin/env python3
"""Measures femto and deal.II in turns on the same meshes, and prints the ratios of their rates.

Build both first (README.md beside this file). For every number of cores, degree and number of components this writes
femto's mesh to a file, starts deal.II's program on it, and alternates: one case by femto, the same one by deal.II with
each of its geometries, the next case; every second pass in the opposite order. Both programs report uᵀAu and ‖Au‖ of
the same function, which must agree.

A ratio above 1 says that femto is faster. It is the median over the passes of the ratio within a pass, with the
quartiles in brackets; a pass counts with its median sample, or with its fastest if --fastest is given.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parents[2] / "target"
# The mesh `sine` of `femto bench`.
SINE = ["x + 0.08*sin(pi*(y + z))", "y + 0.08*sin(pi*(x + z) + 1)", "z + 0.08*sin(pi*(x + y) + 2)"]
# Largest relative difference of uᵀAu and of ‖Au‖.
TOLERANCE = 1e-12


class Failure(Exception):
    """A message for the user."""


def geometries(benchmark):
    """deal.II's variants: factors as it stores them, six numbers per point, or recomputed from the vertices."""
    mass = benchmark in ("bp1", "bp2")
    return ["stored", "trilinear"] if mass else ["stored", "merged", "trilinear"]


class Femto:
    """Runs `femto bench`, a process per measurement."""

    def __init__(self, options, cores, degree):
        self.start = pinned(cores) + [str(options.femto)]
        self.options, self.cores, self.degree = options, cores, degree

    def measure(self, benchmark):
        options = self.options
        command = self.start + ["bench", benchmark, "--degree", str(self.degree), "--dofs", str(options.dofs)]
        command += ["--threads", str(self.cores), "--nreps", str(options.samples)]
        command += ["--data-level", options.data_level, "--probe", "--kept", "--json"]
        return json.loads(run(command))["rows"][0]

    def write_mesh(self, row, path):
        cells = [str(row[f"cells_{axis}"]) for axis in "xyz"]
        command = self.start + ["mesh", "box", "--cells", *cells, "--deform", *SINE]
        run(command + ["--format", "2.2", "--ascii", str(path)])


class DealII:
    """deal.II's program, which waits for cases on its standard input."""

    def __init__(self, options, cores, degree, components, mesh):
        command = pinned(cores)
        if cores > 1:
            command += ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-n", str(cores)]
        command += [str(options.programs / f"bake_off_{degree}"), str(mesh), str(components)]
        self.samples, self.seconds = options.samples, options.seconds
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def measure(self, benchmark, geometry):
        print(benchmark, geometry, self.samples, self.seconds, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.process.args} ended with {self.process.wait()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def pinned(cores):
    return ["taskset", "-c", ",".join(map(str, range(cores)))]


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


def check(ours, theirs):
    """Both have applied the same operator."""
    if ours["dofs"] != theirs["dofs"]:
        raise Failure(f"{ours['dofs']} unknowns in femto, {theirs['dofs']} in deal.II")
    for key in ("energy", "norm"):
        if abs(ours[key] - theirs[key]) > TOLERANCE * abs(theirs[key]):
            case = f"{theirs['benchmark']} {theirs['geometry']} degree {theirs['degree']}"
            raise Failure(f"{case}: {key} is {ours[key]} in femto, {theirs[key]} in deal.II")


def passes(options, cores, degree, benchmarks):
    """All passes over benchmarks of as many components: lists of (femto's row, deal.II's row) by case."""
    femto = Femto(options, cores, degree)
    components = 1 if benchmarks[0] in ("bp1", "bp3", "bp5") else 3
    pairs = {(name, geometry): [] for name in benchmarks for geometry in geometries(name)}
    with tempfile.TemporaryDirectory() as folder:
        mesh = pathlib.Path(folder, "mesh.msh")
        femto.write_mesh(femto.measure(benchmarks[0]), mesh)
        deal = DealII(options, cores, degree, components, mesh)
        try:
            for name, geometry in pairs:
                deal.measure(name, geometry)  # Makes the operator.
            for index in range(options.passes):
                for name in benchmarks[:: 1 if index % 2 == 0 else -1]:
                    ours = femto.measure(name) if index % 2 == 0 else None
                    theirs = {geometry: deal.measure(name, geometry) for geometry in geometries(name)}
                    ours = ours or femto.measure(name)
                    for geometry, row in theirs.items():
                        check(ours, row)
                        pairs[name, geometry].append((ours, row))
        finally:
            deal.close()
    return pairs


def summary(options, cores, pairs):
    """One row of the table from all passes of a case."""
    column = "seconds_min" if options.fastest else "seconds"
    rates = [[row["dofs"] / row[column] for row in rows] for rows in zip(*pairs)]
    ratios = [ours / theirs for ours, theirs in zip(*rates)]
    low, _, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    fastest = [max(row["dofs"] / row["seconds_min"] for row in rows) for rows in zip(*pairs)]
    ours, theirs = pairs[0]
    return {
        "benchmark": theirs["benchmark"],
        "degree": theirs["degree"],
        "cores": cores,
        "dofs": theirs["dofs"],
        "cells": theirs["cells"],
        "femto_data_level": ours["data_level"],
        "dealii_geometry": theirs["geometry"],
        "dealii_lanes": theirs["lanes"],
        "passes": len(pairs),
        "samples": options.samples,
        "femto_rate": statistics.median(rates[0]),
        "dealii_rate": statistics.median(rates[1]),
        "ratio": statistics.median(ratios),
        "ratio_lower_quartile": low,
        "ratio_upper_quartile": high,
        "ratio_min": min(ratios),
        "ratio_max": max(ratios),
        "femto_rate_fastest": fastest[0],
        "dealii_rate_fastest": fastest[1],
        "ratio_fastest": fastest[0] / fastest[1],
    }


def print_row(row):
    numbers = [row[key] * 1e-6 for key in ("femto_rate", "dealii_rate")]
    numbers += [row[key] for key in ("ratio", "ratio_lower_quartile", "ratio_upper_quartile", "ratio_fastest")]
    case = "{benchmark} {degree:>6} {cores:>5} {femto_data_level:>10} {dealii_geometry:>9}".format(**row)
    print(case, "{:7.1f} {:7.1f} {:6.2f} ({:.2f}..{:.2f}) {:6.2f}".format(*numbers), flush=True)


def numbers(text):
    """A list of numbers and ranges, such as 1,2 or 1..8."""
    parts = [part.split("..") for part in text.split(",")]
    return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", default=["bp1", "bp3", "bp5"], metavar="BENCHMARK", help="bp1 to bp6")
    parser.add_argument("--degree", type=numbers, default=[1, 2, 4, 8], help="default 1,2,4,8")
    parser.add_argument("--cores", type=numbers, default=[1, 2], help="default 1,2")
    parser.add_argument("--dofs", type=float, default=1.5e6, help="about so many unknowns; default 1.5e6")
    parser.add_argument("--passes", type=int, default=9, help="default 9")
    parser.add_argument("--samples", type=int, default=5, help="per pass and case; default 5")
    parser.add_argument("--seconds", type=float, default=0.02, help="of a sample, at least; default 0.02 as femto's")
    parser.add_argument("--data-level", default="automatic", help="of femto; default automatic")
    parser.add_argument("--fastest", action="store_true", help="a pass counts with its fastest sample")
    parser.add_argument("--femto", type=pathlib.Path, default=TARGET / "release" / "femto")
    parser.add_argument("--programs", type=pathlib.Path, default=TARGET / "dealii", help="folder of bake_off_1 ...")
    parser.add_argument("--csv", type=pathlib.Path, help="also write the rows to this file")
    return parser.parse_args()


def main(options):
    head = "      degree cores      femto   deal.II      MDOF/s          ratio   quartiles fastest"
    print(head)
    rows = []
    of_kind = [[name for name in options.benchmarks if int(name[2:]) % 2 == odd] for odd in (1, 0)]
    cases = [(cores, degree, kind) for cores in options.cores for degree in options.degree for kind in of_kind if kind]
    for cores, degree, benchmarks in cases:
        for pairs in passes(options, cores, degree, benchmarks).values():
            rows.append(summary(options, cores, pairs))
            print_row(rows[-1])
        if options.csv:
            with open(options.csv, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)


if __name__ == "__main__":
    try:
        main(options())
    except Failure as failure:
        raise SystemExit(f"compare.py: {failure}")
