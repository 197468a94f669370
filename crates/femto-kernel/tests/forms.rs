//! Ready-made forms against formulas written in another way, and against differences of their energies.
#![allow(clippy::print_stdout, reason = "a failure shows its seed")]

use femto_kernel::form::{
    Coefficient, CoefficientKind, ConvectionDiffusion, Diffusion, Form, Jacobian, LinearElasticity,
    NeoHookean, NonlinearDiffusion, PLaplacian, Point, Poisson, SymmetricGradient, inspect,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Random numbers, seeded differently in every run.
struct Random(SmallRng);

impl Random {
    fn new() -> Self {
        let seed = rand::random();
        println!("seed {seed}");
        Self(SmallRng::seed_from_u64(seed))
    }

    fn numbers<const N: usize>(&mut self, size: f64) -> [f64; N] {
        std::array::from_fn(|_| self.0.random_range(-size..size))
    }

    /// A matrix, `[row][column]`.
    fn matrix<const D: usize, const C: usize>(&mut self, size: f64) -> [[f64; D]; C] {
        std::array::from_fn(|_| self.numbers(size))
    }
}

const COEFFICIENTS: [Coefficient; 3] = [
    Coefficient::Constant(0.75),
    Coefficient::Auxiliary(1),
    Coefficient::Parameter(0),
];
const A: [f64; 3] = [1.5, 2.5, -0.5];
const PARAMETERS: [f64; 1] = [3.5];
/// The values of [`COEFFICIENTS`] at a [`point`].
const VALUES: [f64; 3] = [0.75, 2.5, 3.5];

fn point<const D: usize, const C: usize>(
    u: [f64; C],
    grad_u: [[f64; D]; C],
) -> Point<'static, f64, D, C> {
    Point {
        u,
        grad_u,
        a: &A,
        grad_a: &[],
        x: [f64::NAN; D],
        time: f64::NAN,
        parameters: &PARAMETERS,
    }
}

#[track_caller]
fn assert_close<const D: usize, const C: usize>(
    found: [[f64; D]; C],
    wanted: [[f64; D]; C],
    tolerance: f64,
) {
    let pairs = found.iter().flatten().zip(wanted.iter().flatten());
    for (found_one, wanted_one) in pairs {
        let close = (found_one - wanted_one).abs() <= tolerance * (1.0 + wanted_one.abs());
        assert!(close, "{found:?}, not {wanted:?}");
    }
}

/// The derivative of an energy with respect to ∇u by central differences, `[component][axis]`.
fn slope<const D: usize, const C: usize>(
    energy: impl Fn([[f64; D]; C]) -> f64,
    at: [[f64; D]; C],
) -> [[f64; D]; C] {
    let step = 1e-5;
    std::array::from_fn(|c| {
        std::array::from_fn(|axis| {
            let moved = |by: f64| {
                let mut moved = at;
                moved[c][axis] += by;
                energy(moved)
            };
            (moved(step) - moved(-step)) / (2.0 * step)
        })
    })
}

#[test]
fn diffusion_multiplies_by_what_it_is_given() {
    let mut random = Random::new();
    let g: [f64; 3] = random.numbers(1.0);
    let at = point([f64::NAN], [g]);
    for (kappa, value) in COEFFICIENTS.into_iter().zip(VALUES) {
        let form = Diffusion { kappa };
        assert_close(form.f1(&at), [g.map(|g| value * g)], 1e-15);
        assert_eq!(Form::<3>::f0(&form, &at), [0.0]);
    }
}

#[test]
fn nonlinear_diffusion_is_a_polynomial_in_u() {
    let mut random = Random::new();
    let [u, k0, k1, k2]: [f64; 4] = random.numbers(2.0);
    let g: [f64; 2] = random.numbers(1.0);
    let at = point([u], [g]);
    let form = NonlinearDiffusion {
        kappa: [k0, k1, k2],
    };
    let kappa = k0 + k1 * u + k2 * u.powi(2);
    assert_close(form.f1(&at), [g.map(|g| kappa * g)], 1e-14);
    let default = [g.map(|g| (1.0 + u * u) * g)];
    assert_close(NonlinearDiffusion::default().f1(&at), default, 1e-14);
}

