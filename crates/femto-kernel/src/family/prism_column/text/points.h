/* Any form, at the points of a prism, level by level.
 *
 *   c_tables    of the triangle (triangle.h); of the line: values [point][node], derivatives, weights, positions
 */
#define L_INTERP(q, k) c_tables[L_TABLES + (q) * LINE_NODES + (k)]
#define L_GRAD(q, k) c_tables[L_TABLES + (LINE_POINTS + (q)) * LINE_NODES + (k)]
#define L_WEIGHT(q) c_tables[L_TABLES + 2 * LINE_POINTS * LINE_NODES + (q)]
#define L_POSITION(q) c_tables[L_TABLES + 2 * LINE_POINTS * LINE_NODES + LINE_POINTS + (q)]

/* Derivatives along the triangle are the same at all of its points. */
#define DEGREE_ONE (TRIANGLE_NODES == 3)

#define FIELD_LINES (NODAL_FIELDS * TRIANGLE_NODES)

/* Values and derivatives upwards of levels: a thread's own, or in shared memory, LEVEL_STRIDE apart. */
#if BY_LEVEL
#define LEVEL SHARED real
#define LEVEL_STRIDE (LINE_POINTS * BLOCK_X)
#else
#define LEVEL real
#define LEVEL_STRIDE 1
#endif

/* Value u and derivative upwards w of a line of nodes at level b. */
INLINE void to_level(int b, const real *r_line, LEVEL *u, LEVEL *w)
{
    real value = 0, up = 0;
    EACH(k, LINE_NODES)
    {
        value += L_INTERP(b, k) * r_line[k];
        up += L_GRAD(b, k) * r_line[k];
    }
    *u = value;
    *w = up;
}

/* Adds what is tested with values and derivatives at level b. */
INLINE void add_level(int b, real f0, real f1, real *r_line)
{
    EACH(k, LINE_NODES)
    {
        r_line[k] += L_INTERP(b, k) * f0;
#if WRITES_GRADIENTS
        r_line[k] += L_GRAD(b, k) * f1;
#endif
    }
}

/* What a form reads at a point besides u, and the map there. */
typedef struct {
    /* z_ξ and z_η, 1 / z_ζ, the weight times the Jacobian's determinant. */
    real slopes[2], inverse_up, scale;
    real a[SOME(FIELDS)], grad_a[SOME(FIELDS) * 3], x[3], parameters[SOME(PARAMETERS)];
} point;

/* The gradient whose reference derivatives are `along` the triangle, at constant ζ, and up_ζ. */
INLINE void gradient(const real *r_along, real up, const prism *p, const point *at, real *r_gradient)
{
    real along[2];
    r_gradient[2] = at->inverse_up * up;
    /* Less the slope of the level. */
    EACH(r, 2) along[r] = r_along[r] - at->slopes[r] * r_gradient[2];
    EACH(d, 2) r_gradient[d] = along[0] * p->inverse[d] + along[1] * p->inverse[2 + d];
}

/* The transpose, times `scale`: of fluxes that are tested with gradients, what is tested with derivatives along the triangle, r_flux;
 * returns that upwards. */
INLINE real reference_fluxes(const real *r_fluxes, const prism *p, const point *at, real *r_flux)
{
    EACH(r, 2) r_flux[r] = at->scale * (p->inverse[2 * r] * r_fluxes[0] + p->inverse[2 * r + 1] * r_fluxes[1]);
    return at->inverse_up * (at->scale * r_fluxes[2] - at->slopes[0] * r_flux[0] - at->slopes[1] * r_flux[1]);
}

/* From a level's values u and derivatives w at the nodes of the triangle to point q. */
INLINE real level_value(int q, const LEVEL *u)
{
    real sum = 0;
    EACH(t, TRIANGLE_NODES) sum += T_INTERP(q, t) * u[t * LEVEL_STRIDE];
    return sum;
}

INLINE void level_gradient(
    int q, const LEVEL *u, const LEVEL *w, const prism *p, const point *at, real *r_gradient)
{
#if DEGREE_ONE
    real along[2] = {u[LEVEL_STRIDE] - u[0], u[2 * LEVEL_STRIDE] - u[0]};
#else
    real along[2] = {0, 0};
    EACH(t, TRIANGLE_NODES) EACH(r, 2) along[r] += T_GRAD(q, t, r) * u[t * LEVEL_STRIDE];
#endif
    gradient(along, level_value(q, w), p, at, r_gradient);
}

#define OF(c, values) ((values) + (c) * TRIANGLE_NODES * LEVEL_STRIDE)

