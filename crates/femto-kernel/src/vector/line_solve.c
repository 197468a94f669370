/* Solves a banded system along each line: see line_solve.rs.
 *
 * A thread has a line, and the threads of a block, a slice of SLICE lines, read neighbouring numbers. Row by row it keeps the
 * last BAND numbers in registers: on the way up those that are known, on the way down sums for the rows to come.
 */

#define LANE THREAD_X

/* The numbers of a row: the inverse of D, then L at the distances 1 to BAND, in steps of SLICE. */
#define FACTORS(row) (g_factors + ((row) * (1 + BAND) * SLICE + LANE))

/* Arguments: of each slice the place of its first entry, [slices + 1]; entries of x, and factors, [slice][row][lane] and
 * [slice][row][1 + BAND][lane]; the input, an L-vector; the output, [slice][row][lane]. */
KERNEL(solve_lines)
(const GLOBAL uint *RESTRICT g_offsets, const GLOBAL uint *RESTRICT g_entries,
 const GLOBAL real *RESTRICT g_factors, const GLOBAL real *RESTRICT g_x, GLOBAL real *RESTRICT g_e)
{
    /* Rows through all slices. */
    const size_t first = g_offsets[BLOCK] / SLICE, end = g_offsets[BLOCK + 1] / SLICE;

    real r_window[BAND];
    UNROLL for (int k = 0; k < BAND; ++k) r_window[k] = 0;
    UNROLL_BY(4) for (size_t row = first; row < end; ++row)
    {
        const GLOBAL real *g_row = FACTORS(row);
        const uint entry = g_entries[row * SLICE + LANE];
        real sum = entry == NO_COLUMN ? 0 : g_x[entry];
        UNROLL for (int k = BAND; k > 0; --k) sum -= g_row[k * SLICE] * r_window[k - 1];
        UNROLL for (int k = BAND - 1; k > 0; --k) r_window[k] = r_window[k - 1];
        r_window[0] = sum;
        g_e[row * SLICE + LANE] = g_row[0] * sum;
    }

    UNROLL for (int k = 0; k < BAND; ++k) r_window[k] = 0;
    UNROLL_BY(4) for (size_t row = end; row > first; --row)
    {
        const GLOBAL real *g_row = FACTORS(row - 1);
        const real value = g_e[(row - 1) * SLICE + LANE] - r_window[0];
        UNROLL for (int k = 1; k < BAND; ++k) r_window[k - 1] = r_window[k];
        r_window[BAND - 1] = 0;
        UNROLL for (int k = 1; k <= BAND; ++k) r_window[k - 1] += g_row[k * SLICE] * value;
        g_e[(row - 1) * SLICE + LANE] = value;
    }
}
