/* v = A u, the screened Poisson operator with Gauss points: one thread per column (i, j) of an element
 * (Świrydowicz et al. 2019, algorithm 5).
 *
 * Definitions: NODE_ROW, ROW, SLICE_REALS, COLUMN_IN_REGISTERS, IN_CUBE, SLICES_ONLY,
 * DIFFERENTIATE_COLUMNS, FLUXES_IN_CUBE, TRANSPOSED_GRAD, SYMMETRY, LAYERS, GRAD_ROWS_IN_REGISTERS; see
 * Bk3Layers.
 *
 * A round is one layer, or two (LAYERS is 2): k and G-1-k, whose rows of the matrices are the same in
 * reverse, I[G-1-k][Q-1-m] = I[k][m] and D[G-1-k][G-1-n] = -D[k][n], so that one read serves both. The
 * middle layer is on its own.
 */
#define ROUNDS ((G + LAYERS - 1) / LAYERS)
#define LAYER(round, p) ((p) == 0 ? (round) : G - 1 - (round))
#define PAIR(round) (LAYERS == 2 && 2 * (round) != G - 1)
#define FOR_LAYERS(p, round) FOR(p, PAIR(round) ? 2 : 1)

/* Slices of the layers of a round: of nodes, with shorter rows, and of points. */
#define NODE_SLICE(s_slice, p, j, i) s_slice[(p) * SLICE_REALS + (j) * NODE_ROW + (i)]
#define SLICE(s_slice, p, j, i) s_slice[(p) * SLICE_REALS + (j) * ROW + (i)]

/* Adds to an entry of the column of v, or initialises it the first time. */
#if COLUMN_IN_REGISTERS
#define U_COLUMN const real *r_u
#define V_COLUMN real *r_v
#define U(k) r_u[k]
#define ADD_TO_V(first, k, value) r_v[k] += (value);
#else
#define U_COLUMN INPUT g_u
#define V_COLUMN GLOBAL real *g_v
#define U(k) g_u[NODE(k, j, i)]
#define ADD_TO_V(first, k, value)                                                              \
    if (active)                                                                                \
        g_v[NODE(k, j, i)] = (first) ? (value) : g_v[NODE(k, j, i)] + (value);
#endif

/* Parts of the element's shared memory. */
#define s_cube (s_element + S_CUBE)
#define s_a (s_element + S_A)
#define s_b (s_element + S_B)
#define s_c (s_element + S_C)

/* Values at points of layer k, which is layer p of its round, and fluxes there. */
#if SLICES_ONLY
#define VALUE(p, k, j, i) SLICE(s_a, p, j, i)
#define FLUX_R(p, k, j, i) SLICE(s_b, p, j, i)
#define FLUX_S(p, k, j, i) SLICE(s_c, p, j, i)
#elif FLUXES_IN_CUBE
#define VALUE(p, k, j, i) s_cube[CELL(k, j, i)]
#define FLUX_R(p, k, j, i) s_cube[CELL(k, j, i)]
#define FLUX_S(p, k, j, i) SLICE(s_a, p, j, i)
#else
#define VALUE(p, k, j, i) s_cube[CELL(k, j, i)]
#define FLUX_R(p, k, j, i) SLICE(s_a, p, j, i)
#define FLUX_S(p, k, j, i) SLICE(s_b, p, j, i)
#endif

/* Column n of the thread's rows i and j of the differentiation matrix. */
#if GRAD_ROWS_IN_REGISTERS
#define GRAD_I(n) r_grad_i[n]
#define GRAD_J(n) r_grad_j[n]
#elif TRANSPOSED_GRAD
#define GRAD_I(n) s_grad_t[(n) * G + i]
#define GRAD_J(n) s_grad_t[(n) * G + j]
#else
#define GRAD_I(n) s_grad[i * G + (n)]
#define GRAD_J(n) s_grad[j * G + (n)]
#endif

/* Values at the points: all in the cube, unless SLICES_ONLY, and the thread's column in r_values if it is
 * read from there (DIFFERENTIATE_COLUMNS). */
