//! Meshes and spaces for measurements.

use super::timing::since;
use super::{BenchError, VectorKind};
use femto_element::{Cell, Degree};
use femto_fem::geometry::Geometry;
use femto_fem::mesh::boxes::AnyBox;
use femto_fem::mesh::{Layers, Mesh};
use femto_fem::space::{Constraints, Space, SpaceParams};
use serde::Serialize;
use std::f64::consts::PI;
use std::time::Instant;

/// The unit cube as a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MeshShape {
    /// Equal boxes: affine maps.
    Box,
    /// Vertices moved by a sine: trilinear maps, all different, as in published measurements.
    #[default]
    Sine,
    /// The nodes of hex27 cells moved by the same sine: curved maps.
    Curved,
    /// Each box cut into six tetrahedra, the vertices moved at random: affine maps, all different.
    Tetrahedra,
    /// Columns of prisms over triangles moved at random, between a bent bottom and a bent top.
    Columns,
    /// The same columns in flat layers: affine maps.
    Layers,
}

/// The seed of the irregular mesh: the same one every time.
const SEED: u64 = 4;

impl MeshShape {
    /// All shapes.
    pub const ALL: [Self; 6] = [
        Self::Box,
        Self::Sine,
        Self::Curved,
        Self::Tetrahedra,
        Self::Columns,
        Self::Layers,
    ];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Sine => "sine",
            Self::Curved => "curved",
            Self::Tetrahedra => "tetrahedra",
            Self::Columns => "columns",
            Self::Layers => "layers",
        }
    }

    /// The shape of its cells.
    pub const fn cell(self) -> Cell {
        match self {
            Self::Box | Self::Sine | Self::Curved => Cell::Hexahedron,
            Self::Tetrahedra => Cell::Tetrahedron,
            Self::Columns | Self::Layers => Cell::Prism,
        }
    }

    /// Whether it is made of columns, in layers.
    pub const fn has_columns(self) -> bool {
        matches!(self, Self::Columns | Self::Layers)
    }

    /// The mesh with this many boxes along x, y and z.
    pub(super) fn build(self, cells: [usize; 3]) -> Result<Mesh, BenchError> {
        let generator = AnyBox {
            cells: cells.to_vec(),
            geometry_degree: if self == Self::Curved { 2 } else { 1 },
            irregular: (self == Self::Tetrahedra).then_some(SEED),
            ..AnyBox::unit(self.cell(), 1)
        };
        let mesh = match self {
            Self::Box | Self::Tetrahedra => generator.build(|x| x),
            Self::Sine | Self::Curved => generator.build(bend),
            Self::Columns => return columns(cells, 1.0),
            Self::Layers => return columns(cells, 0.0),
        };
        Ok(mesh.map_err(Box::new)?)
    }
}

/// Columns over the unit square, on hills scaled by a factor.
fn columns([nx, ny, layers]: [usize; 3], hills: f64) -> Result<Mesh, BenchError> {
    let plane = AnyBox {
        cells: vec![nx, ny],
        irregular: Some(SEED),
        ..AnyBox::unit(Cell::Triangle, 1)
    };
    let plane = plane.build(|x| x).map_err(Box::new)?;
    let bottom = |[x, y]: [f64; 2]| 0.1 * hills * (PI * x).sin() * (2.0 * PI * y).cos();
    let top = |[x, y]: [f64; 2]| 1.0 + 0.05 * hills * (PI * (x - y)).sin();
    let mesh = plane.extrude(&Layers::uniform(layers), bottom, top);
    Ok(mesh.map_err(Box::new)?)
}

/// Moves each axis a by 0.08 sin(π(x_b + x_c) + a), with b and c the other two: the Jacobian stays between
/// 0.75 and 1.25, and no cell has an affine map by symmetry.
fn bend(x: [f64; 3]) -> [f64; 3] {
    let sum: f64 = x.iter().sum();
    [0, 1, 2].map(|axis| x[axis] + 0.08 * (PI * (sum - x[axis]) + axis as f64).sin())
}

/// The size of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Number of elements.
    Elements(usize),
    /// Approximate number of entries of the benchmark's vectors.
    Dofs(usize),
}

impl Size {
    /// The size for comparing rates of accelerators.
    pub const LARGE: Self = Self::Dofs(50_000_000);

    /// Boxes along x and y, as many along both, with which `layers` come closest to the size.
    pub(super) fn columns(
        self,
        degree: Degree,
        layers: usize,
        (components, vector): (usize, VectorKind),
    ) -> [usize; 3] {
        let prism = Cell::Prism;
        let per_box = (prism.per_box() * layers) as f64;
        let boxes = match (self, vector) {
            (Self::Elements(target), _) => (target as f64 / per_box).sqrt(),
            (Self::Dofs(target), VectorKind::E) => {
                let of_prism = (prism.lattice(degree).len() * components) as f64;
                (target as f64 / of_prism / per_box).sqrt()
            }
            (Self::Dofs(target), _) => {
                let of_column = (components * (layers * degree.vertical + 1)) as f64;
                ((target as f64 / of_column).sqrt() - 1.0) / degree.horizontal as f64
            }
        };
        let boxes = boxes.round().max(1.0) as usize;
        [boxes, boxes, layers]
    }

