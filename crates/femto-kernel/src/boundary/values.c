/* A function of position and time at points: g_values [point] from g_positions [point][3]. The function is
 * the f0 of the printed point_form. */
KERNEL(values)
(const GLOBAL real *RESTRICT g_positions, const real time, GLOBAL real *RESTRICT g_values,
    const uint points)
{
    const uint point = BLOCK * BLOCK_X + THREAD_X;
    if (point < points) {
        const GLOBAL real *g_x = g_positions + (size_t)point * 3;
        const real r_x[3] = {g_x[0], g_x[1], g_x[2]};
        real r_f0[1], r_none[1] = {0};
        point_form(r_none, r_none, r_none, r_none, r_x, r_none, time, r_f0, r_none);
        g_values[point] = r_f0[0];
    }
}
