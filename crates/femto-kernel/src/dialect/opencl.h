/* The dialect in OpenCL C 1.2. */

/* In place of a compiler's own declarations, of which PoCL reads 18 000 lines for each text: for tests. */
#ifdef DECLARATIONS
#include DECLARATIONS
#endif

#if REAL_BYTES == 8
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#endif

#if REAL_BYTES == 8
typedef double2 real2;
#else
typedef float2 real2;
#endif

#define GLOBAL __global
#define SHARED __local
#define CONSTANT __constant
#define RESTRICT restrict
/* Forced: PoCL 3.1 miscompiles kernels that call functions which were not inlined. */
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(count) UNROLL_TEXT(unroll count)
#define UNROLL_TEXT(text) _Pragma(#text)

#define KERNEL(name)                                                                           \
    __kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, BLOCK_Z))) void name

#define FORGET(g_pointer)

#define THREAD_X ((int)get_local_id(0))
#define THREAD_Y ((int)get_local_id(1))
#define THREAD_Z ((int)get_local_id(2))
#define BLOCK ((uint)get_group_id(0))
#define BLOCKS ((uint)get_num_groups(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define WARP_BARRIER() BARRIER()

/* All shared memory of a block, as one array. */
#define SHARED_MEMORY(name) __local real name[SHARED_REALS] __attribute__((aligned(16)))
#define SHARED_ARRAY(type, name, count) __local type name[count] __attribute__((aligned(16)))

/* OpenCL 1.2 has atomic additions for integers only: retry a compare-and-exchange of the bits until it
 * succeeds. Devices without 64-bit exchange have no atomic_add for doubles, and texts that need it do not
 * compile. */
#if REAL_BYTES == 4 || defined(cl_khr_int64_base_atomics)
INLINE void atomic_add(__global real *target, real value)
{
#if REAL_BYTES == 8
    __global volatile ulong *bits = (__global volatile ulong *)target;
    ulong found = *bits, expected;
    do {
        expected = found;
        found = atom_cmpxchg(bits, expected, as_ulong(as_double(expected) + value));
    } while (found != expected);
#else
    __global volatile uint *bits = (__global volatile uint *)target;
    uint found = *bits, expected;
    do {
        expected = found;
        found = atomic_cmpxchg(bits, expected, as_uint(as_float(expected) + value));
    } while (found != expected);
#endif
}
#endif

INLINE real stream_load(const __global real *g_source)
{
    return *g_source;
}

INLINE float stream_load_single(const __global float *g_source)
{
    return *g_source;
}

/* A word that may alias numbers of any type. */
typedef uint __attribute__((may_alias)) any_word;

#define ASYNC_COPY(bytes, s_target, g_source)                                                  \
    UNROLL for (int word = 0; word < (bytes) / 4; ++word)                                      \
        ((__local any_word *)(s_target))[word] = ((const __global any_word *)(g_source))[word]
#define ASYNC_COPIES_DONE()
#define PREFETCH_L2(g_source) prefetch(g_source, 1)

INLINE real reciprocal(real x)
{
    return (real)1 / x;
}
