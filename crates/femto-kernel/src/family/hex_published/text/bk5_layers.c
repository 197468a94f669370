/* v = A u, the screened Poisson operator collocated at the GLL nodes: one thread per column (i, j) of
 * an element, marching along k (Świrydowicz et al. 2019, algorithm 4).
 *
 * Definitions: ROW, K_OUTERMOST, SLICES, VALUES_IN_SHARED, GLOBAL_TEMPORARIES, U_IN_REGISTERS,
 * V_IN_REGISTERS, EARLY_FACTORS; the fields of Bk5Layers.
 */
#define COLUMN(k) NODE(k, j, i)
#define S_LAYER(j, i) ((j) * ROW + (i))

/* The fluxes along r and s of layer k, at (j, i). */
#if SLICES
#define FLUX_R(k, j, i) s_flux_r[S_LAYER(j, i)]
#define FLUX_S(k, j, i) s_flux_s[S_LAYER(j, i)]
#define FLUX_BARRIER() BARRIER()
#else
#define FLUX_R(k, j, i) s_flux_r[CELL(k, j, i)]
#define FLUX_S(k, j, i) g_flux_s[NODE(k, j, i)]
#define FLUX_BARRIER() BARRIER_ALL()
#endif

#if U_IN_REGISTERS
#define U(k) r_u[k]
#else
#define U(k) g_u[COLUMN(k)]
#endif
#if VALUES_IN_SHARED
#define VALUE(k, j, i) s_values[S_LAYER(j, i)]
#else
#define VALUE(k, j, i) g_u[NODE(k, j, i)]
#endif

/* Adds to an entry of the column of v, or initialises it the first time. */
#if V_IN_REGISTERS
#define ADD_TO_V(first, k, value) r_v[k] += (value);
#else
#define ADD_TO_V(first, k, value)                                                              \
    if (active)                                                                                \
        g_v[COLUMN(k)] = (first) ? (value) : g_v[COLUMN(k)] + (value);
#endif

KERNEL(bk5_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_grad = s_memory + S_GRAD;
    SHARED real *s_element = s_memory + S_ELEMENTS + LANE * S_ELEMENT_REALS;
    SHARED real *s_flux_r = s_element + S_FLUX_R;
#if SLICES
    SHARED real *s_flux_s = s_element + S_FLUX_S;
#else
    GLOBAL real *g_flux_s = g_scratch + G_FLUX_S;
#endif
#if VALUES_IN_SHARED
    SHARED real *s_values = s_element + S_VALUES;
#endif
#if GLOBAL_TEMPORARIES
    GLOBAL real *g_flux_t = g_scratch + G_FLUX_T;
#endif
#if U_IN_REGISTERS
    real r_u[Q];
    FOR(k, Q) r_u[k] = g_u[COLUMN(k)];
#endif
#if V_IN_REGISTERS
    real r_v[Q];
    FOR(k, Q) r_v[k] = 0;
#endif
    load_matrix(g_grad, Q * Q, s_grad);
    BARRIER();

    FOR(k, Q)
    {
        real r_factors[FACTORS];
        const real u = U(k);
#if VALUES_IN_SHARED
        s_values[S_LAYER(j, i)] = u;
#if EARLY_FACTORS
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
        BARRIER();
#endif
        real r_flux[3] = {0, 0, 0};
        FOR(n, Q)
        {
            r_flux[0] += s_grad[i * Q + n] * VALUE(k, j, n);
            r_flux[1] += s_grad[j * Q + n] * VALUE(k, n, i);
            r_flux[2] += s_grad[k * Q + n] * U(n);
        }
#if !EARLY_FACTORS
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
        point_flux(r_factors, r_flux);
        const real value = point_value(r_factors, lambda, u);

        FLUX_R(k, j, i) = r_flux[0];
        FLUX_S(k, j, i) = r_flux[1];
#if GLOBAL_TEMPORARIES
        g_flux_t[COLUMN(k)] = r_flux[2];
#else
        FOR(n, Q)
        {
            const real part = s_grad[k * Q + n] * r_flux[2];
            ADD_TO_V(k == 0, n, part)
        }
#endif
#if K_OUTERMOST
        FLUX_BARRIER();
        real sum = value;
        FOR(n, Q)
        {
            sum += s_grad[n * Q + i] * FLUX_R(k, j, n);
            sum += s_grad[n * Q + j] * FLUX_S(k, n, i);
        }
        ADD_TO_V(GLOBAL_TEMPORARIES, k, sum)
#if SLICES && !VALUES_IN_SHARED
        /* The next layer writes the slices before its first barrier. */
        BARRIER();
#endif
#else
        ADD_TO_V(true, k, value)
#endif
    }

#if !K_OUTERMOST
    FLUX_BARRIER();
    FOR(k, Q)
    {
        real sum = 0;
        FOR(n, Q)
        {
            sum += s_grad[n * Q + i] * FLUX_R(k, j, n);
            sum += s_grad[n * Q + j] * FLUX_S(k, n, i);
            sum += s_grad[n * Q + k] * g_flux_t[COLUMN(n)];
        }
        ADD_TO_V(false, k, sum)
    }
#elif GLOBAL_TEMPORARIES
    FOR(k, Q)
    {
        real sum = 0;
        FOR(n, Q) sum += s_grad[n * Q + k] * g_flux_t[COLUMN(n)];
        ADD_TO_V(false, k, sum)
    }
#endif
#if V_IN_REGISTERS
    FOR(k, Q)
        if (active)
            g_v[COLUMN(k)] = r_v[k];
#endif
}
