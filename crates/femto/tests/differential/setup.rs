//! The mesh, the space and the numbers of a case.

use crate::case::{Case, Cell, Kind, Map, Plain};
use crate::common::oracle;
use crate::random::Random;
use femto::element::tables::Tables;
use femto::fem::geometry::Geometry;
use femto::fem::mesh::Mesh;
use femto::fem::mesh::boxes::{AnyBox, BoxMesh, SimplexBox};
use femto::fem::space::{Layout, Space, SpaceParams};
use femto::kernel::family::EvalContext;
use femto::kernel::family::oracle::{CellFields, OracleGeometry, apply};
use femto::kernel::form::Jacobian;
use femto::operator::Auxiliary;
use femto::{DataLevel, OperatorParams, Quadrature};

/// Everything but the form.
pub(crate) struct Setup {
    pub(crate) geometry: Geometry,
    pub(crate) space: Space,
    pub(crate) params: OperatorParams,
}

impl Setup {
    pub(crate) fn new(case: &Case) -> Self {
        let random = &mut Random::new(case.seed ^ 0x5e70);
        let mesh = mesh(case);
        let geometry = Geometry::new(&mesh).expect("a generated mesh");
        let params = SpaceParams {
            degree: case.degree.into(),
            components: case.components(),
            layout: match case.by_component {
                true => Layout::Blocked,
                false => Layout::Interleaved,
            },
            // Several chunks.
            chunk_nodes: 60,
        };
        let space = Space::new(&mesh, &geometry, params).expect("legal");
        let quadrature = match case.exact {
            0 => Quadrature::Collocated,
            exact => Quadrature::Exact(exact),
        };
        let points = oracle::rule(&space, quadrature).len();
        let mut field = |kind: &Kind| match kind {
            Kind::Cell => Auxiliary::PerCell(random.vector(space.elements())),
            Kind::Nodal => Auxiliary::Nodal(random.vector(space.nodes())),
            Kind::Points => Auxiliary::AtPoints(random.vector(space.elements() * points)),
        };
        let auxiliary = case.fields.iter().map(&mut field).collect();
        let params = OperatorParams {
            quadrature,
            data_level: match case.partial {
                true => DataLevel::Partial,
                false => DataLevel::Automatic,
            },
            auxiliary,
            time: random.number(),
            parameters: random.vector(case.parameters),
            ..OperatorParams::default()
        };
        Self {
            geometry,
            space,
            params,
        }
    }

    /// The parameters of a Jacobian, its state given as fields.
    pub(crate) fn linearised(&self, state: &[f64]) -> OperatorParams {
        let components = self.space.components();
        let nodes = self.space.nodes();
        let place = |node: usize, c: usize| match self.space.layout() {
            Layout::Interleaved => node * components + c,
            Layout::Blocked => c * nodes + node,
        };
        let of = |c: usize| (0..nodes).map(|node| state[place(node, c)]).collect();
        let fields = (0..components).map(|c| Auxiliary::Nodal(of(c)));
        let fields = fields
            .chain(self.params.auxiliary.iter().cloned())
            .collect();
        OperatorParams {
            auxiliary: fields,
            ..self.params.clone()
        }
    }
}

fn mesh(case: &Case) -> Mesh {
    let curved = case.map == Map::Curved;
    let bend = if curved { 0.05 } else { 0.0 };
    let geometry_degree = if curved { 2 } else { 1 };
    let (cells, irregular) = (case.cells, Some(case.seed));
    let solid = |[x, y, z]: [f64; 3]| {
        let twist = if case.map == Map::Trilinear {
            0.07
        } else {
            bend
        };
        [
            x + bend * (2.0 * y).sin() + twist * y * z,
            1.2 * y + 0.1 * x - twist * z * x,
            0.9 * z + bend * (x * x + (2.0 * y).cos()) + twist * x * y,
        ]
    };
    let mesh = match case.cell {
        Cell::Hexahedron => BoxMesh {
            geometry_degree,
            ..BoxMesh::unit_cube(cells)
        }
        .build(solid),
        Cell::Tetrahedron => SimplexBox {
            geometry_degree,
            irregular,
            ..SimplexBox::<3>::unit_cube(cells)
        }
        .build(solid),
        Cell::Quadrilateral => AnyBox {
            geometry_degree,
            ..AnyBox::unit(femto::element::Cell::Quadrilateral, cells)
        }
        .build(|[x, y, z]| {
            let twist = if case.map == Map::Affine {
                0.0
            } else {
                0.15 * x * y
            };
            [
                x + bend * (3.0 * y).sin() + twist,
                1.3 * y + bend * x * x - twist,
                z,
            ]
        }),
        Cell::Triangle => SimplexBox {
            geometry_degree,
            irregular,
            ..SimplexBox::<2>::unit_square(cells)
        }
        .build(|[x, y]| [x + bend * (3.0 * y).sin(), 1.3 * y + bend * x * x]),
    };
    mesh.expect("a small deformation")
}

/// The form of a case's trees, or its derivative, on one element.
struct ByTrees<'a> {
    trees: &'a Plain,
    derivative: bool,
    /// Numbers of dimensions and of components.
    sizes: (usize, usize),
}

impl ByTrees<'_> {
    fn apply<const D: usize, const C: usize>(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64> {
        if self.derivative {
            let form = Jacobian(self.trees.clone());
            return apply::<_, D, C>(&form, &**tables, geometry, environment, u);
        }
        apply::<_, D, C>(self.trees, &**tables, geometry, environment, u)
    }
}

impl oracle::Element for ByTrees<'_> {
    fn apply(
        &self,
        tables: &Tables,
        geometry: OracleGeometry,
        environment: (&CellFields, &EvalContext),
        u: &[f64],
    ) -> Vec<f64> {
        let apply = match self.sizes {
            (2, 1) => Self::apply::<2, 1>,
            (2, _) => Self::apply::<2, 2>,
            (_, 1) => Self::apply::<3, 1>,
            _ => Self::apply::<3, 3>,
        };
        apply(self, tables, geometry, environment, u)
    }
}

/// A u by the oracle, or J u if `derivative`.
pub(crate) fn by_oracle(
    setup: &Setup,
    (trees, derivative): (&Plain, bool),
    params: &OperatorParams,
    u: &[f64],
) -> Vec<f64> {
    let space = &setup.space;
    let form = ByTrees {
        trees,
        derivative,
        sizes: (space.cell().dim(), space.components()),
    };
    let mut e = vec![f64::NAN; space.element_dofs()];
    space.gather(u, &mut e);
    let e = oracle::apply_elements(&form, (space, &setup.geometry), params, &e);
    let mut v = vec![0.0; u.len()];
    space.scatter_add(&e, &mut v);
    v
}
