/* v = A u of prisms in columns, a prism per thread. With CARRY, what a prism adds to its upper triangle goes through
 * shared memory, [component][triangle node][thread], to the thread of the prism above, if that is in the same block.
 * With PAIRS, which are of degree 1, columns of a pair share the lines of nodes over two corners: each gives what it adds along
 * one of them to the other, so that these lines take one addition in place of two.
 */
#define TOP(c, t, thread) s_sums[((c) * TRIANGLE_NODES + (t)) * BLOCK_X + (thread)]
#define GIVEN(c, thread) s_sums[(COMPONENTS * TRIANGLE_NODES + (c)) * BLOCK_X + (thread)]

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    PRISM
    real r_u[UNKNOWNS], r_v[UNKNOWNS];
    EACH(c, COMPONENTS) EACH_NODE(t, k) r_u[c * NODES + AT(t, k)] = g_u[PLACE(c, t, k)];
    evaluate_prism(&p, r_u, r_fields, r_v);
    const bool has_lower = CARRY && layer > 0 && THREAD_X % ABOVE_EACH_OTHER > 0;
    const bool has_upper = CARRY && layer + 1 < LAYERS && THREAD_X % ABOVE_EACH_OTHER + 1 < ABOVE_EACH_OTHER;
#if PAIRS
    const uint exchange = g_column[NODES + 4];
    const int given = exchange & 3, taken = exchange >> 2 & 3, of_other = exchange >> 4 & 3;
    const uint other = (THREAD_X + ABOVE_EACH_OTHER) % BLOCK_X;
    const bool adds = writes && exchange >> 6 == 0;
#else
    const int given = TRIANGLE_NODES;
    const bool adds = writes;
#endif
#if CARRY
    SHARED_MEMORY(s_sums);
    EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES) TOP(c, t, THREAD_X) = r_v[c * NODES + AT(t, LINE_NODES - 1)];
#if PAIRS
    EACH(c, COMPONENTS)
    {
        const real *r_own = r_v + c * NODES;
        GIVEN(c, THREAD_X) = given == 0 ? r_own[AT(0, 0)] : given == 1 ? r_own[AT(1, 0)] : r_own[AT(2, 0)];
    }
#endif
    BARRIER();
    EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES)
    {
        const real lower = TOP(c, t, has_lower ? THREAD_X - 1 : THREAD_X);
        if (has_lower) r_v[c * NODES + AT(t, 0)] += lower;
    }
#if PAIRS
    EACH(c, COMPONENTS)
    {
        const real lower = TOP(c, of_other, has_lower ? other - 1 : other);
        const real sum = GIVEN(c, other) + (has_lower ? lower : 0);
        EACH(t, TRIANGLE_NODES)
        {
            if (t == taken) r_v[c * NODES + AT(t, 0)] += sum;
        }
    }
#endif
#endif
    EACH(c, COMPONENTS) EACH_NODE(t, k)
    {
        const bool is_added = k == LINE_NODES - 1 ? !has_upper : !(k == 0 && t == given);
        if (adds && is_added) ADD(c, t, k, r_v[c * NODES + AT(t, k)]);
    }
}
