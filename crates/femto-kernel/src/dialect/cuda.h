/* The dialect in CUDA C. */
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long long ulong;
#if REAL_BYTES == 8
typedef double2 real2;
#else
typedef float2 real2;
#endif

#define GLOBAL
#define SHARED
/* Not const: knowing the values, the compiler would merge equal entries of tables and keep them in
 * registers between phases until it spills; this way they are operands from memory. */
#define CONSTANT __constant__
#define RESTRICT __restrict__
#define INLINE static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define UNROLL_BY(count) UNROLL_TEXT(unroll count)
#define UNROLL_TEXT(text) _Pragma(#text)

/* BLOCKS_PER_UNIT is the target number of resident blocks per multiprocessor, which limits registers: 1 lets a thread
 * use as many as help it alone, 0 leaves the choice to the compiler. */
#if BLOCKS_PER_UNIT
#define KERNEL(name)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y *BLOCK_Z, BLOCKS_PER_UNIT) name
#else
#define KERNEL(name)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y *BLOCK_Z) name
#endif

/* Makes the compiler forget the target of a pointer, so that numbers read through it are not kept in
 * registers from one loop iteration to the next. */
#define FORGET(g_pointer) asm volatile("" : "+l"(g_pointer))

#define THREAD_X ((int)threadIdx.x)
#define THREAD_Y ((int)threadIdx.y)
#define THREAD_Z ((int)threadIdx.z)
#define BLOCK ((uint)blockIdx.x)
#define BLOCKS ((uint)gridDim.x)
#define BARRIER() __syncthreads()
#define WARP_BARRIER() __syncwarp()

/* All shared memory of a block, as one array aligned for 16-byte copies; its size is given at the launch. */
#define SHARED_MEMORY(name) extern __shared__ __align__(16) real name[]
#define SHARED_ARRAY(type, name, count) __shared__ __align__(16) type name[count]

INLINE void atomic_add(real *g_target, real value)
{
    atomicAdd(g_target, value);
}

/* Reads data that are not read again. */
INLINE real stream_load(const real *g_source)
{
    return __ldcs(g_source);
}

INLINE float stream_load_single(const float *g_source)
{
    return __ldcs(g_source);
}

/* Copies 4, 8 or 16 bytes to shared memory asynchronously; a thread's own copies have arrived after
 * ASYNC_COPIES_DONE(), other threads' after a barrier. */
#if __CUDA_ARCH__ >= 800
#define ASYNC_COPY(bytes, s_target, g_source)                                                  \
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(                            \
                     (uint)__cvta_generic_to_shared(s_target)),                                \
                 "l"(g_source), "n"(bytes)                                                     \
                 : "memory")
#define ASYNC_COPIES_DONE() asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define ASYNC_COPY(bytes, s_target, g_source)                                                  \
    UNROLL for (int word = 0; word < (bytes) / 4; ++word)                                      \
        ((uint *)(s_target))[word] = ((const uint *)(g_source))[word]
#define ASYNC_COPIES_DONE()
#endif

/* Prefetches the 128 bytes around an address into the L2 cache. */
#define PREFETCH_L2(g_source) asm volatile("prefetch.global.L2 [%0];" ::"l"(g_source))

/* 1 / x to about one unit in the last place, for x that is neither huge, tiny nor zero. */
INLINE real reciprocal(real x)
{
#if REAL_BYTES == 8
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    double e = fma(-x, r, 1.0);
    e = fma(e, e, e);
    return fma(e, r, r);
#else
    return 1.0f / x;
#endif
}

#if __CUDA_ARCH__ >= 800
/* Matrix units: sums += a b for a of 16 × 8, b of 8 × 8. Of rows, quad q = lane / 4 has q and q + 8; of columns of a
 * and rows of b, its thread t has t and t + 4; of columns of sums, 2 t and 2 t + 1:
 *
 *   a     [column t, t + 4][row q, q + 8]
 *   b     [row t, t + 4] of column q; in single precision first the leading bits of both, then the rest
 *   sums  [column 2 t, 2 t + 1][row q, q + 8]
 */
#if REAL_BYTES == 8
typedef double2 fragment;
#define FRAGMENT 2
INLINE void multiply_add(double sums[4], const double a[4], fragment b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+d"(sums[0]), "+d"(sums[2]), "+d"(sums[1]), "+d"(sums[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b.x), "d"(b.y));
#else
    UNROLL for (int n = 0; n < 4; ++n)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(sums[n % 2]), "+d"(sums[n % 2 + 2])
            : "d"(a[n]), "d"(n < 2 ? b.x : b.y));
#endif
}
#else
typedef float4 fragment;
#define FRAGMENT 4
INLINE uint leading_bits(float x)
{
    uint bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

INLINE void multiply_add_tf32(float sums[4], const uint a[4], float b0, float b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[2]), "+f"(sums[1]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

/* Three products of numbers of 11 bits: their sum has the accuracy of single precision but for 2^-21. */
INLINE void multiply_add(float sums[4], const float a[4], fragment b)
{
    uint leading[4], rest[4];
    UNROLL for (int i = 0; i < 4; ++i)
    {
        leading[i] = leading_bits(a[i]);
        rest[i] = leading_bits(a[i] - __uint_as_float(leading[i]));
    }
    multiply_add_tf32(sums, rest, b.x, b.y);
    multiply_add_tf32(sums, leading, b.z, b.w);
    multiply_add_tf32(sums, leading, b.x, b.y);
}
#endif

INLINE fragment load_fragment(const real *g_source)
{
    return *(const fragment *)g_source;
}
#endif
