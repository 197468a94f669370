"""Make the mesh of a case from its Gmsh geometry.

usage: mesh.py CASE.geo

Writes CASE.msh beside the geometry, with one discrete entity for each physical group instead of
the geometry's thousands, which would be most of the file. Every cell is checked.
"""

import sys
from pathlib import Path

import gmsh


def groups():
    """Name, dimension and number of each physical group with its entities."""
    for dimension, number in gmsh.model.getPhysicalGroups():
        name = gmsh.model.getPhysicalName(dimension, number)
        entities = gmsh.model.getEntitiesForPhysicalGroup(dimension, number)
        yield name, dimension, number, entities


def elements(dimension, entities):
    """The node tags of all elements of the entities, by element type."""
    found = {}
    for entity in entities:
        types, _, nodes = gmsh.model.mesh.getElements(dimension, entity)
        for kind, tags in zip(types, nodes):
            found.setdefault(int(kind), []).extend(map(int, tags))
    return found


def collect():
    """Coordinates of the used nodes, numbered from 1, and the elements of each group."""
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    position = {int(tag): coordinates[3 * i:3 * i + 3] for i, tag in enumerate(tags)}
    number, used, found = {}, [], []
    for name, dimension, group, entities in sorted(groups(), key=lambda g: -g[1]):
        by_type = elements(dimension, entities)
        for nodes in by_type.values():
            for tag in nodes:
                if tag not in number:
                    number[tag] = len(number) + 1
                    used.extend(position[tag])
        renumbered = {kind: [number[tag] for tag in nodes] for kind, nodes in by_type.items()}
        found.append((name, dimension, group, renumbered))
    return used, found


def build(coordinates, found):
    """A model with one entity for each group."""
    gmsh.model.add("case")
    element, owner = 1, None
    for name, dimension, group, by_type in found:
        entity = gmsh.model.addDiscreteEntity(dimension)
        owner = owner or (dimension, entity)
        if owner == (dimension, entity):
            gmsh.model.mesh.addNodes(*owner, range(1, len(coordinates) // 3 + 1), coordinates)
        for kind, nodes in by_type.items():
            count = len(nodes) // gmsh.model.mesh.getElementProperties(kind)[3]
            gmsh.model.mesh.addElementsByType(entity, kind, range(element, element + count), nodes)
            element += count
        gmsh.model.addPhysicalGroup(dimension, [entity], group, name)


def check():
    """The Jacobian must be positive everywhere in every cell."""
    for kind in gmsh.model.mesh.getElementTypes(3):
        name, *_ = gmsh.model.mesh.getElementProperties(kind)
        tags, _ = gmsh.model.mesh.getElementsByType(kind)
        worst = min(gmsh.model.mesh.getElementQualities(tags, "minDetJac"))
        ratio = min(gmsh.model.mesh.getElementQualities(tags, "minSJ"))
        print(f"{len(tags)} cells, {name}: least Jacobian {worst:.3g}, least scaled {ratio:.3g}")
        if worst <= 0:
            sys.exit("not a valid mesh")


def main():
    geometry = Path(sys.argv[1])
    gmsh.initialize(["gmsh", "-v", "3"])
    gmsh.open(str(geometry))
    gmsh.model.mesh.generate(3)
    build(*collect())
    check()
    gmsh.write(str(geometry.with_suffix(".msh")))


if __name__ == "__main__":
    main()
