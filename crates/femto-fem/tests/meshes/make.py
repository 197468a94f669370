"""Make the meshes of this folder with Gmsh, and print what Gmsh says is in them.

usage: make.py

Needs the wheel gmsh (4.15.2 made the committed files), which the tests do not. Dimensions are chosen so
that volumes and areas have closed forms; the tests state them.
"""

import itertools
import math
import random
from pathlib import Path

import gmsh

FOLDER = Path(__file__).parent
ASCII, BINARY = 0, 1


def start():
    """An empty model."""
    gmsh.option.restoreDefaults()
    gmsh.option.setNumber("General.Verbosity", 2)
    gmsh.clear()


def generate(dimension, size):
    """Makes a mesh of cells that are about this large."""
    gmsh.model.mesh.setSize(gmsh.model.getEntities(0), size)
    gmsh.model.mesh.generate(dimension)


def save(name, version, encoding):
    """Writes the cells of the physical groups, or all where there are no groups."""
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", encoding)
    path = FOLDER / f"{name}.msh"
    gmsh.write(str(path))
    gmsh.model.add("read back")
    gmsh.merge(str(path))
    cells = {}
    for kind, tags, _ in zip(*gmsh.model.mesh.getElements()):
        cells[gmsh.model.mesh.getElementProperties(kind)[0]] = len(tags)
    nodes = len(gmsh.model.mesh.getNodes()[0])
    print(f"{name}: {path.stat().st_size} bytes, {nodes} nodes, {cells}")
    for dimension, number in gmsh.model.getPhysicalGroups():
        entities = gmsh.model.getEntitiesForPhysicalGroup(dimension, number)
        tags = [t for e in entities for t in gmsh.model.mesh.getElements(dimension, e)[1]]
        label = gmsh.model.getPhysicalName(dimension, number)
        print(f"    {dimension} {number} {label!r}: {sum(map(len, tags))}")
    gmsh.model.remove()
    gmsh.model.setCurrent("")


def group(dimension, entities, name="", number=-1):
    gmsh.model.addPhysicalGroup(dimension, entities, number, name)


def sides(names):
    """Groups of the faces of a box with the corner 0: names of the sides at least and greatest x, y, z."""
    box = gmsh.model.getBoundingBox(-1, -1)
    for axis, (low, high) in enumerate(names):
        for name, wanted in ((low, box[axis]), (high, box[3 + axis])):
            at = lambda face: gmsh.model.getBoundingBox(2, face)
            near = lambda x: abs(x - wanted) < 1e-6
            faces = [f for _, f in gmsh.model.getEntities(2)
                     if near(at(f)[axis]) and near(at(f)[3 + axis])]
            group(2, faces, name)