#[test]
fn convection_takes_the_slope_along_the_velocity() {
    let mut random = Random::new();
    let g: [f64; 3] = random.numbers(1.0);
    let at = point([f64::NAN], [g]);
    let form = ConvectionDiffusion {
        kappa: 0.5.into(),
        velocity: COEFFICIENTS,
    };
    let along = VALUES[0] * g[0] + VALUES[1] * g[1] + VALUES[2] * g[2];
    assert_close([form.f0(&at)], [[along]], 1e-14);
    assert_close(form.f1(&at), [[g[0] / 2.0, g[1] / 2.0, g[2] / 2.0]], 1e-15);
}

#[test]
fn the_p_laplacian_is_the_slope_of_its_energy() {
    let mut random = Random::new();
    for p in [1.2, 1.5, 2.0, 3.0, 4.0, 5.5, 6.0] {
        let epsilon = 0.3;
        let form = PLaplacian { p, epsilon };
        let energy =
            |g: [[f64; 3]; 1]| (0.09 + g[0].iter().map(|g| g * g).sum::<f64>()).powf(p / 2.0) / p;
        let g: [[f64; 3]; 1] = random.matrix(1.5);
        let found = form.f1(&point([f64::NAN], g));
        assert_close(found, slope(energy, g), 1e-7);
        if p == 2.0 {
            assert_eq!(found, Poisson.f1(&point([f64::NAN], g)));
        }
    }
}

#[test]
fn hookes_law_holds_in_the_plane() {
    let mut random = Random::new();
    let g: [[f64; 2]; 2] = random.matrix(1.0);
    let [lambda, mu] = [2.5, 3.5];
    let form = LinearElasticity {
        lambda: Coefficient::Auxiliary(1),
        mu: Coefficient::Parameter(0),
    };
    let shear = mu * (g[0][1] + g[1][0]);
    let wanted = [
        [(lambda + 2.0 * mu) * g[0][0] + lambda * g[1][1], shear],
        [shear, lambda * g[0][0] + (lambda + 2.0 * mu) * g[1][1]],
    ];
    assert_close(form.f1(&point([f64::NAN; 2], g)), wanted, 1e-14);
}

/// Strains follow Hooke's law for Young's modulus and Poisson's ratio.
#[test]
fn hookes_law_holds_in_space() {
    let mut random = Random::new();
    let g: [[f64; 3]; 3] = random.matrix(1.0);
    let (young, poisson) = (2.3, 0.31);
    let form = LinearElasticity::from_young(young, poisson);
    let stress = form.f1(&point([f64::NAN; 3], g));
    let trace = stress[0][0] + stress[1][1] + stress[2][2];
    let strain = |i: usize, j: usize| {
        let pressure = if i == j { poisson * trace } else { 0.0 };
        ((1.0 + poisson) * stress[i][j] - pressure) / young
    };
    let found = std::array::from_fn(|i| std::array::from_fn(|j| strain(i, j)));
    let wanted: [[f64; 3]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| 0.5 * (g[i][j] + g[j][i])));
    assert_close(found, wanted, 1e-13);
    let seed = SymmetricGradient.f1(&point([f64::NAN; 3], g));
    assert_close(seed, wanted, 1e-15);
}

fn determinant<const D: usize>(f: [[f64; D]; D]) -> f64 {
    if D == 2 {
        return f[0][0] * f[1][1] - f[0][1] * f[1][0];
    }
    // Sarrus: the diagonals down, less the diagonals up.
    let product = |i: usize, turn: usize| f[0][i] * f[1][(i + turn) % 3] * f[2][(i + 2 * turn) % 3];
    (0..3).map(|i| product(i, 1) - product(i, 2)).sum()
}

fn deformation<const D: usize>(grad_u: [[f64; D]; D]) -> [[f64; D]; D] {
    std::array::from_fn(|i| std::array::from_fn(|j| grad_u[i][j] + if i == j { 1.0 } else { 0.0 }))
}

