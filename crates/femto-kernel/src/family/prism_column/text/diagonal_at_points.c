/* The diagonal of the prisms' matrices of a linear form at points. A prism has a thread for each level of its points, which takes some
 * of the lines of nodes. The unknown at node k of a line has the value L_k T and derivatives L_k ∂_r T, L'_k T, with T of
 * the line's node of the triangle: its entry is a sum over levels of L_k² S_00 + L_k L'_k (S_01 + S_10) + L'_k² S_11, where S_ij are
 * sums over the level's points of what the form tests for T and ∂_r T (i = 0) or for T upwards (i = 1), with these again (j).
 */
KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    STACK_OF_PRISMS
    PRISM(0)
    UNROLL_BY(1) for (int n = THREAD_Y; n < COMPONENTS * TRIANGLE_NODES; n += LINE_POINTS)
    {
        const int c = n / TRIANGLE_NODES, t = n % TRIANGLE_NODES;
        real r_line[LINE_NODES];
        EACH(k, LINE_NODES) r_line[k] = 0;
        UNROLL_BY(1) for (int b = 0; b < LINE_POINTS; ++b)
        {
            real field_u[SOME(FIELD_LINES)], field_w[SOME(FIELD_LINES)];
            EACH(m, FIELD_LINES)
            {
                real r_field[LINE_NODES];
                EACH(k, LINE_NODES)
                {
                    r_field[k] = g_nodal_fields[FIELD_PLACE(m / TRIANGLE_NODES, m % TRIANGLE_NODES, k)];
                }
                to_level(b, r_field, field_u + m, field_w + m);
            }
            real sums[3] = {0, 0, 0};
            UNROLL_BY(1) for (int q = 0; q < TRIANGLE_POINTS; ++q)
            {
                const point at = point_of(b, q, &p, field_u, field_w);
                const real value = T_INTERP(q, t), along[2] = {T_GRAD(q, t, 0), T_GRAD(q, t, 1)};
                EACH(i, 2)
                {
                    const real own[2] = {i == 0 ? along[0] : 0, i == 0 ? along[1] : 0};
                    real r_value[COMPONENTS], r_gradient[COMPONENTS * 3];
                    real r_tested[COMPONENTS], r_fluxes[COMPONENTS * 3], r_own[3], r_flux[2], tested = 0;
                    gradient(own, i == 0 ? 0 : value, &p, &at, r_own);
                    EACH(m, COMPONENTS)
                    {
                        r_value[m] = i == 0 && m == c ? value : 0;
                        EACH(d, 3) r_gradient[m * 3 + d] = m == c ? r_own[d] : 0;
                    }
                    point_form(r_value, r_gradient, at.a, at.grad_a, at.x, at.parameters, g_context[0],
                        r_tested, r_fluxes);
                    EACH(d, 3) r_own[d] = 0;
                    EACH(m, COMPONENTS)
                    {
                        if (m == c) {
#if WRITES_VALUES
                            tested = at.scale * r_tested[m];
#endif
#if WRITES_GRADIENTS
                            EACH(d, 3) r_own[d] = r_fluxes[m * 3 + d];
#endif
                        }
                    }
                    const real up = reference_fluxes(r_own, &p, &at, r_flux);
                    sums[i] += value * tested + along[0] * r_flux[0] + along[1] * r_flux[1];
                    sums[i + 1] += value * up;
                }
            }
            EACH(k, LINE_NODES)
            {
                const real l = L_INTERP(b, k), up = L_GRAD(b, k);
                r_line[k] += l * l * sums[0] + l * up * sums[1] + up * up * sums[2];
            }
        }
        EACH(k, LINE_NODES)
        {
            if (writes) ADD(c, t, k, r_line[k]);
        }
    }
}
