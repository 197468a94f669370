/* The stages of the Helmholtz Challenge (Weigl, Savitski, Chua 2014), a thread per cell or per node; definitions and
 * arguments as in cell.h. The sums g_out start from zero.
 */

/* f = (1 + 12π²) cos 2πx cos 2πy cos 2πz. */
#define PI 3.141592653589793
INLINE real right_hand_side(const GLOBAL real *g_x)
{
    return (1 + 12 * PI * PI) * cos(g_x[0] * PI * 2) * cos(g_x[1] * PI * 2) * cos(g_x[2] * PI * 2);
}

/* Over cells, all cells of a node write the same number to it; a block is a triangle. Over nodes, a block is a vertex. */
KERNEL(expression_1)(ARGUMENTS)
{
#if VISIT_CELLS
    if (HAS_CELL) {
        CELL_NODES(r_nodes);
        EACH(n) g_out[r_nodes[n]] = right_hand_side(g_coordinates + 3 * (size_t)r_nodes[n]);
    }
#else
    const size_t node = (size_t)BLOCK * (LAYERS + 1) + THREAD_X;
    g_out[node] = right_hand_side(g_coordinates + 3 * node);
#endif
}

/* w0 = w1; a block is a vertex. */
KERNEL(expression_2)(ARGUMENTS)
{
    const size_t node = (size_t)BLOCK * (LAYERS + 1) + THREAD_X;
    g_out[node] = g_in[node];
}

/* M f. */
KERNEL(rhs_1)(ARGUMENTS)
{
    if (HAS_CELL) {
        CELL_NODES(r_nodes);
        LOAD_TABLES
        real r_f[NODES], r_a[NODES], r_k[9];
        EACH(n) r_f[n] = g_in[r_nodes[n]];
        EACH(j) r_a[j] = 0;
        const real det = invert_jacobian(g_coordinates, r_nodes, r_k);
        EACH_POINT(p)
        {
            real f = 0;
            EACH(n) f += r_f[n] * PHI(p, n);
            EACH(j) r_a[j] += det * WEIGHT(p) * PHI(p, j) * f;
        }
        EACH(j) atomic_add(g_out + r_nodes[j], r_a[j]);
    }
}

/* ∫ φ (w1 − w0) + ∇φ·∇w1, with the sums in the authors' order. */
KERNEL(rhs)(ARGUMENTS)
{
    if (HAS_CELL) {
        CELL_NODES(r_nodes);
        LOAD_TABLES
        real r_w1[NODES], r_w0[NODES], r_a[NODES], r_k[9];
        EACH(n)
        {
            r_w1[n] = g_in[r_nodes[n]];
            r_w0[n] = COPIED ? g_copy[r_nodes[n]] : r_w1[n];
            r_a[n] = 0;
        }
        const real det = invert_jacobian(g_coordinates, r_nodes, r_k);
        EACH_POINT(p)
        {
            real w0 = 0, w1 = 0, r_d[3] = {0, 0, 0};
            EACH(n)
            {
                w0 += r_w0[n] * PHI(p, n);
                w1 += r_w1[n] * PHI(p, n);
                UNROLL for (int a = 0; a < 3; ++a)
                    r_d[a] += r_w1[n] * D(a, p, n);
            }
            EACH(j)
            {
                real sum = PHI(p, j) * w1;
                UNROLL for (int i = 2; i >= 0; --i)
                    sum += slope(TABLES r_k, i, p, j) *
                           (r_k[6 + i] * r_d[2] + r_k[3 + i] * r_d[1] + r_k[i] * r_d[0]);
                sum += PHI(p, j) * w0 * (real)-1;
                r_a[j] += sum * det * WEIGHT(p);
            }
        }
        EACH(j) atomic_add(g_out + r_nodes[j], r_a[j]);
    }
}

/* The accumulator of row j and column k. The unknown of a column multiplies sums of its own, or else every entry. */
#if ACCUMULATORS == 36
#define SUM(j, k) r_a[(j) * NODES + (k)]
#define ENTRY_FACTOR(k) 1
#define SUM_FACTOR(k) r_u[k]
#else
#define SUM(j, k) r_a[(ACCUMULATORS == 12 ? (k) % 2 * NODES : 0) + (j)]
#define ENTRY_FACTOR(k) r_u[k]
#define SUM_FACTOR(k) 1
#endif
#if LOOP_ORDER == 0
#define LOOPS EACH_POINT(p) EACH(j) EACH(k)
#elif LOOP_ORDER == 1
#define LOOPS EACH_POINT(p) EACH(k) EACH(j)
#else
#define LOOPS EACH(k) EACH(j) EACH_POINT(p)
#endif

/* Entry (j, k) of A = M + K at a point, without its weight. */
INLINE real entry(TABLES_PARAMETER const real r_k[9], int p, int j, int k)
{
    real sum = PHI(p, k) * PHI(p, j);
    UNROLL for (int i = 2; i >= 0; --i)
        sum += slope(TABLES r_k, i, p, k) * slope(TABLES r_k, i, p, j);
    return sum;
}

/* Adds A r_u to the nodes; factors of 1 vanish when compiled. */
INLINE void add_matrix(const GLOBAL real *g_coordinates, const uint r_nodes[NODES], const real r_u[NODES],
                       GLOBAL real *g_out)
{
    LOAD_TABLES
    real r_a[ACCUMULATORS], r_k[9];
    UNROLL for (int n = 0; n < ACCUMULATORS; ++n)
        r_a[n] = 0;
    const real det = invert_jacobian(g_coordinates, r_nodes, r_k);
    LOOPS SUM(j, k) += entry(TABLES r_k, p, j, k) * det * WEIGHT(p) * ENTRY_FACTOR(k);
    EACH(j)
    {
#if ROW_SUMS
        real sum = 0;
        UNROLL for (int k = 0; k < ACCUMULATORS / NODES; ++k)
            sum += SUM(j, k) * SUM_FACTOR(k);
        atomic_add(g_out + r_nodes[j], sum);
#else
        EACH(k) atomic_add(g_out + r_nodes[j], SUM(j, k) * SUM_FACTOR(k));
#endif
    }
}

/* As published: the row sums of A. */
KERNEL(lhs)(ARGUMENTS)
{
    if (HAS_CELL) {
        CELL_NODES(r_nodes);
        real r_ones[NODES];
        EACH(n) r_ones[n] = 1;
        add_matrix(g_coordinates, r_nodes, r_ones, g_out);
    }
}

/* The true action. */
KERNEL(action)(ARGUMENTS)
{
    if (HAS_CELL) {
        CELL_NODES(r_nodes);
        real r_u[NODES];
        EACH(n) r_u[n] = g_in[r_nodes[n]];
        add_matrix(g_coordinates, r_nodes, r_u, g_out);
    }
}
