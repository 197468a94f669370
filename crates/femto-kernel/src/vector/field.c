/* Extracts a component of an L-vector as a field: g_fields [target] [node] from
 * g_u [node * node_stride + component_offset]. */
KERNEL(field)
(const GLOBAL real *RESTRICT g_u, const uint node_stride, const uint component_offset,
    GLOBAL real *RESTRICT g_fields, const uint target, const uint nodes)
{
    const uint node = BLOCK * BLOCK_X + THREAD_X;
    if (node < nodes)
        g_fields[(size_t)target * nodes + node] =
            g_u[(size_t)node * node_stride + component_offset];
}
