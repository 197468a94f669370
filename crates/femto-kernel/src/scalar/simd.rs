//! SIMD lanes: one number per element of a batch.
//!
//! The instruction set is chosen at run time ([`SimdLevel`]). Everything between the choice and the
//! arithmetic must be inlined into the function compiled for that set, hence `#[inline(always)]` throughout
//! and [`Simd::vectorize`] at the few real calls.

use super::{Real, Scalar};
use core::any::Any;
use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub};
use fearless_simd::{Level, Select, Simd, SimdBase, SimdFloat};

/// A SIMD vector of the native width of its instruction set.
pub trait Lanes: Scalar + AddAssign + Send + Sync + 'static {
    /// The precision.
    type Real: Real;
    /// The proof that the processor supports the instruction set.
    type Token: Simd;
    /// Number of lanes.
    const WIDTH: usize;
    /// Whether these are SSE2's, which hardly any processor is left with: forms are compiled without the loops around
    /// them there, a sixth of what each form takes to compile.
    const NARROW: bool = cfg!(target_arch = "x86_64") && size_of::<Self>() == 16;

    /// All lanes equal to `value`.
    fn splat(token: Self::Token, value: Self::Real) -> Self;
    /// Loads exactly [`Lanes::WIDTH`] numbers.
    fn load(token: Self::Token, source: &[Self::Real]) -> Self;
    /// The lane values produced by `value(lane)`.
    fn from_fn(token: Self::Token, value: impl FnMut(usize) -> Self::Real) -> Self;
    /// The even lanes of this and the other, then the odd ones.
    fn deinterleave(self, other: Self) -> (Self, Self);
    /// Lanes of this and the other in turn: of the first halves, then of the second.
    fn interleave(self, other: Self) -> (Self, Self);
    /// The lanes as a slice.
    fn lanes(&self) -> &[Self::Real];
    /// The instruction set of this value.
    fn token(self) -> Self::Token;
}

/// A precision with SIMD vectors on every instruction set.
pub trait Vectorizable: Real {
    /// The vector of native width.
    type Lanes<S: Simd>: Lanes<Real = Self, Token = S>;
}

/// Functions applied to each lane.
macro_rules! each_lane {
    ($t:ty: $($function:ident)*) => {
        $(#[inline(always)]
        fn $function(self) -> Self {
            self.each(<$t>::$function)
        })*
    };
}

macro_rules! lanes {
    ($name:ident, $t:ty, $vector:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $name<S: Simd>(S::$vector);

        impl Vectorizable for $t {
            type Lanes<S: Simd> = $name<S>;
        }

        lanes!(@operator $name, Add, add, +);
        lanes!(@operator $name, Sub, sub, -);
        lanes!(@operator $name, Mul, mul, *);
        lanes!(@operator $name, Div, div, /);
        lanes!(@constant $name, $t, Add, add, +);
        lanes!(@constant $name, $t, Sub, sub, -);
        lanes!(@constant $name, $t, Mul, mul, *);
        lanes!(@constant $name, $t, Div, div, /);

        impl<S: Simd> Neg for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl<S: Simd> AddAssign for $name<S> {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                self.0 = self.0 + other.0;
            }
        }

        impl<S: Simd> $name<S> {
            /// Applies a scalar function to each lane.
            #[inline(always)]
            fn each(self, function: impl Fn($t) -> $t) -> Self {
                Self(S::$vector::from_fn(self.token(), |lane| function(self.0[lane])))
            }
        }

        impl<S: Simd> Lanes for $name<S> {
            type Real = $t;
            type Token = S;
            const WIDTH: usize = <S::$vector as SimdBase<S>>::LEN;

            #[inline(always)]
            fn splat(token: S, value: $t) -> Self {
                Self(fearless_simd::SimdFrom::simd_from(token, value))
            }
            #[inline(always)]
            fn load(token: S, source: &[$t]) -> Self {
                Self(S::$vector::from_slice(token, source))
            }
            #[inline(always)]
            fn from_fn(token: S, value: impl FnMut(usize) -> $t) -> Self {
                Self(S::$vector::from_fn(token, value))
            }
            #[inline(always)]
            fn deinterleave(self, other: Self) -> (Self, Self) {
                let (even, odd) = self.0.deinterleave(other.0);
                (Self(even), Self(odd))
            }
            #[inline(always)]
            fn interleave(self, other: Self) -> (Self, Self) {
                let (low, high) = self.0.interleave(other.0);
                (Self(low), Self(high))
            }
            #[inline(always)]
            fn lanes(&self) -> &[$t] {
                self.0.as_slice()
            }
            #[inline(always)]
            fn token(self) -> S {
                fearless_simd::ExtractToken::token(&self.0)
            }
        }

        impl<S: Simd> Scalar for $name<S> {
            type Mask = <S::$vector as SimdBase<S>>::Mask;

            #[inline(always)]
            fn constant(self, value: f64) -> Self {
                Self::splat(self.token(), value as $t)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, addend: Self) -> Self {
                Self(self.0.mul_add(factor.0, addend.0))
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(self.0.sqrt())
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0.abs())
            }
            each_lane!($t: exp ln sin cos tan sinh cosh tanh);
            #[inline(always)]
            fn powi(self, exponent: i32) -> Self {
                // Square and multiply on whole vectors: the exponent is the same in every lane.
                let mut result = self.constant(1.0);
                let mut square = self;
                let mut rest = exponent.unsigned_abs();
                while rest > 0 {
                    if rest & 1 == 1 {
                        result = result * square;
                    }
                    square = square * square;
                    rest >>= 1;
                }
                if exponent < 0 { self.constant(1.0) / result } else { result }
            }
            #[inline(always)]
            fn powf(self, exponent: Self) -> Self {
                Self(S::$vector::from_fn(self.token(), |lane| {
                    self.0[lane].powf(exponent.0[lane])
                }))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self(self.0.min_precise(other.0))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self(self.0.max_precise(other.0))
            }
            #[inline(always)]
            fn less(self, other: Self) -> Self::Mask {
                self.0.simd_lt(other.0)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                Self(mask.select(yes.0, no.0))
            }
        }
    };
    (@operator $name:ident, $trait:ident, $method:ident, $op:tt) => {
        impl<S: Simd> $trait for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $op other.0)
            }
        }
    };
    (@constant $name:ident, $t:ty, $trait:ident, $method:ident, $op:tt) => {
        impl<S: Simd> $trait<f64> for $name<S> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, constant: f64) -> Self {
                Self(self.0 $op constant as $t)
            }
        }
    };
}

