//! One form on some elements, by the oracle and by every kernel.

use super::places::Places;
use super::sample::Sample;
use crate::common::{Random, difference};
use femto::Number;
use femto::kernel::family::EvalContext;
use femto::kernel::family::batch::{
    Batch, ElementKernel, LOCAL_NODES, MAX_LANES, NodeTable, Nodes, Source, Target, Vertices,
    Workspace, row_len,
};
use femto::kernel::family::fields::{FieldKind, Fields};
use femto::kernel::family::oracle::{self, OracleGeometry};
use femto::kernel::family::sum_factorization::Storage;
use femto::kernel::family::sum_factorization::host::HostPlan;
use femto::kernel::family::sum_factorization::work::Shape;
use femto::kernel::form::{Form, Inspection, inspect};
use femto::kernel::scalar::SimdLevel;
use femto_element::tables::TensorTables;
use std::cell::RefCell;

const CONTEXT: EvalContext = EvalContext {
    time: 0.7,
    parameters: &[1.3],
};

thread_local! {
    /// Passed from kernel to kernel, whatever their lanes and sizes, as the last one left it.
    static WORKSPACE: RefCell<Workspace> = RefCell::new(Box::new(()));
}

/// Relative error allowed against double precision (project standard).
fn tolerance<T: Number>() -> f64 {
    if T::BYTES == 8 { 1e-13 } else { 1e-5 }
}

/// The action of a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    Apply,
    Diagonal,
}

/// The expected results for a form on some samples.
pub struct Case<'a, F, const D: usize, const C: usize> {
    form: &'a F,
    basis: &'a TensorTables,
    inspection: Inspection,
    fields: Fields,
    action: Action,
    samples: &'a [Sample],
    /// `[sample][component][node]`; numbers that are exact in both precisions.
    inputs: Vec<Vec<f64>>,
    /// `[sample][component][node]`.
    expected: Vec<Vec<f64>>,
}

/// One kernel, and a batch of samples packed for it: lanes take the samples cyclically, unused lanes hold
/// NaN.
struct Packed<T> {
    kernel: Box<dyn ElementKernel<T>>,
    elements: usize,
    geometry: Vec<T>,
    auxiliary: Vec<T>,
    points: Vec<T>,
}

impl<T: Number> Packed<T> {
    /// `nodal` are the auxiliary fields at the nodes.
    fn run(
        &self,
        action: Action,
        nodes: Nodes,
        (source, nodal): (Source<T>, Source<T>),
        target: Target<T>,
    ) {
        let batch = Batch {
            elements: self.elements,
            nodes,
            vertices: Vertices::NONE,
            geometry: &self.geometry,
            auxiliary: &self.auxiliary,
            nodal,
            points: &self.points,
            context: &CONTEXT,
        };
        WORKSPACE.with_borrow_mut(|workspace| match action {
            Action::Apply => self.kernel.apply(&batch, source, target, workspace),
            Action::Diagonal => self.kernel.diagonal(&batch, target, workspace),
        });
    }
}

