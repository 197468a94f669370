/* Matrices for the contractions of diagonals: products of two entries of 1-D matrices at a point and a
 * node, c_products [3][POINTS_1D][NODES_1D]: interpolation squared, interpolation times derivative,
 * derivative squared.
 */

/* The product for an axis in the term of axes a and b. */
INLINE int product_of(int axis, int a, int b)
{
    return (axis == a ? 1 : 0) + (axis == b ? 1 : 0);
}

/* r_to[n] = sum_m c_products[which][m][n] r_from[m] */
INLINE void contract(int which, const real *r_from, real *r_to)
{
    UNROLL for (int n = 0; n < NODES_1D; ++n)
    {
        real r_sum = 0;
        UNROLL for (int m = 0; m < POINTS_1D; ++m)
            r_sum += c_products[(which * POINTS_1D + m) * NODES_1D + n] * r_from[m];
        r_to[n] = r_sum;
    }
}
