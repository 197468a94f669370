/* v = A u, the mass operator with Gauss points: Q + 1 by Q + 1 threads (Świrydowicz et al. 2019, algorithm 3).
 *
 * Definitions: GLOBAL_TEMPORARIES, IN_CUBE, COLUMN_IN_REGISTERS, BARRIER_AT_END; the fields of Bk1Layers.
 *
 * Layer by layer along k: contracted along k, i and j, times the factor, back along j, i and k. In a cube: pencils.c.
 */
#define FACTORS 1

/* u and v of the thread's column of nodes. */
#if COLUMN_IN_REGISTERS
#define ADD_TO_V(m, value) r_column[m] += (value);
#else
#define ADD_TO_V(m, value) g_v[NODE(m, Y, X)] += (value);
#endif

/* Values between two contractions: of all layers in three global arrays, or of one layer in two shared slices. */
#if GLOBAL_TEMPORARIES
#define AFTER_K(j, i) g_scratch[G_A + POINT(k, j, i)]
#define AFTER_I(j, i) g_scratch[G_B + POINT(k, j, i)]
#define AFTER_J(j, i) g_scratch[G_C + POINT(k, j, i)]
#define BACK_J(j, i) AFTER_K(j, i)
#define T_BARRIER() BARRIER_ALL()
#else
#define AFTER_K(j, i) s_memory[S_A + SLICE(j, i)]
#define AFTER_I(j, i) s_memory[S_B + SLICE(j, i)]
#define AFTER_J(j, i) AFTER_K(j, i)
#define BACK_J(j, i) AFTER_I(j, i)
#define T_BARRIER() BARRIER()
#endif

KERNEL(bk1_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_interp = s_memory + S_INTERP;
    const bool node_column = X < Q && Y < Q;
    load_matrix(g_interp, Q, s_interp, INTERP_ROW);

#if IN_CUBE
    CUBE s_cube = s_memory + S_CUBE;
    load_nodes(g_u, s_cube);
    BARRIER();
    interpolate_along_j(s_interp, s_cube);
    BARRIER();
    interpolate_along_i(s_interp, s_cube);
    BARRIER();
    real r_nodes[Q];
    FOR(m, Q) r_nodes[m] = s_cube[CELL(m, Y, X)];
#define WEIGHTED(n, value) TO_CUBE_K(n, g_factors[POINT(n, Y, X)] * (value))
    INTERPOLATE(r_nodes, WEIGHTED)
    BARRIER();
    project_along_j(s_interp, s_cube);
    BARRIER();
    project_along_i(s_interp, s_cube);
    BARRIER();
    project_along_k(s_interp, s_cube, g_v);
#else
#if COLUMN_IN_REGISTERS
    real r_column[Q], r_points[G];
    FOR(m, Q) r_column[m] = node_column ? g_u[NODE(m, Y, X)] : 0;
#else
    if (node_column)
        FOR(m, Q) g_v[NODE(m, Y, X)] = 0;
#endif
#if GLOBAL_TEMPORARIES
    FOR(k, G) AFTER_K(Y, X) = AFTER_I(Y, X) = AFTER_J(Y, X) = 0;
#endif
    T_BARRIER();
#if COLUMN_IN_REGISTERS
    if (node_column) {
        FOR(k, G)
        {
            real sum = 0;
            FOR(m, Q) sum += INTERP(k, m) * r_column[m];
            r_points[k] = sum;
        }
        FOR(m, Q) r_column[m] = 0;
    }
#endif

    FOR_LAST(k, G)
    {
#if !GLOBAL_TEMPORARIES
        BARRIER();
#endif
        real sum = 0;
        if (node_column) {
#if COLUMN_IN_REGISTERS
            sum = r_points[k];
#else
            FOR(m, Q) sum += INTERP(k, m) * g_u[NODE(m, Y, X)];
#endif
            AFTER_K(Y, X) = sum;
        }
        T_BARRIER();
        if (Y < Q) {
            sum = 0;
            FOR(m, Q) sum += INTERP(X, m) * AFTER_K(Y, m);
            AFTER_I(Y, X) = sum;
        }
        T_BARRIER();
        const real factor = g_factors[POINT(k, Y, X)];
        sum = 0;
        FOR(m, Q) sum += INTERP(Y, m) * AFTER_I(m, X);
        AFTER_J(Y, X) = factor * sum;
        T_BARRIER();
        if (Y < Q) {
            sum = 0;
            FOR(n, G) sum += INTERP(n, Y) * AFTER_J(n, X);
            BACK_J(Y, X) = sum;
        }
        T_BARRIER();
        if (node_column) {
            sum = 0;
            FOR(n, G) sum += INTERP(n, X) * BACK_J(Y, n);
            FOR(m, Q) ADD_TO_V(m, INTERP(k, m) * sum)
        }
    }
#if BARRIER_AT_END
    BARRIER();
#endif
#if COLUMN_IN_REGISTERS
    if (node_column)
        FOR(m, Q) g_v[NODE(m, Y, X)] = r_column[m];
#endif
#endif
}