impl<'a, F, const D: usize, const C: usize> Case<'a, F, D, C>
where
    F: Form<D, C> + Clone + 'static,
{
    /// Evaluates the oracle; there is one auxiliary field, constant per element.
    pub fn new(
        form: &'a F,
        on: (&'a TensorTables, &'a [Sample]),
        action: Action,
        random: &mut Random,
    ) -> Self {
        Self::with_fields(form, on, &[FieldKind::Cell], action, random)
    }

    /// As [`Self::new`], with auxiliary fields of these kinds.
    pub fn with_fields(
        form: &'a F,
        (basis, samples): (&'a TensorTables, &'a [Sample]),
        fields: &[FieldKind],
        action: Action,
        random: &mut Random,
    ) -> Self {
        let fields = Fields::new(fields);
        let len = C * basis.nodes();
        let inputs: Vec<Vec<f64>> = samples
            .iter()
            .map(|_| {
                let values = random.vector(len).into_iter();
                values.map(|u| f64::from(u as f32)).collect()
            })
            .collect();
        let answer = |(sample, u): (&Sample, &Vec<f64>)| {
            let geometry = OracleGeometry {
                jacobian: &sample.map.jacobian,
                position: &sample.map.position,
            };
            let environment = (&sample.fields(fields), &CONTEXT);
            match action {
                Action::Apply => oracle::apply(form, basis, geometry, environment, u),
                Action::Diagonal => oracle::diagonal(form, basis, geometry, environment),
            }
        };
        let expected = samples.iter().zip(&inputs).map(answer).collect();
        Self {
            form,
            basis,
            inspection: inspect::<F, D, C>(form),
            fields,
            action,
            samples,
            inputs,
            expected,
        }
    }

    /// All instruction sets in both precisions.
    pub fn check(&self, storages: &[Storage]) {
        let constant = self.fields.count(FieldKind::Cell) == self.fields.len();
        let foldable = D == 3 && constant && self.inspection.coefficients.is_some();
        for &storage in storages {
            if foldable || !storage.is_factors() {
                self.check_levels::<f64>(storage);
                self.check_levels::<f32>(storage);
            }
        }
    }

    fn check_levels<T: Number>(&self, storage: Storage) {
        let mut narrowest: Option<Vec<f64>> = None;
        for &level in SimdLevel::available() {
            let lanes = self.pack::<T>(storage, level, 1).kernel.lanes();
            assert!(lanes <= MAX_LANES && lanes.is_power_of_two());
            for elements in [lanes - 1, lanes] {
                if elements == 0 {
                    continue;
                }
                let packed = self.pack::<T>(storage, level, elements);
                let what = format!(
                    "{D} axes, {:?}, {storage:?}, {level:?}, {:?}, {elements} of {lanes} elements, \
                     degree {}, {} points",
                    self.action,
                    T::PRECISION,
                    self.basis.nodes_1d - 1,
                    self.basis.points_1d
                );
                let first = self.element_vectors(&packed, &what);
                // Interleaved components, and blocked ones.
                self.local_vectors(&packed, 1, &what);
                if C > 1 {
                    self.local_vectors(&packed, C, &what);
                }
                let narrowest = narrowest.get_or_insert_with(|| first.clone());
                let error = relative_error(&first, narrowest);
                assert!(error < tolerance::<T>(), "levels differ: {what}: {error}");
            }
        }
    }

    fn pack<T: Number>(&self, storage: Storage, level: SimdLevel, elements: usize) -> Packed<T> {
        let shape = Shape::new(self.basis, &self.inspection, storage);
        let plan = HostPlan {
            basis: self.basis,
            shape: shape.with_fields(&self.inspection, self.fields),
            level,
        };
        let kernel = plan.build::<T, F, D, C>(self.form);
        let lanes = kernel.lanes();
        assert_eq!(kernel.geometry_len(), lanes * plan.geometry_len());
        let nan = T::from_f64(f64::NAN);
        let mut geometry = vec![nan; kernel.geometry_len()];
        let mut auxiliary = vec![nan; self.fields.count(FieldKind::Cell) * lanes];
        let at_points = self.fields.count(FieldKind::Points) * self.basis.points();
        let mut points = vec![nan; at_points * lanes];
        for (lane, sample) in (0..elements).zip(self.samples.iter().cycle()) {
            let coefficients = self.inspection.coefficients.as_ref();
            let coefficients = coefficients.map(|found| found.at(&sample.cell));
            let coefficients = coefficients.unwrap_or_default();
            let map = sample.map.for_storage(storage);
            let mut numbers = vec![f64::NAN; plan.geometry_len()];
            plan.pack(map, coefficients, &mut numbers);
            for (n, number) in numbers.into_iter().enumerate() {
                geometry[n * lanes + lane] = T::from_f64(number);
            }
            let fields = sample.fields(self.fields);
            for (n, &value) in fields.cell.iter().enumerate() {
                auxiliary[n * lanes + lane] = T::from_f64(value);
            }
            for (n, &value) in fields.points.iter().enumerate().take(at_points) {
                points[n * lanes + lane] = T::from_f64(value);
            }
        }
        Packed {
            kernel,
            elements,
            geometry,
            auxiliary,
            points,
        }
    }

    /// E-vectors whose elements are all different: each round of samples has half the input of the previous
    /// one, which is exact. Returns the first element's result.
    fn element_vectors<T: Number>(&self, packed: &Packed<T>, what: &str) -> Vec<f64> {
        let len = C * self.basis.nodes();
        let scale = |element: usize| match self.action {
            Action::Apply => 0.5_f64.powi((element / self.samples.len()) as i32),
            Action::Diagonal => 1.0,
        };
        let values = |all: &[Vec<f64>], element: usize| -> Vec<f64> {
            let values = all[element % all.len()].iter();
            values.map(|value| value * scale(element)).collect()
        };
        let source: Vec<T> = (0..packed.elements)
            .flat_map(|element| values(&self.inputs, element))
            .map(T::from_f64)
            .collect();
        let nodal = self.fields.count(FieldKind::Nodal) * self.basis.nodes();
        let nodal: Vec<T> = (0..packed.elements)
            .flat_map(|element| &self.samples[element % self.samples.len()].nodal[..nodal])
            .map(|&value| T::from_f64(value))
            .collect();
        // Filled with NaN, with room for one element too many.
        let mut target = vec![T::from_f64(f64::NAN); (packed.elements + 1) * len];
        let inputs = (Source::of(&source), Source::of(&nodal));
        packed.run(self.action, Nodes::Element, inputs, Target::of(&mut target));
        let target: Vec<f64> = target.iter().map(|v| v.to_f64()).collect();
        for (element, found) in target.chunks_exact(len).enumerate() {
            if element == packed.elements {
                assert!(found.iter().all(|v| v.is_nan()), "wrote beyond: {what}");
                continue;
            }
            let error = relative_error(found, &values(&self.expected, element));
            assert!(
                error < tolerance::<T>(),
                "element {element}, {what}: {error}"
            );
        }
        target[..len].to_vec()
    }

    /// Local vectors in which elements of the same sample share their shell, so that several lanes add to the
    /// same entries; interior nodes are in L-vectors of so many slices.
    fn local_vectors<T: Number>(&self, packed: &Packed<T>, slices: usize, what: &str) {
        let what = &format!("local vectors, {slices} slices, {what}");
        let places = Places::new((D, self.basis.nodes_1d), self.samples.len());
        let (np, lanes) = (self.basis.nodes(), packed.kernel.lanes());
        let nodes = NodeTable::tensor(D, self.basis.nodes_1d);
        let mut table = vec![0; nodes.len(lanes)];
        let scale = self.expected.iter().flatten();
        let scale = scale.fold(0.0, |scale: f64, v| scale.max(v.abs()));
        let used = places.shared() + packed.elements * places.interior;
        let is_local = |place: usize| place < places.shared() || !nodes.has_run();
        let fields = self.fields.count(FieldKind::Nodal);
        let mut source = Vectors::<T>::new(C, slices, used);
        let mut nodal = Vectors::<T>::new(fields, fields, used);
        let mut target = Vectors::<T>::new(C, slices, used);
        // Shells have initial values; interior nodes, which belong to one element, have none.
        let mut expected = vec![vec![0.0; used]; C];
        for (c, expected) in expected.iter_mut().enumerate() {
            for (place, expected) in expected.iter_mut().enumerate() {
                let shell = place < places.shared();
                let before = if shell { (place % 7) as f64 / 7.0 } else { 0.0 };
                let before = T::from_f64(scale * before);
                if is_local(place) {
                    *target.at(c, place, true) = before;
                }
                *expected = before.to_f64();
            }
        }
        for element in 0..packed.elements {
            let sample = element % self.samples.len();
            let place = |position| places.of(element, position);
            nodes.pack((element, lanes), |p| place(p) as u16, &mut table);
            for n in 0..C * np {
                let (c, at) = (n / np, place(n % np));
                *source.at(c, at, is_local(at)) = T::from_f64(self.inputs[sample][n]);
                expected[c][at] += self.expected[sample][n];
            }
            for (n, &value) in self.samples[sample]
                .nodal
                .iter()
                .enumerate()
                .take(fields * np)
            {
                let (field, at) = (n / np, place(n % np));
                *nodal.at(field, at, is_local(at)) = T::from_f64(value);
            }
        }
        let before = target.count_nan();
        {
            let (source_slices, nodal_slices) = (source.slices(), nodal.slices());
            let inputs = (
                Source {
                    numbers: &source.local,
                    private: &source_slices,
                },
                Source {
                    numbers: &nodal.local,
                    private: &nodal_slices,
                },
            );
            let (width, own) = (target.width, &mut target);
            let mut private: Vec<_> = own.private.chunks_mut((used * width).max(1)).collect();
            let output = Target {
                numbers: &mut own.local,
                private: &mut private,
            };
            packed.run(self.action, Nodes::Local(&table), inputs, output);
        }
        // Every lane may have added to an entry.
        let most = lanes.div_ceil(self.samples.len()).max(2) as f64;
        let mut read = 0;
        for (c, expected) in expected.iter().enumerate() {
            let found = (0..used).map(|place| target.at(c, place, is_local(place)).to_f64());
            let found: Vec<f64> = found.collect();
            let error = relative_error(&found, expected);
            assert!(error < most * tolerance::<T>(), "{what}: {error}");
            read += (0..used).filter(|&place| !is_local(place)).count();
        }
        assert_eq!(target.count_nan(), before - read, "wrote elsewhere: {what}");
    }
}

