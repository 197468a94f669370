/* v = A u, the screened Poisson operator, collocated (INTERPOLATES is 0) or with Gauss points: one thread per point
 * (i, j, k) of an element (Świrydowicz et al. 2019, algorithms 4 and 5).
 *
 * Three parts: values at the points, along i, j, k; differentiation and fluxes there; back to the nodes, along k, j,
 * i. Collocated operators have only the second. The parts are one kernel (ONE_LAUNCH) or three.
 *
 * Definitions: INTERPOLATES, ONE_LAUNCH, FACTORS_IN_REGISTERS, SUM_IN_REGISTERS, VALUES_IN_CUBE, EXCHANGE_IN_CUBE,
 * HANDED_OVER, OWN_CUBES; see Cubes. No cube is padded: all arrays are indexed by POINT.
 */
#define PLACE_OF_THREAD                                                                        \
    const int i = THREAD_X, j = THREAD_Y, k = THREAD_Z, point = POINT(k, j, i);

/* ---- Differentiation ---- */

/* Values to be differentiated, and one flux after the other: in cube A, or in global memory. */
#if VALUES_IN_CUBE
#define VALUES const SHARED real *
#define FLUX SHARED real *
#define FLUX_ARRAY (s_memory + S_A)
#define FLUX_BARRIER() BARRIER()
#else
#if INTERPOLATES
#define VALUES const GLOBAL real *
#else
#define VALUES INPUT
#endif
#define FLUX GLOBAL real *
#define FLUX_ARRAY (g_scratch + G_A)
#define FLUX_BARRIER() BARRIER_ALL()
#endif

/* The place of the sum that is tested with the value at the point. */
#if SUM_IN_REGISTERS
#define SUM real *
#elif OWN_CUBES
#define SUM SHARED real *
#else
#define SUM GLOBAL real *
#endif

/* One of the seven factors. */
#if FACTORS_IN_REGISTERS
#define FACTOR(f) r_factors[f]
#else
#define FACTOR(f) g_factors[(f) * (G * G * G) + point]
#endif

/* *sum = what is tested with the value. With OWN_CUBES all fluxes are in cubes B, C and D at once. */
INLINE void differentiate(VALUES values, INPUT g_factors, real lambda, SHARED real *s_memory,
    GLOBAL real *g_scratch, SUM sum)
{
    PLACE_OF_THREAD
    const SHARED real *s_grad = s_memory + S_GRAD;
#if FACTORS_IN_REGISTERS
    real r_factors[FACTORS];
    load_factors(g_factors, point, r_factors);
#endif
    real r = 0, s = 0, t = 0, part = 0;
    FOR(n, G)
    {
        r += GRAD(i, n) * values[POINT(k, j, n)];
        s += GRAD(j, n) * values[POINT(k, n, i)];
        t += GRAD(k, n) * values[POINT(n, j, i)];
    }
    *sum = lambda * FACTOR(6) * values[point];
#if OWN_CUBES
    SHARED real *s_flux_r = s_memory + S_C, *s_flux_s = s_memory + S_B, *s_flux_t = s_memory + S_D;
    s_flux_r[point] = FACTOR(0) * r + FACTOR(1) * s + FACTOR(2) * t;
    s_flux_s[point] = FACTOR(1) * r + FACTOR(3) * s + FACTOR(4) * t;
    s_flux_t[point] = FACTOR(2) * r + FACTOR(4) * s + FACTOR(5) * t;
    BARRIER();
    FOR(n, G)
    {
        part += GRAD(n, i) * s_flux_r[POINT(k, j, n)];
        part += GRAD(n, j) * s_flux_s[POINT(k, n, i)];
        part += GRAD(n, k) * s_flux_t[POINT(n, j, i)];
    }
    *sum += part;
#else
    FLUX flux = FLUX_ARRAY;
    FLUX_BARRIER();
    flux[point] = FACTOR(0) * r + FACTOR(1) * s + FACTOR(2) * t;
    FLUX_BARRIER();
    FOR(n, G) part += GRAD(n, i) * flux[POINT(k, j, n)];
    *sum += part;
    FLUX_BARRIER();
    flux[point] = FACTOR(1) * r + FACTOR(3) * s + FACTOR(4) * t;
    FLUX_BARRIER();
    part = 0;
    FOR(n, G) part += GRAD(n, j) * flux[POINT(k, n, i)];
    *sum += part;
    FLUX_BARRIER();
    flux[point] = FACTOR(2) * r + FACTOR(4) * s + FACTOR(5) * t;
    FLUX_BARRIER();
    part = 0;
    FOR(n, G) part += GRAD(n, k) * flux[POINT(n, j, i)];
    *sum += part;
#endif
}