lanes!(F64Lanes, f64, f64s, "Double-precision lanes.");
lanes!(F32Lanes, f32, f32s, "Single-precision lanes.");

/// An instruction set that the host kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SimdLevel {
    /// The target's guaranteed set: SSE2 on x86-64, NEON on AArch64, otherwise plain loops.
    Baseline,
    /// AVX2 with fused multiply-add.
    Avx2,
    /// AVX-512 as of Ice Lake.
    Avx512,
}

impl SimdLevel {
    /// The widest level of this processor.
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Baseline)
    }

    /// Every level that this processor can run, narrowest first.
    pub fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            let level = Level::new();
            if level.as_avx512().is_some() {
                return &[Self::Baseline, Self::Avx2, Self::Avx512];
            }
            if level.as_avx2().is_some() {
                return &[Self::Baseline, Self::Avx2];
            }
        }
        &[Self::Baseline]
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "AVX-512",
            Self::Avx2 => "AVX2",
            Self::Baseline if cfg!(target_arch = "aarch64") => "NEON",
            Self::Baseline if cfg!(target_arch = "x86_64") => "SSE2",
            Self::Baseline => "scalar",
        }
    }
}

/// Work that is generic over the instruction set.
pub trait SimdTask {
    /// The result of the work.
    type Output;
    /// Does the work; called inside a function compiled for `S`.
    fn run<S: Simd>(self, token: S) -> Self::Output;
}

/// Runs `task` compiled for `level`, or for the widest available level below it.
pub fn dispatch<K: SimdTask>(level: SimdLevel, task: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let detected = Level::new();
        if level >= SimdLevel::Avx512
            && let Some(token) = detected.as_avx512()
        {
            vectorized(token, task)
        } else if level >= SimdLevel::Avx2
            && let Some(token) = detected.as_avx2()
        {
            vectorized(token, task)
        } else if let Some(token) = detected.as_sse2() {
            vectorized(token, task)
        } else {
            unreachable!("every x86-64 processor has SSE2")
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = level;
        fearless_simd::dispatch!(Level::baseline(), token => task.run(token))
    }
}

/// Things made for lanes, such as a form: what differs between forms is compiled for each of them, and the loops around it
/// once.
pub(crate) trait ForLanes {
    /// The thing for one kind of lanes.
    type Made<L: Lanes>: 'static;
    /// Makes it.
    fn make<L: Lanes>(&self) -> Self::Made<L>;
}

/// A thing made for lanes, whose type does not tell which.
pub(crate) struct AnyLanes(Box<dyn Any>);

impl AnyLanes {
    /// Made for the lanes of precision `T` and an instruction set.
    pub(crate) fn new<T: Vectorizable, M: ForLanes>(level: SimdLevel, maker: &M) -> Self {
        let precision = PhantomData::<T>;
        dispatch(level, Make { maker, precision })
    }

    /// The thing, for lanes of the same precision and instruction set.
    pub(crate) fn take<Made: 'static>(self) -> Made {
        let made = self.0.downcast();
        *made.expect("a precision and an instruction set have one kind of lanes")
    }
}

struct Make<'a, T, M> {
    maker: &'a M,
    precision: PhantomData<T>,
}

impl<T: Vectorizable, M: ForLanes> SimdTask for Make<'_, T, M> {
    type Output = AnyLanes;

    fn run<S: Simd>(self, _: S) -> AnyLanes {
        AnyLanes(Box::new(self.maker.make::<T::Lanes<S>>()))
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn vectorized<S: Simd, K: SimdTask>(token: S, task: K) -> K::Output {
    token.vectorize(
        #[inline(always)]
        || task.run(token),
    )
}