def move(function):
    """Moves every node x to function(x)."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    for i, tag in enumerate(tags):
        gmsh.model.mesh.setNode(tag, function(*coordinates[3 * i:3 * i + 3]), [])


def ring(order, hexahedra):
    """A quarter of a ring, 1 < r < 2, 0 < z < 1/2: a box in polar coordinates, with two arcs."""
    start()
    gmsh.model.occ.addBox(1, 0, 0, 1, math.pi / 2, 0.5)
    gmsh.model.occ.synchronize()
    for _, curve in gmsh.model.getEntities(1):
        low, high = (gmsh.model.getBoundingBox(1, curve)[i:i + 3] for i in (0, 3))
        extent = [b - a for a, b in zip(low, high)]
        cells = [2, 2, 1][extent.index(max(extent))]
        gmsh.model.mesh.setTransfiniteCurve(curve, cells + 1)
    for _, face in gmsh.model.getEntities(2):
        gmsh.model.mesh.setTransfiniteSurface(face)
        if hexahedra:
            gmsh.model.mesh.setRecombine(2, face)
    gmsh.model.mesh.setTransfiniteVolume(1)
    gmsh.option.setNumber("Mesh.SecondOrderIncomplete", int(hexahedra))
    generate(3, 1)
    gmsh.model.mesh.setOrder(order)
    if hexahedra:
        sides((("inner", "outer"), ("start", "end"), ("bottom", "top")))
        group(3, [1], "domain")
    move(lambda r, angle, z: [r * math.cos(angle), r * math.sin(angle), z])


def cylinder(base, recombine):
    """A cylinder of radius 3/2 and height 2 with eight arcs in two layers, of second order."""
    start()
    geo = gmsh.model.geo
    point = lambda r, eighth: geo.addPoint(
        r * math.cos(eighth * math.pi / 4), r * math.sin(eighth * math.pi / 4), 0)
    centre, outer = point(0, 0), [point(1.5, e) for e in range(8)]
    arcs = [geo.addCircleArc(outer[e], centre, outer[(e + 1) % 8]) for e in range(8)]
    if base == "triangles":
        faces = [geo.addPlaneSurface([geo.addCurveLoop(arcs)])]
    else:
        # A square of four quadrilaterals inside eight.
        inner = [point(0.75 / math.cos(e % 2 * math.pi / 4), e) for e in range(8)]
        edges = [geo.addLine(inner[e], inner[(e + 1) % 8]) for e in range(8)]
        spokes = [geo.addLine(inner[e], outer[e]) for e in range(8)]
        cross = {e: geo.addLine(centre, inner[e]) for e in (0, 2, 4, 6)}
        loops = [[spokes[e], arcs[e], -spokes[(e + 1) % 8], -edges[e]] for e in range(8)]
        loops += [[cross[e], edges[e], edges[(e + 1) % 8], -cross[(e + 2) % 8]] for e in cross]
        faces = [geo.addPlaneSurface([geo.addCurveLoop(loop)]) for loop in loops]
        for face in faces:
            geo.mesh.setTransfiniteSurface(face)
            geo.mesh.setRecombine(2, face)
    for curve in range(1, geo.getMaxTag(1) + 1):
        geo.mesh.setTransfiniteCurve(curve, 2)
    geo.extrude([(2, face) for face in faces], 0, 0, 2, numElements=[2], recombine=recombine)
    geo.synchronize()
    at = {face: gmsh.model.getBoundingBox(2, face) for _, face in gmsh.model.getEntities(2)}
    bottom = [f for f, box in at.items() if box[5] < 1e-6]
    top = [f for f, box in at.items() if box[2] > 2 - 1e-6]
    hull = [abs(f) for _, f in gmsh.model.getBoundary(gmsh.model.getEntities(3), oriented=False)]
    group(2, top, "top")
    group(2, bottom, "bottom")
    group(2, [f for f in hull if f not in top + bottom], "exterior")
    group(3, [v for _, v in gmsh.model.getEntities(3)], "cylinder")
    generate(3, 1)
    gmsh.model.mesh.setOrder(2)
    move(snap)


def snap(x, y, z):
    """Where a node of a cylinder should be: Gmsh halves edges and arcs to 1e-12 alone."""
    near = lambda value, step: step * round(value / step)
    fix = lambda value: near(value, 1 / 64) if abs(value - near(value, 1 / 64)) < 1e-10 else value
    if abs(math.hypot(x, y) - 1.5) < 1e-10:
        angle = near(math.atan2(y, x), math.pi / 16)
        return [1.5 * math.cos(angle), 1.5 * math.sin(angle), fix(z)]
    return [fix(x), fix(y), fix(z)]


def rotations():
    """The 24 orders of a hexahedron's vertices that turn it."""
    corners = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1),
               (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
    for axes in itertools.permutations(range(3)):
        for signs in itertools.product((-1, 1), repeat=3):
            swaps = sum(a > b for a, b in itertools.combinations(axes, 2))
            if math.prod(signs) == (-1) ** swaps:
                yield [corners.index(tuple(s * c[a] for a, s in zip(axes, signs))) for c in corners]


def unstructured_cube():
    """The unit cube of tetrahedra in four hexahedra each, whose numberings are turned at random."""
    start()
    gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
    gmsh.model.occ.synchronize()
    sides((("xmin", "xmax"), ("ymin", "ymax"), ("zmin", "zmax")))
    group(3, [1], "domain")
    gmsh.option.setNumber("Mesh.SubdivisionAlgorithm", 2)
    generate(3, 1)
    (kind,), (tags,), (nodes,) = gmsh.model.mesh.getElements(3, 1)
    choose, turns = random.Random(13), list(rotations())
    turned = []
    for cell in range(len(tags)):
        turned += [nodes[8 * cell + v] for v in choose.choice(turns)]
    gmsh.model.mesh.removeElements(3, 1)
    gmsh.model.mesh.addElementsByType(1, kind, tags, turned)


def box_in_box():
    """The cube with a cube of half its size in its middle."""
    start()
    occ = gmsh.model.occ
    occ.addBox(0, 0, 0, 1, 1, 1, 1)
    occ.addBox(0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 2)
    _, (outside, _) = occ.fragment([(3, 1)], [(3, 2)])
    occ.synchronize()
    (shell,) = (v for _, v in outside if v != 2)
    interface = [f for _, f in gmsh.model.getBoundary([(3, 2)], oriented=False)]
    hull = [f for _, f in gmsh.model.getEntities(2) if f not in interface]
    group(2, hull, "boundary", 1)
    group(2, interface, "the inner faces", 2)
    group(3, [shell], number=1)
    group(3, [2], number=2)
    generate(3, 0.5)


def polygon(corners):
    """A polygon's lines and its face, which looks up if the corners are counter-clockwise."""
    start()
    points = [gmsh.model.geo.addPoint(x, y, 0) for x, y in corners]
    lines = [gmsh.model.geo.addLine(a, b) for a, b in zip(points, points[1:] + points[:1])]
    face = gmsh.model.geo.addPlaneSurface([gmsh.model.geo.addCurveLoop(lines)])
    return points, lines, face


def square():
    """A square, seen from below, so that its triangles are clockwise."""
    points, lines, face = polygon([(0, 0), (0, 1), (1, 1), (1, 0)])
    gmsh.model.geo.synchronize()
    group(0, points[:1], "bottom left")
    group(1, lines[:1], "left")
    group(2, [face], "interior")
    generate(2, 0.3)


def ell():
    """The unit square without its upper right quarter, a point beside it, and no groups."""
    polygon([(0, 0), (1, 0), (1, 0.5), (0.5, 0.5), (0.5, 1), (0, 1)])
    gmsh.model.geo.addPoint(7, 7, 0)
    gmsh.model.geo.synchronize()
    generate(2, 0.3)


def hybrid():
    """Hexahedra beside prisms: one of two squares is cut into triangles."""
    start()
    geo = gmsh.model.geo
    points = [geo.addPoint(x, y, 0) for x, y in [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)]]
    middle = geo.addLine(points[1], points[4])
    lines = [geo.addLine(a, b) for a, b in zip(points, points[1:] + points[:1])]
    left = geo.addPlaneSurface([geo.addCurveLoop([lines[0], middle, lines[4], lines[5]])])
    right = geo.addPlaneSurface([geo.addCurveLoop([lines[1], lines[2], lines[3], -middle])])
    geo.mesh.setTransfiniteSurface(left)
    geo.mesh.setRecombine(2, left)
    solids = geo.extrude([(2, left), (2, right)], 0, 0, 1, numElements=[2], recombine=True)
    geo.synchronize()
    group(3, [tag for dimension, tag in solids if dimension == 3], "all")
    generate(3, 0.5)


