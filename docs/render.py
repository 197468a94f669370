"""Draw the result of a case: the whole part beside the part cut open.

usage: render.py RESULT.vtu FIELD "TITLE" IMAGE.png

Draws the curved high-order cells with their edges. Needs docs/requirements.txt and, without a screen,
Mesa's EGL or OSMesa (`apt-get install libegl1`). The cut keeps the half with the larger y.
"""

import sys

from vtkmodules.vtkCommonCore import vtkIdList, vtkLookupTable, vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData, vtkUnstructuredGrid
from vtkmodules.vtkFiltersGeometry import vtkDataSetSurfaceFilter, vtkUnstructuredGridGeometryFilter
from vtkmodules.vtkFiltersCore import vtkCleanPolyData, vtkPolyDataNormals
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor
from vtkmodules.vtkRenderingCore import (
    vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow, vtkTextActor, vtkWindowToImageFilter,
)
import vtkmodules.vtkRenderingFreeType  # noqa: F401 (text in the picture)
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401 (the renderer itself)

WIDTH, HEIGHT = 1600, 900
# Matplotlib's "inferno" at nine equal steps, light to the hot end.
COLOURS = ["#000004", "#210c4a", "#57106e", "#8a226a", "#bc3754", "#e45a31", "#f98e09", "#f9cb35", "#fcffa4"]


def read(path):
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(path)
    reader.Update()
    return reader.GetOutput()


def half(grid):
    """The cells whose centre lies behind the middle of y."""
    middle = sum(grid.GetBounds()[2:4])
    part = vtkUnstructuredGrid()
    part.SetPoints(grid.GetPoints())
    part.GetPointData().ShallowCopy(grid.GetPointData())
    for index in range(grid.GetNumberOfCells()):
        bounds = grid.GetCell(index).GetBounds()
        if bounds[2] + bounds[3] > middle:
            ids = vtkIdList()
            grid.GetCellPoints(index, ids)
            part.InsertNextCell(grid.GetCellType(index), ids)
    return part


def colours(low, high):
    """A smooth table through COLOURS, without the darkest part."""
    def channels(text):
        return [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]

    stops = [channels(c) for c in COLOURS]
    table = vtkLookupTable()
    table.SetNumberOfTableValues(256)
    table.SetRange(low, high)
    for i in range(256):
        at = (0.12 + 0.88 * i / 255) * (len(stops) - 1)
        left = min(int(at), len(stops) - 2)
        mix = [(1 - at + left) * a + (at - left) * b for a, b in zip(stops[left], stops[left + 1])]
        table.SetTableValue(i, *mix, 1)
    return table


def surface(grid, field, table):
    """The curved surface, coloured by the field."""
    faces = vtkDataSetSurfaceFilter()
    faces.SetInputData(grid)
    faces.SetNonlinearSubdivisionLevel(3)
    merge = vtkCleanPolyData()
    merge.SetInputConnection(faces.GetOutputPort())
    smooth = vtkPolyDataNormals()
    smooth.SetInputConnection(merge.GetOutputPort())
    smooth.SetFeatureAngle(40)
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(smooth.GetOutputPort())
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray(field)
    mapper.SetLookupTable(table)
    mapper.UseLookupTableScalarRangeOn()
    mapper.InterpolateScalarsBeforeMappingOn()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetAmbient(0.35)
    actor.GetProperty().SetDiffuse(0.7)
    actor.GetProperty().SetSpecular(0.12)
    actor.GetProperty().SetSpecularPower(30)
    return actor


def edges(grid):
    """The curved edges of the cells on the surface."""
    faces = vtkUnstructuredGridGeometryFilter()
    faces.SetInputData(grid)
    faces.Update()
    faces = faces.GetOutput()
    points, lines = vtkPoints(), vtkCellArray()
    for index in range(faces.GetNumberOfCells()):
        face = faces.GetCell(index)
        for number in range(face.GetNumberOfEdges()):
            nodes = face.GetEdge(number).GetPoints()
            # The two ends come first, then the inner nodes.
            count = nodes.GetNumberOfPoints()
            lines.InsertNextCell(count)
            for node in [0, *range(2, count), 1]:
                lines.InsertCellPoint(points.InsertNextPoint(nodes.GetPoint(node)))
    data = vtkPolyData()
    data.SetPoints(points)
    data.SetLines(lines)
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(data)
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    mapper.SetRelativeCoincidentTopologyLineOffsetParameters(-4, -40)
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(0, 0, 0)
    actor.GetProperty().SetOpacity(0.35)
    actor.GetProperty().SetLineWidth(1)
    actor.GetProperty().LightingOff()
    return actor


def bar(table):
    scale = vtkScalarBarActor()
    scale.SetLookupTable(table)
    scale.SetNumberOfLabels(5)
    scale.SetLabelFormat("{:.1f}")
    scale.UnconstrainedFontSizeOn()
    plain(scale.GetLabelTextProperty())
    scale.SetOrientationToHorizontal()
    scale.SetBarRatio(0.35)
    scale.SetTextPad(6)
    scale.SetPosition(0.3, 0.1)
    scale.SetWidth(0.4)
    scale.SetHeight(0.55)
    return scale


def headline(title):
    text = vtkTextActor()
    text.SetInput(title)
    plain(text.GetTextProperty())
    text.GetTextProperty().SetJustificationToCentered()
    text.GetPositionCoordinate().SetCoordinateSystemToNormalizedViewport()
    text.SetPosition(0.5, 0.75)
    return text


def plain(text):
    text.SetColor(0.1, 0.1, 0.1)
    text.SetFontSize(24)
    text.ItalicOff()
    text.BoldOff()
    text.ShadowOff()


def view(window, grid, field, table, left, direction):
    scene = vtkRenderer()
    scene.SetViewport(left, 0.14, left + 0.5, 1)
    scene.SetBackground(1, 1, 1)
    scene.AddActor(surface(grid, field, table))
    scene.AddActor(edges(grid))
    camera = scene.GetActiveCamera()
    camera.SetPosition(*direction)
    camera.SetViewUp(0, 0, 1)
    camera.ParallelProjectionOn()
    scene.ResetCamera()
    camera.Zoom(1.2)
    window.AddRenderer(scene)


def main():
    path, field, title, image = sys.argv[1:]
    grid = read(path)
    table = colours(*grid.GetPointData().GetArray(field).GetRange())
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetSize(WIDTH, HEIGHT)
    window.SetMultiSamples(8)
    view(window, grid, field, table, 0.0, (0.75, -1.3, 0.55))
    view(window, half(grid), field, table, 0.5, (0.35, -1.3, 0.25))
    legend = vtkRenderer()
    legend.SetViewport(0, 0, 1, 0.14)
    legend.SetBackground(1, 1, 1)
    legend.AddViewProp(bar(table))
    legend.AddViewProp(headline(title))
    window.AddRenderer(legend)
    window.Render()
    shot = vtkWindowToImageFilter()
    shot.SetInput(window)
    shot.ReadFrontBufferOff()
    writer = vtkPNGWriter()
    writer.SetFileName(image)
    writer.SetInputConnection(shot.GetOutputPort())
    writer.Write()


if __name__ == "__main__":
    main()
