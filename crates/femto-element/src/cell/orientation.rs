//! Orientation: agreement of two cells on the nodes inside a shared edge or facet.
//!
//! An order of the entity's vertices known to both cells (by global numbers) fixes a *canonical* walk: on a
//! line from the lower vertex to the higher, on a triangle from the lowest towards the middle one (fastest)
//! and the highest, on a quadrilateral from the lowest vertex, first towards the lower of its two
//! neighbours. An *orientation* relates the entity's own order to that walk.

use super::Cell;
use crate::Degree;

/// The six orders of three things; entry c is the position of the c-th lowest.
const TRIANGLE: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

impl Cell {
    /// Number of orientations of a line, triangle or quadrilateral.
    pub fn orientations(self) -> usize {
        match self {
            Self::Line => 2,
            Self::Triangle => 6,
            Self::Quadrilateral => 8,
            _ => 1,
        }
    }

    /// Rotations of a solid that generate all of them: each lists the vertices that come first, second and so on
    /// afterwards.
    pub fn rotations(self) -> &'static [&'static [usize]] {
        match self {
            Self::Tetrahedron => &[&[1, 2, 0, 3], &[1, 0, 3, 2]],
            Self::Hexahedron => &[&[1, 3, 0, 2, 5, 7, 4, 6], &[4, 5, 0, 1, 6, 7, 2, 3]],
            Self::Prism => &[&[1, 2, 0, 4, 5, 3], &[3, 5, 4, 0, 2, 1]],
            Self::Pyramid => &[&[1, 3, 0, 2, 4]],
            _ => &[],
        }
    }

    /// The orientation of a line, triangle or quadrilateral with these vertex numbers, in its own vertex
    /// order.
    #[inline]
    pub fn orientation(self, vertices: &[u32]) -> usize {
        match (self, vertices) {
            (Self::Line, &[start, end]) => usize::from(start > end),
            (Self::Triangle, &[a, b, c]) => triangle([a, b, c]),
            (Self::Quadrilateral, &[a, b, c, d]) => quadrilateral([a, b, c, d]),
            _ => 0,
        }
    }

    /// For each orientation and each interior node in the entity's own order, its position on the canonical
    /// walk: `[orientations][nodes]`.
    pub fn canonical_orders(self, degree: impl Into<Degree>) -> Vec<Vec<u32>> {
        let degree = degree.into();
        let nodes = self.interior(degree);
        let order = |orientation| {
            let walk = self.interior(match self.is_turned(orientation) {
                true => Degree {
                    horizontal: degree.vertical,
                    vertical: degree.horizontal,
                },
                false => degree,
            });
            let place = |&steps: &[usize; 3]| {
                let walked = self.walked(degree, orientation, steps);
                // Walks stay within the entity.
                walk.iter().position(|&other| other == walked).unwrap_or(0) as u32
            };
            nodes.iter().map(place).collect()
        };
        (0..self.orientations()).map(order).collect()
    }

    /// Whether the canonical walk of a quadrilateral goes first along the second axis.
    fn is_turned(self, orientation: usize) -> bool {
        self == Self::Quadrilateral && orientation % 2 == 1
    }

    /// Converts steps along the entity's own axes to those of the canonical walk.
    fn walked(self, degree: Degree, orientation: usize, steps: [usize; 3]) -> [usize; 3] {
        let ([p, q, _], n) = (steps, degree.horizontal);
        match self {
            Self::Line => [if orientation == 1 { n - p } else { p }, 0, 0],
            Self::Triangle => {
                let own = [n - p - q, p, q];
                let [_, first, second] = TRIANGLE[orientation].map(|vertex| own[vertex]);
                [first, second, 0]
            }
            Self::Quadrilateral => {
                let origin = orientation / 2;
                let s = if origin & 1 != 0 { n - p } else { p };
                let t = if origin & 2 != 0 {
                    degree.vertical - q
                } else {
                    q
                };
                match self.is_turned(orientation) {
                    true => [t, s, 0],
                    false => [s, t, 0],
                }
            }
            _ => steps,
        }
    }
}

