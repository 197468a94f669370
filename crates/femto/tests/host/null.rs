//! Operators on the null device: exact launches, bytes and flops, each counted by hand here.
//!
//! The mesh is two cubes of 2 × 2 × 2 trilinear cells, each a chunk, degree 4. So
//!   q = nodes_1d = 5, g = points_1d = 6 (Gauss) or 5 (collocated), 16 elements,
//!   dofs = 17 · 9 · 9 = 1377, of which the 9 · 9 = 81 between the cubes are shared by two chunks.

use crate::common::hexahedra;
use femto::element::{Cell, MapKind};
use femto::fem::geometry::Geometry;
use femto::fem::mesh::boxes::AnyBox;
use femto::fem::space::{Constraints, Space, SpaceParams};
use femto::kernel::form::{Componentwise, Form, Mass, Poisson, ScreenedPoisson};
use femto::platform::device::null::{Counts, Launch, Null};
use femto::platform::device::{Buffer, Device};
use femto::problem::{Constrained, ProblemForm};
use femto::solve::cg::{CgWorkspace, solve};
use femto::solve::{Jacobi, Preconditioning, StopCriteria, System};
use femto::vector::Projector;
use femto::{DataLevel, Number, Operator, OperatorParams, Quadrature};

const DEGREE: usize = 4;
const ELEMENTS: u64 = 16;
const DOFS: u64 = 17 * 9 * 9;
const SHARED: u64 = 9 * 9;

/// Indices of one application. Per element, 16 bits for each of the 5³ - 3³ nodes on its shell and
/// for the first inside; then, 32 bits each, the shared nodes in the lists of both chunks, their
/// two sources, and where the sources of each begin.
const INDEX_BYTES: u64 = ELEMENTS * (125 - 27 + 1) * 2 + (2 * SHARED + 2 * SHARED + SHARED + 1) * 4;

const GAUSS: Quadrature = Quadrature::Gauss;
const COLLOCATED: Quadrature = Quadrature::Collocated;

fn discretization(degree: usize, map: MapKind, components: usize) -> (Geometry, Space) {
    let mesh = hexahedra(map, [4, 2, 2]);
    let geometry = Geometry::new(&mesh).expect("hexahedra");
    let params = SpaceParams {
        degree: degree.into(),
        components,
        chunk_nodes: 8 * degree.pow(3),
        ..SpaceParams::default()
    };
    let space = Space::new(&mesh, &geometry, params).expect("legal");
    if degree == DEGREE {
        assert_eq!(space.dofs() as u64, DOFS * components as u64);
    }
    let chunks = &space.restriction().chunks;
    assert_eq!(chunks.len(), 2, "the mesh is two chunks");
    assert!(geometry.kinds().iter().all(|&found| found == map));
    (geometry, space)
}

fn operator<T: Number, F, const C: usize>(
    form: &F,
    map: MapKind,
    level: (Quadrature, DataLevel),
) -> Operator<T, Null>
where
    F: Form<3, C>,
{
    operator_of(DEGREE, form, map, level)
}

fn operator_of<T: Number, F, const C: usize>(
    degree: usize,
    form: &F,
    map: MapKind,
    (quadrature, data_level): (Quadrature, DataLevel),
) -> Operator<T, Null>
where
    F: Form<3, C>,
{
    let (geometry, space) = discretization(degree, map, C);
    let params = OperatorParams {
        quadrature,
        data_level,
        ..OperatorParams::default()
    };
    let form = ProblemForm::interpreted::<_, 3, C>(form).expect("of usual dimensions");
    Operator::of_form(&Null::new(), &space, &geometry, form.form(), params).expect("binds")
}

/// The launches of one application on L-vectors.
fn apply<T: Number>(operator: &Operator<T, Null>) -> Vec<Launch> {
    let null = operator.device();
    let u = null.zeros::<T>(operator.dofs()).expect("no memory needed");
    let mut v = null.zeros::<T>(operator.dofs()).expect("no memory needed");
    null.reset();
    operator.apply(&u, &mut v).expect("lengths fit");
    null.launches()
}

