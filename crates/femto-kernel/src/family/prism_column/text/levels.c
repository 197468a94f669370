/* v = A u of prisms in columns at their points, where prisms have many unknowns: a prism has a thread for each level of its points.
 * Each takes some of the lines of nodes, from below to above, to all levels, then all points of one level, then lines again. In
 * between values and derivatives upwards are in shared memory, and after the points what is tested with them. With CARRY, what
 * a prism adds to its lower triangle goes to the threads of the prism below, if that is in the same block.
 */
#define LINES (COMPONENTS * TRIANGLE_NODES)
#define NUMBER(n, b, thread) s_levels[((n) * LINE_POINTS + (b)) * BLOCK_X + (thread)]
/* Line n's value at level b, or what is tested with values there; likewise upwards. */
#define VALUE(n, b) NUMBER(n, b, THREAD_X)
#define UP(n, b) NUMBER(LINES + FIELD_LINES + (n), b, THREAD_X)
#define OWN_LINES(n, count)                                                                    \
    UNROLL_BY(1) for (int n = THREAD_Y; n < (count); n += LINE_POINTS)

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    STACK_OF_PRISMS
    PRISM(0)
    const bool has_lower = CARRY && lowest > 0 && THREAD_X > 0;
    const bool has_upper = CARRY && lowest + 1 < LAYERS && THREAD_X + 1 < BLOCK_X;
    SHARED_MEMORY(s_levels);
    OWN_LINES(n, LINES + FIELD_LINES)
    {
        const int c = n / TRIANGLE_NODES, t = n % TRIANGLE_NODES;
        real r_line[LINE_NODES];
        EACH(k, LINE_NODES)
        {
            r_line[k] = c < COMPONENTS ? g_u[PLACE(c, t, k)] : g_nodal_fields[FIELD_PLACE(c - COMPONENTS, t, k)];
        }
        EACH(b, LINE_POINTS) to_level(b, r_line, &VALUE(n, b), &UP(n, b));
    }
    BARRIER();
    real r_f0[LINES], r_f1[LINES];
    {
        const SHARED real *s_u = &VALUE(0, THREAD_Y), *s_w = &UP(0, THREAD_Y);
        const int fields = LINES * LEVEL_STRIDE;
        evaluate_level(THREAD_Y, &p, s_u, s_w, s_u + fields, s_w + fields, r_f0, r_f1);
    }
    EACH(n, LINES)
    {
        VALUE(n, THREAD_Y) = r_f0[n];
        UP(n, THREAD_Y) = r_f1[n];
    }
    BARRIER();
    OWN_LINES(n, LINES)
    {
        const int c = n / TRIANGLE_NODES, t = n % TRIANGLE_NODES;
        real r_line[LINE_NODES];
        EACH(k, LINE_NODES) r_line[k] = 0;
        EACH(b, LINE_POINTS) add_level(b, VALUE(n, b), UP(n, b), r_line);
#if CARRY
        VALUE(n, 0) = r_line[0];
        UP(n, 0) = r_line[LINE_NODES - 1];
#endif
        EACH(k, LINE_NODES - CARRY)
        {
            if (writes && !(k == 0 && has_lower)) ADD(c, t, k, r_line[k]);
        }
    }
#if CARRY
    BARRIER();
    OWN_LINES(n, LINES)
    {
        const int c = n / TRIANGLE_NODES, t = n % TRIANGLE_NODES;
        const real upper = NUMBER(n, 0, has_upper ? THREAD_X + 1 : THREAD_X);
        if (writes) ADD(c, t, LINE_NODES - 1, UP(n, 0) + (has_upper ? upper : 0));
    }
#endif
}
