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

/* Values u and derivatives upwards w of level b, over the nodes of the triangle. */
INLINE void to_level(int b, const real *r_nodes, real *r_u, real *r_w)
{
    EACH(t, TRIANGLE_NODES)
    {
        real u = 0, w = 0;
        EACH(k, LINE_NODES)
        {
            u += L_INTERP(b, k) * r_nodes[AT(t, k)];
            w += L_GRAD(b, k) * r_nodes[AT(t, k)];
        }
        r_u[t] = u;
        r_w[t] = w;
    }
}

/* From a level's values u and derivatives w at the nodes of the triangle to point q. */
INLINE real level_value(int q, const real *r_u)
{
    real sum = 0;
    EACH(t, TRIANGLE_NODES) sum += T_INTERP(q, t) * r_u[t];
    return sum;
}

INLINE void level_gradient(int q, const real *r_u, const real *r_w, const real *r_slopes, real inverse_up,
    const prism *p, real *r_gradient)
{
#if DEGREE_ONE
    real along[2] = {r_u[1] - r_u[0], r_u[2] - r_u[0]};
#else
    real along[2] = {0, 0};
    EACH(t, TRIANGLE_NODES) EACH(r, 2) along[r] += T_GRAD(q, t, r) * r_u[t];
#endif
    const real up = inverse_up * level_value(q, r_w);
    /* Along the base at constant ζ, less the slope of the level. */
    EACH(r, 2) along[r] -= r_slopes[r] * up;
    EACH(d, 2) r_gradient[d] = along[0] * p->inverse[d] + along[1] * p->inverse[2 + d];
    r_gradient[2] = up;
}

/* r_v = A r_u of a prism, [component][t][k]. */
INLINE void evaluate_prism(const prism *p, const real *r_u, const real *r_fields, real *r_v)
{
    EACH(n, UNKNOWNS) r_v[n] = 0;
    OUTER_LOOP for (int b = 0; b < LINE_POINTS; ++b)
    {
        /* At this level: values and derivatives upwards over the nodes of the triangle, and their sums. */
        real level_u[TOGETHER][TRIANGLE_NODES], level_w[TOGETHER][TRIANGLE_NODES];
        real level_f0[TOGETHER][TRIANGLE_NODES], level_f1[TOGETHER][TRIANGLE_NODES];
        real field_u[SOME(NODAL_FIELDS)][TRIANGLE_NODES], field_w[SOME(NODAL_FIELDS)][TRIANGLE_NODES];
        EACH(c, TOGETHER)
        {
            to_level(b, r_u + c * NODES, level_u[c], level_w[c]);
            EACH(t, TRIANGLE_NODES) level_f0[c][t] = level_f1[c][t] = 0;
        }
#if DEGREE_ONE && WRITES_GRADIENTS
        real level_flux[TOGETHER][2];
        EACH(c, TOGETHER) EACH(r, 2) level_flux[c][r] = 0;
#endif
        EACH(n, NODAL_FIELDS) to_level(b, r_fields + n * NODES, field_u[n], field_w[n]);
        const real *h = p->h;
        const real above = 1 + L_POSITION(b);
        /* In columns of parallel triangles the map's derivatives are the same at all points. */
        real slopes[2];
        EACH(r, 2) slopes[r] = p->low[r + 1] - p->low[0] + (PARALLEL ? 0 : above * (h[r + 1] - h[0]));
        OUTER_LOOP for (int q = 0; q < TRIANGLE_POINTS; ++q)
        {
            const real xi = T_POSITION(q, 0), eta = T_POSITION(q, 1);
            const real z_up = PARALLEL ? h[0] : h[0] + xi * (h[1] - h[0]) + eta * (h[2] - h[0]);
            const real inverse_up = reciprocal(z_up);
            real r_value[COMPONENTS], r_gradient[COMPONENTS * 3], r_x[3];
            real r_a[SOME(FIELDS)], r_grad_a[SOME(FIELDS) * 3], r_parameters[SOME(PARAMETERS)];
            real r_f0[COMPONENTS], r_f1[COMPONENTS * 3];
            EACH(c, TOGETHER)
            {
                r_value[c] = level_value(q, level_u[c]);
#if READS_GRADIENTS
                level_gradient(q, level_u[c], level_w[c], slopes, inverse_up, p, r_gradient + c * 3);
#endif
            }
            EACH(c, COMPONENTS - TOGETHER)
            {
                r_value[TOGETHER + c] = 0;
                EACH(d, 3) r_gradient[(TOGETHER + c) * 3 + d] = 0;
            }
            EACH(n, FIELDS * 3) r_grad_a[n] = 0;
            EACH(n, CELL_FIELDS) r_a[CELL_FIELD(n)] = p->g_cell_fields[n];
            EACH(n, NODAL_FIELDS)
            {
                r_a[NODAL_FIELD(n)] = level_value(q, field_u[n]);
#if FIELD_GRADIENTS
                level_gradient(q, field_u[n], field_w[n], slopes, inverse_up, p, r_grad_a + NODAL_FIELD(n) * 3);
#endif
            }
            EACH(n, POINT_FIELDS)
            {
                r_a[POINT_FIELD(n)] = p->g_point_fields[n * POINTS + b * TRIANGLE_POINTS + q];
            }
#if POSITIONS
            EACH(d, 2)
            {
                r_x[d] = p->base[d] + xi * (p->base[2 + d] - p->base[d]) + eta * (p->base[4 + d] - p->base[d]);
            }
            r_x[2] = p->low[0] + above * h[0] + xi * slopes[0] + eta * slopes[1];
#endif
            EACH(n, PARAMETERS) r_parameters[n] = p->g_context[1 + n];
            point_form(r_value, r_gradient, r_a, r_grad_a, r_x, r_parameters, p->g_context[0], r_f0, r_f1);
            const real scale = T_WEIGHT(q) * L_WEIGHT(b) * (p->determinant * z_up);
            EACH(c, TOGETHER)
            {
#if WRITES_VALUES
                const real f0 = scale * r_f0[c];
                EACH(t, TRIANGLE_NODES) level_f0[c][t] += T_INTERP(q, t) * f0;
#endif
#if WRITES_GRADIENTS
                real flux[2];
                EACH(r, 2)
                {
                    flux[r] = scale * (p->inverse[2 * r] * r_f1[c * 3] + p->inverse[2 * r + 1] * r_f1[c * 3 + 1]);
                }
                const real up = inverse_up * (scale * r_f1[c * 3 + 2] - slopes[0] * flux[0] - slopes[1] * flux[1]);
#if DEGREE_ONE
                EACH(r, 2) level_flux[c][r] += flux[r];
#else
                EACH(t, TRIANGLE_NODES)
                {
                    level_f0[c][t] += T_GRAD(q, t, 0) * flux[0] + T_GRAD(q, t, 1) * flux[1];
                }
#endif
                EACH(t, TRIANGLE_NODES) level_f1[c][t] += T_INTERP(q, t) * up;
#endif
            }
        }
#if DEGREE_ONE && WRITES_GRADIENTS
        EACH(c, TOGETHER)
        {
            level_f0[c][0] -= level_flux[c][0] + level_flux[c][1];
            EACH(r, 2) level_f0[c][r + 1] += level_flux[c][r];
        }
#endif
        EACH(c, TOGETHER) EACH_NODE(t, k)
        {
            r_v[c * NODES + AT(t, k)] += L_INTERP(b, k) * level_f0[c][t];
#if WRITES_GRADIENTS
            r_v[c * NODES + AT(t, k)] += L_GRAD(b, k) * level_f1[c][t];
#endif
        }
    }
}