/// The energy of a neo-Hookean body.
fn energy<const D: usize>(lambda: f64, mu: f64, grad_u: [[f64; D]; D]) -> f64 {
    let f = deformation(grad_u);
    let square: f64 = f.iter().flatten().map(|f| f * f).sum();
    let log = determinant(f).ln();
    mu / 2.0 * (square - D as f64 - 2.0 * log) + lambda / 2.0 * log * log
}

fn neo_hookean_is_the_slope_of_its_energy<const D: usize>()
where
    NeoHookean<D>: Form<D, D>,
{
    let mut random = Random::new();
    let form = NeoHookean {
        lambda: Coefficient::Auxiliary(1),
        mu: Coefficient::Parameter(0),
    };
    for _ in 0..20 {
        let g: [[f64; D]; D] = random.matrix(0.3);
        let found = form.f1(&point([f64::NAN; D], g));
        assert_close(found, slope(|g| energy(2.5, 3.5, g), g), 1e-7);
    }
    // Small deformations are those of linear elasticity.
    let g: [[f64; D]; D] = random.matrix(1e-7);
    let at = point([f64::NAN; D], g);
    let small = LinearElasticity::from_young(2.0, 0.3).f1(&at);
    let scale = |stress: [[f64; D]; D]| stress.map(|row| row.map(|entry| entry * 1e7));
    let found = NeoHookean::from_young(2.0, 0.3).f1(&at);
    assert_close(scale(found), scale(small), 1e-5);
}

#[test]
fn a_neo_hookean_body_has_an_energy() {
    neo_hookean_is_the_slope_of_its_energy::<2>();
    neo_hookean_is_the_slope_of_its_energy::<3>();
}

/// F = I + γ e₀ e₁ᵀ has J = 1 and F⁻ᵀ = I − γ e₁ e₀ᵀ.
#[test]
fn simple_shear_of_a_neo_hookean_body_is_known() {
    let form = NeoHookean {
        lambda: 7.0.into(),
        mu: 3.0.into(),
    };
    let mut g = [[0.0; 3]; 3];
    g[0][1] = 0.4;
    let mut wanted = [[0.0; 3]; 3];
    (wanted[0][1], wanted[1][0]) = (3.0 * 0.4, 3.0 * 0.4);
    assert_close(form.f1(&point([f64::NAN; 3], g)), wanted, 1e-14);
}

#[test]
fn rotations_cause_no_stress_and_inversions_no_number() {
    let form = NeoHookean::from_young(1.0, 0.3);
    let (sin, cos) = 0.9_f64.sin_cos();
    let turned = [
        [cos - 1.0, -sin, 0.0],
        [sin, cos - 1.0, 0.0],
        [0.0, 0.0, 0.0],
    ];
    assert_close(form.f1(&point([f64::NAN; 3], turned)), [[0.0; 3]; 3], 1e-14);
    let flat = NeoHookean::<2>::from_young(1.0, 0.3);
    let inverted = flat.f1(&point([f64::NAN; 2], [[-1.5, 0.0], [0.0, 0.1]]));
    assert!(inverted[0][0].is_nan(), "{inverted:?}");
}

/// `[linear, symmetric]`, and the required numbers of `[fields, parameters]`.
fn found<F: Form<D, C>, const D: usize, const C: usize>(form: &F) -> ([bool; 2], [usize; 2]) {
    let found = inspect::<F, D, C>(form);
    let given = [found.auxiliary, found.parameters];
    ([found.linear, found.symmetric], given)
}

