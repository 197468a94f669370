/* A prism in a column, by one thread: where its numbers are, its map, the form at its points.
 *
 * The column's base is the triangle with vertices (x_c, y_c), the prism lies between heights z_c and z_c + h_c over
 * them. With λ = (1 - ξ - η, ξ, η): x = Σ λ_c x_c, y = Σ λ_c y_c, z = Σ λ_c (z_c + (1 + ζ) h_c / 2), so that
 *
 *   J = | x_ξ x_η  0  |    ∂ξ/∂(x, y) and ∂η/∂(x, y) are those of the base,
 *       | y_ξ y_η  0  |    ∂ζ/∂x = -(z_ξ ξ_x + z_η η_x) / z_ζ, likewise y, and ∂ζ/∂z = 1 / z_ζ.
 *       | z_ξ z_η z_ζ |
 *
 *   g_columns   [column][node of the lowest prism, then 3 edges]
 *   g_bases     [column][vertex][2]
 *   g_heights   [edge][LAYERS + 1]
 *   c_steps     each node's step from layer to layer
 *   c_places    each node's place in an element
 *   c_tables    of the triangle: values [point][node], derivatives [point][node][2], weights, positions [point][2]; of
 *               the line: values [point][node], derivatives, weights, positions
 *
 * Nodes here are [triangle node t][k upwards]; private arrays [component][t][k].
 */
#define AT(t, k) ((t) * LINE_NODES + (k))
#define SOME(count) ((count) > 0 ? (count) : 1)
#define UNKNOWNS (COMPONENTS * NODES)
#define COLUMN_NUMBERS (NODES + 3)

#define T_INTERP(q, t) c_tables[(q) * TRIANGLE_NODES + (t)]
#define T_GRAD(q, t, r) c_tables[TRIANGLE_POINTS * TRIANGLE_NODES + ((q) * TRIANGLE_NODES + (t)) * 2 + (r)]
#define T_REST (3 * TRIANGLE_POINTS * TRIANGLE_NODES)
#define T_WEIGHT(q) c_tables[T_REST + (q)]
#define T_POSITION(q, r) c_tables[T_REST + TRIANGLE_POINTS + 2 * (q) + (r)]
#define L_TABLES (T_REST + 3 * TRIANGLE_POINTS)
#define L_INTERP(q, k) c_tables[L_TABLES + (q) * LINE_NODES + (k)]
#define L_GRAD(q, k) c_tables[L_TABLES + (LINE_POINTS + (q)) * LINE_NODES + (k)]
#define L_WEIGHT(q) c_tables[L_TABLES + 2 * LINE_POINTS * LINE_NODES + (q)]
#define L_POSITION(q) c_tables[L_TABLES + 2 * LINE_POINTS * LINE_NODES + LINE_POINTS + (q)]

/* The node over t at level k, in L-vectors. A shared one on top is the lowest of the prism above. */
#if SHARE
#define NODE(t, k)                                                                             \
    ((k) == LINE_NODES - 1 ? g_column[AT(t, 0)] + (layer + 1) * c_steps[AT(t, 0)]              \
                           : g_column[AT(t, k)] + layer * c_steps[AT(t, k)])
#else
#define NODE(t, k) (g_column[AT(t, k)] + layer * c_steps[AT(t, k)])
#endif
/* Places of a prism's numbers, of the component or field c. */
#undef PLACE
#undef ADD
#if VECTORS_NODAL
#define PLACE(c, t, k) ((size_t)NODE(t, k) * NODE_STRIDE + (size_t)(c) * component_stride)
#define FIELD_PLACE(n, t, k) ((size_t)(n) * field_stride + NODE(t, k))
#else
#define PLACE(c, t, k) (((size_t)ELEMENT(cell) * COMPONENTS + (c)) * NODES + c_places[AT(t, k)])
#define FIELD_PLACE(n, t, k) (((size_t)ELEMENT(cell) * NODAL_FIELDS + (n)) * NODES + c_places[AT(t, k)])
#endif
#if CONTRIBUTIONS
#define ADD(c, t, k, value)                                                                    \
    (g_contributions[(size_t)(c) * contribution_stride +                                       \
         (size_t)(contribution_first + cell) * NODES + c_places[AT(t, k)]] = (value))
#elif VECTORS_NODAL
#define ADD(c, t, k, value) atomic_add(g_v + PLACE(c, t, k), value)
#else
#define ADD(c, t, k, value) (g_v[PLACE(c, t, k)] = (value))
#endif
#define EACH_NODE(t, k) EACH(t, TRIANGLE_NODES) EACH(k, LINE_NODES)

/* The thread's prism; threads past the last one repeat it and write nothing. */
#define PRISM                                                                                  \
    ABSENT_OPERANDS                                                                            \
    const uint asked = BLOCK * BLOCK_X + THREAD_X;                                             \
    const bool writes = asked < elements;                                                      \
    const uint cell = writes ? asked : elements - 1;                                           \
    const uint layer = cell % LAYERS;                                                          \
    const GLOBAL uint *g_column = g_columns + (size_t)(cell / LAYERS) * COLUMN_NUMBERS;        \
    prism p;                                                                                   \
    read_prism(g_column, g_bases + (size_t)(cell / LAYERS) * 6, g_heights, layer, &p);         \
    p.g_cell_fields = g_cell_fields + (size_t)cell * CELL_FIELDS;                              \
    p.g_point_fields = g_point_fields + (size_t)cell * POINT_FIELDS * POINTS;                  \
    p.g_context = g_context;                                                                   \
    real r_fields[SOME(NODAL_FIELDS) * NODES];                                                 \
    EACH(n, NODAL_FIELDS)                                                                      \
    {                                                                                          \
        EACH_NODE(t, k) r_fields[n * NODES + AT(t, k)] = g_nodal_fields[FIELD_PLACE(n, t, k)]; \
    }