def solids(incomplete):
    """A hexahedron, beside it a prism, on it a pyramid and beside that a tetrahedron, of second order and curved."""
    start()
    gmsh.model.addDiscreteEntity(3, 1)
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1),
              (2, 0, 0), (2, 1, 0), (0.5, 0.5, 2), (2, 0.5, 2)]
    gmsh.model.mesh.addNodes(3, 1, range(1, 13), [float(x) for point in points for x in point])
    for kind, cell in ((5, [1, 2, 3, 4, 5, 6, 7, 8]), (6, [3, 10, 7, 2, 9, 6]),
                       (7, [5, 6, 7, 8, 11]), (4, [6, 7, 11, 12])):
        gmsh.model.mesh.addElementsByType(1, kind, [], cell)
    gmsh.option.setNumber("Mesh.SecondOrderIncomplete", int(incomplete))
    gmsh.model.mesh.setOrder(2)
    group(3, [1], "all")
    move(lambda x, y, z: [x + y * y / 8, y + z * z / 16, z])


def main():
    gmsh.initialize(readConfigFiles=False)
    cylinder("quadrilaterals", True)
    save("cylinder-hex27", 2.2, BINARY)
    cylinder("triangles", False)
    save("cylinder-tet10", 4.1, BINARY)
    cylinder("triangles", True)
    save("cylinder-prism18", 2.2, ASCII)
    ring(2, hexahedra=True)
    save("ring-hex20", 4.1, ASCII)
    ring(3, hexahedra=False)
    save("ring-tet20", 4.1, BINARY)
    unstructured_cube()
    save("cube-hex8", 2.2, ASCII)
    unstructured_cube()
    gmsh.model.mesh.setOrder(2)
    move(lambda x, y, z: [x + y * y / 2, y + z * z / 3, z])
    save("sheared-hex27", 4.1, BINARY)
    for version, encoding in itertools.product((2.2, 4.1), (ASCII, BINARY)):
        box_in_box()
        save(f"box-in-box-{version}-{['ascii', 'binary'][encoding]}", version, encoding)
    square()
    save("square", 4.1, BINARY)
    ell()
    save("ell", 2.2, ASCII)
    hybrid()
    save("hybrid", 4.1, ASCII)
    solids(incomplete=True)
    save("solids-20", 4.1, ASCII)
    solids(incomplete=False)
    save("solids-27", 2.2, BINARY)
    gmsh.finalize()


if __name__ == "__main__":
    main()
