"""Read VTU files with VTK and meshio and print the range of every array.

usage: vtu_ranges.py FILE...

Prints for every file one line of JSON
    {"points": N, "cells": N, "types": [T...], "point_data": {NAME: [LEAST, GREATEST]...},
     "cell_data": {NAME: [LEAST, GREATEST]...}, "volume": V, "meshio": [N, N, [NAME...]]}
with the volume of the curved cells, of triangles their area, integrated by VTK. The range of an array of
vectors is that of their lengths. The last are what meshio counts as points and cells, and the names of its point data.
"""

import json
import sys

import meshio
from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader


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


def ranges(data):
    arrays = [data.GetArray(i) for i in range(data.GetNumberOfArrays())]
    return {array.GetName(): list(array.GetRange(-1)) for array in arrays}


def volume(grid):
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid)
    sizes.ComputeSumOn()
    sizes.Update()
    sums = sizes.GetOutput().GetFieldData()
    return sums.GetArray("Volume").GetValue(0) + sums.GetArray("Area").GetValue(0)


def seen_by_meshio(path):
    mesh = meshio.read(path)
    return [len(mesh.points), sum(len(block.data) for block in mesh.cells), sorted(mesh.point_data)]


def main():
    for path in sys.argv[1:]:
        grid = read(path)
        summary = {
            "points": grid.GetNumberOfPoints(),
            "cells": grid.GetNumberOfCells(),
            "types": sorted({grid.GetCellType(c) for c in range(grid.GetNumberOfCells())}),
            "point_data": ranges(grid.GetPointData()),
            "cell_data": ranges(grid.GetCellData()),
            "volume": volume(grid),
            "meshio": seen_by_meshio(path),
        }
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
