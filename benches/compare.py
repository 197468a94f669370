#!/usr/bin/env python3
"""Compares measured rows with CPU peers: compare.py RUN/bench.csv

peers.csv holds MDOF/s on L-vectors per core (fp64, sine-deformed box, about 1.5e6 unknowns) of
deal.II MatrixFree, libCEED's xsmm backend and MFEM's partial assembly, medians of 21 samples on a
core of a Sapphire-Rapids class machine with the ceilings below. Two cores gave them twice that.

A ratio above 1 says that femto is faster. Rates of different days or machines are compared as
fractions of a ceiling: `by FMA` and `by copy` divide either side by its own.
"""

import csv
import pathlib
import sys

# The peers' ceilings per core: flops per second, and bytes per second copied past the caches.
PEER_FMA, PEER_COPY = 115e9, 24.8e9


def peers():
    """The best peer's rate per core in DOF/s, and its name, by (benchmark, degree)."""
    best = {}
    with open(pathlib.Path(__file__).with_name("peers.csv"), newline="") as file:
        for row in csv.DictReader(file):
            key = row.pop("benchmark"), int(row.pop("degree"))
            best[key] = max((float(rate) * 1e6, name) for name, rate in row.items() if rate)
    return best


def comparable(row):
    return (row["measured"], row["precision"], row["mesh"]) == ("application", "fp64", "sine")


def main(path):
    best = peers()
    form = "{:>9} {:>6} {:>11} {:>7} | {:>8} {:>8} {:<13}| {:>6} {:>6} {:>7} {:>8}"
    head = ("benchmark", "degree", "data", "threads", "MDOF/s", "peer", "", "ratio", "by FMA")
    print(form.format(*head, "by copy", "of bound"))
    with open(path, newline="") as file:
        for row in filter(comparable, csv.DictReader(file)):
            key, threads = (row["benchmark"], int(row["degree"])), int(row["threads"])
            if key not in best:
                continue
            per_core, name = best[key]
            rate, peer = float(row["rate"]), per_core * threads
            ratio = rate / peer
            by_fma = ratio * PEER_FMA * threads / float(row["ceiling_fma"])
            by_copy = ratio * PEER_COPY * threads / float(row["ceiling_copy"])
            ours, theirs = f"{rate * 1e-6:.1f}", f"{peer * 1e-6:.1f}"
            ratios = [f"{number:.2f}" for number in (ratio, by_fma, by_copy)]
            case = (*key, row["data_level"], threads)
            print(form.format(*case, ours, theirs, name, *ratios, f"{float(row['fraction']):.2f}"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
