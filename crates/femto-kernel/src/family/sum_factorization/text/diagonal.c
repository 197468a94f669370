/* The diagonal of the operator of pencils.c. For component c, with number 0 the value and 1, ..., DIM the
 * reference derivatives, the point step is at each point a matrix D, found by giving it unit inputs; entry
 * (k, j, i) of an element is
 *
 *   sum over points p, numbers a <= b  of  (D_ab + D_ba if a < b else D_aa)  M_k M_j M_i
 *
 * with M as in products.h, for quadrilaterals M_j M_i. Ten terms of three contractions, or six of two, not
 * optimised, since it runs once per solve.
 */

/* The numbers that the form reads and tests with. */
#define FIRST_NUMBER (VALUES ? 0 : 1)
#define NUMBERS_END (GRADIENTS ? DIM + 1 : 1)

/* Terms are 00 01 02 03 11 12 13 22 23 33, or 00 01 02 11 12 22. */
#define TERMS ((DIM + 1) * (DIM + 2) / 2)

INLINE int term_of(int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * (2 * DIM + 1 - low) / 2 + high;
}

/* Adds column a of D for component c at point k, the response to a unit of number a, to the terms
 * [TERMS][POINTS_1D]. */
INLINE void add_responses(const place *t, const point_data *d, int k, step_inputs *in, int c, int a,
                          real *r_terms)
{
    real r_u[COUPLED], r_g[DIM * COUPLED];
    ALL(n, COUPLED) r_u[n] = n == c && a == 0 ? 1 : 0;
    ALL(n, DIM * COUPLED) r_g[n] = n == DIM * c + a - 1 && a > 0 ? 1 : 0;
    point_step(t, d, k, in, r_u, r_g);
    UNROLL for (int b = FIRST_NUMBER; b < NUMBERS_END; ++b)
    {
        real r_found = 0;
        ALL(n, COUPLED)
        {
            if (n == c)
                r_found = b == 0 ? r_u[n] : r_g[DIM * n + (b > 0 ? b - 1 : 0)];
        }
        r_terms[term_of(a, b) * POINTS_1D + k] += r_found;
    }
}

/* Adds a term to the pencil of nodes along j; r_from is its factor on the pencil of points along the last
 * axis. */
INLINE void add_term(const place *t, int a, int b, const real *r_from, real *r_d)
{
    SHARED real *s_a = cube(t, 0);
    real r_points[POINTS_1D], r_nodes[NODES_1D];
#if DIM == 3
    contract(product_of(2, a, b), r_from, r_nodes);
    store(s_a + t->along_last, LAYER, NODES_1D, r_nodes);
#else
    store(s_a + t->along_last, ROW, POINTS_1D, r_from);
#endif
    BARRIER();
    if (t->slow < NODES_K) {
        load(r_points, s_a + t->along_i, 1, POINTS_1D);
        contract(product_of(0, a, b), r_points, r_nodes);
        store(s_a + t->along_i, 1, NODES_1D, r_nodes);
    }
    BARRIER();
    if (t->slow < NODES_K && t->fast < NODES_1D) {
        load(r_points, s_a + t->along_j, ROW, POINTS_1D);
        contract(product_of(1, a, b), r_points, r_nodes);
        ALL(j, NODES_1D) r_d[j] += r_nodes[j];
    }
    BARRIER();
}

KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    ABSENT_OPERANDS
    SHARED_MEMORY(s_memory);
    const place t = place_of(s_memory, elements);
    point_data data;
    EACH(n, NODAL_FIELDS)
    {
        const source from = SOURCE(t.element, 0, COUPLED + n, g_v);
        bring(&t, &from, COUPLED + n, &data);
    }
    const GLOBAL stored_real *geometry = g_geometry;
    step_inputs in = STEP_INPUTS(&t);

    EACH(c, COUPLED)
    {
        real r_d[NODES_1D];
        ALL(j, NODES_1D) r_d[j] = 0;
        /* All terms before the first barrier, in nested loops: PoCL 3.1 miscompiles a loop over the points
         * inside a loop over the terms that has barriers. */
        real r_terms[TERMS * POINTS_1D];
        UNROLL_BY(1) for (int n = 0; n < TERMS * POINTS_1D; ++n) r_terms[n] = 0;
        UNROLL_BY(1) for (int k = 0; k < POINTS_1D; ++k)
        {
            UNROLL_BY(1) for (int a = FIRST_NUMBER; a < NUMBERS_END; ++a)
                add_responses(&t, &data, k, &in, c, a, r_terms);
        }
        UNROLL_BY(1) for (int term = term_of(FIRST_NUMBER, FIRST_NUMBER);
                          term <= term_of(NUMBERS_END - 1, NUMBERS_END - 1); ++term)
        {
            const int a = term < DIM + 1 ? 0 : term < 2 * DIM + 1 ? 1 : term < 3 * DIM ? 2 : 3;
            const int b = term - term_of(a, a) + a;
            /* Axes instead of numbers; 3 stands for none. */
            add_term(&t, a > 0 ? a - 1 : 3, b > 0 ? b - 1 : 3, r_terms + term * POINTS_1D, r_d);
        }
        if (t.slow < NODES_K && t.fast < NODES_1D && t.writes)
            UNROLL_BY(1) for (int component = c; component < COMPONENTS; component += COUPLED)
            {
                const element_nodes at = ELEMENT_NODES(t.element, component);
                ALL(j, NODES_1D) add_node(&at, g_v, t.slow, j, t.fast, r_d[j]);
            }
    }
}
