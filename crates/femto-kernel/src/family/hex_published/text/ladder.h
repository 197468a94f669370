/* Code shared by all published kernels: arguments, positions, loops.
 *
 * Definitions: NODES_1D, POINTS_1D, ELEMENTS_PER_BLOCK, CONST_INPUTS, UNROLLED; offsets S_* of parts
 * of shared memory, G_* of an element's global scratch memory, T_* of temporaries in either;
 * S_ELEMENTS, S_ELEMENT_REALS, SCRATCH_REALS.
 *
 * Arguments of every kernel:
 *   elements              number of elements
 *   lambda                of the screened Poisson operator, unused by BK1
 *   g_interp              nodes to points, [POINTS_1D][NODES_1D], unused by BK5
 *   g_grad                derivatives at points, [POINTS_1D][POINTS_1D], unused by BK1
 *   g_factors             [element][factor][k][j][i] at the points
 *   g_u, g_v              input and output, [element][k][j][i] at the nodes
 *   g_scratch             SCRATCH_REALS numbers for every element, including those that fill the
 *                         last block
 */
#define Q NODES_1D
#define G POINTS_1D

#if CONST_INPUTS
#define INPUT const GLOBAL real *RESTRICT
#else
#define INPUT GLOBAL real *
#endif

#define ARGUMENTS                                                                              \
    uint elements, real lambda, INPUT g_interp, INPUT g_grad, INPUT g_factors, INPUT g_u,      \
        GLOBAL real *g_v, GLOBAL real *g_scratch

#if UNROLLED
#define LOOP UNROLL
#else
#define LOOP
#endif
#define FOR(index, end) LOOP for (int index = 0; index < (end); index++)

/* A barrier after writes to global memory that other threads of the block read. */
#ifdef __OPENCL_VERSION__
#define BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define BARRIER_ALL() BARRIER()
#endif

/* Layers: a thread is a column (i, j) of an element. Cubes: it is a point (i, j, k). */
#define THREADS_Z (BLOCK_Z / ELEMENTS_PER_BLOCK)
#define LANE (THREAD_Z / THREADS_Z)

/* The position of a thread. Threads without an element repeat the last one and write no output; their
 * scratch memory is their own. */
#define PLACE                                                                                  \
    const int i = THREAD_X, j = THREAD_Y;                                                      \
    const uint slot = BLOCK * ELEMENTS_PER_BLOCK + (uint)LANE;                                 \
    const bool active = slot < elements;                                                       \
    const size_t element = active ? slot : elements - 1;                                       \
    g_u += element * (Q * Q * Q);                                                              \
    g_v += element * (Q * Q * Q);                                                              \
    g_factors += element * (FACTORS * G * G * G);                                              \
    g_scratch += (size_t)slot * SCRATCH_REALS;

#define NODE(k, j, i) (((k) * Q + (j)) * Q + (i))
#define POINT(k, j, i) (((k) * G + (j)) * G + (i))
/* Index in shared memory, with rows of ROW numbers. */
#define CELL(k, j, i) (((k) * G + (j)) * ROW + (i))

/* All threads of a block copy a matrix to shared memory. */
INLINE void load_matrix(INPUT g_matrix, int len, SHARED real *s_matrix)
{
    const int thread = (THREAD_Z * BLOCK_Y + THREAD_Y) * BLOCK_X + THREAD_X;
    for (int n = thread; n < len; n += BLOCK_X * BLOCK_Y * BLOCK_Z)
        s_matrix[n] = g_matrix[n];
}