/// One launch that reads the input, the indices and `geometry` numbers per element, and writes the
/// output.
#[track_caller]
fn assert_launch<T: Number>(operator: &Operator<T, Null>, geometry: u64, flops: u64) {
    let bytes = T::BYTES as u64;
    let expected = Launch {
        name: "apply".to_owned(),
        bytes_read: (DOFS + ELEMENTS * geometry) * bytes + INDEX_BYTES,
        bytes_written: DOFS * bytes,
        flops: ELEMENTS * flops,
    };
    assert_eq!(apply(operator), [expected]);
}

/// Even-odd products with a 1-D matrix. 5 → 6: 4 sums and differences, 3 pairs of outputs of
/// 5 · 2 + 2 flops. 6 → 5: 6 sums and differences, 2 pairs of 6 · 2 + 2, the middle of 3 · 2.
const FIVE_TO_SIX: u64 = 4 + 3 * 12;
const SIX_TO_FIVE: u64 = 6 + 2 * 14 + 6;
/// Differentiation. 6 → 6: 6 and 3 pairs of 14. 5 → 5: 4, 2 pairs of 12, the middle of 2 · 2.
const SIX_TO_SIX: u64 = 6 + 3 * 14;
const FIVE_TO_FIVE: u64 = 4 + 2 * 12 + 4;

/// There and back along ζ, η and ξ: q², q g and g² pencils.
const INTERPOLATION: u64 = (FIVE_TO_SIX + SIX_TO_FIVE) * (25 + 30 + 36);

#[test]
fn bp1_recomputes_the_determinant() {
    // λ det J is a polynomial with 27 coefficients. A row: Horner for 3 of them (4), the weight.
    // A point: Horner (4), the weight, times the determinant, times u.
    let points = 36 * (3 * 4 + 1) + 216 * (4 + 3);
    let level = (GAUSS, DataLevel::OnTheFly);
    let double = operator::<f64, _, 1>(&Mass, MapKind::Multilinear, level);
    assert_launch(&double, 27, INTERPOLATION + points);
    let single = operator::<f32, _, 1>(&Mass, MapKind::Multilinear, level);
    assert_launch(&single, 27, INTERPOLATION + points);
}

#[test]
fn bp1_reads_a_factor_per_point() {
    let level = (GAUSS, DataLevel::Partial);
    let operator = operator::<f64, _, 1>(&Mass, MapKind::Multilinear, level);
    assert_launch(&operator, 216, INTERPOLATION + 216);
}

/// Differentiation, there and back: six sweeps of `pencils`, of which the last two on the way back
/// add to the first, `points` numbers each.
const fn differentiation(pencil: u64, pencils: u64, points: u64) -> u64 {
    6 * pencil * pencils + 2 * points
}

#[test]
fn bp3_reads_six_factors_per_point() {
    let level = (GAUSS, DataLevel::Partial);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let differentiation = differentiation(SIX_TO_SIX, 36, 216);
    // G ∇u: 3 inner products.
    let flops = INTERPOLATION + differentiation + 216 * 15;
    assert_launch(&operator, 6 * 216, flops);
}

#[test]
fn bp5_reads_six_factors_per_point() {
    let level = (COLLOCATED, DataLevel::Partial);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let flops = differentiation(FIVE_TO_FIVE, 25, 125) + 125 * 15;
    assert_launch(&operator, 6 * 125, flops);
}

/// The Jacobian of a trilinear map. A row: 3 axpy (6), 8 cross products (9), 4 inner products (5),
/// a sum of vectors and one of numbers, the weight. A point: 4 axpy for the adjugate, 2 steps (2)
/// for the determinant.
const TRILINEAR_ROW: u64 = 3 * 6 + 8 * 9 + 4 * 5 + 3 + 1 + 1;
const TRILINEAR_POINT: u64 = 4 * 6 + 2 * 2;
/// ∇u and back: the weight, times κ, by the determinant, 3 scalings, twice 3 inner products.
const POISSON_POINT: u64 = 1 + 2 + 3 + 2 * 3 * 5;

#[test]
fn bp3_recomputes_the_jacobian() {
    let level = (GAUSS, DataLevel::OnTheFly);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let differentiation = differentiation(SIX_TO_SIX, 36, 216);
    let points = 36 * TRILINEAR_ROW + 216 * (TRILINEAR_POINT + POISSON_POINT);
    assert_launch(&operator, 22, INTERPOLATION + differentiation + points);
}

