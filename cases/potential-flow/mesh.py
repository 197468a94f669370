#!/usr/bin/env python3
"""Writes mesh.msh: the square of half width 3 around a circle of radius 1, with layers of curved quadrilaterals (quad9)
at the circle and triangles (tri6) beyond, as in meshes for boundary layers."""

from math import cos, pi, sin

AROUND = 32  # cells around the circle, a multiple of 8: then corners of the square are vertices
LAYERS = [1.0, 1.12, 1.3, 1.6]  # radii of the quadrilaterals
BEYOND = [0.0, 0.22, 0.5, 1.0]  # layers of triangles, as fractions of the way from the last radius to the square
HALF = 3.0

nodes, numbers = [], {}


def node(key, x, y):
    if key not in numbers:
        nodes.append((x, y))
        numbers[key] = len(nodes)
    return numbers[key]


def circle(i, j):
    """The node at half steps i around and j outwards among the quadrilaterals."""
    angle = pi * i / AROUND
    radius = (LAYERS[j // 2] + LAYERS[(j + 1) // 2]) / 2
    return node(("c", i % (2 * AROUND), j), radius * cos(angle), radius * sin(angle))


def vertex(i, layer):
    """The vertex of triangles at step i around in a layer."""
    if layer == 0:
        return circle(2 * i, 2 * (len(LAYERS) - 1))
    angle = 2 * pi * i / AROUND
    x, y = cos(angle), sin(angle)
    square = HALF / max(abs(x), abs(y))
    radius = LAYERS[-1] + (square - LAYERS[-1]) * BEYOND[layer]
    return node(("v", i % AROUND, layer), radius * x, radius * y)


def middle(a, b):
    """The node half way between two; on the last circle, that of the quadrilaterals."""
    rim = 2 * (len(LAYERS) - 1)
    places = {circle(2 * i, rim): i for i in range(AROUND)}
    if a in places and b in places:
        i, j = sorted((places[a], places[b]))
        return circle(2 * i + 1, rim) if j == i + 1 else circle(2 * j + 1, rim)
    (xa, ya), (xb, yb) = nodes[a - 1], nodes[b - 1]
    return node(("m", min(a, b), max(a, b)), (xa + xb) / 2, (ya + yb) / 2)


elements = []  # type, group, nodes
for i in range(AROUND):
    for j in range(len(LAYERS) - 1):
        at = lambda a, b: circle(2 * i + a, 2 * j + b)
        ring = [at(0, 0), at(0, 2), at(2, 2), at(2, 0), at(0, 1), at(1, 2), at(2, 1), at(1, 0), at(1, 1)]
        elements.append((10, 3, ring))
    for layer in range(len(BEYOND) - 1):
        a, b = vertex(i, layer), vertex(i + 1, layer)
        d, c = vertex(i, layer + 1), vertex(i + 1, layer + 1)
        # Diagonals alternate.
        two = [(a, d, c), (a, c, b)] if (i + layer) % 2 else [(a, d, b), (d, c, b)]
        for p, q, r in two:
            elements.append((9, 3, [p, q, r, middle(p, q), middle(q, r), middle(r, p)]))
    elements.append((8, 1, [circle(2 * i, 0), circle(2 * i + 2, 0), circle(2 * i + 1, 0)]))
    p, q = vertex(i, len(BEYOND) - 1), vertex(i + 1, len(BEYOND) - 1)
    elements.append((8, 2, [p, q, middle(p, q)]))

with open("mesh.msh", "w") as out:
    out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
    out.write('$PhysicalNames\n3\n1 1 "cylinder"\n1 2 "far"\n2 3 "fluid"\n$EndPhysicalNames\n')
    out.write(f"$Nodes\n{len(nodes)}\n")
    out.writelines(f"{n} {x:.16g} {y:.16g} 0\n" for n, (x, y) in enumerate(nodes, 1))
    out.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
    for number, (kind, group, own) in enumerate(elements, 1):
        out.write(f"{number} {kind} 2 {group} {group} {' '.join(map(str, own))}\n")
    out.write("$EndElements\n")
