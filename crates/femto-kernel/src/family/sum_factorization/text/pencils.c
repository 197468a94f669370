/* v = A u on hexahedra and quadrilaterals, one pencil per thread, see pencils.h:
 *
 *   for each input: interpolate along j, i, k, differentiate along k, i, j; on quadrilaterals along j, i
 *   at each point: the point step, see factors.h and form.h
 *   for each component: the transposes, in reverse
 *
 * Components not coupled by the point step are done one after the other; a thread starts the next one in
 * the pencil that only it has read last, so no barrier is needed between them.
 */
#if !COLLOCATED
CONTRACTION(interp_transposed, NODES_1D, POINTS_1D, 1)
#endif
#if GRADIENTS
CONTRACTION(grad_transposed, POINTS_1D, POINTS_1D, -1)

#if POINTS_PRIVATE
/* Adds the transposed derivatives in one direction, through the only cube. */
INLINE void test_along(const place *t, int pencil, int stride, const real *r_flux, real *r_v)
{
    SHARED real *s_a = cube(t, 0);
    store(s_a + t->along_last, LAST_STRIDE, POINTS_1D, r_flux);
    ELEMENT_BARRIER();
    CONTRACT(grad_transposed, s_a + pencil, s_a + pencil, stride, POINTS_1D, POINTS_1D);
    ELEMENT_BARRIER();
    ALL(k, POINTS_1D) r_v[k] += s_a[t->along_last + k * LAST_STRIDE];
}
#endif
#endif

/* The coefficients that component c is tested with, on the pencil along the last axis. */
INLINE void test(const place *t, point_data *d, int c, real *r_v)
{
#if GRADIENTS
    real r_t[POINTS_1D];
    get_pencil(t, d, c, DIM, r_t);
    grad_transposed(r_t, r_v);
#if VALUES
    ALL(k, POINTS_1D) r_v[k] += get(t, d, c, 0, k);
#endif
    ELEMENT_BARRIER();
#if POINTS_PRIVATE
    test_along(t, t->along_i, 1, d->numbers[c][1], r_v);
#if DIM == 3
    test_along(t, t->along_j, ROW, d->numbers[c][2], r_v);
#endif
#elif DIM == 3
    SHARED real *s_b = cube(t, CUBE_OF(c, 1)), *s_c = cube(t, CUBE_OF(c, 2));
    CONTRACT(grad_transposed, s_b + t->along_i, s_b + t->along_i, 1, POINTS_1D, POINTS_1D);
    CONTRACT(grad_transposed, s_c + t->along_j, s_c + t->along_j, ROW, POINTS_1D, POINTS_1D);
    ELEMENT_BARRIER();
    ALL(k, POINTS_1D) r_v[k] += get(t, d, c, 1, k) + get(t, d, c, 2, k);
#else
    SHARED real *s_b = cube(t, CUBE_OF(c, 1));
    CONTRACT(grad_transposed, s_b + t->along_i, s_b + t->along_i, 1, POINTS_1D, POINTS_1D);
    ELEMENT_BARRIER();
    ALL(k, POINTS_1D) r_v[k] += get(t, d, c, 1, k);
#endif
#else
    ALL(k, POINTS_1D) r_v[k] = get(t, d, c, 0, k);
#if COUPLED > 1
    ELEMENT_BARRIER();
#endif
#endif
}

/* From the pencil along the last axis to the nodes, through the cube s_a. */
INLINE void add_tested(const place *t, SHARED real *s_a, const real *r_v, const element_nodes *at,
                       GLOBAL real *g_v)
{
#if COLLOCATED
    ALL(k, NODES_1D)
    {
        if (t->writes)
            add_node(at, g_v, LAST_NODE(t, k), r_v[k]);
    }
#else
    const int node_fast = t->node_fast, node_slow = t->node_slow;
    real r_nodes[NODES_1D];
#if DIM == 3
    interp_transposed(r_v, r_nodes);
    store(s_a + t->along_last, LAYER, NODES_1D, r_nodes);
#else
    store(s_a + t->along_last, ROW, POINTS_1D, r_v);
#endif
    ELEMENT_BARRIER();
    if (t->slow < NODES_K)
        CONTRACT(interp_transposed, s_a + t->along_i, s_a + t->along_i, 1, NODES_1D, POINTS_1D);
    ELEMENT_BARRIER();
    if (node_slow < NODES_K) {
        real r_points[POINTS_1D];
        load(r_points, s_a + node_slow * LAYER + node_fast, ROW, POINTS_1D);
        interp_transposed(r_points, r_nodes);
        ALL(j, NODES_1D)
        {
            if (t->writes)
                add_node(at, g_v, node_slow, j, node_fast, r_nodes[j]);
        }
    }
#endif
}

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    ABSENT_OPERANDS
    SHARED_MEMORY(s_memory);
    const place t = place_of(s_memory, elements);
#if STAGED
    const SHARED stored_real *s_factors = stage_factors(&t, s_memory, g_geometry);
#endif
#if NODES_STAGED
    SHARED real *s_numbers = s_memory + NUMBERS_START;
    const node_group group = group_of(s_numbers, g_nodes, elements, component_stride);
    s_numbers += t.slot * NUMBERS_SLOT;
    read_numbers(&group, g_u);
    ELEMENT_BARRIER();
#endif

    /* Unrolled, all components would need registers at the same time. So would their common data, which are
     * reloaded where that was measured to be faster: with gradients. */
    UNROLL_BY(1) for (int first = 0; first < COMPONENTS; first += COUPLED)
    {
        const GLOBAL stored_real *geometry = g_geometry;
#if VECTORS_NODAL && COMPONENTS > COUPLED && GRADIENTS && NODES_1D > 3
        FORGET(geometry);
#endif
        point_data data;
        EACH(n, INPUTS)
        {
            source from = SOURCE(t.element, first, n, g_u);
#if VECTORS_NODAL && COMPONENTS > COUPLED && GRADIENTS
            FORGET(from.at.nodes);
#endif
            bring(&t, &from, n, &data);
        }

        step_inputs in = STEP_INPUTS(&t);
        point_steps(&t, &data, &in);

        EACH(c, COUPLED)
        {
            element_nodes at = ELEMENT_NODES(t.element, first + c);
            real r_v[POINTS_1D];
            test(&t, &data, c, r_v);
#if VECTORS_NODAL && (COMPONENTS > 1 ? GRADIENTS : !COLLOCATED)
            FORGET(at.nodes);
#endif
            add_tested(&t, cube(&t, SCRATCH(c)), r_v, &at, g_v);
        }
    }
#if NODES_STAGED
    ELEMENT_BARRIER();
    add_numbers(&group, g_v);
#endif
}
