/* v = A u of prisms in columns, a prism per thread. With CARRY, what a prism adds to its upper triangle goes through
 * shared memory, [component][triangle node][thread], to the thread of the prism above, if that is in the same block.
 */
KERNEL(apply)(KERNEL_ARGUMENTS)
{
    PRISM
    real r_u[UNKNOWNS], r_v[UNKNOWNS];
    EACH(c, COMPONENTS) EACH_NODE(t, k) r_u[c * NODES + AT(t, k)] = g_u[PLACE(c, t, k)];
    evaluate_prism(&p, r_u, r_fields, r_v);
#if CARRY
    SHARED_MEMORY(s_tops);
#define TOP(c, t, thread) s_tops[((c) * TRIANGLE_NODES + (t)) * BLOCK_X + (thread)]
    EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES) TOP(c, t, THREAD_X) = r_v[c * NODES + AT(t, LINE_NODES - 1)];
    BARRIER();
    const bool has_lower = layer > 0 && THREAD_X > 0;
    const bool has_upper = layer + 1 < LAYERS && THREAD_X + 1 < BLOCK_X;
    EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES)
    {
        const real lower = TOP(c, t, has_lower ? THREAD_X - 1 : THREAD_X);
        if (has_lower) r_v[c * NODES + AT(t, 0)] += lower;
    }
#else
    const bool has_upper = false;
#endif
    EACH(c, COMPONENTS) EACH_NODE(t, k)
    {
        if (writes && !(has_upper && k == LINE_NODES - 1)) ADD(c, t, k, r_v[c * NODES + AT(t, k)]);
    }
}
