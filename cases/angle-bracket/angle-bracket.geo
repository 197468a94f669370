// A steel angle bracket: one leg is bolted to a wall, the other carries a load; a rib stiffens the
// angle. Lengths in millimetres.
//
// Make the mesh (10-node tetrahedra, curved at holes and fillets only; MSH 4.1, binary) with the gmsh
// Python wheel, from the repository's root:
//
//     pip install -r docs/requirements.txt
//     python docs/mesh.py cases/angle-bracket/angle-bracket.geo

SetFactory("OpenCASCADE");

leg = 60;             // length of both legs, along x and z
width = 40;           // along y
thickness = 6;
inside = 8;           // radius of the fillet between the legs
corner = 10;          // radius of the load-carrying leg's corners
rib = 6;              // thickness of the rib
rib_leg = 38;         // length of the rib along both legs
bolt_hole = 4.5;      // radius; two holes through the leg on the wall
load_hole = 6;        // radius; one hole through the other leg

Mesh.ElementOrder = 2;
Mesh.SecondOrderIncomplete = 0;
Mesh.HighOrderOptimize = 1;
Mesh.MeshSizeMin = 3;
Mesh.MeshSizeMax = 8;
Mesh.MeshSizeFromCurvature = 10;
Mesh.MshFileVersion = 4.1;
Mesh.Binary = 1;

// ---- the angle: its side at y = -width/2, swept along y -----------------------------------------

y = -width / 2;
Point(1) = {0, y, 0};
Point(2) = {leg, y, 0};
Point(3) = {leg, y, thickness};
Point(4) = {thickness + inside, y, thickness};
Point(5) = {thickness + inside, y, thickness + inside};
Point(6) = {thickness, y, thickness + inside};
Point(7) = {thickness, y, leg};
Point(8) = {0, y, leg};
Line(1) = {1, 2};
Line(2) = {2, 3};
Line(3) = {3, 4};
Circle(4) = {4, 5, 6};
Line(5) = {6, 7};
Line(6) = {7, 8};
Line(7) = {8, 1};
Curve Loop(1) = {1:7};
Plane Surface(1) = {1};
angle() = Extrude{0, width, 0}{ Surface{1}; };

// ---- the rib: a triangle that reaches into both legs --------------------------------------------

inner = thickness / 2;
Point(101) = {inner, -rib / 2, inner};
Point(102) = {rib_leg, -rib / 2, inner};
Point(103) = {rib_leg, -rib / 2, thickness + 2};
Point(104) = {thickness + 2, -rib / 2, rib_leg};
Point(105) = {inner, -rib / 2, rib_leg};
Line(101) = {101, 102};
Line(102) = {102, 103};
Line(103) = {103, 104};
Line(104) = {104, 105};
Line(105) = {105, 101};
Curve Loop(101) = {101:105};
Plane Surface(101) = {101};
web() = Extrude{0, rib, 0}{ Surface{101}; };

part() = BooleanUnion{ Volume{angle(1)}; Delete; }{ Volume{web(1)}; Delete; };

// ---- the holes ----------------------------------------------------------------------------------

holes() = {};
For side In {-1:1:2}
  c = newv; Cylinder(c) = {-1, side * width / 4, leg - 16, thickness + 2, 0, 0, bolt_hole};
  holes() += c;
EndFor
c = newv; Cylinder(c) = {leg - 12, 0, -1, 0, 0, thickness + 2, load_hole};
holes() += c;
body() = BooleanDifference{ Volume{part()}; Delete; }{ Volume{holes()}; Delete; };

// ---- the free leg's corners ---------------------------------------------------------------------

e = 1e-3;
edges() = Curve In BoundingBox{leg - e, -width - e, -e, leg + e, width + e, thickness + e};
upright() = {};
For i In {0:#edges()-1}
  box() = BoundingBox Curve{edges(i)};
  If(box(5) - box(2) > thickness / 2)
    upright() += edges(i);
  EndIf
EndFor
body() = Fillet{body()}{upright()}{corner};

// ---- groups -------------------------------------------------------------------------------------

bolts() = Surface In BoundingBox{-e, -width, leg - 16 - bolt_hole - e, thickness + e, width, leg - 16 + bolt_hole + e};
bore() = Surface In BoundingBox{leg - 12 - load_hole - e, -load_hole - e, -e, leg - 12 + load_hole + e, load_hole + e, thickness + e};
back() = Surface In BoundingBox{-e, -width, -e, e, width, leg + e};
all() = Boundary{ Volume{body()}; };
other() = {};
For i In {0:#all()-1}
  s = Abs(all(i));
  taken = 0;
  marked() = {bolts(), bore(), back()};
  For j In {0:#marked()-1}
    If(marked(j) == s)
      taken = 1;
    EndIf
  EndFor
  If(taken == 0)
    other() += s;
  EndIf
EndFor

Physical Volume("bracket") = {body()};
Physical Surface("bolts") = {bolts()};
Physical Surface("bore") = {bore()};
Physical Surface("back") = {back()};
Physical Surface("air") = {other()};
