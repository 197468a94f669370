// The processor's vectors for deal.II. Include this file before any other of deal.II.
//
// Debian configures deal.II for any x86-64 processor, where VectorizedArray<double> is one number and its versions for
// wider vectors are left out. They are brought back here by the compiler's target. The default width stays 1, so that
// nothing in the library changes its meaning; problem.cc instantiates deal.II's templates for `Lanes`.
#pragma once

#include <deal.II/base/config.h>

#undef DEAL_II_VECTORIZATION_WIDTH_IN_BITS
#if defined(__AVX512F__)
#  define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 512
#elif defined(__AVX__)
#  define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 256
#elif defined(__SSE2__)
#  define DEAL_II_VECTORIZATION_WIDTH_IN_BITS 128
#else
#  error "Compile for a processor with vectors, such as with -march=native"
#endif

#include <deal.II/base/vectorization.h>

/// The compiler target's vector of doubles.
using Lanes = dealii::VectorizedArray<double, DEAL_II_VECTORIZATION_WIDTH_IN_BITS / 64>;

/// Doubles in the widest vector of the processor that runs the program.
inline unsigned int lanes_of_processor()
{
  return __builtin_cpu_supports("avx512f") ? 8 : __builtin_cpu_supports("avx") ? 4 : 2;
}
