/* The point step of any form: the function point_form, printed before this text, of all components
 * together.
 *
 * Auxiliary fields: FIELDS of them, those constant per element [element][field] (CELL_FIELDS), those at the
 * nodes [element][field][k][j][i] or L-vectors field_stride apart, those at the points
 * [element][field][k][j][i] (POINT_FIELDS); *_FIELD_LIST are their numbers in the form. NODAL_GRADIENTS has
 * bit n set if the gradient of nodal field n is read. g_context is the time, then the PARAMETERS.
 */

/* The inputs of point_form besides the solution. */
typedef struct {
    map geometry;
    const GLOBAL real *g_points;
    real weight, time;
    real a[SOME(FIELDS)], grad_a[SOME(DIM * FIELDS)], parameters[SOME(PARAMETERS)];
} step_inputs;

#define STEP_INPUTS(place)                                                                     \
    inputs_along(geometry, g_rule, g_cell_fields, g_point_fields, g_context, place)

INLINE step_inputs inputs_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule,
                                const GLOBAL real *g_cells, const GLOBAL real *g_points,
                                const GLOBAL real *g_at, const place *t)
{
    step_inputs in;
    in.geometry = map_along(geometry, g_rule, GEOMETRY_AT(t), t->slow, t->fast);
    in.weight = rule_at(g_rule, t->fast).y;
#if DIM == 3
    in.weight = rule_at(g_rule, t->slow).y * in.weight;
#endif
    in.g_points = g_points;
    in.time = 0;
#if CONTEXT
    in.time = g_at[0];
    ALL(n, PARAMETERS) in.parameters[n] = g_at[1 + n];
#endif
    ALL(n, SOME(DIM * FIELDS)) in.grad_a[n] = 0;
#if CELL_FIELDS
    const int fields[] = CELL_FIELD_LIST;
    ALL(n, CELL_FIELDS) in.a[fields[n]] = g_cells[(size_t)t->element * CELL_FIELDS + n];
#endif
#if POINT_FIELDS
    in.g_points +=
        (size_t)t->element * (POINT_FIELDS * PENCILS * POINTS_1D) + t->slow * POINTS_1D + t->fast;
#endif
    return in;
}

/* Auxiliary fields at point k. */
INLINE void fields_at(const place *t, const point_data *d, int k, const jacobian *J, real inverse,
                      step_inputs *in)
{
#if NODAL_FIELDS
    const int nodal[] = NODAL_FIELD_LIST;
    ALL(n, NODAL_FIELDS)
    {
        const int input = COUPLED + n;
        in->a[nodal[n]] = get(t, d, input, 0, k);
        if (HAS_GRADIENT(input)) {
            real r_derivatives[DIM];
            ALL(q, DIM) r_derivatives[q] = get(t, d, input, q + 1, k);
            gradient_of(J, inverse, r_derivatives, in->grad_a + DIM * nodal[n]);
        }
    }
#endif
#if POINT_FIELDS
    const int points[] = POINT_FIELD_LIST;
    ALL(n, POINT_FIELDS)
    {
        in->a[points[n]] = stream_load(in->g_points + (n * POINTS_1D + k) * PENCILS);
    }
#endif
}

/* The form at point k: replaces r_u [component] and r_g [component][DIM], values and reference derivatives,
 * by the coefficients of the test function and its derivatives. */
INLINE void point_step(const place *t, const point_data *d, int k, step_inputs *in, real *r_u,
                    real *r_g)
{
    const jacobian J = jacobian_at(&in->geometry, k);
    const real weight = c_weights[k] * in->weight;
    real inverse = 0, r_grad_u[DIM * COMPONENTS], r_f0[COMPONENTS], r_f1[DIM * COMPONENTS], r_x[DIM];
#if GRADIENTS
    inverse = reciprocal(J.determinant);
    ALL(c, COMPONENTS) gradient_of(&J, inverse, r_g + DIM * c, r_grad_u + DIM * c);
#endif
#if POSITION
    write_vector(position_at(&in->geometry, k), r_x);
#endif
    fields_at(t, d, k, &J, inverse, in);
    point_form(r_u, r_grad_u, in->a, in->grad_a, r_x, in->parameters, in->time, r_f0, r_f1);
    ALL(c, COMPONENTS)
    {
        r_u[c] = weight * J.determinant * r_f0[c];
#if GRADIENTS
        flux_of(&J, weight, r_f1 + DIM * c, r_g + DIM * c);
#endif
    }
}

#if PENCIL_PER_THREAD
/* The form at all points of the pencil. */
INLINE void point_steps(const place *t, point_data *d, step_inputs *in)
{
    EACH_POINT(k)
    {
        real r_u[COMPONENTS], r_g[DIM * COMPONENTS];
        ALL(c, COMPONENTS)
        {
            if (VALUES)
                r_u[c] = get(t, d, c, 0, k);
            ALL(q, DIM * GRADIENTS) r_g[DIM * c + q] = get(t, d, c, q + 1, k);
        }
        point_step(t, d, k, in, r_u, r_g);
        ALL(c, COMPONENTS)
        {
            if (VALUES)
                put(t, d, c, 0, k, r_u[c]);
            ALL(q, DIM * GRADIENTS) put(t, d, c, q + 1, k, r_g[DIM * c + q]);
        }
    }
}
#endif
