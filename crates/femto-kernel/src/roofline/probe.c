/* Kernels that measure a device's limits by only moving numbers or only computing.
 *
 * Definitions: PASSES, pairs that a thread moves; CHAINS, independent chains of multiply-adds; LINES,
 * numbers that a thread reads from shared memory in a round; ROUNDS.
 */
#if REAL_BYTES == 8
typedef double2 pair;
#else
typedef float2 pair;
#endif

/* An unneeded result that compilers cannot leave out: such large numbers do not occur. */
#define PRETEND_TO_STORE(value)                                                                \
    if ((value) > (real)1e30)                                                                  \
        g_target[0] = (value);

#define FIRST (BLOCK * (uint)(BLOCK_X * PASSES) + (uint)THREAD_X)

KERNEL(probe_copy)(const GLOBAL pair *RESTRICT g_source, GLOBAL pair *RESTRICT g_target)
{
    pair r_pairs[PASSES];
    UNROLL for (int pass = 0; pass < PASSES; ++pass) r_pairs[pass] = g_source[FIRST + pass * BLOCK_X];
    UNROLL for (int pass = 0; pass < PASSES; ++pass) g_target[FIRST + pass * BLOCK_X] = r_pairs[pass];
}

KERNEL(probe_read)(const GLOBAL pair *RESTRICT g_source, GLOBAL real *RESTRICT g_target)
{
    real r_sum = 0;
    UNROLL for (int pass = 0; pass < PASSES; ++pass)
    {
        pair r_pair = g_source[FIRST + pass * BLOCK_X];
        r_sum += r_pair.x + r_pair.y;
    }
    PRETEND_TO_STORE(r_sum)
}

KERNEL(probe_write)(real value, GLOBAL pair *RESTRICT g_target)
{
    pair r_pair;
    r_pair.x = value;
    r_pair.y = value;
    UNROLL for (int pass = 0; pass < PASSES; ++pass) g_target[FIRST + pass * BLOCK_X] = r_pair;
}

KERNEL(probe_fma)(real factor, real addend, GLOBAL real *RESTRICT g_target)
{
    real r_chains[CHAINS], r_sum = 0;
    UNROLL for (int chain = 0; chain < CHAINS; ++chain) r_chains[chain] = (real)(THREAD_X + chain);
    UNROLL_BY(16) for (int round = 0; round < ROUNDS; ++round)
    {
        UNROLL for (int chain = 0; chain < CHAINS; ++chain) r_chains[chain] =
            fma(r_chains[chain], factor, addend);
    }
    UNROLL for (int chain = 0; chain < CHAINS; ++chain) r_sum += r_chains[chain];
    PRETEND_TO_STORE(r_sum)
}

/* `flip` is a multiple of 32 below BLOCK_X: the lines that threads read change with every round, so that no
 * compiler can keep them in registers (as it could if an exclusive or repeated them), and never share a
 * bank. */
KERNEL(probe_shared)(int flip, GLOBAL real *RESTRICT g_target)
{
    SHARED_MEMORY(s_numbers);
    UNROLL for (int line = 0; line < LINES; ++line) s_numbers[line * BLOCK_X + THREAD_X] = (real)line;
    BARRIER();
    real r_even = 0, r_odd = 0;
    int at = THREAD_X;
    UNROLL_BY(4) for (int round = 0; round < ROUNDS; ++round)
    {
        UNROLL for (int line = 0; line < LINES; line += 2)
        {
            r_even += s_numbers[line * BLOCK_X + at];
            r_odd += s_numbers[(line + 1) * BLOCK_X + at];
        }
        at = (at + flip) % BLOCK_X;
    }
    PRETEND_TO_STORE(r_even + r_odd)
}
