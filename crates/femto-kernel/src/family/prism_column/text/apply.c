/* v = A u of prisms in columns. A thread goes up a stack of prisms: the nodes of a triangle between two are read once, and what
 * both add there stays in registers. With CARRY, what the lowest adds to its lower triangle goes through shared memory,
 * [component][triangle node][thread], to the thread of the stack below, if that is in the same block. With PAIRS, which are of
 * degree 1 and have stacks of one prism, columns of a pair share the lines of nodes over two corners: each gives what it adds
 * along one of them to the other, so that these lines take one addition in place of two. Forms that do not couple components may be
 * evaluated for one after the other, with the registers of one.
 */
#define BOTTOM(c, t, thread) s_sums[((c) * TRIANGLE_NODES + (t)) * BLOCK_X + (thread)]
#define GIVEN(c, thread) s_sums[(TOGETHER * TRIANGLE_NODES + (c)) * BLOCK_X + (thread)]

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    STACK_OF_PRISMS
    const bool has_lower = CARRY && lowest > 0 && THREAD_X % ABOVE_EACH_OTHER > 0;
    const bool has_upper = CARRY && lowest + count < LAYERS && THREAD_X % ABOVE_EACH_OTHER + 1 < ABOVE_EACH_OTHER;
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
#endif
    UNROLL_BY(1) for (int first = 0; first < COMPONENTS; first += TOGETHER)
    {
#if TOGETHER < COMPONENTS
        /* Each component reads column and map anew: kept for the next one they would take registers. */
        FORGET(g_column);
        FORGET(g_bases);
        FORGET(g_heights);
        read_base(g_bases + (size_t)place * 6, &p);
#endif
        /* What is added on top of a prism. */
        real r_u[UNKNOWNS], r_v[UNKNOWNS], r_sums[TOGETHER * TRIANGLE_NODES];
        UNROLL_BY(1) for (uint n = 0; n < STACK; ++n)
        {
            /* All threads go round as often, those of shorter stacks with their last prism again, to no effect. */
            const bool is_lowest = n == 0, is_there = LAYERS % STACK == 0 || n < count;
            PRISM(is_there ? n : count - 1)
            READ_FIELDS(r_fields)
            EACH(c, TOGETHER) EACH_NODE(t, k)
            {
                real *r_line = r_u + c * NODES + AT(t, 0);
                r_line[k] = k > 0 || is_lowest ? g_u[PLACE(first + c, t, k)] : r_line[LINE_NODES - 1];
            }
            evaluate_prism(&p, r_u, r_fields, r_v);
            EACH(c, TOGETHER) EACH(t, TRIANGLE_NODES)
            {
                real *r_line = r_v + c * NODES + AT(t, 0), *r_sum = r_sums + c * TRIANGLE_NODES + t;
                if (!is_lowest) r_line[0] += *r_sum;
                if (is_there) *r_sum = r_line[LINE_NODES - 1];
#if CARRY
                if (is_lowest) BOTTOM(c, t, THREAD_X) = r_line[0];
#endif
            }
            EACH(c, TOGETHER) EACH(t, TRIANGLE_NODES) EACH(k, LINE_NODES - 1)
            {
                const bool is_added = !(k == 0 && is_lowest && has_lower);
                if (adds && is_there && is_added) ADD(first + c, t, k, r_v[c * NODES + AT(t, k)]);
            }
        }
#if PAIRS
        EACH(c, TOGETHER)
        {
            const real *r_own = r_sums + c * TRIANGLE_NODES;
            GIVEN(c, THREAD_X) = given == 0 ? r_own[0] : given == 1 ? r_own[1] : r_own[2];
        }
#endif
#if CARRY
        BARRIER();
        EACH(c, TOGETHER) EACH(t, TRIANGLE_NODES)
        {
            const real upper = BOTTOM(c, t, has_upper ? THREAD_X + 1 : THREAD_X);
            if (has_upper) r_sums[c * TRIANGLE_NODES + t] += upper;
        }
#endif
#if PAIRS
        EACH(c, TOGETHER)
        {
            const real upper = BOTTOM(c, of_other, has_upper ? other + 1 : other);
            const real sum = GIVEN(c, other) + (has_upper ? upper : 0);
            EACH(t, TRIANGLE_NODES)
            {
                if (t == taken) r_sums[c * TRIANGLE_NODES + t] += sum;
            }
        }
#endif
        EACH(c, TOGETHER) EACH(t, TRIANGLE_NODES)
        {
            if (adds && t != given) ADD(first + c, t, LINE_NODES - 1, r_sums[c * TRIANGLE_NODES + t]);
        }
#if CARRY && TOGETHER < COMPONENTS
        BARRIER();
#endif
    }
}
