/* v = A u, the screened Poisson operator with Gauss points: one thread per column (i, j) of an element's points
 * (Świrydowicz et al. 2019, algorithm 5).
 *
 * Definitions: IN_CUBE, U_IN_REGISTERS, COLUMN_IN_REGISTERS, FACTORS_EARLY, ONE_SLICE, TRANSPOSED_GRAD,
 * GRAD_ROW_IN_REGISTERS, BARRIERS_BEFORE_LAYERS; see Bk3Layers.
 *
 * Values at the points, then layer by layer along k fluxes and what is tested with values, then back to the nodes.
 * Interpolation and projection go layer by layer through slices (along k, i, j and back along k, j, i), or IN_CUBE
 * (pencils.c).
 */
#define S_SLICE_A (s_memory + S_A)
#define S_SLICE_B (s_memory + S_B)

/* Values at points of layer k, and fluxes there. */
#if IN_CUBE
#define VALUE(k, j, i) s_memory[S_CUBE + CELL(k, j, i)]
#define FLUX_R(j, i) s_memory[S_A + SLICE(j, i)]
#if ONE_SLICE
#define FLUX_S(j, i) FLUX_R(j, i)
#else
#define FLUX_S(j, i) s_memory[S_B + SLICE(j, i)]
#endif
#else
#define VALUE(k, j, i) s_memory[S_A + SLICE(j, i)]
#define FLUX_R(j, i) s_memory[S_B + SLICE(j, i)]
#define FLUX_S(j, i) s_memory[S_C + SLICE(j, i)]
#endif

/* Entries of the differentiation matrix for derivatives, and for the transpose along t. */
#if TRANSPOSED_GRAD
#define ROW_OF_GRAD(n, m) s_grad_t[(m) * ROW + (n)]
#else
#define ROW_OF_GRAD(n, m) GRAD(n, m)
#endif
#if GRAD_ROW_IN_REGISTERS
#define LAYER_OF_GRAD(n) r_grad[n]
#else
#define LAYER_OF_GRAD(n) ROW_OF_GRAD(k, n)
#endif

#if U_IN_REGISTERS
#define U(m) r_u[m]
#else
#define U(m) g_u[NODE(m, Y, X)]
#endif

