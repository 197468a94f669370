/* Code of the kernel of hexahedra with an element per thread, see elements.c: rows in shared memory.
 *
 * A block has room for its elements' packed geometry, [element][GEOMETRY_ROW] numbers, and nodes, [element][NODE_ROW].
 * Rows are padded so that threads read their own with few conflicts. With BLOCK_SUMS a thread puts its contributions in
 * place of its geometry, [component][k][j][i].
 */
#define PENCILS (POINTS_1D * POINTS_1D)
#define ALL(n, count) UNROLL for (int n = 0; n < (count); ++n)
#define WARP 32
#define EACH_PENCIL(n) UNROLL_BY(PENCILS_AT_ONCE) for (int n = 0; n < PENCILS; ++n)
/* Position of node n of an element along k, j, i. */
#define NODE_PLACE(n) (n) / 4, (n) / 2 % 2, (n) % 2

/* A component on an element: values at the nodes, coefficients of monomials, or what these are tested with. */
typedef struct {
    real numbers[NODES];
} node_numbers;

/* From values at the nodes to eight times the coefficients; transposed, from what these are tested with back to the
 * nodes. */
INLINE void transform(node_numbers *u, bool transposed)
{
    real *r = u->numbers;
    ALL(axis, DIM) ALL(m, NODES)
    {
        const int next = m + (1 << axis);
        if ((m >> axis) % 2 == 0) {
            const real first = r[m], second = r[next];
            r[m] = transposed ? first - second : first + second;
            r[next] = transposed ? first + second : second - first;
        }
    }
}

/* A pencil of points along k of the thread's element. */
typedef struct {
    uint element;
    int slow, fast;
} place;

typedef struct {
    int nothing;
} point_data;

/* Geometry is the thread's own row. */
#define GEOMETRY_AT(place) 0

/* Copies rows of `length` numbers, ROW apart in shared memory, for all elements of the warp, the first of which is
 * `first`; past the last element its row is repeated. */
#define COPY_ROWS(type, s_rows, ROW, g_rows, length)                                           \
    UNROLL for (int n = lane; n < WARP * (length); n += WARP)                                  \
    {                                                                                          \
        const int row = n / (length);                                                          \
        const uint from = first + row < elements ? first + row : elements - 1;                 \
        (s_rows)[row * (ROW) + n % (length)] =                                                 \
            ((const GLOBAL type *)(g_rows))[(size_t)from * (length) + n % (length)];           \
    }
