/* Interpolation and projection in a cube of shared memory, a pencil per thread, in place (Świrydowicz et al. 2019,
 * algorithms 1 and 2, in the order j, i, k). Each stage is followed by a barrier.
 *
 * Definitions: SYMMETRY, VOLATILE_CUBE.
 */
#if VOLATILE_CUBE
#define CUBE volatile SHARED real *
#else
#define CUBE SHARED real *
#endif

/* STORE(n, value) for the outputs n of a product of a matrix, ENTRY(n, m), with inputs in registers, in any order. With
 * SYMMETRY an entry, read once, serves two outputs: it is that of the last output less n and the last input less m. */
#if SYMMETRY
#define PRODUCT(outputs, inputs, ENTRY, r_in, STORE)                                           \
    FOR(n, ((outputs) + 1) / 2)                                                                \
    {                                                                                          \
        real low = 0, high = 0;                                                                \
        FOR(m, inputs)                                                                         \
        {                                                                                      \
            const real entry = ENTRY(n, m);                                                    \
            low += entry * r_in[m];                                                            \
            high += entry * r_in[(inputs) - 1 - m];                                            \
        }                                                                                      \
        STORE(n, low)                                                                          \
        if (2 * n != (outputs) - 1)                                                            \
            STORE((outputs) - 1 - n, high)                                                     \
    }
#else
#define PRODUCT(outputs, inputs, ENTRY, r_in, STORE)                                           \
    FOR(n, outputs)                                                                            \
    {                                                                                          \
        real sum = 0;                                                                          \
        FOR(m, inputs) sum += ENTRY(n, m) * r_in[m];                                           \
        STORE(n, sum)                                                                          \
    }
#endif
#define TRANSPOSED_INTERP(n, m) INTERP(m, n)

/* From the nodes of a pencil to its points, and back. */
#define INTERPOLATE(r_nodes, STORE) PRODUCT(G, Q, INTERP, r_nodes, STORE)
#define PROJECT(r_points, STORE) PRODUCT(Q, G, TRANSPOSED_INTERP, r_points, STORE)

/* Thread (x, y) has the pencil at i = x, k = y along j, at j = x, k = y along i, and at i = x, j = y along k. */
#define X THREAD_X
#define Y THREAD_Y
#define TO_CUBE_J(n, value) s_cube[CELL(Y, n, X)] = (value);
#define TO_CUBE_I(n, value) s_cube[CELL(Y, X, n)] = (value);
#define TO_CUBE_K(n, value) s_cube[CELL(n, Y, X)] = (value);
#define TO_V(n, value) g_v[NODE(n, Y, X)] = (value);

INLINE void load_nodes(INPUT g_u, CUBE s_cube)
{
    if (X < Q && Y < Q)
        FOR(m, Q) s_cube[CELL(m, Y, X)] = g_u[NODE(m, Y, X)];
}

INLINE void interpolate_along_j(const SHARED real *s_interp, CUBE s_cube)
{
    if (X < Q && Y < Q) {
        real r_nodes[Q];
        FOR(m, Q) r_nodes[m] = s_cube[CELL(Y, m, X)];
        INTERPOLATE(r_nodes, TO_CUBE_J)
    }
}

INLINE void interpolate_along_i(const SHARED real *s_interp, CUBE s_cube)
{
    if (Y < Q) {
        real r_nodes[Q];
        FOR(m, Q) r_nodes[m] = s_cube[CELL(Y, X, m)];
        INTERPOLATE(r_nodes, TO_CUBE_I)
    }
}

INLINE void project_along_j(const SHARED real *s_interp, CUBE s_cube)
{
    real r_points[G];
    FOR(n, G) r_points[n] = s_cube[CELL(Y, n, X)];
    PROJECT(r_points, TO_CUBE_J)
}

INLINE void project_along_i(const SHARED real *s_interp, CUBE s_cube)
{
    if (X < Q) {
        real r_points[G];
        FOR(n, G) r_points[n] = s_cube[CELL(Y, X, n)];
        PROJECT(r_points, TO_CUBE_I)
    }
}

/* The last stage, to global memory. */
INLINE void project_along_k(const SHARED real *s_interp, CUBE s_cube, GLOBAL real *g_v)
{
    if (X < Q && Y < Q) {
        real r_points[G];
        FOR(n, G) r_points[n] = s_cube[CELL(n, Y, X)];
        PROJECT(r_points, TO_V)
    }
}
