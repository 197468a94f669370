/* A cell of the Helmholtz Challenge: its nodes, its geometry, and the tables of its basis and rule.
 *
 * Definitions: LAYERS; VISIT_CELLS, COPIED, LOCAL_TABLES, ROW_SUMS, ACCUMULATORS, LOOP_ORDER, UNROLLED, the fields of
 * Schedule. c_tables: φ, ∂_X φ, ∂_Y φ, ∂_Z φ, [table][point][node], then the weights.
 *
 * Arguments of every kernel:
 *   g_map           nodes of a triangle's lowest cell, [triangle][node]
 *   g_coordinates   [node][x, y, z]
 *   g_in            the input, [node]
 *   g_copy          the copy of the load, [node]; used by rhs if COPIED
 *   g_out           the output, [node]
 */
#define NODES 6
#define POINTS 8
#define TABLE_REALS (4 * POINTS * NODES + POINTS)
#define EACH(index) UNROLL for (int index = 0; index < NODES; ++index)
#if UNROLLED
#define EACH_POINT(p) UNROLL for (int p = 0; p < POINTS; ++p)
#else
#define EACH_POINT(p) UNROLL_BY(1) for (int p = 0; p < POINTS; ++p)
#endif

#define ARGUMENTS                                                                              \
    const GLOBAL uint *RESTRICT g_map, const GLOBAL real *RESTRICT g_coordinates,              \
        const GLOBAL real *RESTRICT g_in, const GLOBAL real *RESTRICT g_copy,                  \
        GLOBAL real *RESTRICT g_out

/* The tables: a thread's own array, which functions get as an argument, or constant memory. The array is written number
 * by number, as by the authors' compiler; as its pointer is then forgotten, it can neither become registers nor be
 * replaced by the constants that it was copied from. */
#if LOCAL_TABLES
#define TABLES_PARAMETER const real *tables,
#define TABLES tables,
#define LOAD_TABLES                                                                            \
    real r_tables[TABLE_REALS];                                                                \
    for (int n = 0; n < TABLE_REALS; ++n)                                                      \
        r_tables[n] = c_tables[n];                                                             \
    const real *tables = r_tables;                                                             \
    FORGET(tables);
#else
#define TABLES_PARAMETER
#define TABLES
#define LOAD_TABLES
#define tables c_tables
#endif
#define PHI(p, n) tables[(p) * NODES + (n)]
#define D(axis, p, n) tables[((1 + (axis)) * POINTS + (p)) * NODES + (n)]
#define WEIGHT(p) tables[4 * POINTS * NODES + (p)]

/* The thread's layer of the block's triangle; the top thread of a block has no cell. */
#define HAS_CELL (THREAD_X < LAYERS)
#define CELL_NODES(r_nodes)                                                                    \
    uint r_nodes[NODES];                                                                       \
    EACH(n) r_nodes[n] = g_map[(size_t)BLOCK * NODES + n] + THREAD_X

/* r_k: the inverse of J = (x2 − x0, x4 − x0, x1 − x0), so that ∂_i = Σ_a K[3 a + i] ∂_a. Returns |det J|. */
INLINE real invert_jacobian(const GLOBAL real *g_coordinates, const uint r_nodes[NODES], real r_k[9])
{
    real r_j[9];
    UNROLL for (int d = 0; d < 3; ++d)
    {
        const real origin = g_coordinates[3 * (size_t)r_nodes[0] + d];
        r_j[3 * d + 0] = g_coordinates[3 * (size_t)r_nodes[2] + d] - origin;
        r_j[3 * d + 1] = g_coordinates[3 * (size_t)r_nodes[4] + d] - origin;
        r_j[3 * d + 2] = g_coordinates[3 * (size_t)r_nodes[1] + d] - origin;
    }
    UNROLL for (int a = 0; a < 3; ++a)
        UNROLL for (int i = 0; i < 3; ++i)
        {
            const int row1 = (i + 1) % 3 * 3, row2 = (i + 2) % 3 * 3;
            const int column1 = (a + 1) % 3, column2 = (a + 2) % 3;
            r_k[3 * a + i] = r_j[row1 + column1] * r_j[row2 + column2] - r_j[row1 + column2] * r_j[row2 + column1];
        }
    const real det = r_j[0] * r_k[0] + r_j[3] * r_k[1] + r_j[6] * r_k[2];
    UNROLL for (int n = 0; n < 9; ++n)
        r_k[n] /= det;
    return fabs(det);
}

/* ∂_i φ of a node at a point. */
INLINE real slope(TABLES_PARAMETER const real r_k[9], int i, int p, int n)
{
    return r_k[i] * D(0, p, n) + r_k[3 + i] * D(1, p, n) + r_k[6 + i] * D(2, p, n);
}