#[test]
fn bp5_recomputes_the_jacobian() {
    let level = (COLLOCATED, DataLevel::OnTheFly);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let points = 25 * TRILINEAR_ROW + 125 * (TRILINEAR_POINT + POISSON_POINT);
    let flops = differentiation(FIVE_TO_FIVE, 25, 125) + points;
    assert_launch(&operator, 22, flops);
}

/// BP5 with elements of degree 1, whole.
#[test]
fn elements_of_degree_1_are_whole() {
    let operator = operator_of::<f64, _, 1>(
        1,
        &Poisson,
        MapKind::Multilinear,
        (COLLOCATED, DataLevel::OnTheFly),
    );
    // Coefficients, there and back: 24 sums and 8 products. A layer: 3 axpy (2); 4 sums and 3, 3 axpy. A row: 3 axpy; 5
    // sums, 3 axpy. A point: 2 axpy; 3 sums, 2 axpy.
    let around =
        2 * 32 + 2 * (3 * 2 + 7 + 3 * 2) + 4 * (3 * 2 + 5 + 3 * 2) + 8 * (2 * 2 + 3 + 2 * 2);
    // The Jacobian's columns. A row: 3 axpy (6), the weight. A point: 2 axpy, 3 cross products, a triple product.
    let points = 4 * (3 * 6 + 1) + 8 * (2 * 6 + 3 * 9 + 5 + POISSON_POINT);
    assert_eq!(operator.work().flops, ELEMENTS * (around + points));
}

#[test]
fn affine_cells_have_one_set_of_factors() {
    for data_level in [DataLevel::OnTheFly, DataLevel::Partial] {
        let level = (COLLOCATED, data_level);
        let operator = operator::<f64, _, 1>(&Poisson, MapKind::Affine, level);
        // The weight, 3 scalings with it, G ∇u.
        let flops = differentiation(FIVE_TO_FIVE, 25, 125) + 125 * (1 + 3 + 15);
        assert_launch(&operator, 6, flops);
    }
}

#[test]
fn three_components_share_geometry_and_indices() {
    let form = Componentwise::<_, 3>(Mass);
    let level = (GAUSS, DataLevel::Partial);
    let operator = operator::<f32, _, 3>(&form, MapKind::Multilinear, level);
    let expected = Launch {
        name: "apply".to_owned(),
        bytes_read: (3 * DOFS + ELEMENTS * 216) * 4 + INDEX_BYTES,
        bytes_written: 3 * DOFS * 4,
        flops: ELEMENTS * 3 * (INTERPOLATION + 216),
    };
    assert_eq!(apply(&operator), [expected]);
}

#[test]
fn element_vectors_need_no_indices() {
    let level = (COLLOCATED, DataLevel::Partial);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let null = operator.device();
    let u = null.zeros(operator.element_dofs()).expect("null");
    let mut v = null.zeros(operator.element_dofs()).expect("null");
    operator.apply_elements(&u, &mut v).expect("lengths fit");
    // BK5 reads 7 numbers per node and writes 1 (Świrydowicz et al. 2019).
    let expected = Launch {
        name: "apply_elements".to_owned(),
        bytes_read: ELEMENTS * 7 * 125 * 8,
        bytes_written: ELEMENTS * 125 * 8,
        flops: ELEMENTS * (differentiation(FIVE_TO_FIVE, 25, 125) + 125 * 15),
    };
    assert_eq!(null.launches(), [expected]);
}

/// Affine tetrahedra of degree 1 whose coefficients are not folded read coordinates by the numbers of their nodes.
#[test]
fn coordinates_are_read_once() {
    let mesh = AnyBox::unit(Cell::Tetrahedron, 2).build(|x| x);
    let mesh = mesh.expect("legal");
    let geometry = Geometry::new(&mesh).expect("tetrahedra");
    let space = Space::new(&mesh, &geometry, SpaceParams::default()).expect("legal");
    let params = OperatorParams {
        fold_coefficients: false,
        ..OperatorParams::default()
    };
    let form = ProblemForm::interpreted::<_, 3, 1>(&Poisson).expect("of usual dimensions");
    let operator =
        Operator::<f64, _>::of_form(&Null::new(), &space, &geometry, form.form(), params);
    let operator = operator.expect("binds");
    let launches = apply(&operator);
    // Of each of 27 nodes u and x, y, z; 4 indices of 16 bits in 48 cells; the list of shared nodes ends at 0.
    assert_eq!(launches[0].bytes_read, 27 * 4 * 8 + 48 * 4 * 2 + 4);
}

