"""Read VTU files with VTK and print what VTK sees in them.

usage: read_vtu.py FILE...

Prints for every file one line
    grid DEGREE points N cells N types T... tags T...
and for every cell and every one of 27 parametric positions p in [0, 1]^3 one line
    sample DEGREE CELL p0 p1 p2  x0 x1 x2  u  v0 v1 v2
with the position x, the point field "u" and the vector point field "position <f32>", each
interpolated by VTK's own shape functions, so that a wrong node order shows.
"""

import sys

from vtkmodules.vtkCommonCore import mutable
from vtkmodules.vtkCommonDataModel import VTK_LAGRANGE_QUADRILATERAL
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

# No symmetry, no nodes, none on the boundary of the cell.
POSITIONS = (0.13, 0.41, 0.83)


def read(path):
    errors = []
    reader = vtkXMLUnstructuredGridReader()
    reader.AddObserver("ErrorEvent", lambda *_: errors.append("error"))
    reader.AddObserver("WarningEvent", lambda *_: errors.append("warning"))
    reader.SetFileName(path)
    reader.Update()
    if errors:
        sys.exit(f"{path}: VTK reports {errors}")
    return reader.GetOutput()


def order(cell):
    """Lagrange quadrilaterals, hexahedra and wedges have an order per direction, simplices one, linear cells none.

    One that differs in the last direction is printed as 1x3.
    """
    if not hasattr(cell, "GetOrder"):
        return 1
    if cell.GetCellType() == VTK_LAGRANGE_QUADRILATERAL:
        first, last = cell.GetOrder(0), cell.GetOrder(1)
    elif cell.GetNumberOfFaces() in (5, 6):
        first, last = cell.GetOrder(0), cell.GetOrder(2)
    else:
        return cell.GetOrder()
    return first if first == last else f"{first}x{last}"


def samples(grid, index):
    cell = grid.GetCell(index)
    nodes = [cell.GetPointId(i) for i in range(cell.GetNumberOfPoints())]
    u = grid.GetPointData().GetArray("u")
    v = grid.GetPointData().GetArray("position <f32>")
    weights = [0.0] * len(nodes)
    for r in POSITIONS:
        for s in POSITIONS:
            for t in POSITIONS:
                x = [0.0] * 3
                cell.EvaluateLocation(mutable(0), [r, s, t], x, weights)
                at_u = sum(w * u.GetValue(n) for w, n in zip(weights, nodes))
                at_v = [sum(w * v.GetComponent(n, c) for w, n in zip(weights, nodes)) for c in range(3)]
                yield [r, s, t, *x, at_u, *at_v]


def main():
    for path in sys.argv[1:]:
        grid = read(path)
        cells = range(grid.GetNumberOfCells())
        degree = order(grid.GetCell(0))
        types = sorted({grid.GetCellType(c) for c in cells})
        tags = [int(grid.GetCellData().GetArray("tag").GetValue(c)) for c in cells]
        print("grid", degree, "points", grid.GetNumberOfPoints(), "cells", len(cells),
              "types", *types, "tags", *tags)
        for c in cells:
            for sample in samples(grid, c):
                print("sample", degree, c, *map(repr, sample))


if __name__ == "__main__":
    main()
