/* A whole cell by one thread: r_v [component][node] from r_u [component][node], added to the present
 * values. */

/* Adds f0 of a component at point q, tested with the basis functions. */
INLINE void test_value(TABLES_PARAMETER int q, real f0, real *r_v)
{
    EACH(b, NODES) r_v[b] += INTERP(q, b) * f0;
}

/* Adds f1 of a component, tested with the basis functions. */
INLINE void test_gradient(TABLES_PARAMETER int q, const real *r_f1, real *r_v)
{
#if DEGREE_ONE
    EACH(r, DIM)
    {
        r_v[r + 1] += r_f1[r];
        r_v[0] -= r_f1[r];
    }
#else
    EACH(b, NODES) EACH(r, DIM) r_v[b] += GRAD(q, b, r) * r_f1[r];
#endif
}

INLINE void evaluate_cell(TABLES_PARAMETER const operands *o, uint cell, const real *r_map,
    const real *r_u, const real *r_fields, real *r_v)
{
    map m;
    real r_numbers[MAP_NUMBERS];
#if MAP_CONSTANT
    EACH(n, MAP_NUMBERS) r_numbers[n] = r_map[n];
    make_map(r_numbers, &m);
#endif
#if WRITES_GRADIENTS && DEGREE_ONE
    /* Test functions have the same derivatives at all points. */
    real r_flux[COMPONENTS * DIM];
#endif
    POINT_LOOP for (int q = 0; q < POINTS; ++q)
    {
        tested t;
#if !MAP_CONSTANT
        read_map(o, cell, q, r_numbers);
        make_map(r_numbers, &m);
#endif
        at_point(TABLES o, cell, q, r_numbers, &m, r_u, r_fields, &t);
#if WRITES_VALUES
        EACH(c, COMPONENTS) test_value(TABLES q, t.f0[c], r_v + c * NODES);
#endif
#if WRITES_GRADIENTS && DEGREE_ONE
        EACH(n, COMPONENTS * DIM) r_flux[n] = q == 0 ? t.f1[n] : r_flux[n] + t.f1[n];
#elif WRITES_GRADIENTS
        EACH(c, COMPONENTS) test_gradient(TABLES q, t.f1 + c * DIM, r_v + c * NODES);
#endif
    }
#if WRITES_GRADIENTS && DEGREE_ONE
    EACH(c, COMPONENTS) test_gradient(TABLES 0, r_flux + c * DIM, r_v + c * NODES);
#endif
}