/// The formulas of Świrydowicz et al. 2019 with q = 5 and g = 6 or 5.
#[test]
fn nominal_flops_are_the_published_ones() {
    let (gauss, collocated) = (
        (GAUSS, DataLevel::OnTheFly),
        (COLLOCATED, DataLevel::OnTheFly),
    );
    let map = MapKind::Multilinear;
    // 4(gq³ + g²q² + g³q)
    let interpolation = 4 * (750 + 900 + 1080);
    let bk1 = operator::<f64, _, 1>(&Mass, map, gauss).nominal_flops();
    assert_eq!(bk1, ELEMENTS * (interpolation + 216));
    let screened = ScreenedPoisson { lambda: Some(2.0) };
    let bk3 = operator::<f64, _, 1>(&screened, map, gauss).nominal_flops();
    assert_eq!(bk3, ELEMENTS * (interpolation + 12 * 1296 + 19 * 216));
    // Without λ, 4 flops a point fewer.
    let bp3 = operator::<f64, _, 1>(&Poisson, map, gauss).nominal_flops();
    assert_eq!(bp3, ELEMENTS * (interpolation + 12 * 1296 + 15 * 216));
    let bk5 = operator::<f64, _, 1>(&Poisson, map, collocated).nominal_flops();
    assert_eq!(bk5, ELEMENTS * (12 * 625 + 15 * 125));
    let bp2 = operator::<f64, _, 3>(&Componentwise::<_, 3>(Mass), map, gauss);
    assert_eq!(bp2.nominal_flops(), 3 * bk1);
}

#[test]
fn nothing_is_held_and_nothing_is_executed() {
    let level = (GAUSS, DataLevel::Partial);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let null = operator.device();
    assert_eq!(operator.bytes(), 0);
    assert_eq!(null.counts(), Counts::default(), "binding makes no buffers");
    assert_eq!(null.launches(), []);
    let u = null.upload(&vec![1.0; operator.dofs()]).expect("null");
    let mut v = null.upload(&vec![f64::NAN; u.len()]).expect("null");
    operator.apply(&u, &mut v).expect("lengths fit");
    let mut values = vec![1.0; v.len()];
    null.read(&v, &mut values).expect("lengths fit");
    assert!(values.iter().all(|&value| value == 0.0));
    // A vector of the wrong length is an error, and is not recorded.
    let mut short = null.zeros(operator.dofs() - 1).expect("null");
    assert!(operator.apply(&u, &mut short).is_err());
    assert_eq!(null.launches().len(), 1);
}

/// With sums that are all zero, the first residual is already small enough.
#[test]
fn conjugate_gradients_launch_once_for_each_operation() {
    let level = (COLLOCATED, DataLevel::OnTheFly);
    let operator = operator::<f64, _, 1>(&Poisson, MapKind::Multilinear, level);
    let null = operator.device();
    let size = operator.dofs();
    let constraints = Constraints::of_entries(vec![1, 5, 6]);
    let projector = Projector::new(null, &constraints).expect("null");
    let constrained = Constrained::new(&operator, &projector);
    let mut diagonal = null.zeros(size).expect("null");
    constrained.diagonal(&mut diagonal).expect("linear");
    let jacobi = Jacobi::new(null, &diagonal).expect("nothing to check");
    let b = null.zeros(size).expect("null");
    let mut x = null.zeros(size).expect("null");
    let mut workspace = CgWorkspace::new(null, size).expect("null");
    let mut system = System {
        device: null,
        operator: &constrained,
        preconditioning: Preconditioning::Jacobi(&jacobi),
    };
    let before = null.counts();
    let stop = StopCriteria::default();
    let info = solve(&mut system, &b, &mut x, &mut workspace, &stop, &mut ());
    assert_eq!(info.expect("converges at once").iterations(), 0);
    let launches = null.launches();
    let names: Vec<&str> = launches.iter().map(|launch| launch.name.as_str()).collect();
    let wanted = [
        "diagonal",
        "set_entries",
        "copy",
        "invert",
        "norm",
        "apply",
        "set_entries",
        "xpby",
        "norm",
    ];
    assert_eq!(names, wanted);
    assert_eq!(launches[6].bytes_written, 3 * 8);
    assert_eq!(null.counts(), before, "no buffers made, nothing moved");
}