/* Point q of level b, with fields whose values and derivatives upwards are field_u and field_w, [field][t]. */
INLINE point point_of(int b, int q, const prism *p, const LEVEL *field_u, const LEVEL *field_w)
{
    point at;
    const real *h = p->h;
    const real xi = T_POSITION(q, 0), eta = T_POSITION(q, 1), above = 1 + L_POSITION(b);
    /* In columns of parallel triangles the map's derivatives are the same at all points. */
    EACH(r, 2) at.slopes[r] = p->low[r + 1] - p->low[0] + (PARALLEL ? 0 : above * (h[r + 1] - h[0]));
    const real z_up = PARALLEL ? h[0] : h[0] + xi * (h[1] - h[0]) + eta * (h[2] - h[0]);
    at.inverse_up = reciprocal(z_up);
    at.scale = T_WEIGHT(q) * L_WEIGHT(b) * (p->determinant * z_up);
    EACH(n, FIELDS * 3) at.grad_a[n] = 0;
    EACH(n, CELL_FIELDS) at.a[CELL_FIELD(n)] = p->g_cell_fields[n];
    EACH(n, NODAL_FIELDS)
    {
        at.a[NODAL_FIELD(n)] = level_value(q, OF(n, field_u));
#if FIELD_GRADIENTS
        level_gradient(q, OF(n, field_u), OF(n, field_w), p, &at, at.grad_a + NODAL_FIELD(n) * 3);
#endif
    }
    EACH(n, POINT_FIELDS) at.a[POINT_FIELD(n)] = p->g_point_fields[n * POINTS + b * TRIANGLE_POINTS + q];
#if POSITIONS
    EACH(d, 2)
    {
        at.x[d] = p->base[d] + xi * (p->base[2 + d] - p->base[d]) + eta * (p->base[4 + d] - p->base[d]);
    }
    at.x[2] = p->low[0] + above * h[0] + xi * at.slopes[0] + eta * at.slopes[1];
#endif
    EACH(n, PARAMETERS) at.parameters[n] = p->g_context[1 + n];
    return at;
}

/* Sums over the points of level b, over the nodes of the triangle: r_f0, tested with values, and r_f1, with derivatives upwards, of
 * u, w and those of fields, all [component][t]. */
INLINE void evaluate_level(int b, const prism *p, const LEVEL *u, const LEVEL *w, const LEVEL *field_u,
    const LEVEL *field_w, real *r_f0, real *r_f1)
{
    EACH(n, TOGETHER * TRIANGLE_NODES) r_f0[n] = r_f1[n] = 0;
#if DEGREE_ONE && WRITES_GRADIENTS
    real level_flux[TOGETHER][2];
    EACH(c, TOGETHER) EACH(r, 2) level_flux[c][r] = 0;
#endif
    OUTER_LOOP for (int q = 0; q < TRIANGLE_POINTS; ++q)
    {
        const point at = point_of(b, q, p, field_u, field_w);
        real r_value[COMPONENTS], r_gradient[COMPONENTS * 3], r_tested[COMPONENTS], r_fluxes[COMPONENTS * 3];
        EACH(c, TOGETHER)
        {
            r_value[c] = level_value(q, OF(c, u));
#if READS_GRADIENTS
            level_gradient(q, OF(c, u), OF(c, w), p, &at, r_gradient + c * 3);
#endif
        }
        EACH(c, COMPONENTS - TOGETHER)
        {
            r_value[TOGETHER + c] = 0;
            EACH(d, 3) r_gradient[(TOGETHER + c) * 3 + d] = 0;
        }
        point_form(
            r_value, r_gradient, at.a, at.grad_a, at.x, at.parameters, p->g_context[0], r_tested, r_fluxes);
        EACH(c, TOGETHER)
        {
#if WRITES_VALUES
            const real f0 = at.scale * r_tested[c];
            EACH(t, TRIANGLE_NODES) r_f0[c * TRIANGLE_NODES + t] += T_INTERP(q, t) * f0;
#endif
#if WRITES_GRADIENTS
            real flux[2];
            const real up = reference_fluxes(r_fluxes + c * 3, p, &at, flux);
#if DEGREE_ONE
            EACH(r, 2) level_flux[c][r] += flux[r];
#else
            EACH(t, TRIANGLE_NODES)
            {
                r_f0[c * TRIANGLE_NODES + t] += T_GRAD(q, t, 0) * flux[0] + T_GRAD(q, t, 1) * flux[1];
            }
#endif
            EACH(t, TRIANGLE_NODES) r_f1[c * TRIANGLE_NODES + t] += T_INTERP(q, t) * up;
#endif
        }
    }
#if DEGREE_ONE && WRITES_GRADIENTS
    EACH(c, TOGETHER)
    {
        r_f0[c * TRIANGLE_NODES] -= level_flux[c][0] + level_flux[c][1];
        EACH(r, 2) r_f0[c * TRIANGLE_NODES + r + 1] += level_flux[c][r];
    }
#endif
}

#if !BY_LEVEL
/* r_v = A r_u of a prism, [component][t][k]. */
INLINE void evaluate_prism(const prism *p, const real *r_u, const real *r_fields, real *r_v)
{
    EACH(n, UNKNOWNS) r_v[n] = 0;
    OUTER_LOOP for (int b = 0; b < LINE_POINTS; ++b)
    {
        real u[TOGETHER * TRIANGLE_NODES], w[TOGETHER * TRIANGLE_NODES];
        real f0[TOGETHER * TRIANGLE_NODES], f1[TOGETHER * TRIANGLE_NODES];
        real field_u[SOME(NODAL_FIELDS) * TRIANGLE_NODES], field_w[SOME(NODAL_FIELDS) * TRIANGLE_NODES];
        EACH(n, TOGETHER * TRIANGLE_NODES) to_level(b, r_u + n * LINE_NODES, u + n, w + n);
        EACH(n, NODAL_FIELDS * TRIANGLE_NODES) to_level(b, r_fields + n * LINE_NODES, field_u + n, field_w + n);
        evaluate_level(b, p, u, w, field_u, field_w, f0, f1);
        EACH(n, TOGETHER * TRIANGLE_NODES) add_level(b, f0[n], f1[n], r_v + n * LINE_NODES);
    }
}
#endif