/// The order in [`TRIANGLE`] that sorts these ascending.
#[inline]
fn triangle([a, b, c]: [u32; 3]) -> usize {
    match (a < b, b < c, a < c) {
        (true, true, _) => 0,
        (true, false, true) => 1,
        (false, _, true) => 2,
        (true, false, false) => 4,
        (false, true, false) => 3,
        (false, false, false) => 5,
    }
}

/// Twice the corner with the lowest number, plus 1 if the lower of its neighbours lies along the second axis.
#[inline]
fn quadrilateral(corners: [u32; 4]) -> usize {
    let mut origin = 0;
    for corner in 1..4 {
        if corners[corner] < corners[origin] {
            origin = corner;
        }
    }
    2 * origin + usize::from(corners[origin ^ 2] < corners[origin ^ 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of four numbers.
    fn permutations(vertices: usize) -> Vec<Vec<u32>> {
        let mut all = vec![vec![]];
        for _ in 0..vertices {
            let with = |order: Vec<u32>| {
                let rest = (0..vertices as u32).filter(move |m| !order.contains(m));
                rest.collect::<Vec<_>>()
            };
            all = (all.into_iter())
                .flat_map(|order| {
                    let next = with(order.clone());
                    next.into_iter().map(move |m| [&order[..], &[m]].concat())
                })
                .collect();
        }
        all
    }

    /// Two views of an entity, which list its vertices in different orders, find the same node at the same
    /// position of the walk.
    #[test]
    fn all_views_agree_on_every_node() {
        for cell in [Cell::Line, Cell::Triangle, Cell::Quadrilateral] {
            let count = cell.vertices();
            let uniform = (2..=5).map(|n| [n, n]);
            let other = [[2, 4], [5, 3]];
            let other = other.into_iter().filter(|_| cell.has_vertical());
            for along in uniform.chain(other) {
                let of_view = |[horizontal, vertical]: [usize; 2]| {
                    let degree = Degree {
                        horizontal,
                        vertical,
                    };
                    (cell.interior(degree), cell.canonical_orders(degree))
                };
                let views = [along, [along[1], along[0]]].map(of_view);
                assert!(views.iter().all(|(_, it)| it.len() == cell.orientations()));
                let count_inside = views[0].0.len();
                // By position in space, of the first view.
                let mut known = std::collections::HashMap::new();
                for own in permutations(count) {
                    // The view's vertex m is vertex own[m] of a fixed reference cell: only symmetries of it.
                    let place = |m: usize| cell.vertex(own[m] as usize);
                    let [o, r, s] = [0, 1, 2].map(|m| place(m.min(count - 1)));
                    if count == 4 {
                        let opposite: Vec<f64> = (0..2).map(|a| r[a] + s[a] - o[a]).collect();
                        if opposite != place(3)[..2] {
                            continue;
                        }
                    }
                    // Whose first axis is the reference cell's second one.
                    let is_turned = cell.has_vertical() && r[0] == o[0];
                    let (nodes, orders) = &views[usize::from(is_turned)];
                    let ends = [
                        along[usize::from(is_turned)],
                        along[usize::from(!is_turned)],
                    ];
                    let order = &orders[cell.orientation(&own)];
                    let mut sorted = order.clone();
                    sorted.sort_unstable();
                    assert!(sorted.into_iter().eq(0..nodes.len() as u32));
                    for (steps, &canonical) in nodes.iter().zip(order) {
                        let along = |a: usize, m: usize| {
                            steps[m] as f64 / ends[m] as f64 * ([r, s][m][a] - o[a])
                        };
                        let axes = 0..cell.dim();
                        let x = |a: usize| o[a] + axes.clone().map(|m| along(a, m)).sum::<f64>();
                        let key = [0, 1].map(|a| (x(a) * 1e6).round() as i64);
                        assert_eq!(
                            *known.entry(key).or_insert(canonical),
                            canonical,
                            "{cell:?}"
                        );
                    }
                }
                assert_eq!(known.len(), count_inside);
            }
        }
    }
}