INLINE void to_points(
    const SHARED real *s_interp, SHARED real *s_element, U_COLUMN, real *r_values)
{
    const int i = THREAD_X, j = THREAD_Y;
    const bool node_column = i < Q && j < Q;
#if IN_CUBE
    if (node_column) {
        real r_points[G];
        interpolate(s_interp, r_u, r_points);
        FOR(k, G) s_cube[CELL(k, j, i)] = r_points[k];
    }
    BARRIER();
    if (i < Q)
        interpolate_pencil(s_interp, s_cube + CELL(j, i, 0), 1);
    BARRIER();
    interpolate_pencil(s_interp, s_cube + CELL(j, 0, i), ROW);
    BARRIER();
#if DIFFERENTIATE_COLUMNS
    FOR(k, G) r_values[k] = s_cube[CELL(k, j, i)];
#endif
#else
    FOR(round, ROUNDS)
    {
        if (node_column) {
            real r_sum[2] = {0, 0};
            FOR(m, Q)
            {
                const real entry = s_interp[round * Q + m];
                r_sum[0] += entry * U(m);
                if (PAIR(round))
                    r_sum[1] += entry * U(Q - 1 - m);
            }
            FOR_LAYERS(p, round) NODE_SLICE(s_a, p, j, i) = r_sum[p];
        }
        BARRIER();
        if (j < Q) {
            real r_sum[2] = {0, 0};
            FOR(m, Q)
            {
                const real entry = s_interp[i * Q + m];
                FOR_LAYERS(p, round) r_sum[p] += entry * NODE_SLICE(s_a, p, j, m);
            }
            FOR_LAYERS(p, round) SLICE(s_b, p, j, i) = r_sum[p];
        }
        BARRIER();
        real r_sum[2] = {0, 0};
        FOR(m, Q)
        {
            const real entry = s_interp[j * Q + m];
            FOR_LAYERS(p, round) r_sum[p] += entry * SLICE(s_b, p, m, i);
        }
        FOR_LAYERS(p, round)
        {
#if DIFFERENTIATE_COLUMNS
            r_values[LAYER(round, p)] = r_sum[p];
#endif
#if !SLICES_ONLY
            s_cube[CELL(LAYER(round, p), j, i)] = r_sum[p];
#endif
        }
    }
#if !SLICES_ONLY
    BARRIER();
#endif
#endif
}

/* The fluxes of the thread's column of points, to be tested with the values. */
INLINE void test_points(const SHARED real *s_grad, const SHARED real *s_grad_t,
    SHARED real *s_element, INPUT g_factors, real lambda, const real *r_values, real *r_tested)
{
    const int i = THREAD_X, j = THREAD_Y;
#if GRAD_ROWS_IN_REGISTERS
    real r_grad_i[G], r_grad_j[G];
    FOR(n, G)
    {
        r_grad_i[n] = s_grad[i * G + n];
        r_grad_j[n] = s_grad[j * G + n];
    }
#endif
    FOR(k, G) r_tested[k] = 0;
    FOR(round, ROUNDS)
    {
#if SLICES_ONLY
        FOR_LAYERS(p, round) VALUE(p, LAYER(round, p), j, i) = r_values[LAYER(round, p)];
        BARRIER();
#endif
        real r_flux[2][3] = {{0, 0, 0}, {0, 0, 0}}, r_sum[2];
        FOR(n, G)
        {
            const real entry_i = GRAD_I(n), entry_j = GRAD_J(n), entry_k = s_grad[round * G + n];
            FOR_LAYERS(p, round)
            {
                r_flux[p][0] += entry_i * VALUE(p, LAYER(round, p), j, n);
                r_flux[p][1] += entry_j * VALUE(p, LAYER(round, p), n, i);
            }
#if DIFFERENTIATE_COLUMNS
            r_flux[0][2] += entry_k * r_values[n];
            if (PAIR(round))
                r_flux[1][2] -= entry_k * r_values[G - 1 - n];
#else
            r_flux[0][2] += entry_k * s_cube[CELL(n, j, i)];
#endif
        }
        FOR_LAYERS(p, round)
        {
            const int k = LAYER(round, p);
            real r_factors[FACTORS];
            load_factors(g_factors, POINT(k, j, i), r_factors);
            point_flux(r_factors, r_flux[p]);
#if DIFFERENTIATE_COLUMNS
            r_sum[p] = point_value(r_factors, lambda, r_values[k]);
#else
            r_sum[p] = point_value(r_factors, lambda, s_cube[CELL(k, j, i)]);
#endif
        }
        FOR(n, G)
        {
            const real entry_k = s_grad[round * G + n];
            r_tested[n] += entry_k * r_flux[0][2];
            if (PAIR(round))
                r_tested[G - 1 - n] -= entry_k * r_flux[1][2];
        }
#if FLUXES_IN_CUBE
        BARRIER();
#endif
        FOR_LAYERS(p, round)
        {
            FLUX_R(p, LAYER(round, p), j, i) = r_flux[p][0];
            FLUX_S(p, LAYER(round, p), j, i) = r_flux[p][1];
        }
        BARRIER();
        FOR(n, G)
        {
            const real entry_i = s_grad[n * G + i], entry_j = s_grad[n * G + j];
            FOR_LAYERS(p, round)
            {
                r_sum[p] += entry_i * FLUX_R(p, LAYER(round, p), j, n);
                r_sum[p] += entry_j * FLUX_S(p, LAYER(round, p), n, i);
            }
        }
        FOR_LAYERS(p, round) r_tested[LAYER(round, p)] += r_sum[p];
#if !SLICES_ONLY && !FLUXES_IN_CUBE
        /* The next round writes the slices before its first barrier. */
        BARRIER();
#endif
    }
}

