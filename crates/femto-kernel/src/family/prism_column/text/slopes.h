/* λ u, κ ∇u above degree 1 where they are constant in a prism: at the points of the triangle, exactly along the line.
 *
 * z_ζ is the same above a point of the triangle, and z_ξ, z_η are linear in ζ. So with Legendre polynomials P_j, u = Σ u_j P_j
 * there has derivatives of no higher degree, and P_j are orthogonal: with n_j = ∫ P_j² and the base's determinant D,
 *
 *   s = u_ζ / z_ζ,  a_r = ∂u/∂ξ_r - z_r s,   ∫ = w D z_ζ Σ_j n_j (λ u_j² + κ (Σ ∇ξ_r·∇ξ_q a_rj a_qj + s_j²))
 *
 *   c_tables  of the triangle (triangle.h); coefficients of P_j in the line's φ_k, [j][k]; n_j
 */
#define MODE(j, k) c_tables[L_TABLES + (j) * LINE_NODES + (k)]
#define NORM(j) c_tables[L_TABLES + LINE_NODES * LINE_NODES + (j)]
/* ζ P_j = ABOVE(j) P_{j+1} + BELOW(j) P_{j-1}; P_i' has 2 j + 1 times P_j if HAS(i, j). */
#define ABOVE(j) ((real)((j) + 1) / (2 * (j) + 1))
#define BELOW(j) ((real)(j) / (2 * (j) + 1))
#define HAS(i, j) ((i) > (j) && ((i) - (j)) % 2 == 1)

/* s and n_j a_rj, [j] and [j][r], from modes at a point and their derivatives along the triangle. */
INLINE void gradient_modes(real (*slopes)[2], real inverse_up, const real *r_u, const real *r_along, real *r_s, real *r_a)
{
    EACH(j, LINE_NODES - 1)
    {
        real sum = 0;
        EACH(i, LINE_NODES)
        {
            if (HAS(i, j)) sum += r_u[i];
        }
        r_s[j] = (2 * j + 1) * inverse_up * sum;
    }
    EACH(j, LINE_NODES) EACH(r, 2)
    {
        real sum = r_along[2 * j + r];
        if (j < LINE_NODES - 1) sum -= slopes[0][r] * r_s[j];
#if !PARALLEL
        if (j > 0) sum -= slopes[1][r] * (ABOVE(j - 1) * r_s[j - 1]);
        if (j < LINE_NODES - 2) sum -= slopes[1][r] * (BELOW(j + 1) * r_s[j + 1]);
#endif
        r_a[2 * j + r] = NORM(j) * sum;
    }
}

/* Adds what is tested with modes, from s_j, times a factor, and fluxes along the triangle [j][r]. */
INLINE void add_upwards(real (*slopes)[2], real inverse_up, real factor, const real *r_s, const real *r_flux, real *r_f)
{
    EACH(j, LINE_NODES - 1)
    {
        real sum = factor * NORM(j) * r_s[j];
        EACH(r, 2)
        {
            sum -= slopes[0][r] * r_flux[2 * j + r];
#if !PARALLEL
            sum -= slopes[1][r] * (ABOVE(j) * r_flux[2 * (j + 1) + r]);
            if (j > 0) sum -= slopes[1][r] * (BELOW(j) * r_flux[2 * (j - 1) + r]);
#endif
        }
        sum *= (2 * j + 1) * inverse_up;
        EACH(i, LINE_NODES)
        {
            if (HAS(i, j)) r_f[i] += sum;
        }
    }
}

/* r_v = A r_u of a prism, [component][t][k]. */
INLINE void evaluate_prism(const prism *p, const real *r_u, const real *r_fields, real *r_v)
{
    real lambda, kappa, r_metric[3];
    read_coefficients(p, &lambda, &kappa);
    const real mass = lambda * p->determinant, upwards = kappa * p->determinant;
    base_metric(p, kappa * reciprocal(p->determinant), r_metric);
    const real *h = p->h;
    real slopes[2][2];
    read_slopes(p, slopes);
    /* Modes in place of nodes upwards, [component][t][j], and above the first node of the triangle differences to it: neither has
     * a derivative of a constant, whatever its size. Sums of what is tested. */
    real r_modes[UNKNOWNS], r_sums[UNKNOWNS];
    EACH(c, TOGETHER) EACH_NODE(t, j)
    {
        const real *r_line = r_u + c * NODES + AT(t, 0);
        real sum = j == 0 ? r_line[0] : 0;
        EACH(k, LINE_NODES - 1) sum += MODE(j, k + 1) * (r_line[k + 1] - r_line[0]);
        r_modes[c * NODES + AT(t, j)] = t == 0 ? sum : sum - r_modes[c * NODES + j];
        r_sums[c * NODES + AT(t, j)] = 0;
    }
    OUTER_LOOP for (int q = 0; q < TRIANGLE_POINTS; ++q)
    {
        const real z_up = PARALLEL ? h[0] : h[0] + T_POSITION(q, 0) * slopes[1][0] + T_POSITION(q, 1) * slopes[1][1];
        const real inverse_up = reciprocal(z_up), weight = T_WEIGHT(q) * z_up;
        EACH(c, TOGETHER)
        {
            const real *r_mode = r_modes + c * NODES;
            real *r_sum = r_sums + c * NODES;
            /* u_j, and what is tested with φ_t P_j. */
            real r_at[LINE_NODES], r_f[LINE_NODES];
            EACH(j, LINE_NODES)
            {
                real sum = r_mode[j];
                EACH(t, TRIANGLE_NODES - 1) sum += T_INTERP(q, t + 1) * r_mode[AT(t + 1, j)];
                r_at[j] = sum;
                r_f[j] = WRITES_VALUES ? weight * mass * NORM(j) * sum : 0;
            }
#if WRITES_GRADIENTS
            real r_s[LINE_NODES], r_a[LINE_NODES * 2], r_flux[LINE_NODES * 2];
            real r_along[LINE_NODES * 2];
            EACH(j, LINE_NODES) EACH(r, 2)
            {
                real sum = 0;
                EACH(t, TRIANGLE_NODES - 1) sum += T_GRAD(q, t + 1, r) * r_mode[AT(t + 1, j)];
                r_along[2 * j + r] = sum;
            }
            gradient_modes(slopes, inverse_up, r_at, r_along, r_s, r_a);
            EACH(j, LINE_NODES)
            {
                const real *r_own = r_a + 2 * j;
                r_flux[2 * j] = weight * (r_metric[0] * r_own[0] + r_metric[2] * r_own[1]);
                r_flux[2 * j + 1] = weight * (r_metric[2] * r_own[0] + r_metric[1] * r_own[1]);
            }
            add_upwards(slopes, inverse_up, weight * upwards, r_s, r_flux, r_f);
            EACH_NODE(t, j) r_sum[AT(t, j)] += T_GRAD(q, t, 0) * r_flux[2 * j] + T_GRAD(q, t, 1) * r_flux[2 * j + 1];
#endif
            EACH_NODE(t, j)
            {
                /* Derivatives upwards are tested with all polynomials but the constant. */
                if (WRITES_VALUES || j > 0) r_sum[AT(t, j)] += T_INTERP(q, t) * r_f[j];
            }
        }
    }
    EACH(c, TOGETHER)
    {
        real *r_sum = r_sums + c * NODES;
        EACH_NODE(t, k)
        {
            real sum = 0;
            EACH(j, LINE_NODES) sum += MODE(j, k) * r_sum[AT(t, j)];
            r_v[c * NODES + AT(t, k)] = sum;
        }
    }
}
