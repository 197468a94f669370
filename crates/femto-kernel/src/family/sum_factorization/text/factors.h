/* The point step of forms lambda u, kappa grad u: the metric on a pencil along k.
 *
 * metric_along prepares the pencil at (j, i). At its point k, metric_value is the factor of values, and
 * metric_gradient replaces the reference derivatives (Świrydowicz et al. 2019, eq. 10):
 *
 *   lambda w det J   and   (r, s, t) <- kappa w det J  J^-1 J^-T (r, s, t)
 *
 * GEOMETRY_POINTS: geometry holds the factors [element][k][factor][j][i]: G_rr G_rs G_rt G_ss G_st
 *   G_tt if GRADIENTS, then lambda w det J if VALUES; in single precision if SINGLE_FACTORS, in shared
 *   memory if STAGED.
 * GEOMETRY_ELEMENT: the same without weights, constant per element, [element][factor].
 * GEOMETRY_MULTILINEAR: per element the coefficients of the map, [7][3], of xi, eta, xi eta, zeta,
 *   xi zeta, eta zeta, xi eta zeta; then lambda if VALUES, then kappa. Without GRADIENTS those of the
 *   polynomial lambda det J instead, [3][3][3] for powers of zeta, eta, xi.
 *
 * Per-element constants are read in pairs, see map.h. g_rule is points and weights, [POINTS_1D][2];
 * c_points and c_weights are the same.
 */
#define FACTORS (6 * GRADIENTS + VALUES)

/* (r, s, t) times a symmetric matrix. */
INLINE void multiply(real rr, real rs, real rt, real ss, real st, real tt, real *r, real *s, real *t)
{
    const real flux_r = rr * *r + rs * *s + rt * *t;
    const real flux_s = rs * *r + ss * *s + st * *t;
    const real flux_t = rt * *r + st * *s + tt * *t;
    *r = flux_r;
    *s = flux_s;
    *t = flux_t;
}

#if GEOMETRY_POINTS || GEOMETRY_ELEMENT

#if STAGED
#define FACTOR_MEMORY SHARED
#else
#define FACTOR_MEMORY GEOMETRY_MEMORY
#endif

typedef struct {
#if GEOMETRY_POINTS
    const FACTOR_MEMORY stored_real *stored;
#else
    real factors[FACTORS];
#endif
} metric;

INLINE metric metric_along(const FACTOR_MEMORY stored_real *geometry, const GLOBAL real *g_rule,
                           uint element, int j, int i)
{
    metric m;
#if GEOMETRY_POINTS
    const int layer = FACTORS * POINTS_1D * POINTS_1D;
    m.stored = geometry + (size_t)element * (layer * POINTS_1D) + j * POINTS_1D + i;
#else
    real r_factors[EVEN(FACTORS)];
    read_pairs(geometry + (size_t)element * EVEN(FACTORS), FACTORS, r_factors);
    const real weight = rule_at(g_rule, j).y * rule_at(g_rule, i).y;
    UNROLL for (int f = 0; f < FACTORS; ++f) m.factors[f] = weight * r_factors[f];
#endif
    return m;
}

INLINE real factor(const metric *m, int k, int f)
{
#if GEOMETRY_POINTS
    const FACTOR_MEMORY stored_real *stored =
        m->stored + (k * FACTORS + f) * (POINTS_1D * POINTS_1D);
#if STAGED
    return *stored;
#elif SINGLE_FACTORS
    return stream_load_single(stored);
#else
    return stream_load(stored);
#endif
#else
    return c_weights[k] * m->factors[f];
#endif
}

INLINE real metric_value(const metric *m, int k)
{
    return factor(m, k, FACTORS - 1);
}

INLINE void metric_gradient(const metric *m, int k, real *r, real *s, real *t)
{
    const real rr = factor(m, k, 0), rs = factor(m, k, 1), rt = factor(m, k, 2);
    const real ss = factor(m, k, 3), st = factor(m, k, 4), tt = factor(m, k, 5);
    multiply(rr, rs, rt, ss, st, tt, r, s, t);
}

#elif !GRADIENTS /* GEOMETRY_MULTILINEAR */

/* A quadratic polynomial in zeta. */
typedef struct {
    real determinant[3];
} metric;

INLINE metric metric_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule,
                           uint element, int j, int i)
{
    real r_map[EVEN(27)];
    read_pairs(geometry + (size_t)element * EVEN(27), 27, r_map);
    const real2 xi = rule_at(g_rule, i), eta = rule_at(g_rule, j);
    metric m;
    UNROLL for (int c = 0; c < 3; ++c)
    {
        real r_sum = 0;
        UNROLL for (int b = 2; b >= 0; --b)
        {
            const real *r_row = r_map + 9 * c + 3 * b;
            r_sum = r_sum * eta.x + (r_row[0] + xi.x * (r_row[1] + xi.x * r_row[2]));
        }
        m.determinant[c] = xi.y * eta.y * r_sum;
    }
    return m;
}

