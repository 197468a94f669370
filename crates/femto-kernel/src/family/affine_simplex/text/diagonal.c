/* The diagonal: a thread per node of an element, ELEMENTS_ASIDE elements side by side. Operands as in apply.c. */
KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    const int node = THREAD_X;
    const uint element = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    if (element < elements) {
        real r_sum = 0;
        UNROLL for (int m = 0; m < MATRICES; ++m)
        {
            r_sum += g_geometry[(size_t)element * FACTORS + m] * g_tables[(m * NODES + node) * NODES + node];
        }
        for (int component = 0; component < COMPONENTS; ++component) ADD(element, component, node, r_sum);
    }
}
