/* One pair of numbers per thread through every function available to forms: u0 and u1 are those of pair g,
 * [pair][2]; results are [pair][FUNCTIONS]. */
KERNEL(functions)(const GLOBAL real *g_pairs, GLOBAL real *g_found, const uint pairs)
{
    const uint pair = BLOCK * BLOCK_X + THREAD_X;
    if (pair < pairs) {
        real r_u[FUNCTIONS] = {g_pairs[2 * pair], g_pairs[2 * pair + 1]};
        real r_f0[FUNCTIONS], r_f1[FUNCTIONS * DIM], r_none[1] = {0};
        point_form(r_u, r_none, r_none, r_none, r_none, r_none, 0, r_f0, r_f1);
        for (int i = 0; i < FUNCTIONS; i++)
            g_found[pair * FUNCTIONS + i] = r_f0[i];
    }
}