KERNEL(bk3_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    const int i = THREAD_X, j = THREAD_Y;
    const bool node_column = i < Q && j < Q;
    SHARED real *s_interp = s_memory + S_INTERP, *s_grad = s_memory + S_GRAD;
    load_matrix(g_interp, Q, s_interp, INTERP_ROW);
    load_matrix(g_grad, G, s_grad, ROW);
#if TRANSPOSED_GRAD
    SHARED real *s_grad_t = s_memory + S_GRAD_T;
    s_grad_t[j * ROW + i] = g_grad[i * G + j];
#endif
    real r_values[G], r_tested[G];

#if IN_CUBE
    SHARED real *s_cube = s_memory + S_CUBE;
    load_nodes(g_u, s_cube);
    BARRIER();
    interpolate_along_j(s_interp, s_cube);
    BARRIER();
    interpolate_along_i(s_interp, s_cube);
    BARRIER();
    FOR(m, Q) r_values[m] = s_cube[CELL(m, j, i)];
    INTERPOLATE(r_values, TO_CUBE_K)
#if BARRIERS_BEFORE_LAYERS >= 1
    BARRIER();
#endif
#if COLUMN_IN_REGISTERS
    FOR(k, G) r_values[k] = s_cube[CELL(k, j, i)];
#endif
#if BARRIERS_BEFORE_LAYERS >= 2
    BARRIER();
#endif
#else
#if U_IN_REGISTERS
    real r_u[Q];
    if (node_column)
        FOR(m, Q) r_u[m] = g_u[NODE(m, j, i)];
#endif
    FOR(k, G)
    {
        BARRIER();
        real sum = 0;
        if (node_column)
            FOR(m, Q) sum += INTERP(k, m) * U(m);
        S_SLICE_A[SLICE(j, i)] = sum;
        BARRIER();
        sum = 0;
        if (j < Q)
            FOR(m, Q) sum += INTERP(i, m) * S_SLICE_A[SLICE(j, m)];
        S_SLICE_B[SLICE(j, i)] = sum;
        BARRIER();
        sum = 0;
        FOR(m, Q) sum += INTERP(j, m) * S_SLICE_B[SLICE(m, i)];
        r_values[k] = sum;
    }
#endif

    FOR(k, G) r_tested[k] = 0;
    FOR(k, G)
    {
        real r_factors[FACTORS], r_flux[3] = {0, 0, 0};
#if GRAD_ROW_IN_REGISTERS
        real r_grad[G];
#endif
#if FACTORS_EARLY == 2
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
        BARRIER();
#if FACTORS_EARLY == 1
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
#if !IN_CUBE
        VALUE(k, j, i) = r_values[k];
#endif
#if FACTORS_EARLY
        FOR(n, G)
        {
#if GRAD_ROW_IN_REGISTERS
            r_grad[n] = GRAD(k, n);
#endif
            r_flux[2] += LAYER_OF_GRAD(n) * r_values[n];
        }
#endif
#if COLUMN_IN_REGISTERS
        BARRIER();
#endif
        FOR(n, G)
        {
            r_flux[0] += ROW_OF_GRAD(i, n) * VALUE(k, j, n);
            r_flux[1] += ROW_OF_GRAD(j, n) * VALUE(k, n, i);
#if !COLUMN_IN_REGISTERS
            r_flux[2] += LAYER_OF_GRAD(n) * VALUE(n, j, i);
#elif !FACTORS_EARLY
            r_flux[2] += LAYER_OF_GRAD(n) * r_values[n];
#endif
        }
#if !FACTORS_EARLY
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
        point_flux(r_factors, r_flux);
        FLUX_R(j, i) = r_flux[0];
#if !ONE_SLICE
        FLUX_S(j, i) = r_flux[1];
#endif
#if COLUMN_IN_REGISTERS
        r_tested[k] += point_value(r_factors, lambda, r_values[k]);
#else
        r_tested[k] += point_value(r_factors, lambda, VALUE(k, j, i));
#endif
#if FACTORS_EARLY == 1
        FOR(n, G) r_tested[n] += LAYER_OF_GRAD(n) * r_flux[2];
#endif
        BARRIER();
        real sum = 0;
        FOR(n, G)
        {
            sum += GRAD(n, i) * FLUX_R(j, n);
#if !ONE_SLICE
            sum += GRAD(n, j) * FLUX_S(n, i);
#endif
        }
        r_tested[k] += sum;
#if FACTORS_EARLY != 1
        FOR(n, G) r_tested[n] += LAYER_OF_GRAD(n) * r_flux[2];
#endif
#if ONE_SLICE
        BARRIER();
        FLUX_S(j, i) = r_flux[1];
        BARRIER();
        sum = 0;
        FOR(n, G) sum += GRAD(n, j) * FLUX_S(n, i);
        r_tested[k] += sum;
#endif
    }

#if IN_CUBE
#if FACTORS_EARLY != 2
    BARRIER();
#endif
    FOR(k, G) s_cube[CELL(k, j, i)] = r_tested[k];
    BARRIER();
    project_along_j(s_interp, s_cube);
    BARRIER();
    project_along_i(s_interp, s_cube);
    BARRIER();
    project_along_k(s_interp, s_cube, g_v);
#else
    FOR(c, Q)
    {
        BARRIER();
        real sum = 0;
        FOR(n, G) sum += INTERP(n, c) * r_tested[n];
        S_SLICE_A[SLICE(j, i)] = sum;
        BARRIER();
        if (j < Q) {
            sum = 0;
            FOR(n, G) sum += INTERP(n, j) * S_SLICE_A[SLICE(n, i)];
            S_SLICE_B[SLICE(j, i)] = sum;
        }
        BARRIER();
        /* The first Q * Q threads, numbered flat. */
        const int thread = j * G + i, a = thread % Q, b = thread / Q;
        if (thread < Q * Q) {
            sum = 0;
            FOR(n, G) sum += INTERP(n, a) * S_SLICE_B[SLICE(b, n)];
            g_v[NODE(c, b, a)] = sum;
        }
    }
#endif
}
