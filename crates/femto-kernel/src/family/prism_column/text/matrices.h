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
    real lambda, kappa;
    read_coefficients(p, &lambda, &kappa);
    const real z_up = p->h[0];
    /* r_u (κ G_zz K + λ det J M). */
    real r_steep[UNKNOWNS];
#if WRITES_VALUES
    const real mass = lambda * p->determinant * z_up;
    EACH(c, TOGETHER) EACH_NODE(t, k)
    {
        real sum = 0;
        EACH(l, LINE_NODES) sum += L_MATRIX(k, l, 0) * r_u[c * NODES + AT(t, l)];
        r_steep[c * NODES + AT(t, k)] = mass * sum;
    }
#else
    EACH(n, UNKNOWNS) r_steep[n] = 0;
#endif
#if WRITES_GRADIENTS
    /* κ G. */
    const real factor = kappa * reciprocal(p->determinant * z_up), upwards = factor * p->determinant * p->determinant;
    real r_metric[3];
    base_metric(p, factor * z_up * z_up, r_metric);
    /* Differences to the first node of the triangle, times M of the line. */
    real r_flat[UNKNOWNS];
    EACH(c, TOGETHER) EACH_NODE(t, k)
    {
        real sum = 0;
        EACH(l, LINE_NODES)
        {
            const real *r_over = r_u + c * NODES + l;
            sum += L_MATRIX(k, l, 0) * (r_over[AT(t, 0)] - r_over[0]);
        }
        r_flat[c * NODES + AT(t, k)] = sum;
    }
    EACH(c, TOGETHER) EACH(t, TRIANGLE_NODES)
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
        EACH(c, TOGETHER) EACH(k, LINE_NODES)
        {
            real sum = 0;
            EACH(s, TRIANGLE_NODES) sum += T_MATRIX(t, s, 0) * r_steep[c * NODES + AT(s, k)];
            r_v[c * NODES + AT(t, k)] = sum;
        }
    }
#if WRITES_GRADIENTS
    OUTER_LOOP for (int t = 1; t < TRIANGLE_NODES; ++t)
    {
        real r_row[TOGETHER * LINE_NODES];
        EACH(n, TOGETHER * LINE_NODES) r_row[n] = 0;
        EACH(s, TRIANGLE_NODES - 1)
        {
            real entry = 0;
            EACH(n, 3) entry += T_MATRIX(t, s + 1, 1 + n) * r_metric[n];
            EACH(c, TOGETHER) EACH(k, LINE_NODES)
            {
                r_row[c * LINE_NODES + k] += entry * r_flat[c * NODES + AT(s + 1, k)];
            }
        }
        EACH(c, TOGETHER) EACH(k, LINE_NODES)
        {
            r_v[c * NODES + AT(t, k)] += r_row[c * LINE_NODES + k];
            r_v[c * NODES + k] -= r_row[c * LINE_NODES + k];
        }
    }
#endif
}