#if !INTERPOLATES
KERNEL(cubes)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    PLACE_OF_THREAD
    load_matrix(g_grad, G, s_memory + S_GRAD, ROW);
#if VALUES_IN_CUBE
    SHARED real *values = s_memory + S_A;
    values[point] = g_u[point];
#else
    INPUT values = g_u;
#endif
    BARRIER();
#if SUM_IN_REGISTERS
    real sum;
    differentiate(values, g_factors, lambda, s_memory, g_scratch, &sum);
    g_v[point] = sum;
#else
    differentiate(values, g_factors, lambda, s_memory, g_scratch, g_v + point);
#endif
}

#else

/* ---- Interpolation and projection ---- */

/* Two arrays through which threads exchange numbers, a and b: global arrays, one shared cube for both, or two. */
#if EXCHANGE_IN_CUBE
#define EXCHANGE SHARED real *
#define EXCHANGE_BARRIER() BARRIER()
#define EXCHANGE_A (s_memory + S_A)
#if OWN_CUBES
#define EXCHANGE_B (s_memory + S_B)
#else
#define EXCHANGE_B EXCHANGE_A
#endif
#define NODAL(k, j, i) b[POINT(k, j, i)]
#else
#define EXCHANGE GLOBAL real *
#define EXCHANGE_BARRIER() BARRIER_ALL()
#define EXCHANGE_A (g_scratch + G_A)
#define EXCHANGE_B (g_scratch + G_B)
#define NODAL(k, j, i) g_u[NODE(k, j, i)]
#endif

/* Before a number is written to an array that other threads have read: for one cube, and on the way back for global
 * arrays too, though they take turns. */
#if EXCHANGE_IN_CUBE && !OWN_CUBES
#define WAIT_TO_POINTS() BARRIER()
#else
#define WAIT_TO_POINTS()
#endif
#if OWN_CUBES
#define WAIT_TO_NODES()
#else
#define WAIT_TO_NODES() EXCHANGE_BARRIER()
#endif

/* target = the sum of Q terms, or 0 if it is not wanted; with OWN_CUBES the sum runs in the target. */
#if OWN_CUBES
#define CONTRACT(target, wanted, term)                                                         \
    target = 0;                                                                                \
    if (wanted)                                                                                \
        FOR(m, Q) target += term;
#else
#define CONTRACT(target, wanted, term)                                                         \
    {                                                                                          \
        real sum = 0;                                                                          \
        if (wanted)                                                                            \
            FOR(m, Q) sum += term;                                                             \
        WAIT_TO_POINTS();                                                                      \
        target = sum;                                                                          \
    }
#endif

/* u to b, by the first Q * Q * Q threads, if threads exchange numbers in shared memory. */
INLINE void load_nodes(INPUT g_u, EXCHANGE b)
{
#if EXCHANGE_IN_CUBE
    const int node = POINT(THREAD_Z, THREAD_Y, THREAD_X);
    if (node < Q * Q * Q)
        b[POINT(node / (Q * Q), node / Q % Q, node % Q)] = g_u[node];
#endif
}

/* Along i and j, from u to b; a is used. */
INLINE void interpolate_along_ij(const SHARED real *s_interp, INPUT g_u, EXCHANGE a, EXCHANGE b)
{
    PLACE_OF_THREAD
    CONTRACT(a[point], k < Q && j < Q, INTERP(i, m) * NODAL(k, j, m))
    EXCHANGE_BARRIER();
    CONTRACT(b[point], k < Q, INTERP(j, m) * a[POINT(k, m, i)])
    EXCHANGE_BARRIER();
}

/* Along k, from b to the values in global memory. */
INLINE void interpolate_along_k(const SHARED real *s_interp, EXCHANGE b, GLOBAL real *g_values)
{
    PLACE_OF_THREAD
    real sum = 0;
    FOR(m, Q) sum += INTERP(k, m) * b[POINT(m, j, i)];
    g_values[point] = sum;
}