    /// Boxes along x, y, z that come closest to the size, and differ by at most one, for cells of which several fill a
    /// box.
    pub(super) fn cells(
        self,
        cell: Cell,
        degree: usize,
        (components, vector): (usize, VectorKind),
    ) -> [usize; 3] {
        let per_box = cell.per_box();
        let in_box = per_box * cell.lattice(degree).len();
        let (target, along): (usize, &dyn Fn(usize) -> f64) = match (self, vector) {
            (Self::Elements(target), _) => (target / per_box, &|cells| cells as f64),
            (Self::Dofs(target), VectorKind::E) => {
                (target / components / in_box, &|cells| cells as f64)
            }
            (Self::Dofs(target), _) => (target / components, &|cells| (cells * degree + 1) as f64),
        };
        let count = |cells: [usize; 3]| cells.map(along).into_iter().product::<f64>();
        // Start from the largest cube that fits, then enlarge some axes by one.
        let mut least = 1;
        while count([least + 1; 3]) <= target as f64 {
            least += 1;
        }
        let more = |axes: usize| [0, 1, 2].map(|axis| least + usize::from(axis < axes));
        let miss = |cells: &[usize; 3]| (count(*cells) - target as f64).abs();
        let candidates = [0, 1, 2, 3].map(more);
        candidates
            .into_iter()
            .min_by(|a, b| miss(a).total_cmp(&miss(b)))
            .unwrap_or([least; 3])
    }
}

/// A space on a mesh, and the time to make it.
pub(super) struct MeshedSpace {
    pub(super) cells: [usize; 3],
    pub(super) geometry: Geometry,
    pub(super) space: Space,
    pub(super) constraints: Constraints,
    pub(super) mesh_seconds: f64,
    pub(super) geometry_seconds: f64,
    pub(super) space_seconds: f64,
}

impl MeshedSpace {
    /// All components are constrained on the groups `constrained`.
    pub(super) fn new(
        shape: MeshShape,
        cells: [usize; 3],
        params: SpaceParams,
        constrained: &[&str],
    ) -> Result<Self, BenchError> {
        let start = Instant::now();
        let mesh = shape.build(cells)?;
        let mesh_seconds = since(start);

        let start = Instant::now();
        let geometry = Geometry::new(&mesh)?;
        let geometry_seconds = since(start);

        let start = Instant::now();
        let space = Space::new(&mesh, &geometry, params).map_err(Box::new)?;
        let constraints = Constraints::of_all_components(&space, constrained).map_err(Box::new)?;
        let space_seconds = since(start);
        Ok(Self {
            cells,
            geometry,
            space,
            constraints,
            mesh_seconds,
            geometry_seconds,
            space_seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use femto_element::MapKind;

    #[test]
    fn shapes_have_their_kind_of_map_and_no_bad_element() {
        let kinds = [
            MapKind::Affine,
            MapKind::Multilinear,
            MapKind::Curved,
            MapKind::Affine,
            MapKind::Extruded,
            MapKind::Extruded,
        ];
        for (shape, kind) in MeshShape::ALL.into_iter().zip(kinds) {
            for cells in [[1, 2, 3], [5, 5, 5]] {
                let geometry = Geometry::new(&shape.build(cells).unwrap()).unwrap();
                let count = shape.cell().per_box() * cells.iter().product::<usize>();
                assert_eq!(geometry.kinds(), vec![kind; count], "{shape:?}");
                assert!(geometry.check(&[-1.0, 0.0, 1.0]).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn sizes_come_as_near_as_boxes_can() {
        let hexahedron = Cell::Hexahedron;
        let cells = |size: Size, degree| size.cells(hexahedron, degree, (1, VectorKind::L));
        assert_eq!(cells(Size::Elements(4096), 7), [16; 3]);
        assert_eq!(cells(Size::Elements(0), 7), [1; 3]);
        assert_eq!(cells(Size::Elements(5), 7), [2, 2, 1]);
        assert_eq!(cells(Size::Dofs(27), 2), [1; 3]);
        assert_eq!(cells(Size::Dofs(125), 2), [2; 3]);
        let of =
            |dofs, components, vector| Size::Dofs(dofs).cells(hexahedron, 2, (components, vector));
        assert_eq!(of(375, 3, VectorKind::L), [2; 3]);
        assert_eq!(of(216, 1, VectorKind::E), [2; 3]);
        let columns = |size: Size| size.columns(2.into(), 10, (1, VectorKind::L));
        assert_eq!(columns(Size::Dofs(25 * 21)), [2, 2, 10]);
        assert_eq!(columns(Size::Elements(180)), [3, 3, 10]);
        let tetrahedra = |size: Size| size.cells(Cell::Tetrahedron, 2, (1, VectorKind::E));
        assert_eq!(tetrahedra(Size::Elements(48)), [2; 3]);
        assert_eq!(tetrahedra(Size::Dofs(480)), [2; 3]);
        for degree in 1..=8 {
            let cells = cells(Size::Dofs(1_500_000), degree);
            let dofs: usize = cells.iter().map(|n| n * degree + 1).product();
            let miss = (dofs as f64 / 1.5e6 - 1.0).abs();
            assert!(miss < 0.04, "{degree}: {dofs}");
        }
    }
}
