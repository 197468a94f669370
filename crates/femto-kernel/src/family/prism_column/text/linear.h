/* λ u, κ ∇u of degree 1 where they are constant in a prism: exactly along the line, and with all that is the same in a prism
 * outside of the sums over the triangle's points.
 *
 * With h = z_ζ, which is linear in ξ and η, u = u₀ + u₁ ζ, slopes z_r = m_r + t_r ζ and n₀, n₁ the integrals of 1 and ζ² over the
 * line, and M = κ D ∇ξ·∇ξ of the base with the determinant D,
 *
 *   s = u₁ / h,  a_r = ∂u₀/∂ξ_r - m_r s,  b_r = ∂u₁/∂ξ_r - t_r s,
 *   energy = ∫ h (n₀ (Σ M_rq a_r a_q + κ D s²) + n₁ Σ M_rq b_r b_q) + λ D h (n₀ u₀² + n₁ u₁²)
 *
 * over the triangle, where only ∫ φ_t φ_s / h has to be summed over points.
 *
 *   c_linear    [point][ξ, η, then w φ_t φ_s]; ∫ φ_t φ_s φ_c, [entry][c]; ∫ φ_t φ_s, [entry]; n₀, n₁
 *
 * Entries t, s: 00, 11, 22, 01, 02, 12.
 */
#define T_POSITION(q, r) c_linear[(q) * 8 + (r)]
#define T_PRODUCT(q, entry) c_linear[(q) * 8 + 2 + (entry)]
#define T_CUBIC(entry, c) c_linear[TRIANGLE_POINTS * 8 + (entry) * 3 + (c)]
#define T_MASS(entry) c_linear[TRIANGLE_POINTS * 8 + 18 + (entry)]
#define NORM(j) c_linear[TRIANGLE_POINTS * 8 + 24 + (j)]
/* Parallel layers have no t. */
#define SLOPES (PARALLEL ? 1 : 2)
#define ENTRY(t, s) ((t) == (s) ? (t) : (t) + (s) + 2)

/* Row t of a symmetric matrix [entry] times r_u. */
INLINE real row_times(const real *r_matrix, int t, const real *r_u)
{
    return r_matrix[ENTRY(t, 0)] * r_u[0] + r_matrix[ENTRY(t, 1)] * r_u[1] + r_matrix[ENTRY(t, 2)] * r_u[2];
}

/* r_v = A r_u of a prism, [component][t][k]. */
INLINE void evaluate_prism(const prism *p, const real *r_u, const real *r_fields, real *r_v)
{
    real lambda, kappa;
    const real *h = p->h;
    read_coefficients(p, &lambda, &kappa);
#if WRITES_VALUES
    real r_mass[6];
    EACH(entry, 6)
    {
        const real sum = T_CUBIC(entry, 0) * h[0] + T_CUBIC(entry, 1) * h[1] + T_CUBIC(entry, 2) * h[2];
        r_mass[entry] = lambda * p->determinant * (PARALLEL ? T_MASS(entry) * h[0] : sum);
    }
#endif
#if WRITES_GRADIENTS
    const real sixth = (real)1 / 6;
    /* m and t; n₀ M m and n₁ M t; M, then times ∫ h. */
    real slopes[2][2], of_slopes[2][2], metric[3];
    base_metric(p, kappa * reciprocal(p->determinant), metric);
    read_slopes(p, slopes);
    /* What is tested with 1/h: n₀ (κ D + m·M m) + n₁ t·M t. */
    real steep = NORM(0) * kappa * p->determinant;
    EACH(j, SLOPES) EACH(r, 2)
    {
        of_slopes[j][r] = NORM(j) * (metric[r] * slopes[j][r] + metric[2] * slopes[j][1 - r]);
        steep += slopes[j][r] * of_slopes[j][r];
    }
    EACH(n, 3) metric[n] *= sixth * (h[0] + h[1] + h[2]);
    real r_steep[6];
#if PARALLEL
    steep *= reciprocal(h[0]);
    EACH(entry, 6) r_steep[entry] = steep * T_MASS(entry);
#else
    EACH(entry, 6) r_steep[entry] = 0;
    EACH(q, TRIANGLE_POINTS)
    {
        const real at_point = h[0] + T_POSITION(q, 0) * slopes[1][0] + T_POSITION(q, 1) * slopes[1][1];
        const real factor = steep * reciprocal(at_point);
        EACH(entry, 6) r_steep[entry] += T_PRODUCT(q, entry) * factor;
    }
#endif
#endif
    EACH(c, TOGETHER)
    {
        const real *r_own = r_u + c * NODES;
        /* u₀ and u₁, and what is tested with 1 and ζ, at the corners. */
        real u[2][3], v[2][3];
        EACH(t, 3)
        {
            u[0][t] = (real)0.5 * (r_own[AT(t, 1)] + r_own[AT(t, 0)]);
            u[1][t] = (real)0.5 * (r_own[AT(t, 1)] - r_own[AT(t, 0)]);
        }
#if WRITES_VALUES
        EACH(j, 2) EACH(t, 3) v[j][t] = NORM(j) * row_times(r_mass, t, u[j]);
#else
        EACH(t, 3) v[0][t] = v[1][t] = 0;
#endif
#if WRITES_GRADIENTS
        const real sum = sixth * (u[1][0] + u[1][1] + u[1][2]);
        real along[2][2], upwards = 0;
        EACH(r, 2)
        {
            /* Of nodes, so that small differences of large values keep their digits. */
            const real low = r_own[AT(r + 1, 0)] - r_own[AT(0, 0)], high = r_own[AT(r + 1, 1)] - r_own[AT(0, 1)];
            along[0][r] = (real)0.5 * (high + low);
            along[1][r] = (real)0.5 * (high - low);
        }
        EACH(j, SLOPES) EACH(r, 2) upwards -= of_slopes[j][r] * along[j][r];
        EACH(t, 3) v[1][t] += row_times(r_steep, t, u[1]) + sixth * upwards;
        EACH(j, 2) EACH(r, 2)
        {
            real flux = NORM(j) * (metric[r] * along[j][r] + metric[2] * along[j][1 - r]);
            if (j < SLOPES) flux -= of_slopes[j][r] * sum;
            v[j][r + 1] += flux;
            v[j][0] -= flux;
        }
#endif
        EACH(t, 3)
        {
            r_v[c * NODES + AT(t, 0)] = (real)0.5 * (v[0][t] - v[1][t]);
            r_v[c * NODES + AT(t, 1)] = (real)0.5 * (v[0][t] + v[1][t]);
        }
    }
}
