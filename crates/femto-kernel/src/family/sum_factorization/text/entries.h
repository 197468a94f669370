/* The numbers of the matrix of a hexahedron of degree 1, see elements.c.
 *
 * With GRADIENTS u is kept as eight times the coefficients of monomials xi^a eta^b zeta^c, m = a + 2 b + 4 c, see
 * `transform` of elements.h, and the numbers are the entries (m, n), m <= n, of the symmetric matrix in these; without
 * VALUES those of the constant, m = 0, are zero and not there.
 *
 * Otherwise one for each part of the element, [3][3][3]: along each axis the first node, the second, or both. With s the
 * sum of u at the nodes of a part, its number times s is added at each of them.
 */
#if GRADIENTS

#define FIRST (VALUES ? 0 : 1)
/* Entry (m, n) of the upper triangle of rows from FIRST on. */
#define ENTRY(m, n) (((m) - FIRST) * (2 * NODES - FIRST - (m) + 1) / 2 + (n) - (m))
#define EACH_ENTRY(m, n)                                                                       \
    UNROLL for (int m = FIRST; m < NODES; ++m) UNROLL for (int n = m; n < NODES; ++n)

INLINE void multiply(const SHARED real *s_numbers, node_numbers *r_u, node_numbers *r_v)
{
    ALL(c, COUPLED)
    {
        transform(&r_u[c], false);
        ALL(n, NODES) r_v[c].numbers[n] = 0;
    }
    EACH_ENTRY(m, n)
    {
        const real number = s_numbers[ENTRY(m, n)];
        ALL(c, COUPLED)
        {
            r_v[c].numbers[m] += number * r_u[c].numbers[n];
            if (m < n)
                r_v[c].numbers[n] += number * r_u[c].numbers[m];
        }
    }
    ALL(c, COUPLED) transform(&r_v[c], true);
}

/* Coefficients of a unit at a node are 1 or -1: the latter if an odd number of factors is -1 there. */
INLINE bool is_negative(int m, int node)
{
    const int minus = m & ~node;
    return (minus ^ minus >> 1 ^ minus >> 2) & 1;
}

INLINE node_numbers diagonal_of(const SHARED real *s_numbers)
{
    node_numbers sums;
    ALL(node, NODES)
    {
        real sum = 0;
        EACH_ENTRY(m, n)
        {
            const real entry = (m < n ? 2 : 1) * s_numbers[ENTRY(m, n)];
            sum += is_negative(m, node) != is_negative(n, node) ? -entry : entry;
        }
        sums.numbers[node] = sum;
    }
    return sums;
}

#else

/* The products of a row of parts with the numbers of two nodes, and their sum at each of these. */
INLINE void multiply_row(const SHARED real *s_numbers, real first, real second, real *r_sums)
{
    const real both = s_numbers[2] * (first + second);
    r_sums[0] = s_numbers[0] * first + both;
    r_sums[1] = s_numbers[1] * second + both;
}

/* The same with a layer of parts, and four nodes. */
INLINE void multiply_layer(const SHARED real *s_numbers, const real *r_u, real *r_sums)
{
    real r_both[2];
    multiply_row(s_numbers, r_u[0], r_u[1], r_sums);
    multiply_row(s_numbers + 3, r_u[2], r_u[3], r_sums + 2);
    multiply_row(s_numbers + 6, r_u[0] + r_u[2], r_u[1] + r_u[3], r_both);
    ALL(n, 4) r_sums[n] += r_both[n % 2];
}

INLINE void multiply(const SHARED real *s_numbers, node_numbers *r_u, node_numbers *r_v)
{
    ALL(c, COUPLED)
    {
        real r_sum[4], r_both[4];
        const real *r_low = r_u[c].numbers, *r_high = r_low + 4;
        multiply_layer(s_numbers, r_low, r_v[c].numbers);
        multiply_layer(s_numbers + 9, r_high, r_v[c].numbers + 4);
        ALL(n, 4) r_sum[n] = r_low[n] + r_high[n];
        multiply_layer(s_numbers + 18, r_sum, r_both);
        ALL(n, NODES) r_v[c].numbers[n] += r_both[n % 4];
    }
}

INLINE node_numbers diagonal_of(const SHARED real *s_numbers)
{
    node_numbers sums;
    ALL(node, NODES)
    {
        real sum = 0;
        /* Its parts: along each axis the node itself, or both. */
        ALL(part, NODES)
        {
            const int i = part % 2 ? 2 : node % 2, j = part / 2 % 2 ? 2 : node / 2 % 2, k = part / 4 ? 2 : node / 4;
            sum += s_numbers[9 * k + 3 * j + i];
        }
        sums.numbers[node] = sum;
    }
    return sums;
}

#endif
