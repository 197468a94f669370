/* Integrals over facets of a function times the basis functions of nodes: g_sums [node] from g_values
 * [facet][point], weights and area factors g_weights [facet][point], and g_basis [row][point]. The shares
 * of node n, a facet and a row of the basis each, are those of g_shares [share][2] from g_offsets[n] to
 * g_offsets[n + 1]; they are added in that order, so that sums are the same to the last bit however blocks
 * were scheduled. */
KERNEL(facets)
(const GLOBAL uint *RESTRICT g_offsets, const GLOBAL uint *RESTRICT g_shares,
    const GLOBAL real *RESTRICT g_basis, const GLOBAL real *RESTRICT g_weights,
    const GLOBAL real *RESTRICT g_values, GLOBAL real *RESTRICT g_sums, const uint points,
    const uint nodes)
{
    const uint node = BLOCK * BLOCK_X + THREAD_X;
    if (node < nodes) {
        real r_sum = 0;
        for (uint share = g_offsets[node]; share < g_offsets[node + 1]; ++share) {
            const size_t facet = (size_t)g_shares[(size_t)share * 2] * points;
            const size_t row = (size_t)g_shares[(size_t)share * 2 + 1] * points;
            for (uint p = 0; p < points; ++p)
                r_sum += g_basis[row + p] * (g_weights[facet + p] * g_values[facet + p]);
        }
        g_sums[node] = r_sum;
    }
}
