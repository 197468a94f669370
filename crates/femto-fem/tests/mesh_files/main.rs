//! Meshes of `tests/meshes` and of other projects: cells and groups, volumes and areas, numberings.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../geometry_common/mod.rs"]
mod geometry_common;
mod hexahedra;
mod paths;
mod reading;
#[path = "../simplex_common/mod.rs"]
mod simplex_common;
mod simplices;
#[path = "../space_common/mod.rs"]
mod space_common;
mod spaces;

use std::path::Path;

use femto_fem::mesh::Mesh;

fn read(path: &Path) -> Mesh {
    Mesh::read(path).unwrap_or_else(|error| panic!("{error}"))
}

/// Area of a sector with half-angle α and radius 1 whose arc is one side of a cell of second or third order:
/// `½ ∫ (x y' - y x') dt` over |t| ≤ 1 for `x = a + b t²`, `y = c t + d t³` through points at equal angles.
///
/// With s = sin α and c = 1 - cos α the parabola is `(1 - c t², s t)`: its sector has area `s (1 + c/3)` instead of
/// `α`, with the relative error -α⁴/30 + O(α⁶).
fn sector(order: usize, alpha: f64) -> f64 {
    let (sin, cos) = alpha.sin_cos();
    let (a, b, c, d) = match order {
        2 => (1.0, cos - 1.0, sin, 0.0),
        3 => {
            let (sin_third, cos_third) = (alpha / 3.0).sin_cos();
            let b = 9.0 / 8.0 * (cos - cos_third);
            let c = (27.0 * sin_third - sin) / 8.0;
            (cos - b, b, c, sin - c)
        }
        _ => panic!("no formula for order {order}"),
    };
    a * c + (3.0 * a * d - b * c) / 3.0 + b * d / 5.0
}
