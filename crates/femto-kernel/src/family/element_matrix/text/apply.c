/* The product with the matrices of elements: thread x has rows x, x + ROW_THREADS, ... of one element, ELEMENTS_ASIDE
 * elements are side by side in a block. An entry is read once for all right-hand sides.
 *
 *   g_matrices   [group of elements][column or diagonal][element of the group][row], see storage.h
 *   g_elements   VECTORS_LISTED: each element's number in E-vectors
 *   g_nodes      VECTORS_NODAL: [element][node]
 *   g_u, g_v     E-vector [element][component][node]; or nodes NODE_STRIDE apart, components component_stride apart
 *
 * Shared memory: u, [element aside][right-hand side][row]; for a triangle twice, so that its diagonals go on at the
 * other end.
 *
 * A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: to precompute or not to precompute"
 * (2018); the triangle is ours.
 */
#define EVERY(row) for (int row = THREAD_X; row < UNKNOWNS; row += ROW_THREADS)
/* Numbers of a cache line. */
#define LINE (128 / REAL_BYTES)
/* Row i of the thread; those past the last one repeat it and are not written. */
#define ASKED(i) (THREAD_X + (i) * ROW_THREADS)
#if UNKNOWNS % ROW_THREADS == 0
#define IS_ROW(i) 1
#else
#define IS_ROW(i) (ASKED(i) < UNKNOWNS)
#endif
#define ROW(i) (IS_ROW(i) ? ASKED(i) : UNKNOWNS - 1)

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    const uint asked = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    const uint element = asked < elements ? asked : elements - 1;
    SHARED real *s_u = s_memory + THREAD_Y * SIDES * INPUT;
#if PREFETCH
    /* The block's matrices follow one another: all of them are on their way while u is awaited. */
    const GLOBAL real *g_first = g_matrices + FIRST(BLOCK * ELEMENTS_ASIDE);
    for (int n = (THREAD_Y * ROW_THREADS + THREAD_X) * LINE; n < ELEMENTS_ASIDE * ENTRIES;
         n += ELEMENTS_ASIDE * ROW_THREADS * LINE) {
        PREFETCH_L2(g_first + n);
    }
#endif
    EVERY(row)
    {
        EACH(side, SIDES)
        {
            const real value = g_u[PLACE(element, COMPONENT(side, row), row % NODES)];
            EACH(copy, INPUT / UNKNOWNS) s_u[side * INPUT + copy * UNKNOWNS + row] = value;
        }
    }
    BARRIER();
    const GLOBAL real *g_own = g_matrices + MATRIX(element);
    real r_v[ROWS_PER_THREAD][SIDES];
    EACH(i, ROWS_PER_THREAD) EACH(side, SIDES) r_v[i][side] = 0;
#if TRIANGLE
    EACH(i, ROWS_PER_THREAD)
    {
        const real entry = g_own[ROW(i)];
        EACH(side, SIDES) r_v[i][side] += entry * s_u[side * INPUT + ROW(i)];
    }
    COLUMN_LOOP for (int d = 1; d < DIAGONALS; ++d)
    {
        EACH(i, ROWS_PER_THREAD)
        {
            const int row = ROW(i), left = row + UNKNOWNS - d;
            const real entry = g_own[d * STRIDE + row];
            const real opposite = g_own[d * STRIDE + (row < d ? left : row - d)];
            EACH(side, SIDES)
            {
                r_v[i][side] += entry * s_u[side * INPUT + row + d] + opposite * s_u[side * INPUT + left];
            }
        }
    }
#if UNKNOWNS % 2 == 0
    /* The last diagonal: a pair per entry. */
    EACH(i, ROWS_PER_THREAD)
    {
        const int row = ROW(i), middle = UNKNOWNS / 2;
        const int other = row < middle ? row + middle : row - middle;
        const real entry = g_matrices[LAST_DIAGONAL(element) + (row < middle ? row : other)];
        EACH(side, SIDES) r_v[i][side] += entry * s_u[side * INPUT + other];
    }
#endif
#else
    COLUMN_LOOP for (int column = 0; column < UNKNOWNS; ++column)
    {
        EACH(i, ROWS_PER_THREAD)
        {
            const real entry = g_own[column * STRIDE + ROW(i)];
            EACH(side, SIDES) r_v[i][side] += entry * s_u[side * INPUT + column];
        }
    }
#endif
    EACH(i, ROWS_PER_THREAD)
    {
        if (IS_ROW(i) && asked < elements) {
            const int row = ASKED(i);
            EACH(side, SIDES) ADD(element, COMPONENT(side, row), row % NODES, r_v[i][side]);
        }
    }
}
