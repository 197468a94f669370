/* Sums the elements' contributions in g_contributions: node n of the list g_nodes gets the contributions at
 * g_sources[g_offsets[n]] to g_sources[g_offsets[n + 1] - 1], in that order, so that sums are bitwise the
 * same however blocks are scheduled. Sums of nodes from first_added on are added to the present values. */
KERNEL(sum)
(const GLOBAL uint *RESTRICT g_nodes, const GLOBAL uint *RESTRICT g_offsets,
 const GLOBAL uint *RESTRICT g_sources, const GLOBAL real *RESTRICT g_contributions,
 const uint contribution_stride, const uint component_stride,
 const uint first_added, GLOBAL real *RESTRICT g_v, const uint count)
{
    const uint n = BLOCK * BLOCK_X + THREAD_X;
    if (n < count)
        for (int component = 0; component < COMPONENTS; ++component) {
            const GLOBAL real *g_own = g_contributions + (size_t)component * contribution_stride;
            GLOBAL real *g_at = g_v + (size_t)g_nodes[n] * NODE_STRIDE + (size_t)component * component_stride;
            real r_sum = 0;
            if (g_nodes[n] >= first_added)
                r_sum = *g_at;
            for (uint source = g_offsets[n]; source < g_offsets[n + 1]; ++source)
                r_sum += g_own[g_sources[source]];
            *g_at = r_sum;
        }
}
