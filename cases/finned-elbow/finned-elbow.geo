// A finned pipe elbow: a 90 degree bend of a steel pipe that carries hot water, with round cooling
// fins and two bolted flanges. Lengths in millimetres.
//
// Make the mesh (27-node hexahedra, curved; MSH 4.1, binary) with the gmsh Python wheel, from the
// repository's root:
//
//     pip install -r docs/requirements.txt
//     python docs/mesh.py cases/finned-elbow/finned-elbow.geo
//
// A section of 12 sectors is swept along the axis, one segment after another. The fin's ring is
// swept everywhere, but between the fins it belongs to no physical group, so that Gmsh does not
// save it there.

bore = 10;            // radius of the bore
wall = 13;            // outer radius of the pipe
fin = 22;             // outer radius of the fins
flange = 36;          // outer radius of the flanges
bolt_circle = 29;     // radius on which the bolts sit
bolt_hole = 3.2;      // radius of a bolt hole
bend = 50;            // radius of the axis in the bend
flange_thickness = 5;
fin_thickness = 2;
gap = 4;              // between fins on the straight parts
fins_straight = 4;    // on each straight part
fins_bend = 7;

sectors = 12;         // a bolt in every third one
cells_around = 2;     // in each sector
cells_wall = 1;       // across the pipe's wall
cells_fin = 2;        // along a fin
cells_bolt = 1;       // from a bolt hole outwards

Mesh.ElementOrder = 2;
Mesh.SecondOrderIncomplete = 0;
Mesh.MshFileVersion = 4.1;
Mesh.Binary = 1;
Geometry.CopyMeshingMethod = 1;

// ---- the section at z = 0 ----------------------------------------------------------------------

// `ends` and `arcs` of a circle of radius r about (cx, cy), in n arcs from the angle `start`.
Macro Ring
  mid = newp; Point(mid) = {cx, cy, 0};
  ends() = {};
  For a In {0:n-1}
    angle = start + a * 2 * Pi / n;
    p = newp; Point(p) = {cx + r * Cos(angle), cy + r * Sin(angle), 0};
    ends() += p;
  EndFor
  arcs() = {};
  For a In {0:n-1}
    c = newc; Circle(c) = {ends(a), mid, ends((a + 1) % n)};
    arcs() += c;
  EndFor
  Transfinite Curve{arcs()} = cells_around + 1;
Return

// `spokes` from the inner to the outer ends, in `cells` cells.
Macro Spokes
  spokes() = {};
  For a In {0:sectors-1}
    c = newc; Line(c) = {inner_ends(a), outer_ends(a)};
    spokes() += c;
  EndFor
  Transfinite Curve{spokes()} = cells + 1;
Return

// A block of quadrilaterals between the four curves of `sides`; its surface is `quads`.
Macro Quads
  l = newcl; Curve Loop(l) = {sides()};
  quads = news; Plane Surface(quads) = {l};
  Transfinite Surface{quads}; Recombine Surface{quads};
Return

cx = 0; cy = 0; n = sectors; start = -Pi / sectors;
r = bore;
Call Ring;
bore_arcs() = arcs(); bore_ends() = ends();
r = wall;
Call Ring;
wall_arcs() = arcs(); wall_ends() = ends();
r = fin;
Call Ring;
fin_arcs() = arcs(); fin_ends() = ends();
r = flange;
Call Ring;
rim_arcs() = arcs(); rim_ends() = ends();

inner_ends() = bore_ends(); outer_ends() = wall_ends(); cells = cells_wall;
Call Spokes;
wall_spokes() = spokes();
inner_ends() = wall_ends(); outer_ends() = fin_ends(); cells = cells_fin;
Call Spokes;
fin_spokes() = spokes();
// The spokes beside a bolt are sides of its square, which has equal cells on all sides.
inner_ends() = fin_ends(); outer_ends() = rim_ends(); cells = cells_around;
Call Spokes;
rim_spokes() = spokes();

pipe() = {};
ring() = {};
For sector In {0:sectors-1}
  after = (sector + 1) % sectors;
  sides() = {bore_arcs(sector), wall_spokes(after), -wall_arcs(sector), -wall_spokes(sector)};
  Call Quads;
  pipe() += quads;
  sides() = {wall_arcs(sector), fin_spokes(after), -fin_arcs(sector), -fin_spokes(sector)};
  Call Quads;
  ring() += quads;
EndFor