/// A local vector and the interior nodes in an L-vector, filled with NaN.
struct Vectors<T> {
    local: Vec<T>,
    row: usize,
    private: Vec<T>,
    /// Numbers per node and slice, and numbers of a slice.
    width: usize,
    len: usize,
}

impl<T: Number> Vectors<T> {
    fn new(components: usize, slices: usize, nodes: usize) -> Self {
        let nan = T::from_f64(f64::NAN);
        let (row, width) = (row_len(components), components / slices.max(1));
        Self {
            local: vec![nan; row * LOCAL_NODES],
            row,
            private: vec![nan; components * nodes],
            width,
            len: width * nodes,
        }
    }

    fn slices(&self) -> Vec<&[T]> {
        self.private.chunks(self.len.max(1)).collect()
    }

    /// A number in the local vector, or in the L-vector.
    fn at(&mut self, component: usize, node: usize, local: bool) -> &mut T {
        if local {
            return &mut self.local[node * self.row + component];
        }
        let (slice, c) = (component / self.width, component % self.width);
        &mut self.private[slice * self.len + node * self.width + c]
    }

    fn count_nan(&self) -> usize {
        let all = self.local.iter().chain(&self.private);
        all.filter(|number| number.to_f64().is_nan()).count()
    }
}

/// max |a − b| / max |b|; NaN if a has one.
fn relative_error(a: &[f64], b: &[f64]) -> f64 {
    if a.iter().any(|a| a.is_nan()) {
        return f64::NAN;
    }
    difference(a, b)
}