#[test]
fn forms_are_recognised_for_what_they_are() {
    let [kappa, lambda, mu] = [
        Coefficient::Auxiliary(0),
        Coefficient::Auxiliary(2),
        Coefficient::Parameter(1),
    ];
    assert_eq!(
        found::<_, 2, 1>(&Diffusion { kappa }),
        ([true, true], [1, 0])
    );
    let diffusion = Diffusion { kappa };
    let coefficients = inspect::<_, 3, 1>(&diffusion).coefficients.unwrap();
    assert_eq!(coefficients.stiffness, CoefficientKind::OfFields);
    let constant = Diffusion { kappa: 2.5.into() };
    let coefficients = inspect::<_, 3, 1>(&constant).coefficients.unwrap();
    assert_eq!(coefficients.stiffness, CoefficientKind::Constant(2.5));

    let nonlinear = NonlinearDiffusion::default();
    assert_eq!(found::<_, 3, 1>(&nonlinear), ([false, false], [0, 0]));
    let velocity = [Coefficient::Auxiliary(0), Coefficient::Auxiliary(1)];
    let convection = ConvectionDiffusion {
        kappa: 1.0.into(),
        velocity,
    };
    assert_eq!(found::<_, 2, 1>(&convection), ([true, false], [2, 0]));
    for p in [1.5, 4.0] {
        let form = PLaplacian { p, epsilon: 1e-3 };
        assert_eq!(found::<_, 3, 1>(&form), ([false, true], [0, 0]), "{p}");
    }
    let elasticity = LinearElasticity { lambda, mu };
    let flat = LinearElasticity { lambda, mu };
    assert_eq!(found::<_, 2, 2>(&flat), ([true, true], [3, 2]));
    assert_eq!(found::<_, 3, 3>(&elasticity), ([true, true], [3, 2]));
    let body = NeoHookean { lambda, mu };
    let flat = NeoHookean { lambda, mu };
    assert_eq!(found::<_, 2, 2>(&flat), ([false, true], [3, 2]));
    assert_eq!(found::<_, 3, 3>(&body), ([false, true], [3, 2]));
}

/// The derivative of a form along a random direction at a random state, against central differences.
fn the_jacobian_is_the_slope<F: Form<D, C> + Copy, const D: usize, const C: usize>(form: F) {
    let mut random = Random::new();
    let (u, grad_u): ([f64; C], _) = (random.numbers(0.3), random.matrix::<D, C>(0.3));
    let (w, grad_w): ([f64; C], _) = (random.numbers(1.0), random.matrix::<D, C>(1.0));
    let step = 1e-5;
    let moved = |by: f64| {
        let u = std::array::from_fn(|c| u[c] + by * w[c]);
        let grad_u =
            std::array::from_fn(|c| std::array::from_fn(|d| grad_u[c][d] + by * grad_w[c][d]));
        let at = point(u, grad_u);
        (form.f0(&at), form.f1(&at))
    };
    let (above, below) = (moved(step), moved(-step));
    let slope = |above: f64, below: f64| (above - below) / (2.0 * step);
    let fields: Vec<f64> = u.iter().chain(&A).copied().collect();
    let at = Point {
        a: &fields,
        grad_a: &grad_u,
        ..point(w, grad_w)
    };
    let f0 = std::array::from_fn(|c| slope(above.0[c], below.0[c]));
    let f1 = std::array::from_fn(|c| std::array::from_fn(|d| slope(above.1[c][d], below.1[c][d])));
    assert_close([Jacobian(form).f0(&at)], [f0], 1e-6);
    assert_close(Jacobian(form).f1(&at), f1, 1e-6);
}

#[test]
fn jacobians_are_slopes() {
    let [lambda, mu] = [Coefficient::Auxiliary(1), Coefficient::Parameter(0)];
    for _ in 0..10 {
        the_jacobian_is_the_slope::<_, 3, 1>(NonlinearDiffusion::default());
        the_jacobian_is_the_slope::<_, 3, 1>(ConvectionDiffusion {
            kappa: lambda,
            velocity: COEFFICIENTS,
        });
        for p in [1.5, 3.0, 4.0] {
            the_jacobian_is_the_slope::<_, 2, 1>(PLaplacian { p, epsilon: 0.1 });
        }
        the_jacobian_is_the_slope::<_, 2, 2>(NeoHookean { lambda, mu });
        the_jacobian_is_the_slope::<_, 3, 3>(NeoHookean { lambda, mu });
        the_jacobian_is_the_slope::<_, 3, 3>(LinearElasticity { lambda, mu });
    }
}
