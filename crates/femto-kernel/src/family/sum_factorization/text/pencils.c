/* sum_factorization with a pencil per thread: v = A u, on each element the transpose of what goes before of
 * the metric step of what goes before.
 *
 *   interpolate along j, i, k | differentiate along k, i, j | metric | the transposes, in reverse
 *
 * POINTS_1D^2 threads work on an element. In each phase a thread takes one pencil of the element
 * along one axis, contracts it in registers and puts the result back in its place, so that a phase
 * reads and writes each value in shared memory once, whatever the degree. Pencils along k stay in
 * registers from the interpolation to the metric and from there to the way back; and factors are
 * read along k, where neighbouring threads read neighbouring numbers. Where the points are the
 * nodes (COLLOCATED) there is no interpolation, and for mass operators (!GRADIENTS) no derivative.
 *
 * s_a, s_b, s_c: [k][j][i], POINTS_1D along each axis, with strides LAYER and ROW padded against
 * conflicts of shared memory. With two CUBES s_c takes the place of s_a; with three there is a barrier
 * less, values need not stay in registers while the other axes are differentiated (!KEEP_VALUES), and
 * the metric need not be unrolled (METRIC_UNROLL > 0). Both save registers at high degree. With STAGED
 * all factors of an element are copied to shared memory behind the cubes, while contractions go on.
 * COMPONENTS of a vector are done one after the other; a thread begins the next one in the pencil that
 * it alone read last, so there is no barrier between them.
 *
 * A block has ELEMENTS_PER_BLOCK elements, each with a slot of SLOT numbers in shared memory. With
 * WARP_ELEMENTS so many of them belong to a warp and none to two, so that only warps have to wait for
 * themselves; lanes that are left over have a slot of their own, in which they do as the others.
 */
#define PENCILS (POINTS_1D * POINTS_1D)
#if WARP_ELEMENTS
#define ELEMENT_BARRIER() WARP_BARRIER()
#define SLOTS (WARP_ELEMENTS + (32 % PENCILS ? 1 : 0))
#else
#define ELEMENT_BARRIER() BARRIER()
#endif
#define CUBE (LAYER * POINTS_1D)

#if !COLLOCATED
CONTRACTION(interp, POINTS_1D, NODES_1D, 1)
CONTRACTION(interp_transposed, NODES_1D, POINTS_1D, 1)
#endif
#if GRADIENTS
CONTRACTION(grad, POINTS_1D, POINTS_1D, -1)
CONTRACTION(grad_transposed, POINTS_1D, POINTS_1D, -1)
#endif

/* The derivative along k at point k of a pencil, at n in shared memory. */
#if METRIC_UNROLL
#define ALONG_K(n, k) s_a[n]
#define METRIC_LOOP UNROLL_BY(METRIC_UNROLL)
#else
#define ALONG_K(n, k) r_t[k]
#define METRIC_LOOP UNROLL
#endif

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
#if WARP_ELEMENTS
    const int lane = THREAD_X % 32, warp = THREAD_X / 32, of_warp = lane / PENCILS;
    const int pencil = lane % PENCILS, slot = warp * SLOTS + of_warp;
    const uint asked = BLOCK * ELEMENTS_PER_BLOCK + warp * WARP_ELEMENTS + of_warp;
    const bool writes = asked < elements && of_warp < WARP_ELEMENTS;
#else
    const int slot = THREAD_X / PENCILS, pencil = THREAD_X % PENCILS;
    const uint asked = BLOCK * ELEMENTS_PER_BLOCK + slot;
    const bool writes = asked < elements;
#endif
    /* Threads past the last element repeat it and write nothing. */
    const uint element = asked < elements ? asked : elements - 1;
    SHARED real *s_a = s_memory + slot * SLOT;
#if GRADIENTS
    SHARED real *s_b = s_a + CUBE, *s_c = CUBES == 3 ? s_b + CUBE : s_a;
#endif
    /* Pencils of the points, and of nodes along two axes or along one of them. */
    const int fast = pencil % POINTS_1D, slow = pencil / POINTS_1D;
    const int along_i = slow * LAYER + fast * ROW, along_j = slow * LAYER + fast;
    const int along_k = slow * ROW + fast;
#if !COLLOCATED
    const int node_fast = pencil % NODES_1D, node_slow = pencil / NODES_1D;
    const bool has_nodes = node_slow < NODES_1D, has_slow_node = slow < NODES_1D;
#endif
#if STAGED
    SHARED stored_real *s_factors = (SHARED stored_real *)(s_memory + STAGE_START) + slot * STAGE;
    {
        const int numbers = FACTORS * PENCILS * POINTS_1D, together = COPY_BYTES / STORED_BYTES;
        const GLOBAL stored_real *g_factors = g_geometry + (size_t)element * numbers;
        for (int n = pencil * together; n < numbers; n += PENCILS * together)
            ASYNC_COPY(COPY_BYTES, s_factors + n, g_factors + n);
    }