INLINE real metric_value(const metric *m, int k)
{
    const real zeta = c_points[k];
    return c_weights[k] *
           (m->determinant[0] + zeta * (m->determinant[1] + zeta * m->determinant[2]));
}

#else /* GEOMETRY_MULTILINEAR */

#define MAP_NUMBERS (22 + VALUES)

typedef struct {
    trilinear map;
    real lambda, kappa;
} metric;

INLINE metric metric_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule,
                           uint element, int j, int i)
{
    real r_map[EVEN(MAP_NUMBERS)];
    read_pairs(geometry + (size_t)element * EVEN(MAP_NUMBERS), MAP_NUMBERS, r_map);
    const real2 xi = rule_at(g_rule, i), eta = rule_at(g_rule, j);
    const real weight = xi.y * eta.y;
    metric m;
    m.map = trilinear_along(r_map, xi.x, eta.x);
    m.lambda = VALUES ? weight * r_map[21] : 0;
    m.kappa = weight * r_map[21 + VALUES];
    return m;
}

INLINE real metric_value(const metric *m, int k)
{
    return c_weights[k] * m->lambda * trilinear_at(&m->map, c_points[k]).determinant;
}

INLINE void metric_gradient(const metric *m, int k, real *r, real *s, real *t)
{
    const jacobian J = trilinear_at(&m->map, c_points[k]);
    const vector x = J.x, y = J.y, z = J.z;
    const real scale = c_weights[k] * m->kappa * reciprocal(J.determinant);
#if COUPLED > 1
    /* The matrix is the same for all components. */
    const vector u = {scale * x.x, scale * x.y, scale * x.z}, v = {scale * y.x, scale * y.y, scale * y.z};
    multiply(inner_product(u, x), inner_product(u, y), inner_product(u, z), inner_product(v, y),
             inner_product(v, z), scale * inner_product(z, z), r, s, t);
#else
    const vector flux = {scale * (x.x * *r + y.x * *s + z.x * *t),
                         scale * (x.y * *r + y.y * *s + z.y * *t),
                         scale * (x.z * *r + y.z * *s + z.z * *t)};
    *r = inner_product(x, flux);
    *s = inner_product(y, flux);
    *t = inner_product(z, flux);
#endif
}

#endif

#define step_inputs metric

#if STAGED

#define STEP_INPUTS(place) metric_along(s_factors, g_rule, 0, (place)->slow, (place)->fast)

/* Starts to copy all factors of the thread's element to shared memory, after the slots. */
INLINE SHARED stored_real *stage_factors(const place *t, SHARED real *s_memory,
                                         const GLOBAL stored_real *g_geometry)
{
    const int numbers = FACTORS * PENCILS * POINTS_1D, together = COPY_BYTES / STORED_BYTES;
    const GLOBAL stored_real *g_factors = g_geometry + (size_t)t->element * numbers;
    SHARED stored_real *s_factors = (SHARED stored_real *)(s_memory + STAGE_START) + t->slot * STAGE;
    for (int n = (t->slow * POINTS_1D + t->fast) * together; n < numbers; n += PENCILS * together)
        ASYNC_COPY(COPY_BYTES, s_factors + n, g_factors + n);
    return s_factors;
}

#else

#define STEP_INPUTS(place)                                                                     \
    metric_along(geometry, g_rule, GEOMETRY_AT(place), (place)->slow, (place)->fast)

#endif

/* Applies the metric at point k to the components taken together: replaces r_u and r_g, values and reference
 * derivatives. */
INLINE void point_step(const place *t, const point_data *d, int k, const metric *m, real *r_u, real *r_g)
{
    ALL(c, COUPLED)
    {
#if VALUES
        r_u[c] *= metric_value(m, k);
#endif
#if GRADIENTS
        metric_gradient(m, k, r_g + 3 * c, r_g + 3 * c + 1, r_g + 3 * c + 2);
#endif
    }
}

#if PENCIL_PER_THREAD
/* Applies the metric at all points of the pencil: values first, whose loop is unrolled if they are in
 * registers. */
INLINE void point_steps(const place *t, point_data *d, const metric *m)
{
#if VALUES
    EACH(k, POINTS_1D)
    {
        const real factor = metric_value(m, k);
        ALL(c, COUPLED) put(t, d, c, 0, k, get(t, d, c, 0, k) * factor);
    }
#endif
#if GRADIENTS
    EACH_POINT(k)
    {
        ALL(c, COUPLED)
        {
            real r = get(t, d, c, 1, k), s = get(t, d, c, 2, k), p = get(t, d, c, 3, k);
            metric_gradient(m, k, &r, &s, &p);
            put(t, d, c, 1, k, r);
            put(t, d, c, 2, k, s);
            put(t, d, c, 3, k, p);
        }
    }
#endif
}
#endif
