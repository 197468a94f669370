//! Running the battery: every property of every case on every device.

use crate::cases::{Group, Place, Way};
use crate::common::bound::{Bound, bind, name};
use crate::common::meshes::{blocks, mesh, solids};
use crate::common::{Random, cut_quadrilaterals, oracle};
use crate::physics::Physics;
use crate::properties::PROPERTIES;
use femto::fem::mesh::Mesh;
use femto::fem::space::{Block, SpaceParams};
use femto::kernel::family::fields::FieldKind;
use femto::kernel::scalar::Precision;
use femto::operator::{AnyForm, Auxiliary};
use femto::{AnyDevice, OperatorParams};
use femto_element::MapKind;

/// One operator with everything that properties need.
pub(crate) struct Subject<'a> {
    pub(crate) place: &'a Place,
    pub(crate) physics: Physics,
    pub(crate) way: Way,
    pub(crate) device: &'a AnyDevice,
    /// One for each shape.
    pub(crate) blocks: &'a [Block],
    pub(crate) operator: &'a dyn Bound,
    /// On the host with another number of threads.
    pub(crate) sibling: Option<&'a dyn Bound>,
    pub(crate) answers: &'a Answers,
}

impl Subject<'_> {
    /// Relative error allowed against double precision (project standard); the sums of accelerators have no fixed
    /// order.
    pub(crate) fn tolerance(&self) -> f64 {
        match (self.way.precision, self.device) {
            (Precision::Fp64, AnyDevice::Host(_)) => 1e-13,
            (Precision::Fp32, AnyDevice::Host(_)) => 1e-5,
            (Precision::Fp64, _) => 1e-12,
            (Precision::Fp32, _) => 3e-5,
        }
    }
}

/// Inputs, and the oracle's results for them.
pub(crate) struct Answers {
    /// Numbers that are exact in both precisions, an L-vector.
    pub(crate) u: Vec<f64>,
    /// A u.
    pub(crate) product: Option<Vec<f64>>,
    /// As `u`, an E-vector; in spaces of low degree without the continuity of L-vectors. Empty if there are several
    /// shapes.
    pub(crate) e: Vec<f64>,
    /// Bᵀ D B e.
    pub(crate) elements: Option<Vec<f64>>,
}

impl Answers {
    fn new(
        form: &dyn AnyForm,
        (blocks, params): (&[Block], &OperatorParams),
        oracle: bool,
        random: &mut Random,
    ) -> Self {
        let [block] = blocks else {
            let u = random.single(blocks[0].space.dofs());
            return Self {
                product: oracle.then(|| oracle::apply(form, blocks, params, &u)),
                u,
                e: Vec::new(),
                elements: None,
            };
        };
        let space = &block.space;
        let of = |e: &[f64]| oracle::apply_elements(form, (space, &block.geometry), params, e);
        let u = random.single(space.dofs());
        let mut e = vec![f64::NAN; space.element_dofs()];
        space.gather(&u, &mut e);
        let mut elements = oracle.then(|| of(&e));
        let product = elements.as_ref().map(|elements| {
            let mut product = vec![0.0; u.len()];
            space.scatter_add(elements, &mut product);
            product
        });
        // A second evaluation, where it is cheap.
        if oracle && space.degree().most() <= 3 && e.len() < 10_000 {
            e = random.single(e.len());
            elements = Some(of(&e));
        }
        Self {
            u,
            product,
            e,
            elements,
        }
    }
}

