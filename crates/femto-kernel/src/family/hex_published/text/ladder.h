/* Code shared by all published kernels: arguments, positions, loops. A block has one element.
 *
 * Definitions: NODES_1D, POINTS_1D, CONST_INPUTS, UNROLL_MOST, UNROLL_ALL; offsets S_* of parts of shared memory and
 * G_* of an element's global scratch memory, of SCRATCH_REALS numbers; ROW, INTERP_ROW, CUBE_ROW, the strides in
 * shared memory of slices and the differentiation matrix, of the interpolation matrix, and of cubes.
 *
 * Arguments of every kernel:
 *   lambda                of the screened Poisson operator, unused by BK1
 *   g_interp              nodes to points, [POINTS_1D][NODES_1D], unused by BK5
 *   g_grad                derivatives at points, [POINTS_1D][POINTS_1D], unused by BK1
 *   g_factors             [element][factor][k][j][i] at the points
 *   g_u, g_v              input and output, [element][k][j][i] at the nodes
 *   g_scratch             [element][SCRATCH_REALS]
 */
#define Q NODES_1D
#define G POINTS_1D

#if CONST_INPUTS
#define INPUT const GLOBAL real *RESTRICT
#else
#define INPUT GLOBAL real *
#endif

#define ARGUMENTS                                                                              \
    real lambda, INPUT g_interp, INPUT g_grad, INPUT g_factors, INPUT g_u, GLOBAL real *g_v,   \
        GLOBAL real *g_scratch

/* FOR_LAST marks loops that are unrolled only when all are. */
#if UNROLL_MOST || UNROLL_ALL
#define LOOP UNROLL
#else
#define LOOP
#endif
#if UNROLL_ALL
#define LAST_LOOP UNROLL
#else
#define LAST_LOOP
#endif
#define FOR(index, end) LOOP for (int index = 0; index < (end); index++)
#define FOR_LAST(index, end) LAST_LOOP for (int index = 0; index < (end); index++)

/* A barrier after writes to global memory that other threads of the block read. */
#ifdef __OPENCL_VERSION__
#define BARRIER_ALL() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define BARRIER_ALL() BARRIER()
#endif

/* The element of the block. */
#define PLACE                                                                                  \
    g_u += (size_t)BLOCK * (Q * Q * Q);                                                        \
    g_v += (size_t)BLOCK * (Q * Q * Q);                                                        \
    g_factors += (size_t)BLOCK * (FACTORS * G * G * G);                                        \
    g_scratch += (size_t)BLOCK * SCRATCH_REALS;

#define NODE(k, j, i) (((k) * Q + (j)) * Q + (i))
#define POINT(k, j, i) (((k) * G + (j)) * G + (i))
/* In shared memory. */
#define CELL(k, j, i) (((k) * G + (j)) * CUBE_ROW + (i))
#define SLICE(j, i) ((j) * ROW + (i))
#define INTERP(n, m) s_interp[(n) * INTERP_ROW + (m)]
#define GRAD(n, m) s_grad[(n) * ROW + (m)]

/* A matrix of G rows to shared memory, an entry by each thread of the first layer. */
INLINE void load_matrix(INPUT g_matrix, int columns, SHARED real *s_matrix, int row)
{
    if (THREAD_X < columns && THREAD_Z == 0)
        s_matrix[THREAD_Y * row + THREAD_X] = g_matrix[THREAD_Y * columns + THREAD_X];
}