bolted() = {};
on_rim() = {};         // 1 for the blocks of `bolted` whose outer side is the rim
For sector In {0:sectors-1}
  after = (sector + 1) % sectors;
  around() = {fin_arcs(sector), rim_spokes(after), -rim_arcs(sector), -rim_spokes(sector)};
  If(sector % 3 != 0)
    sides() = around();
    Call Quads;
    bolted() += quads;
    on_rim() += 1;
  Else
    // The hole's four points face the square's corners, in the order of its sides.
    beta = sector * 2 * Pi / sectors;
    cx = bolt_circle * Cos(beta); cy = bolt_circle * Sin(beta);
    r = bolt_hole; n = 4; start = beta - 3 * Pi / 4;
    Call Ring;
    hole() = arcs();
    corners() = {fin_ends(sector), rim_ends(sector), rim_ends(after), fin_ends(after)};
    rays() = {};
    For a In {0:3}
      c = newc; Line(c) = {ends(a), corners(a)};
      rays() += c;
    EndFor
    Transfinite Curve{rays()} = cells_bolt + 1;
    edges() = {rim_spokes(sector), rim_arcs(sector), -rim_spokes(after), -fin_arcs(sector)};
    For a In {0:3}
      sides() = {hole(a), rays((a + 1) % 4), -edges(a), -rays(a)};
      Call Quads;
      bolted() += quads;
      on_rim() += (a == 1);
    EndFor
  EndIf
EndFor

// ---- the sweep ---------------------------------------------------------------------------------

volumes() = {};
bore_faces() = {};     // the hot bore
cooled_faces() = {};   // the outsides of pipe, fins and flanges
PIPE = 0; FIN = 1; FLANGE = 2;

// One segment of a `kind`, one cell long: straight by {dx, 0, dz}, or by `turn` around the bend's axis.
Macro Segment
  section() = {pipe(), ring()};
  If(kind == FIN)
    cooled_faces() += {ring()};
  EndIf
  If(turn == 0)
    out() = Extrude{dx, 0, dz}{ Surface{section()}; Layers{1}; Recombine; };
  Else
    out() = Extrude{ {0, 1, 0}, {bend, 0, straight}, turn }{ Surface{section()}; Layers{1}; Recombine; };
  EndIf
  // Six numbers for each surface: its end face, the volume, then the sides in the order of Quads:
  // the inner one is the third number, the outer one the fifth.
  next() = {};
  For s In {0:2*sectors-1}
    next() += out(6 * s);
    If(s < sectors)
      bore_faces() += out(6 * s + 2);
    EndIf
    If(s < sectors || kind != PIPE)
      volumes() += out(6 * s + 1);
    EndIf
    If((s < sectors && kind == PIPE) || (s >= sectors && kind == FIN))
      cooled_faces() += out(6 * s + 4);
    EndIf
  EndFor
  pipe() = next({0:sectors-1});
  ring() = next({sectors:2*sectors-1});
  If(kind == FIN)
    cooled_faces() += {ring()};
  EndIf
Return

// The straight part between a flange and the bend, along {ux, 0, uz}.
Macro Straight
  turn = 0;
  For f In {1:fins_straight}
    kind = PIPE; dx = ux * gap; dz = uz * gap;
    Call Segment;
    kind = FIN; dx = ux * fin_thickness; dz = uz * fin_thickness;
    Call Segment;
  EndFor
  kind = PIPE; dx = ux * gap; dz = uz * gap;
  Call Segment;
Return

// The flange's bolted ring, `surfaces`, by {dx, 0, dz}.
Macro Flange
  out() = Extrude{dx, 0, dz}{ Surface{surfaces()}; Layers{1}; Recombine; };
  For s In {0:#surfaces()-1}
    cooled_faces() += out(6 * s);
    volumes() += out(6 * s + 1);
    If(on_rim(s))
      cooled_faces() += out(6 * s + 4);
    EndIf
  EndFor
Return

straight = flange_thickness + fins_straight * (gap + fin_thickness) + gap;
inlet_faces() = {pipe(), ring(), bolted()};

surfaces() = bolted(); dx = 0; dz = flange_thickness;
Call Flange;
kind = FLANGE; turn = 0;
Call Segment;
cooled_faces() += ring();
ux = 0; uz = 1;
Call Straight;

turn_fin = fin_thickness / bend;
turn_pipe = (Pi / 2 - fins_bend * turn_fin) / (fins_bend + 1);
For f In {1:fins_bend}
  kind = PIPE; turn = turn_pipe;
  Call Segment;
  kind = FIN; turn = turn_fin;
  Call Segment;
EndFor
kind = PIPE; turn = turn_pipe;
Call Segment;

ux = 1; uz = 0;
Call Straight;
cooled_faces() += ring();
kind = FLANGE; dx = flange_thickness; dz = 0;
Call Segment;

// The second flange: the first one's ring, mirrored in the elbow's plane of symmetry.
surfaces() = Symmetry{1, 0, 1, -(bend + straight)}{ Duplicata{ Surface{bolted()}; } };
outlet_faces() = {pipe(), ring(), surfaces()};
dx = -flange_thickness;
Call Flange;

Physical Volume("elbow") = {volumes()};
Physical Surface("bore") = {bore_faces()};
Physical Surface("cooled") = {cooled_faces()};
Physical Surface("inlet") = {inlet_faces()};
Physical Surface("outlet") = {outlet_faces()};