#endif

    /* Unrolled, components would need registers at the same time. So would what all of them read; it is read
     * anew where that was measured to be faster, which is not where there are no gradients. */
    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; ++component)
    {
        element_nodes at = ELEMENT_NODES(element, component);
        const GLOBAL stored_real *g_own = g_geometry;
#if VECTORS_NODAL && COMPONENTS > 1 && GRADIENTS
        FORGET(at.g_nodes);
#if NODES_1D > 3
        FORGET(g_own);
#endif
#endif
        real r_u[POINTS_1D];

        /* Values at the points of the pencil (slow, fast) along k. */
#if COLLOCATED
        UNROLL for (int k = 0; k < NODES_1D; ++k) r_u[k] = read_node(&at, g_u, k, slow, fast);
#else
        if (has_nodes) {
            real r_nodes[NODES_1D], r_points[POINTS_1D];
            UNROLL for (int j = 0; j < NODES_1D; ++j)
                r_nodes[j] = read_node(&at, g_u, node_slow, j, node_fast);
            interp(r_nodes, r_points);
            store(s_a + node_slow * LAYER + node_fast, ROW, POINTS_1D, r_points);
        }
        ELEMENT_BARRIER();
        if (has_slow_node)
            CONTRACT(interp, s_a + along_i, s_a + along_i, 1, POINTS_1D, NODES_1D);
#if STAGED && !GRADIENTS
        ASYNC_COPIES_DONE();
#endif
        ELEMENT_BARRIER();
        {
            real r_nodes[NODES_1D];
            load(r_nodes, s_a + along_k, LAYER, NODES_1D);
            interp(r_nodes, r_u);
        }
#endif

#if GRADIENTS
        /* Derivatives: along i in s_b, along j in s_c, along k in r_t. */
        real r_t[POINTS_1D];
        store(s_a + along_k, LAYER, POINTS_1D, r_u);
#if CUBES == 2
        grad(r_u, r_t);
#endif
        ELEMENT_BARRIER();
        CONTRACT(grad, s_b + along_i, s_a + along_i, 1, POINTS_1D, POINTS_1D);
#if CUBES == 2
        ELEMENT_BARRIER();
#endif
        CONTRACT(grad, s_c + along_j, s_a + along_j, ROW, POINTS_1D, POINTS_1D);
#if STAGED
        ASYNC_COPIES_DONE();
#endif
        ELEMENT_BARRIER();
#if CUBES == 3
#if !KEEP_VALUES
        load(r_u, s_a + along_k, LAYER, POINTS_1D);
#endif
        grad(r_u, r_t);
#endif
#if METRIC_UNROLL
        store(s_a + along_k, LAYER, POINTS_1D, r_t);
#endif
#endif

#if STAGED && COLLOCATED && !GRADIENTS
        ASYNC_COPIES_DONE();
        ELEMENT_BARRIER();
#endif
#if STAGED
        const metric points = metric_along(s_factors, g_rule, 0, slow, fast);
#else
        const metric points = metric_along(g_own, g_rule, element, slow, fast);
#endif
#if VALUES
        UNROLL for (int k = 0; k < POINTS_1D; ++k) r_u[k] *= metric_value(&points, k);
#endif
#if GRADIENTS
        METRIC_LOOP for (int k = 0; k < POINTS_1D; ++k)
        {
            const int n = along_k + k * LAYER;
            real r = s_b[n], s = s_c[n], t = ALONG_K(n, k);
            metric_gradient(&points, k, &r, &s, &t);
            s_b[n] = r;
            s_c[n] = s;
            ALONG_K(n, k) = t;
        }
        {
            real r_v[POINTS_1D];
#if METRIC_UNROLL
            load(r_t, s_a + along_k, LAYER, POINTS_1D);
#endif
            grad_transposed(r_t, r_v);
            UNROLL for (int k = 0; k < POINTS_1D; ++k) r_u[k] = VALUES ? r_u[k] + r_v[k] : r_v[k];
        }
        ELEMENT_BARRIER();
        CONTRACT(grad_transposed, s_b + along_i, s_b + along_i, 1, POINTS_1D, POINTS_1D);
        CONTRACT(grad_transposed, s_c + along_j, s_c + along_j, ROW, POINTS_1D, POINTS_1D);
        ELEMENT_BARRIER();
        UNROLL for (int k = 0; k < POINTS_1D; ++k)
        {
            const int n = along_k + k * LAYER;
            r_u[k] += s_b[n] + s_c[n];
        }
#endif

#if VECTORS_NODAL && (COMPONENTS > 1 ? GRADIENTS : !COLLOCATED)
        FORGET(at.g_nodes);
#endif
#if COLLOCATED
        UNROLL for (int k = 0; k < NODES_1D; ++k)
            if (writes)
                add_node(&at, g_v, k, slow, fast, r_u[k]);
#else
        {
            real r_nodes[NODES_1D];
            interp_transposed(r_u, r_nodes);
            store(s_a + along_k, LAYER, NODES_1D, r_nodes);
        }
        ELEMENT_BARRIER();
        if (has_slow_node)
            CONTRACT(interp_transposed, s_a + along_i, s_a + along_i, 1, NODES_1D, POINTS_1D);
        ELEMENT_BARRIER();
        if (has_nodes) {
            real r_nodes[NODES_1D], r_points[POINTS_1D];
            load(r_points, s_a + node_slow * LAYER + node_fast, ROW, POINTS_1D);
            interp_transposed(r_points, r_nodes);
            UNROLL for (int j = 0; j < NODES_1D; ++j)
                if (writes)
                    add_node(&at, g_v, node_slow, j, node_fast, r_nodes[j]);
        }
#endif
    }
}
