/* Nodes to points and back along one pencil (Świrydowicz et al. 2019, algorithms 1 and 2). With SYMMETRY,
 * one entry of the matrix, read once, serves two outputs, since I[i][j] = I[G-1-i][Q-1-j]. */

/* r_out[g] = sum over q of I[g][q] r_in[q] */
INLINE void interpolate(const SHARED real *s_interp, const real *r_in, real *r_out)
{
#if SYMMETRY
    FOR(n, (G + 1) / 2)
    {
        real low = 0, high = 0;
        FOR(m, Q)
        {
            const real entry = s_interp[n * Q + m];
            low += entry * r_in[m];
            high += entry * r_in[Q - 1 - m];
        }
        r_out[G - 1 - n] = high;
        r_out[n] = low;
    }
#else
    FOR(n, G)
    {
        real sum = 0;
        FOR(m, Q) sum += s_interp[n * Q + m] * r_in[m];
        r_out[n] = sum;
    }
#endif
}

/* r_out[q] = sum over g of I[g][q] r_in[g] */
INLINE void project(const SHARED real *s_interp, const real *r_in, real *r_out)
{
#if SYMMETRY
    FOR(m, (Q + 1) / 2)
    {
        real low = 0, high = 0;
        FOR(n, G)
        {
            const real entry = s_interp[n * Q + m];
            low += entry * r_in[n];
            high += entry * r_in[G - 1 - n];
        }
        r_out[Q - 1 - m] = high;
        r_out[m] = low;
    }
#else
    FOR(m, Q)
    {
        real sum = 0;
        FOR(n, G) sum += s_interp[n * Q + m] * r_in[n];
        r_out[m] = sum;
    }
#endif
}

/* Q numbers of a pencil in shared memory to G, in place. */
INLINE void interpolate_pencil(const SHARED real *s_interp, SHARED real *s_pencil, int stride)
{
    real r_nodes[Q], r_points[G];
    FOR(m, Q) r_nodes[m] = s_pencil[m * stride];
    interpolate(s_interp, r_nodes, r_points);
    FOR(n, G) s_pencil[n * stride] = r_points[n];
}

/* G numbers of a pencil in shared memory to Q, in place. */
INLINE void project_pencil(const SHARED real *s_interp, SHARED real *s_pencil, int stride)
{
    real r_nodes[Q], r_points[G];
    FOR(n, G) r_points[n] = s_pencil[n * stride];
    project(s_interp, r_points, r_nodes);
    FOR(m, Q) s_pencil[m * stride] = r_nodes[m];
}