/* Back to the nodes; r_tested is overwritten. */
INLINE void to_nodes(
    const SHARED real *s_interp, SHARED real *s_element, real *r_tested, V_COLUMN, bool active)
{
    const int i = THREAD_X, j = THREAD_Y;
    const bool node_column = i < Q && j < Q;
#if IN_CUBE
#if FLUXES_IN_CUBE
    BARRIER();
#endif
    FOR(k, G) s_cube[CELL(k, j, i)] = r_tested[k];
    BARRIER();
    project_pencil(s_interp, s_cube + CELL(j, 0, i), ROW);
    BARRIER();
    if (i < Q)
        project_pencil(s_interp, s_cube + CELL(j, i, 0), 1);
    BARRIER();
    if (node_column) {
        FOR(k, G) r_tested[k] = s_cube[CELL(k, j, i)];
        project(s_interp, r_tested, r_v);
    }
#else
    FOR(round, ROUNDS)
    {
        FOR_LAYERS(p, round) SLICE(s_a, p, j, i) = r_tested[LAYER(round, p)];
        BARRIER();
        if (j < Q) {
            real r_sum[2] = {0, 0};
            FOR(n, G)
            {
                const real entry = s_interp[n * Q + j];
                FOR_LAYERS(p, round) r_sum[p] += entry * SLICE(s_a, p, n, i);
            }
            FOR_LAYERS(p, round) SLICE(s_b, p, j, i) = r_sum[p];
        }
        BARRIER();
        if (node_column) {
            real r_sum[2] = {0, 0};
            FOR(n, G)
            {
                const real entry = s_interp[n * Q + i];
                FOR_LAYERS(p, round) r_sum[p] += entry * SLICE(s_b, p, j, n);
            }
            FOR(m, Q)
            {
                const real entry = s_interp[round * Q + m];
                ADD_TO_V(round == 0, m, entry * r_sum[0])
                if (PAIR(round)) {
                    ADD_TO_V(false, Q - 1 - m, entry * r_sum[1])
                }
            }
        }
    }
#endif
}

KERNEL(bk3_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_interp = s_memory + S_INTERP, *s_grad = s_memory + S_GRAD, *s_grad_t = s_grad;
    SHARED real *s_element = s_memory + S_ELEMENTS + LANE * S_ELEMENT_REALS;
    load_matrix(g_interp, G * Q, s_interp);
    load_matrix(g_grad, G * G, s_grad);
    BARRIER();
#if TRANSPOSED_GRAD
    s_grad_t = s_memory + S_GRAD_T;
    if (LANE == 0)
        s_grad_t[i * G + j] = s_grad[j * G + i];
    BARRIER();
#endif
    real r_values[G], r_tested[G];
#if COLUMN_IN_REGISTERS
    const bool node_column = i < Q && j < Q;
    real r_u[Q], r_v[Q];
    FOR(k, Q)
    {
        r_u[k] = node_column ? g_u[NODE(k, j, i)] : 0;
        r_v[k] = 0;
    }
    to_points(s_interp, s_element, r_u, r_values);
    test_points(s_grad, s_grad_t, s_element, g_factors, lambda, r_values, r_tested);
    to_nodes(s_interp, s_element, r_tested, r_v, active);
    FOR(k, Q)
        if (active && node_column)
            g_v[NODE(k, j, i)] = r_v[k];
#else
    to_points(s_interp, s_element, g_u, r_values);
    test_points(s_grad, s_grad_t, s_element, g_factors, lambda, r_values, r_tested);
    to_nodes(s_interp, s_element, r_tested, g_v, active);
#endif
}
