/* Per-element constants are read in pairs: their number is rounded up to an even one. With an element per thread they
 * are in shared memory. */
#define EVEN(count) (((count) + 1) / 2 * 2)
#if ELEMENT_PER_THREAD
#define GEOMETRY_MEMORY SHARED
#else
#define GEOMETRY_MEMORY GLOBAL
#endif

/* Reads EVEN(count) numbers, aligned to pairs. */
INLINE void read_pairs(const GEOMETRY_MEMORY real *source, int count, real *r_numbers)
{
    const GEOMETRY_MEMORY real2 *pairs = (const GEOMETRY_MEMORY real2 *)source;
    UNROLL for (int n = 0; n < (count + 1) / 2; ++n)
    {
        const real2 r_pair = pairs[n];
        r_numbers[2 * n] = r_pair.x;
        r_numbers[2 * n + 1] = r_pair.y;
    }
}

#if COLLOCATED && ELEMENT_PER_THREAD
/* The nodes of degree 1. */
#define POINT(n) (real)(2 * (n) - 1)
#else
#define POINT(n) c_points[n]
#endif

/* A point of the 1-D rule and its weight. With an element per thread all threads are at the same one, so that it is an
 * operand from constant memory. */
INLINE real2 rule_at(const GLOBAL real *g_rule, int n)
{
#if ELEMENT_PER_THREAD
    real2 r_pair;
    r_pair.x = POINT(n);
    r_pair.y = c_weights[n];
    return r_pair;
#else
    return ((const GLOBAL real2 *)g_rule)[n];
#endif
}
