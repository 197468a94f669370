//! Plain gather and scatter_add, the reference for the faster versions.

use super::Space;
use std::ops::AddAssign;

impl Space {
    /// L to E: copies the values of `l` to the nodes of each element.
    ///
    /// `l` is an L-vector, `e` an E-vector, `[elements][components][nodes_per_element]`. This is the plain
    /// version, against which the faster ones inside operators are tested.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn gather<T: Copy>(&self, l: &[T], e: &mut [T]) {
        self.check_lengths(l.len(), e.len());
        self.each_entry(|place, entry| e[place] = l[entry]);
    }

    /// E to L, the transpose of [`Space::gather`]: adds the values at the nodes of all elements to
    /// `l`, an L-vector.
    ///
    /// # Panics
    /// If a vector has the wrong length.
    pub fn scatter_add<T: Copy + AddAssign>(&self, e: &[T], l: &mut [T]) {
        self.check_lengths(l.len(), e.len());
        self.each_entry(|place, entry| l[entry] += e[place]);
    }

    /// Calls `visit` with each place in E-vectors and its entry in L-vectors.
    fn each_entry(&self, mut visit: impl FnMut(usize, usize)) {
        let (components, np) = (self.components(), self.nodes_per_element());
        for chunk in &self.restriction.chunks {
            for element in chunk.elements.clone() {
                for (position, local) in self.restriction.element(element) {
                    let node = self.restriction.node(chunk, local);
                    for c in 0..components {
                        let place = (element * components + c) * np + position;
                        visit(place, self.entry(node, c));
                    }
                }
            }
        }
    }

    fn check_lengths(&self, l: usize, e: usize) {
        let dofs = self.dofs();
        assert!(
            l == dofs,
            "a vector of length {l} is not an L-vector ({dofs})"
        );
        let element_dofs = self.element_dofs();
        assert!(
            e == element_dofs,
            "a vector of length {e} is not an E-vector ({element_dofs})"
        );
    }
}
