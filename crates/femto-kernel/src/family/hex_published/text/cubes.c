/* v = A u, the screened Poisson operator, collocated (INTERPOLATES is 0) or with Gauss points: one
 * thread per point (i, j, k) of an element (Świrydowicz et al. 2019, algorithms 4 and 5).
 *
 * Three parts: values at the points, differentiation and fluxes there, and back to the nodes. Collocated
 * operators have only the second. The parts are one kernel (ONE_LAUNCH) or three.
 *
 * Definitions: ROW, INTERPOLATES, ONE_LAUNCH, FACTORS_IN_REGISTERS, VALUES_IN_SHARED,
 * PARTIALS_IN_GLOBAL, FLUXES_IN_SHARED, EXCHANGE, ALL_GLOBAL, HANDED_OVER; see Cubes.
 * Shared cubes A, B, C, D and global arrays A, B serve several parts, one after the other.
 */

/* Values exchanged by threads within interpolation and projection. */
#if ALL_GLOBAL
#define TEMPORARY GLOBAL
#define T_CELL(k, j, i) POINT(k, j, i)
#define T_BARRIER() BARRIER_ALL()
#define T_FIRST (g_scratch + G_A)
#define T_SECOND (g_scratch + G_B)
#else
#define TEMPORARY SHARED
#define T_CELL(k, j, i) CELL(k, j, i)
#define T_BARRIER() BARRIER()
#define T_FIRST (s_element + S_A)
#define T_SECOND (s_element + S_B)
#endif

#define SETUP                                                                                  \
    SHARED_MEMORY(s_memory);                                                                   \
    PLACE                                                                                      \
    const int k = THREAD_Z % G;                                                                \
    SHARED real *s_element = s_memory + S_ELEMENTS + LANE * S_ELEMENT_REALS;

#if INTERPOLATES
/* u at the thread's point. t_a and t_b are [G][G][G]; the last read is of t_b. */
INLINE real interpolate(
    const SHARED real *s_interp, INPUT g_u, TEMPORARY real *t_a, TEMPORARY real *t_b)
{
    const int i = THREAD_X, j = THREAD_Y, k = THREAD_Z % G;
    real sum = 0;
    if (j < Q && k < Q) {
        FOR(m, Q) sum += s_interp[i * Q + m] * g_u[NODE(k, j, m)];
        t_a[T_CELL(k, j, i)] = sum;
    }
    T_BARRIER();
    if (k < Q) {
        sum = 0;
        FOR(m, Q) sum += s_interp[j * Q + m] * t_a[T_CELL(k, m, i)];
        t_b[T_CELL(k, j, i)] = sum;
    }
    T_BARRIER();
    sum = 0;
    FOR(m, Q) sum += s_interp[k * Q + m] * t_b[T_CELL(m, j, i)];
    return sum;
}

/* The thread's entry of v, from t_a at the points; 0 for threads without a node. */
INLINE real project(const SHARED real *s_interp, TEMPORARY real *t_a, TEMPORARY real *t_b)
{
    const int i = THREAD_X, j = THREAD_Y, k = THREAD_Z % G;
    real sum = 0;
    if (k < Q) {
        FOR(n, G) sum += s_interp[n * Q + k] * t_a[T_CELL(n, j, i)];
        t_b[T_CELL(k, j, i)] = sum;
    }
    T_BARRIER();
    if (k < Q && j < Q) {
        sum = 0;
        FOR(n, G) sum += s_interp[n * Q + j] * t_b[T_CELL(k, n, i)];
        t_a[T_CELL(k, j, i)] = sum;
    }
    T_BARRIER();
    sum = 0;
    if (k < Q && j < Q && i < Q)
        FOR(n, G) sum += s_interp[n * Q + i] * t_a[T_CELL(k, j, n)];
    return sum;
}
#endif

/* Values at all points are the input, or were written by this kernel. */
#if INTERPOLATES
#define VALUES GLOBAL real *
#else
#define VALUES INPUT
#endif

/* Source of the values to be differentiated: shared memory, or the caller's in global memory. */
#if VALUES_IN_SHARED
#define VALUE(k, j, i) s_values[CELL(k, j, i)]
#else
#define VALUE(k, j, i) g_values[POINT(k, j, i)]
#endif

/* One of three fluxes, as read by its transpose. */
#if FLUXES_IN_SHARED
#define FLUX(name, k, j, i) s_flux_##name[CELL(k, j, i)]
#define FLUX_BARRIER() BARRIER()
#else
#define FLUX(name, k, j, i) g_flux_##name[POINT(k, j, i)]
#define FLUX_BARRIER() BARRIER_ALL()
#endif

