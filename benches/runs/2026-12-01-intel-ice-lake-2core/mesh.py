"""Makes a finer angle bracket of straight tetrahedra: mesh.py SIZE FILE, from the repository's root, with the gmsh wheel."""
import sys

import gmsh

gmsh.initialize()
gmsh.option.setNumber("General.Terminal", 0)
gmsh.open("cases/angle-bracket/angle-bracket.geo")
gmsh.option.setNumber("Mesh.MeshSizeMin", 0)
gmsh.option.setNumber("Mesh.MeshSizeMax", float(sys.argv[1]))
gmsh.model.mesh.clear()
gmsh.model.mesh.generate(3)
gmsh.model.mesh.setOrder(1)
gmsh.option.setNumber("Mesh.Binary", 1)
gmsh.write(sys.argv[2])
