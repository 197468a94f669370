/* The matrices of elements, Σ_m factor_m A_m: a thread has a row of them and ELEMENTS_PER_THREAD elements, GROUP threads
 * side by side have the same row. An entry of A_m is read once for all elements of a thread.
 *
 *   g_tables     [matrix][column][row]
 *   g_geometry   [element][factor]
 *   g_v          the matrices, see matrices.h
 */
#define ASKED(t) ((BLOCK * ELEMENTS_PER_THREAD + (t)) * GROUP + THREAD_Y)
#define OWN(t) (ASKED(t) < elements ? ASKED(t) : elements - 1)

KERNEL(matrices)(KERNEL_ARGUMENTS)
{
    const int row = THREAD_X;
    real r_factors[ELEMENTS_PER_THREAD][FACTORS];
    EACH(t, ELEMENTS_PER_THREAD)
    {
        EACH(m, FACTORS) r_factors[t][m] = g_geometry[(size_t)OWN(t) * FACTORS + m];
    }
    UNROLL_BY(1) for (int line = 0; line < LINES; ++line)
    {
        const int column = COLUMN(row, line);
        real r_entries[ELEMENTS_PER_THREAD];
        EACH(t, ELEMENTS_PER_THREAD) r_entries[t] = 0;
        EACH(m, FACTORS)
        {
            const real entry = g_tables[(m * NODES + column) * NODES + row];
            EACH(t, ELEMENTS_PER_THREAD) r_entries[t] += r_factors[t][m] * entry;
        }
        EACH(t, ELEMENTS_PER_THREAD)
        {
            if (IS_STORED(row, line) && ASKED(t) < elements) g_v[ENTRY(ASKED(t), row, line)] = r_entries[t];
        }
    }
}
