/* The point-wise part of the screened Poisson operator with stored factors. Another text with the same
 * names can replace it.
 *
 * The factors of a point are G00 G01 G02 G11 G12 G22, weight |J| (J^T J)^-1, and weight |J| (Świrydowicz et al. 2019,
 * eq. 10).
 */
#define FACTORS 7

/* g_factors is the element's. */
INLINE void load_factors(INPUT g_factors, int point, real *r_factors)
{
    UNROLL for (int f = 0; f < FACTORS; f++)
        r_factors[f] = g_factors[f * (POINTS_1D * POINTS_1D * POINTS_1D) + point];
}

/* Reference gradient to flux, in place. */
INLINE void point_flux(const real *r_factors, real *r_gradient)
{
    const real r = r_gradient[0], s = r_gradient[1], t = r_gradient[2];
    r_gradient[0] = r_factors[0] * r + r_factors[1] * s + r_factors[2] * t;
    r_gradient[1] = r_factors[1] * r + r_factors[3] * s + r_factors[4] * t;
    r_gradient[2] = r_factors[2] * r + r_factors[4] * s + r_factors[5] * t;
}

/* The factor of the test function's value. */
INLINE real point_value(const real *r_factors, real lambda, real u)
{
    return lambda * r_factors[6] * u;
}