/* A partial derivative, until the fluxes are computed. */
#if PARTIALS_IN_GLOBAL
#define PARTIAL(name) g_partial_##name[POINT(k, j, i)]
#else
#define PARTIAL(name) r_partial_##name
#endif

/* One of the seven factors. */
#if FACTORS_IN_REGISTERS
#define FACTOR(f) r_factors[f]
#else
#define FACTOR(f) g_factors[(f) * (G * G * G) + POINT(k, j, i)]
#endif

/* The fluxes at (k, j, i): one after the other, each with its factors, or all at once if the factors are in
 * registers. */
#if FACTORS_IN_REGISTERS
#define MAKE_FLUXES(flux_r, flux_s, flux_t)                                                    \
    {                                                                                          \
        real r_flux[3] = {PARTIAL(r), PARTIAL(s), PARTIAL(t)};                                 \
        point_flux(r_factors, r_flux);                                                         \
        flux_r = r_flux[0];                                                                    \
        flux_s = r_flux[1];                                                                    \
        flux_t = r_flux[2];                                                                    \
    }
#else
#define MAKE_FLUXES(flux_r, flux_s, flux_t)                                                    \
    flux_r = FACTOR(0) * PARTIAL(r) + FACTOR(1) * PARTIAL(s) + FACTOR(2) * PARTIAL(t);         \
    flux_s = FACTOR(1) * PARTIAL(r) + FACTOR(3) * PARTIAL(s) + FACTOR(4) * PARTIAL(t);         \
    flux_t = FACTOR(2) * PARTIAL(r) + FACTOR(4) * PARTIAL(s) + FACTOR(5) * PARTIAL(t);
#endif

/* The sum at the thread's point to be tested with the value. g_values: the values of all points, for
 * schedules that keep them in global memory; `value` is the thread's own. */
INLINE real differentiate(real value, VALUES g_values, INPUT g_factors, real lambda,
    const SHARED real *s_grad, SHARED real *s_element, GLOBAL real *g_scratch)
{
    const int i = THREAD_X, j = THREAD_Y, k = THREAD_Z % G;
#if VALUES_IN_SHARED
    SHARED real *s_values = s_element + S_A;
    s_values[CELL(k, j, i)] = value;
    BARRIER();
#endif
#if FLUXES_IN_SHARED
    SHARED real *s_flux_r = s_element + S_B, *s_flux_s = s_element + S_C, *s_flux_t = s_element + S_D;
#elif !EXCHANGE
    GLOBAL real *g_flux_r = g_scratch + G_FLUX_R, *g_flux_s = g_scratch + G_FLUX_S,
                *g_flux_t = g_scratch + G_FLUX_T;
#endif
#if FACTORS_IN_REGISTERS
    real r_factors[FACTORS];
    load_factors(g_factors, POINT(k, j, i), r_factors);
#endif

    real r_sums[3] = {0, 0, 0};
    FOR(n, G)
    {
        r_sums[0] += s_grad[i * G + n] * VALUE(k, j, n);
        r_sums[1] += s_grad[j * G + n] * VALUE(k, n, i);
        r_sums[2] += s_grad[k * G + n] * VALUE(n, j, i);
    }
#if PARTIALS_IN_GLOBAL
    GLOBAL real *g_partial_r = g_scratch + G_PARTIAL_R, *g_partial_s = g_scratch + G_PARTIAL_S,
                *g_partial_t = g_scratch + G_PARTIAL_T;
    PARTIAL(r) = r_sums[0];
    PARTIAL(s) = r_sums[1];
    PARTIAL(t) = r_sums[2];
#else
    const real r_partial_r = r_sums[0], r_partial_s = r_sums[1], r_partial_t = r_sums[2];
#endif
#if FACTORS_IN_REGISTERS
    real sum = point_value(r_factors, lambda, value);
#else
    real sum = lambda * FACTOR(6) * value;
#endif

#if EXCHANGE
    /* Through one cube, free since the barrier after the values were written. */
    SHARED real *s_flux = s_element + S_B;
    real r_flux_r, r_flux_s, r_flux_t;
    MAKE_FLUXES(r_flux_r, r_flux_s, r_flux_t)
    s_flux[CELL(k, j, i)] = r_flux_r;
    BARRIER();
    FOR(n, G) sum += s_grad[n * G + i] * s_flux[CELL(k, j, n)];
    BARRIER();
    s_flux[CELL(k, j, i)] = r_flux_s;
    BARRIER();
    FOR(n, G) sum += s_grad[n * G + j] * s_flux[CELL(k, n, i)];
    BARRIER();
    s_flux[CELL(k, j, i)] = r_flux_t;
    BARRIER();
    FOR(n, G) sum += s_grad[n * G + k] * s_flux[CELL(n, j, i)];
#else
    MAKE_FLUXES(FLUX(r, k, j, i), FLUX(s, k, j, i), FLUX(t, k, j, i))
    FLUX_BARRIER();
    FOR(n, G)
    {
        sum += s_grad[n * G + i] * FLUX(r, k, j, n);
        sum += s_grad[n * G + j] * FLUX(s, k, n, i);
        sum += s_grad[n * G + k] * FLUX(t, n, j, i);
    }
#endif
    return sum;
}