/* Back along k, j, i, from `tested` to v; b is used. */
INLINE void project(const SHARED real *s_interp, EXCHANGE tested, EXCHANGE b, GLOBAL real *g_v)
{
    PLACE_OF_THREAD
    real sum = 0;
    if (k < Q)
        FOR(n, G) sum += INTERP(n, k) * tested[POINT(n, j, i)];
    WAIT_TO_NODES();
    b[point] = sum;
    EXCHANGE_BARRIER();
    sum = 0;
    if (k < Q && j < Q)
        FOR(n, G) sum += INTERP(n, j) * b[POINT(k, n, i)];
    WAIT_TO_NODES();
#if OWN_CUBES
    if (k < Q && j < Q)
#endif
        tested[point] = sum;
    EXCHANGE_BARRIER();
    if (k < Q && j < Q && i < Q) {
        sum = 0;
        FOR(n, G) sum += INTERP(n, i) * tested[POINT(k, j, n)];
        g_v[NODE(k, j, i)] = sum;
    }
}

#if ONE_LAUNCH
KERNEL(cubes)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    PLACE_OF_THREAD
    SHARED real *s_interp = s_memory + S_INTERP, *s_grad = s_memory + S_GRAD;
    EXCHANGE a = EXCHANGE_A;
    EXCHANGE b = EXCHANGE_B;
    load_matrix(g_interp, Q, s_interp, INTERP_ROW);
#if OWN_CUBES
    load_matrix(g_grad, G, s_grad, ROW);
#endif
    load_nodes(g_u, b);
    BARRIER();

    interpolate_along_ij(s_interp, g_u, a, b);
#if HANDED_OVER
    /* Through global memory, even to a cube. */
    GLOBAL real *g_values = g_scratch + G_A, *g_tested = g_scratch + G_B;
    interpolate_along_k(s_interp, b, g_values);
    BARRIER_ALL();
#if VALUES_IN_CUBE
    SHARED real *values = s_memory + S_A;
    values[point] = g_values[point];
#else
    GLOBAL real *values = g_values;
#endif
#else
    SHARED real *values = a;
    CONTRACT(values[point], true, INTERP(k, m) * b[POINT(m, j, i)])
#endif
#if !OWN_CUBES
    load_matrix(g_grad, G, s_grad, ROW);
#endif
    BARRIER();

#if SUM_IN_REGISTERS
    real sum;
    differentiate(values, g_factors, lambda, s_memory, g_scratch, &sum);
#elif OWN_CUBES
    SHARED real *s_sum = s_memory + S_TESTED + point;
    differentiate(values, g_factors, lambda, s_memory, g_scratch, s_sum);
    const real sum = *s_sum;
#else
    differentiate(values, g_factors, lambda, s_memory, g_scratch, g_tested + point);
#endif
#if HANDED_OVER
#if SUM_IN_REGISTERS
    g_tested[point] = sum;
#endif
    BARRIER_ALL();
#if EXCHANGE_IN_CUBE
    a[point] = g_tested[point];
    BARRIER();
#endif
#else
    WAIT_TO_NODES();
    a[point] = sum;
    BARRIER();
#endif
#if EXCHANGE_IN_CUBE
    project(s_interp, a, b, g_v);
#else
    project(s_interp, b, a, g_v);
#endif
}

#else
KERNEL(cubes_interpolate)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_interp = s_memory + S_INTERP;
    load_matrix(g_interp, Q, s_interp, INTERP_ROW);
    BARRIER();
    interpolate_along_ij(s_interp, g_u, EXCHANGE_A, EXCHANGE_B);
    interpolate_along_k(s_interp, EXCHANGE_B, EXCHANGE_A);
}

KERNEL(cubes_differentiate)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    PLACE_OF_THREAD
    load_matrix(g_grad, G, s_memory + S_GRAD, ROW);
    BARRIER();
    differentiate(EXCHANGE_A, g_factors, lambda, s_memory, g_scratch, EXCHANGE_B + point);
}

KERNEL(cubes_project)(ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    PLACE
    SHARED real *s_interp = s_memory + S_INTERP;
    load_matrix(g_interp, Q, s_interp, INTERP_ROW);
    BARRIER();
    project(s_interp, EXCHANGE_B, EXCHANGE_A, g_v);
}
#endif
#endif
