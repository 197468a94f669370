/* Zeroes pieces of nodes: g_pieces [piece][2], first node and end; a block takes one piece. */
KERNEL(zero)
(const GLOBAL uint *RESTRICT g_pieces, const uint component_stride, GLOBAL real *RESTRICT g_v)
{
    const uint end = g_pieces[2 * BLOCK + 1];
    for (uint node = g_pieces[2 * BLOCK] + THREAD_X; node < end; node += BLOCK_X)
        for (int component = 0; component < COMPONENTS; ++component)
            g_v[(size_t)node * NODE_STRIDE + (size_t)component * component_stride] = 0;
}
