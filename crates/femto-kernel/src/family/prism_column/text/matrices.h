/* λ u, κ ∇u on horizontal layers, where they and J are constant in a prism, by matrices of the triangle and of the line.
 *
 *   c_matrices  of the triangle, ∫ of φ_t φ_s, ∂φ_t ∂φ_s along ξ, along η, and mixed both ways, [t][s][4]; of the line,
 *               ∫ of φ_k φ_l and of their derivatives, [k][l][2]
 */
/* The matrices are symmetric; unrolled, entries at the same place are the same to the compiler. */
#define SYMMETRIC(t, s, count) (FEW && (t) > (s) ? (s) * (count) + (t) : (t) * (count) + (s))
#define T_MATRIX(t, s, n) c_matrices[SYMMETRIC(t, s, TRIANGLE_NODES) * 4 + (n)]
#define L_MATRIX(k, l, n) \
    c_matrices[4 * TRIANGLE_NODES * TRIANGLE_NODES + SYMMETRIC(k, l, LINE_NODES) * 2 + (n)]

/* r_v = A r_u of a prism, [component][t][k], for λ u, κ ∇u on horizontal layers. With M and K of the triangle and of the
 * line, G = J⁻¹ J⁻ᵀ det J:  r_v = κ Σ G_ab K_ab r_u M + M r_u (κ G_zz K + λ det J M).
 *
 * Rows and columns of each K sum to zero. They multiply differences to node 0, whose own row is what the others leave: a
 * constant has no energy, whatever its size, as where derivatives are taken first. */
INLINE void evaluate_prism(const prism *p, const real *r_u, const real *r_fields, real *r_v)
{
    real r_value[COMPONENTS], r_gradient[COMPONENTS * 3], r_a[SOME(FIELDS)];
    real r_f0[COMPONENTS], r_f1[COMPONENTS * 3];
    EACH(c, COMPONENTS) r_value[c] = 1;
    EACH(n, COMPONENTS * 3) r_gradient[n] = 1;
    EACH(n, CELL_FIELDS) r_a[CELL_FIELD(n)] = p->g_cell_fields[n];
    /* λ and κ: it reads nothing else. */
    point_form(r_value, r_gradient, r_a, r_a, r_a, r_a, 0, r_f0, r_f1);
    const real z_up = (real)0.5 * (p->high[0] - p->low[0]);
    /* r_u (κ G_zz K + λ det J M). */
    real r_steep[UNKNOWNS];
#if WRITES_VALUES
    const real mass = r_f0[0] * p->determinant * z_up;
    EACH(c, COMPONENTS) EACH_NODE(t, k)
    {
        real sum = 0;
        EACH(l, LINE_NODES) sum += L_MATRIX(k, l, 0) * r_u[c * NODES + AT(t, l)];
        r_steep[c * NODES + AT(t, k)] = mass * sum;
    }
#else
    EACH(n, UNKNOWNS) r_steep[n] = 0;
#endif
#if WRITES_GRADIENTS
    /* κ G: of the base the products of its edges, exchanged, over the determinant. */
    const real *base = p->base;
    const real xr = base[2] - base[0], yr = base[3] - base[1], xs = base[4] - base[0], ys = base[5] - base[1];
    const real factor = r_f1[0] * reciprocal(p->determinant * z_up);
    const real in_plane = factor * z_up * z_up, upwards = factor * p->determinant * p->determinant;
    const real r_metric[3] = {
        in_plane * (xs * xs + ys * ys), in_plane * (xr * xr + yr * yr), -in_plane * (xr * xs + yr * ys)};
    /* Differences to the first node of the triangle, times M of the line. */
    real r_flat[UNKNOWNS];
    EACH(c, COMPONENTS) EACH_NODE(t, k)
    {
        real sum = 0;
        EACH(l, LINE_NODES)
        {
            const real *r_over = r_u + c * NODES + l;
            sum += L_MATRIX(k, l, 0) * (r_over[AT(t, 0)] - r_over[0]);
        }
        r_flat[c * NODES + AT(t, k)] = sum;
    }
    EACH(c, COMPONENTS) EACH(t, TRIANGLE_NODES)
    {
        const real *r_line = r_u + c * NODES + AT(t, 0);
        real *r_sums = r_steep + c * NODES + AT(t, 0);
        EACH(k, LINE_NODES - 1)
        {
            real sum = 0;
            EACH(l, LINE_NODES - 1) sum += L_MATRIX(k + 1, l + 1, 1) * (r_line[l + 1] - r_line[0]);
            sum *= upwards;
            r_sums[k + 1] += sum;
            r_sums[0] -= sum;
        }
    }
#endif
    OUTER_LOOP for (int t = 0; t < TRIANGLE_NODES; ++t)
    {
        EACH(c, COMPONENTS) EACH(k, LINE_NODES)
        {
            real sum = 0;
            EACH(s, TRIANGLE_NODES) sum += T_MATRIX(t, s, 0) * r_steep[c * NODES + AT(s, k)];
            r_v[c * NODES + AT(t, k)] = sum;
        }
    }
#if WRITES_GRADIENTS
    OUTER_LOOP for (int t = 1; t < TRIANGLE_NODES; ++t)
    {
        real r_row[COMPONENTS * LINE_NODES];
        EACH(n, COMPONENTS * LINE_NODES) r_row[n] = 0;
        EACH(s, TRIANGLE_NODES - 1)
        {
            real entry = 0;
            EACH(n, 3) entry += T_MATRIX(t, s + 1, 1 + n) * r_metric[n];
            EACH(c, COMPONENTS) EACH(k, LINE_NODES)
            {
                r_row[c * LINE_NODES + k] += entry * r_flat[c * NODES + AT(s + 1, k)];
            }
        }
        EACH(c, COMPONENTS) EACH(k, LINE_NODES)
        {
            r_v[c * NODES + AT(t, k)] += r_row[c * LINE_NODES + k];
            r_v[c * NODES + k] -= r_row[c * LINE_NODES + k];
        }
    }
#endif
}