/// Runs all cases on all devices; panics with the faults.
pub(crate) fn run(groups: &[Group], devices: &[AnyDevice]) {
    let mut random = Random::new();
    let (mut faults, mut checks) = (Vec::new(), 0);
    for group in groups {
        for place in &group.places {
            let mesh = made(place, &mut random);
            for &physics in group.forms {
                let blocks = space(place, physics, &mesh);
                let params = params(place, physics, &blocks, &mut random);
                let form = physics.form(place.cell.dim());
                let on = (&blocks[..], &params);
                let answers = Answers::new(&*form, on, group.oracle, &mut random);
                for &way in &group.ways {
                    let params = OperatorParams {
                        data_level: way.data_level,
                        scatter: way.scatter,
                        ..params.clone()
                    };
                    let bind =
                        |device| bind(device, way.precision, &blocks, &*form, params.clone());
                    let operators = devices.iter().map(bind).collect::<Result<Vec<_>, _>>();
                    let operators = operators
                        .unwrap_or_else(|error| panic!("{physics:?} {place:?} {way:?}: {error}"));
                    let mut first_host = None;
                    for (device, operator) in devices.iter().zip(&operators) {
                        let is_host = matches!(device, AnyDevice::Host(_));
                        let subject = Subject {
                            place,
                            physics,
                            way,
                            device,
                            blocks: &blocks,
                            operator: &**operator,
                            sibling: first_host.filter(|_| is_host),
                            answers: &answers,
                        };
                        for (property, holds) in PROPERTIES {
                            checks += 1;
                            if let Err(fault) = holds(&subject, &mut random) {
                                faults.push(describe(&subject, property, &fault));
                            }
                        }
                        first_host = first_host.or(is_host.then_some(&**operator));
                    }
                }
            }
        }
    }
    let count = faults.len();
    faults.truncate(20);
    let faults = faults.join("\n");
    assert!(count == 0, "{count} of {checks} checks failed:\n{faults}");
}

/// The whole case, for a message.
fn describe(subject: &Subject, property: &str, fault: &str) -> String {
    let Place {
        cell,
        map,
        is_cut,
        cells,
        degree,
        quadrature,
        layout,
    } = subject.place;
    let Way {
        precision,
        data_level,
        scatter,
    } = subject.way;
    format!(
        "{property}: {fault}: {:?} on {map:?} {}{} {cells:?}, degree {degree}, {quadrature:?}, {layout:?}; \
         {precision}, {data_level:?}, {scatter:?}, {}, {}",
        subject.physics,
        cell.plural(),
        if *is_cut { " and others" } else { "" },
        subject.operator.family(),
        name(subject.device)
    )
}

/// The mesh of a place.
fn made(place: &Place, random: &mut Random) -> Mesh {
    let mesh = mesh(place.cell, place.map, &place.cells);
    if !place.is_cut {
        return mesh;
    }
    if place.cell.dim() == 3 {
        return solids(place.map, place.cells);
    }
    // At least one of each.
    let pattern = random.vector(place.cells[0] * place.cells[1]);
    cut_quadrilaterals(&mesh, |cell| cell == 0 || cell != 1 && pattern[cell] > 0.0)
}

/// The space of a form at a place.
fn space(place: &Place, physics: Physics, mesh: &Mesh) -> Vec<Block> {
    let degree = place.degree;
    let params = SpaceParams {
        degree,
        components: physics.components(place.cell.dim()),
        layout: place.layout,
        // Several chunks.
        chunk_nodes: (4 * degree.most().pow(place.cell.dim() as u32)).max(20),
    };
    let blocks = blocks(mesh, params);
    let shapes = match (place.is_cut, place.cell.dim()) {
        (false, _) => 1,
        (true, 2) => 2,
        (true, _) => 4,
    };
    assert_eq!(blocks.len(), shapes, "shapes");
    let kinds = blocks[0].geometry.kinds();
    let right = match place.cell.is_tensor_product() || place.map == MapKind::Affine {
        true => kinds.iter().all(|&kind| kind == place.map),
        false => kinds.contains(&place.map),
    };
    assert!(right, "{place:?}: {kinds:?}");
    blocks
}

/// Random fields, time and parameter; the rule.
fn params(
    place: &Place,
    physics: Physics,
    blocks: &[Block],
    random: &mut Random,
) -> OperatorParams {
    let points = |block: &Block| {
        let rule = oracle::rule(&block.space, place.quadrature);
        block.space.elements() * rule.len()
    };
    let points: usize = blocks.iter().map(points).sum();
    let mut field = |kind: &FieldKind| match kind {
        FieldKind::Cell => Auxiliary::PerCell(random.vector(Block::elements(blocks))),
        FieldKind::Nodal => Auxiliary::Nodal(random.vector(blocks[0].space.nodes())),
        FieldKind::Points => Auxiliary::AtPoints(random.vector(points)),
    };
    let mut auxiliary: Vec<Auxiliary> = physics.fields().iter().map(&mut field).collect();
    if physics == Physics::Isotropic {
        let first = auxiliary[0].clone();
        auxiliary.fill(first);
    }
    OperatorParams {
        quadrature: place.quadrature,
        auxiliary,
        time: random.next(),
        parameters: vec![random.next()],
        ..OperatorParams::default()
    }
}
