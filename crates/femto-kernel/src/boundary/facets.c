/* Integrals over facets of a function times the basis functions of nodes: g_sums [node] from g_values
 * [facet][point], weights and area factors g_weights [facet][point], and g_basis [row][point]. The contributions
 * of node n, a facet and a row of the basis each, are those of g_contributions [contribution][2] from g_offsets[n] to
 * g_offsets[n + 1]; they are added in that order, so that sums are the same to the last bit however blocks
 * were scheduled. */
KERNEL(facets)
(const GLOBAL uint *RESTRICT g_offsets, const GLOBAL uint *RESTRICT g_contributions,
    const GLOBAL real *RESTRICT g_basis, const GLOBAL real *RESTRICT g_weights,
    const GLOBAL real *RESTRICT g_values, GLOBAL real *RESTRICT g_sums, const uint points,
    const uint nodes)
{
    const uint node = BLOCK * BLOCK_X + THREAD_X;
    if (node < nodes) {
        real r_sum = 0;
        for (uint n = g_offsets[node]; n < g_offsets[node + 1]; ++n) {
            const size_t facet = (size_t)g_contributions[(size_t)n * 2] * points;
            const size_t row = (size_t)g_contributions[(size_t)n * 2 + 1] * points;
            for (uint p = 0; p < points; ++p)
                r_sum += g_basis[row + p] * (g_weights[facet + p] * g_values[facet + p]);
        }
        g_sums[node] = r_sum;
    }
}