#define POINTS (TRIANGLE_POINTS * LINE_POINTS)
/* Derivatives along the triangle are the same at all points of a level. */
#define DEGREE_ONE (TRIANGLE_NODES == 3)

typedef struct {
    /* Of the base: [reference axis][x, y], the determinant, vertices [vertex][2]. */
    real inverse[4], determinant, base[6];
    real low[3], high[3];
    const GLOBAL real *g_cell_fields, *g_point_fields, *g_context;
} prism;

INLINE void read_prism(const GLOBAL uint *g_column, const GLOBAL real *g_base, const GLOBAL real *g_heights,
    uint layer, prism *p)
{
    EACH(n, 6) p->base[n] = g_base[n];
    EACH(c, 3)
    {
        const size_t at = (size_t)g_column[NODES + c] * (LAYERS + 1) + layer;
        p->low[c] = g_heights[at];
        p->high[c] = g_heights[at + 1];
    }
    const real xr = p->base[2] - p->base[0], yr = p->base[3] - p->base[1];
    const real xs = p->base[4] - p->base[0], ys = p->base[5] - p->base[1];
    p->determinant = xr * ys - xs * yr;
    const real factor = reciprocal(p->determinant);
    p->inverse[0] = factor * ys;
    p->inverse[1] = -factor * xs;
    p->inverse[2] = -factor * yr;
    p->inverse[3] = factor * xr;
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
    POINT_LOOP for (int b = 0; b < LINE_POINTS; ++b)
    {
        /* At this level: values and derivatives upwards over the nodes of the triangle, and their sums. */
        real level_u[COMPONENTS][TRIANGLE_NODES], level_w[COMPONENTS][TRIANGLE_NODES];
        real level_f0[COMPONENTS][TRIANGLE_NODES], level_f1[COMPONENTS][TRIANGLE_NODES];
        real field_u[SOME(NODAL_FIELDS)][TRIANGLE_NODES], field_w[SOME(NODAL_FIELDS)][TRIANGLE_NODES];
        EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES)
        {
            real u = 0, w = 0;
            EACH(k, LINE_NODES)
            {
                u += L_INTERP(b, k) * r_u[c * NODES + AT(t, k)];
                w += L_GRAD(b, k) * r_u[c * NODES + AT(t, k)];
            }
            level_u[c][t] = u;
            level_w[c][t] = w;
            level_f0[c][t] = 0;
            level_f1[c][t] = 0;
        }
#if DEGREE_ONE && WRITES_GRADIENTS
        real level_flux[COMPONENTS][2];
        EACH(c, COMPONENTS) EACH(r, 2) level_flux[c][r] = 0;
#endif
        EACH(n, NODAL_FIELDS) EACH(t, TRIANGLE_NODES)
        {
            real u = 0, w = 0;
            EACH(k, LINE_NODES)
            {
                u += L_INTERP(b, k) * r_fields[n * NODES + AT(t, k)];
                w += L_GRAD(b, k) * r_fields[n * NODES + AT(t, k)];
            }
            field_u[n][t] = u;
            field_w[n][t] = w;
        }
        const real upper = (real)0.5 * (1 + L_POSITION(b)), lower = 1 - upper;
        real z[3], h[3];
        EACH(c, 3)
        {
            z[c] = lower * p->low[c] + upper * p->high[c];
            h[c] = (real)0.5 * (p->high[c] - p->low[c]);
        }
        /* In columns of parallel triangles the map's derivatives are the same at all points. */
        const real slopes[2] = {PARALLEL ? p->low[1] - p->low[0] : z[1] - z[0],
            PARALLEL ? p->low[2] - p->low[0] : z[2] - z[0]};
        POINT_LOOP for (int q = 0; q < TRIANGLE_POINTS; ++q)
        {
            const real xi = T_POSITION(q, 0), eta = T_POSITION(q, 1);
            const real z_up = PARALLEL ? h[0] : h[0] + xi * (h[1] - h[0]) + eta * (h[2] - h[0]);
            const real inverse_up = reciprocal(z_up);
            real r_value[COMPONENTS], r_gradient[COMPONENTS * 3], r_x[3];
            real r_a[SOME(FIELDS)], r_grad_a[SOME(FIELDS) * 3], r_parameters[SOME(PARAMETERS)];
            real r_f0[COMPONENTS], r_f1[COMPONENTS * 3];
            EACH(c, COMPONENTS)
            {
                r_value[c] = level_value(q, level_u[c]);
#if READS_GRADIENTS
                level_gradient(q, level_u[c], level_w[c], slopes, inverse_up, p, r_gradient + c * 3);
#endif
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
            r_x[2] = z[0] + xi * slopes[0] + eta * slopes[1];
#endif
            EACH(n, PARAMETERS) r_parameters[n] = p->g_context[1 + n];
            point_form(r_value, r_gradient, r_a, r_grad_a, r_x, r_parameters, p->g_context[0], r_f0, r_f1);
            const real scale = T_WEIGHT(q) * L_WEIGHT(b) * (p->determinant * z_up);
            EACH(c, COMPONENTS)
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
        EACH(c, COMPONENTS)
        {
            level_f0[c][0] -= level_flux[c][0] + level_flux[c][1];
            EACH(r, 2) level_f0[c][r + 1] += level_flux[c][r];
        }
#endif
        EACH(c, COMPONENTS) EACH_NODE(t, k)
        {
            r_v[c * NODES + AT(t, k)] += L_INTERP(b, k) * level_f0[c][t];
#if WRITES_GRADIENTS
            r_v[c * NODES + AT(t, k)] += L_GRAD(b, k) * level_f1[c][t];
#endif
        }
    }
}
