/* λ and κ of λ u, κ ∇u, where they are constant in a prism: the form reads nothing else. */
INLINE void read_coefficients(const prism *p, real *lambda, real *kappa)
{
    real r_value[COMPONENTS], r_gradient[COMPONENTS * 3], r_a[SOME(FIELDS)];
    real r_f0[COMPONENTS], r_f1[COMPONENTS * 3];
    EACH(c, COMPONENTS) r_value[c] = 1;
    EACH(n, COMPONENTS * 3) r_gradient[n] = 1;
    EACH(n, CELL_FIELDS) r_a[CELL_FIELD(n)] = p->g_cell_fields[n];
    point_form(r_value, r_gradient, r_a, r_a, r_a, r_a, 0, r_f0, r_f1);
    *lambda = WRITES_VALUES ? r_f0[0] : 0;
    *kappa = WRITES_GRADIENTS ? r_f1[0] : 0;
}

/* ∇ξ·∇ξ, ∇η·∇η, ∇ξ·∇η of the base times the square of its determinant and a factor. */
INLINE void base_metric(const prism *p, real factor, real *r_metric)
{
    const real *base = p->base;
    const real xr = base[2] - base[0], yr = base[3] - base[1], xs = base[4] - base[0], ys = base[5] - base[1];
    r_metric[0] = factor * (xs * xs + ys * ys);
    r_metric[1] = factor * (xr * xr + yr * yr);
    r_metric[2] = -factor * (xr * xs + yr * ys);
}

/* z_ξ, z_η at the middle of a prism, [0][r], and what times ζ is added to them, [1][r]. */
INLINE void read_slopes(const prism *p, real (*slopes)[2])
{
    EACH(r, 2)
    {
        slopes[1][r] = p->h[r + 1] - p->h[0];
        slopes[0][r] = p->low[r + 1] - p->low[0] + (PARALLEL ? 0 : slopes[1][r]);
    }
}