#if !INTERPOLATES
KERNEL(cubes)(ARGUMENTS)
{
    SETUP
    SHARED real *s_grad = s_memory + S_GRAD;
    load_matrix(g_grad, G * G, s_grad);
    BARRIER();
    const real u = g_u[NODE(k, j, i)];
    const real v = differentiate(u, g_u, g_factors, lambda, s_grad, s_element, g_scratch);
    if (active)
        g_v[NODE(k, j, i)] = v;
}
#elif ONE_LAUNCH
KERNEL(cubes)(ARGUMENTS)
{
    SETUP
    SHARED real *s_interp = s_memory + S_INTERP, *s_grad = s_memory + S_GRAD;
    load_matrix(g_interp, G * Q, s_interp);
    load_matrix(g_grad, G * G, s_grad);
    BARRIER();
    real value = interpolate(s_interp, g_u, T_FIRST, T_SECOND);
#if HANDED_OVER
    g_scratch[G_A + POINT(k, j, i)] = value;
    BARRIER_ALL();
    value = g_scratch[G_A + POINT(k, j, i)];
    GLOBAL real *g_values = g_scratch + G_A;
#else
    GLOBAL real *g_values = g_scratch;
#endif
    value = differentiate(value, g_values, g_factors, lambda, s_grad, s_element, g_scratch);
#if HANDED_OVER
    g_scratch[G_B + POINT(k, j, i)] = value;
    BARRIER_ALL();
    value = g_scratch[G_B + POINT(k, j, i)];
#endif
#if ALL_GLOBAL
    value = project(s_interp, T_SECOND, T_FIRST);
#else
    /* The cube is free since the barrier after the fluxes were written. */
    SHARED real *s_first = T_FIRST;
    s_first[CELL(k, j, i)] = value;
    BARRIER();
    value = project(s_interp, T_FIRST, T_SECOND);
#endif
    if (active && k < Q && j < Q && i < Q)
        g_v[NODE(k, j, i)] = value;
}
#else
KERNEL(cubes_interpolate)(ARGUMENTS)
{
    SETUP
    SHARED real *s_interp = s_memory + S_INTERP;
    load_matrix(g_interp, G * Q, s_interp);
    BARRIER();
    const real value = interpolate(s_interp, g_u, T_FIRST, T_SECOND);
    g_scratch[G_A + POINT(k, j, i)] = value;
}

KERNEL(cubes_differentiate)(ARGUMENTS)
{
    SETUP
    SHARED real *s_grad = s_memory + S_GRAD;
    load_matrix(g_grad, G * G, s_grad);
    BARRIER();
    GLOBAL real *g_values = g_scratch + G_A;
    const real value = g_values[POINT(k, j, i)];
    g_scratch[G_B + POINT(k, j, i)] =
        differentiate(value, g_values, g_factors, lambda, s_grad, s_element, g_scratch);
}

KERNEL(cubes_project)(ARGUMENTS)
{
    SETUP
    SHARED real *s_interp = s_memory + S_INTERP;
    load_matrix(g_interp, G * Q, s_interp);
    BARRIER();
#if !ALL_GLOBAL
    SHARED real *s_first = T_FIRST;
    s_first[CELL(k, j, i)] = g_scratch[G_B + POINT(k, j, i)];
    BARRIER();
    const real v = project(s_interp, T_FIRST, T_SECOND);
#else
    const real v = project(s_interp, T_SECOND, T_FIRST);
#endif
    if (active && k < Q && j < Q && i < Q)
        g_v[NODE(k, j, i)] = v;
}
#endif
