/* Per-element constants are read in pairs: their number is rounded up to an even one. */
#define EVEN(count) (((count) + 1) / 2 * 2)

/* Reads EVEN(count) numbers, aligned to pairs. */
INLINE void read_pairs(const GLOBAL real *g_source, int count, real *r_numbers)
{
    const GLOBAL real2 *g_pairs = (const GLOBAL real2 *)g_source;
    UNROLL for (int n = 0; n < (count + 1) / 2; ++n)
    {
        const real2 r_pair = g_pairs[n];
        r_numbers[2 * n] = r_pair.x;
        r_numbers[2 * n + 1] = r_pair.y;
    }
}
