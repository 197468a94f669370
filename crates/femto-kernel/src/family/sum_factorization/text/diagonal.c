/* The diagonal of the operator of pencils.c: entry (k, j, i) of an element is
 *
 *   sum over points p of  lambda m_p II II II  +  sum over axes a, b of  G_ab,p  M_k M_j M_i,
 *
 * each M a product of two entries of 1-D matrices at the point and the node: interpolation squared,
 * interpolation times derivative for an axis that is one of a, b, derivative squared for one that is
 * both. So every term is three contractions with such a matrix, see products.h, done by a thread per
 * pencil as in pencils.c. Not in a hurry: once per solve.
 */
#define PENCILS (POINTS_1D * POINTS_1D)

KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_a);
    const int pencil = THREAD_X;
    const int fast = pencil % POINTS_1D, slow = pencil / POINTS_1D;
    const bool has_slow_node = slow < NODES_1D, has_nodes = has_slow_node && fast < NODES_1D;
    const uint element = BLOCK;
    const metric points = metric_along(g_geometry, g_rule, element, slow, fast);

    real r_d[NODES_1D], r_from[POINTS_1D], r_to[NODES_1D];
    UNROLL for (int j = 0; j < NODES_1D; ++j) r_d[j] = 0;
    /* Terms (a, b) with a <= b, those with a < b twice; then the one of values. */
    for (int term = GRADIENTS ? 0 : 6; term < 6 + VALUES; ++term) {
        const int a = term < 3 ? 0 : term < 5 ? 1 : term < 6 ? 2 : 3;
        const int b = term < 3 ? term : term < 5 ? term - 2 : term < 6 ? 2 : 3;
        UNROLL for (int k = 0; k < POINTS_1D; ++k)
        {
            real r_factor = 0;
#if GRADIENTS
            real r = b == 0 ? 1 : 0, s = b == 1 ? 1 : 0, t = b == 2 ? 1 : 0;
            metric_gradient(&points, k, &r, &s, &t);
            r_factor = (a == b ? 1 : 2) * (a == 0 ? r : a == 1 ? s : t);
#endif
#if VALUES
            if (term == 6)
                r_factor = metric_value(&points, k);
#endif
            r_from[k] = r_factor;
        }
        contract(product_of(2, a, b), r_from, r_to);
        UNROLL for (int k = 0; k < NODES_1D; ++k) s_a[k * LAYER + slow * ROW + fast] = r_to[k];
        BARRIER();
        if (has_slow_node) {
            SHARED real *s_pencil = s_a + slow * LAYER + fast * ROW;
            UNROLL for (int m = 0; m < POINTS_1D; ++m) r_from[m] = s_pencil[m];
            contract(product_of(0, a, b), r_from, r_to);
            UNROLL for (int n = 0; n < NODES_1D; ++n) s_pencil[n] = r_to[n];
        }
        BARRIER();
        if (has_nodes) {
            UNROLL for (int m = 0; m < POINTS_1D; ++m)
                r_from[m] = s_a[slow * LAYER + m * ROW + fast];
            contract(product_of(1, a, b), r_from, r_to);
            UNROLL for (int n = 0; n < NODES_1D; ++n) r_d[n] += r_to[n];
        }
        BARRIER();
    }
    if (has_nodes)
        for (int component = 0; component < COMPONENTS; ++component) {
            const element_nodes at = ELEMENT_NODES(element, component);
            UNROLL for (int j = 0; j < NODES_1D; ++j) add_node(&at, g_v, slow, j, fast, r_d[j]);
        }
}
