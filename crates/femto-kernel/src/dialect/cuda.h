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

/* BLOCKS_PER_UNIT is the target number of resident blocks per multiprocessor, which limits registers. */
#define KERNEL(name)                                                                           \
    extern "C" __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y *BLOCK_Z, BLOCKS_PER_UNIT) name

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

INLINE void shared_atomic_add(real *s_target, real value)
{
    atomicAdd(s_target, value);
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
