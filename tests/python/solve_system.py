"""Read linear equations that `femto solve --system` wrote, and solve them by other programs.

usage: solve_system.py FOLDER SOLUTION [amg]

FOLDER has matrix.mtx, right-hand-side.mtx and positions.mtx, SOLUTION is a vector; all are MatrixMarket files. Prints one line
of JSON
    {"size": N, "positions": [X, Y, Z], "asymmetry": A, "difference": D, "iterations": I, "complexity": C}
with the sums of positions, the largest |a_ij - a_ji| over the largest |a_ij|, and the largest difference between SciPy's direct solution and
SOLUTION over the largest entry of that. With amg I are the iterations of conjugate gradients to 1e-8 with PyAMG's smoothed
aggregation, without a threshold for couplings, and C is the sum of the entries of its matrices over those of the first.
"""

import json
import sys

import numpy as np
from scipy.io import mmread
from scipy.sparse.linalg import spsolve


def amg(matrix, right_hand_side):
    import pyamg

    smoother = ("chebyshev", {"degree": 4, "iterations": 1})
    levels = pyamg.smoothed_aggregation_solver(
        matrix,
        strength=("symmetric", {"theta": 0.0}),
        presmoother=smoother,
        postsmoother=smoother,
        max_coarse=500,
    )
    residuals = []
    levels.solve(right_hand_side, tol=1e-8, accel="cg", residuals=residuals, maxiter=200)
    return len(residuals) - 1, levels.operator_complexity()


def main():
    folder, solution = sys.argv[1:3]
    matrix = mmread(f"{folder}/matrix.mtx").tocsr()
    right_hand_side = mmread(f"{folder}/right-hand-side.mtx").ravel()
    found = mmread(solution).ravel()
    direct = spsolve(matrix.tocsc(), right_hand_side)
    summary = {
        "size": matrix.shape[0],
        "positions": mmread(f"{folder}/positions.mtx").sum(axis=0).tolist(),
        "asymmetry": abs(matrix - matrix.T).max() / abs(matrix).max(),
        "difference": np.abs(direct - found).max() / np.abs(direct).max(),
    }
    if "amg" in sys.argv[3:]:
        summary["iterations"], summary["complexity"] = amg(matrix, right_hand_side)
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
