/* A pencil of values times a 1-D matrix M, all in registers, with the matrix as operands from constant
 * memory. All 1-D matrices of symmetric nodes and points have M[R-1-i][C-1-m] = SIGN M[i][m], where SIGN is
 * 1 for interpolation and -1 for differentiation, so that even and odd parts of the pencil need only half
 * of the products (Solomonoff 1992):
 *   e_m = u_m + u_{C-1-m},  o_m = u_m - u_{C-1-m}           (the middle one counts once)
 *   a_i = sum_m c_NAME_even[i][m] e_m,  b_i = sum_m c_NAME_odd[i][m] o_m
 *   v_i = a_i + b_i,  v_{R-1-i} = SIGN (a_i - b_i)
 *
 * Tables: c_NAME_even [(R+1)/2][(C+1)/2] and c_NAME_odd [(R+1)/2][C/2], or c_NAME [R][C].
 */
#if EVEN_ODD
#define CONTRACTION(NAME, R, C, SIGN)                                                          \
    INLINE void NAME(const real *r_in, real *r_out)                                            \
    {                                                                                          \
        real r_even[((C) + 1) / 2], r_odd[((C) + 1) / 2];                                      \
        UNROLL for (int m = 0; m < (C) / 2; ++m)                                               \
        {                                                                                      \
            r_even[m] = r_in[m] + r_in[(C) - 1 - m];                                           \
            r_odd[m] = r_in[m] - r_in[(C) - 1 - m];                                            \
        }                                                                                      \
        if ((C) % 2)                                                                           \
            r_even[(C) / 2] = r_in[(C) / 2];                                                   \
        UNROLL for (int i = 0; i < ((R) + 1) / 2; ++i)                                         \
        {                                                                                      \
            const bool middle = (R) % 2 && i == (R) / 2;                                       \
            real r_a = 0, r_b = 0;                                                             \
            if (!middle || (SIGN) > 0)                                                         \
                UNROLL for (int m = 0; m < ((C) + 1) / 2; ++m)                                 \
                    r_a += c_##NAME##_even[i * (((C) + 1) / 2) + m] * r_even[m];               \
            if (!middle || (SIGN) < 0)                                                         \
                UNROLL for (int m = 0; m < (C) / 2; ++m)                                       \
                    r_b += c_##NAME##_odd[i * ((C) / 2) + m] * r_odd[m];                       \
            r_out[i] = middle ? ((SIGN) > 0 ? r_a : r_b) : r_a + r_b;                          \
            if (!middle)                                                                       \
                r_out[(R) - 1 - i] = (SIGN) > 0 ? r_a - r_b : r_b - r_a;                       \
        }                                                                                      \
    }
#else
#define CONTRACTION(NAME, R, C, SIGN)                                                          \
    INLINE void NAME(const real *r_in, real *r_out)                                            \
    {                                                                                          \
        UNROLL for (int i = 0; i < (R); ++i)                                                   \
        {                                                                                      \
            real r_sum = 0;                                                                    \
            UNROLL for (int m = 0; m < (C); ++m) r_sum += c_##NAME[i * (C) + m] * r_in[m];     \
            r_out[i] = r_sum;                                                                  \
        }                                                                                      \
    }
#endif

INLINE void load(real *r_pencil, const SHARED real *s_pencil, int stride, int count)
{
    UNROLL for (int m = 0; m < count; ++m) r_pencil[m] = s_pencil[m * stride];
}

INLINE void store(SHARED real *s_pencil, int stride, int count, const real *r_pencil)
{
    UNROLL for (int m = 0; m < count; ++m) s_pencil[m * stride] = r_pencil[m];
}

/* The contraction of a pencil in shared memory, into another one or in place. */
#define CONTRACT(NAME, s_to, s_from, stride, ROWS, COLUMNS)                                    \
    {                                                                                          \
        real r_from[COLUMNS], r_to[ROWS];                                                      \
        load(r_from, s_from, stride, COLUMNS);                                                 \
        NAME(r_from, r_to);                                                                    \
        store(s_to, stride, ROWS, r_to);                                                       \
    }
