/* v = A u, the screened Poisson operator collocated at the GLL nodes: one thread per column (i, j) of an element,
 * marching along k (Świrydowicz et al. 2019, algorithm 4).
 *
 * Definitions: ONE_LOOP, VALUES_IN_CUBE, COLUMN_IN_REGISTERS, V_IN_REGISTERS; see Bk5Layers. A layer begins with a
 * barrier in ONE_LOOP.
 */
#define VALUES_IN_SLICE (COLUMN_IN_REGISTERS && !VALUES_IN_CUBE)
#define VALUES_IN_GLOBAL (!COLUMN_IN_REGISTERS && !VALUES_IN_CUBE)
/* The column is a copy of the cube's. */
#define COPIED (COLUMN_IN_REGISTERS && VALUES_IN_CUBE)

/* The values of layer k and of the thread's column. */
#if VALUES_IN_CUBE
#define VALUE(k, j, i) s_memory[S_VALUES + CELL(k, j, i)]
#elif VALUES_IN_SLICE
#define VALUE(k, j, i) s_memory[S_VALUES + SLICE(j, i)]
#else
#define VALUE(k, j, i) g_u[NODE(k, j, i)]
#endif
#if COLUMN_IN_REGISTERS
#define COLUMN(k) r_u[k]
#else
#define COLUMN(k) VALUE(k, j, i)
#endif

/* The fluxes along r and s of layer k. */
#if ONE_LOOP
#define FLUX_R(k, j, i) s_memory[S_FLUX_R + SLICE(j, i)]
#define FLUX_S(k, j, i) s_memory[S_FLUX_S + SLICE(j, i)]
#else
#define FLUX_R(k, j, i) g_scratch[G_FLUX_R + POINT(k, j, i)]
#define FLUX_S(k, j, i) s_memory[S_FLUX_S + CELL(k, j, i)]
#endif

#if V_IN_REGISTERS
#define V(k) r_v[k]
#else
#define V(k) g_v[NODE(k, j, i)]
#endif

KERNEL(bk5_layers)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    const int i = THREAD_X, j = THREAD_Y;
    SHARED real *s_grad = s_memory + S_GRAD;
    load_matrix(g_grad, Q, s_grad, ROW);
#if VALUES_IN_CUBE
    FOR(k, Q) VALUE(k, j, i) = g_u[NODE(k, j, i)];
#endif
#if V_IN_REGISTERS
    real r_v[Q];
#endif
    FOR(k, Q) V(k) = 0;
#if !V_IN_REGISTERS || COPIED
    BARRIER();
#endif
#if COPIED
    real r_u[Q];
    FOR(k, Q) r_u[k] = VALUE(k, j, i);
    BARRIER();
#elif COLUMN_IN_REGISTERS
    real r_u[Q];
    FOR(k, Q) r_u[k] = g_u[NODE(k, j, i)];
#endif
#if VALUES_IN_GLOBAL
    /* The derivatives along t of all layers. */
    real r_t[Q];
    FOR(k, Q)
    {
        real t = 0;
        FOR(n, Q) t += GRAD(k, n) * VALUE(n, j, i);
        r_t[k] = t;
    }
    BARRIER();
#endif

    FOR(k, Q)
    {
        real r_factors[FACTORS], r_flux[3] = {0, 0, 0};
#if VALUES_IN_SLICE
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
#if ONE_LOOP
        BARRIER();
#endif
#if COPIED
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
#if VALUES_IN_SLICE
        VALUE(k, j, i) = r_u[k];
#endif
#if COLUMN_IN_REGISTERS
        FOR(n, Q) r_flux[2] += GRAD(k, n) * r_u[n];
        BARRIER();
#endif
        FOR(n, Q)
        {
            r_flux[0] += GRAD(i, n) * VALUE(k, j, n);
            r_flux[1] += GRAD(j, n) * VALUE(k, n, i);
#if VALUES_IN_CUBE && !COLUMN_IN_REGISTERS
            r_flux[2] += GRAD(k, n) * VALUE(n, j, i);
#endif
        }
#if VALUES_IN_GLOBAL
        r_flux[2] = r_t[k];
#endif
#if !COLUMN_IN_REGISTERS
        load_factors(g_factors, POINT(k, j, i), r_factors);
#endif
        point_flux(r_factors, r_flux);
        FLUX_R(k, j, i) = r_flux[0];
        FLUX_S(k, j, i) = r_flux[1];
#if V_IN_REGISTERS
        V(k) += point_value(r_factors, lambda, COLUMN(k));
#else
        /* Even if a cube has u. */
        V(k) += point_value(r_factors, lambda, g_u[NODE(k, j, i)]);
#endif
        /* The transpose along t: before the barrier, or last. */
#if !V_IN_REGISTERS || COPIED
        FOR(n, Q) V(n) += GRAD(k, n) * r_flux[2];
#endif
#if ONE_LOOP
        BARRIER();
#else
    }
    BARRIER_ALL();
    FOR_LAST(k, Q)
    {
#endif
        real sum = 0;
        FOR_LAST(n, Q)
        {
            sum += GRAD(n, i) * FLUX_R(k, j, n);
            sum += GRAD(n, j) * FLUX_S(k, n, i);
        }
        V(k) += sum;
#if V_IN_REGISTERS && !COPIED
        FOR(n, Q) V(n) += GRAD(k, n) * r_flux[2];
#endif
    }
#if V_IN_REGISTERS
    FOR(k, Q) g_v[NODE(k, j, i)] = r_v[k];
#endif
}
