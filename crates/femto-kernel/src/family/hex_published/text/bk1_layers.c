/* v = A u, the mass operator with Gauss points: one thread per column (i, j) of an element
 * (Świrydowicz et al. 2019, algorithm 3).
 *
 * Definitions: NODE_ROW, ROW, TEMPORARIES_IN_GLOBAL, CUBE, COLUMN_IN_REGISTERS, SYMMETRY; the fields of
 * Bk1Layers.
 */
#define FACTORS 1

/* The point-wise part: the factor of a point is weight |J|. */
INLINE real point_value(INPUT g_factors, int point, real u)
{
    return g_factors[point] * u;
}

/* Adds to an entry of the column of v, or initialises it the first time. */
#if COLUMN_IN_REGISTERS
#define U(k) r_u[k]
#define ADD_TO_V(first, k, value) r_v[k] += (value);
#else
#define U(k) g_u[NODE(k, j, i)]
#define ADD_TO_V(first, k, value)                                                              \
    if (active)                                                                                \
        g_v[NODE(k, j, i)] = (first) ? (value) : g_v[NODE(k, j, i)] + (value);
#endif

/* Two temporaries, t_a and t_b: slices in shared memory, or a layer of two global arrays. */
#if TEMPORARIES_IN_GLOBAL
#define TEMPORARY GLOBAL
#define T_ELEMENT g_scratch
#define T_LAYER(k) ((k) * (G * G))
#define T_BARRIER() BARRIER_ALL()
#else
#define TEMPORARY SHARED
#define T_ELEMENT s_element
#define T_LAYER(k) 0
#define T_BARRIER() BARRIER()
#endif

KERNEL(bk1_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_interp = s_memory + S_INTERP;
    SHARED real *s_element = s_memory + S_ELEMENTS + LANE * S_ELEMENT_REALS;
    const bool node_column = i < Q && j < Q;
#if COLUMN_IN_REGISTERS
    real r_u[Q], r_v[Q];
    FOR(k, Q)
    {
        r_u[k] = node_column ? g_u[NODE(k, j, i)] : 0;
        r_v[k] = 0;
    }
#endif
    load_matrix(g_interp, G * Q, s_interp);
    BARRIER();

#if CUBE
    SHARED real *s_cube = s_element + S_CUBE;
    real r_points[G];
    if (node_column) {
        interpolate(s_interp, r_u, r_points);
        FOR(k, G) s_cube[CELL(k, j, i)] = r_points[k];
    }
    BARRIER();
    if (i < Q)
        interpolate_pencil(s_interp, s_cube + CELL(j, i, 0), 1);
    BARRIER();
    /* Along j, layer THREAD_Y: threads read neighbouring factors. */
    {
        SHARED real *s_pencil = s_cube + CELL(j, 0, i);
        real r_nodes[Q];
        FOR(m, Q) r_nodes[m] = s_pencil[m * ROW];
        interpolate(s_interp, r_nodes, r_points);
        FOR(n, G) r_points[n] = point_value(g_factors, POINT(j, n, i), r_points[n]);
        project(s_interp, r_points, r_nodes);
        FOR(m, Q) s_pencil[m * ROW] = r_nodes[m];
    }
    BARRIER();
    if (i < Q)
        project_pencil(s_interp, s_cube + CELL(j, i, 0), 1);
    BARRIER();
    if (node_column) {
        FOR(k, G) r_points[k] = s_cube[CELL(k, j, i)];
        project(s_interp, r_points, r_v);
    }
#else
    FOR(k, G)
    {
        TEMPORARY real *t_a = T_ELEMENT + T_A + T_LAYER(k);
        TEMPORARY real *t_b = T_ELEMENT + T_B + T_LAYER(k);
        real sum = 0;
        if (node_column) {
            FOR(m, Q) sum += s_interp[k * Q + m] * U(m);
            t_a[j * NODE_ROW + i] = sum;
        }
        T_BARRIER();
        if (j < Q) {
            sum = 0;
            FOR(m, Q) sum += s_interp[i * Q + m] * t_a[j * NODE_ROW + m];
            t_b[j * ROW + i] = sum;
        }
        T_BARRIER();
        sum = 0;
        FOR(m, Q) sum += s_interp[j * Q + m] * t_b[m * ROW + i];
        t_a[j * ROW + i] = point_value(g_factors, POINT(k, j, i), sum);
        T_BARRIER();
        if (j < Q) {
            sum = 0;
            FOR(n, G) sum += s_interp[n * Q + j] * t_a[n * ROW + i];
            t_b[j * ROW + i] = sum;
        }
        T_BARRIER();
        if (node_column) {
            sum = 0;
            FOR(n, G) sum += s_interp[n * Q + i] * t_b[j * ROW + n];
            FOR(m, Q)
            {
                const real part = s_interp[k * Q + m] * sum;
                ADD_TO_V(k == 0, m, part)
            }
        }
    }
#endif

#if COLUMN_IN_REGISTERS
    FOR(k, Q)
        if (active && node_column)
            g_v[NODE(k, j, i)] = r_v[k];
#endif
}
