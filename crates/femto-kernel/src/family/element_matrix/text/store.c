/* Stores column `column` of each element's matrix: g_u is the E-vector of products with units, g_v the matrices. */
KERNEL(store)(KERNEL_ARGUMENTS)
{
    const uint element = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    if (element < elements) {
        for (int row = THREAD_X; row < UNKNOWNS; row += ROW_THREADS) {
            const real entry = g_u[PLACE(element, COMPONENT(0, row), row % NODES)];
#if TRIANGLE
            const int apart = (int)column - row, d = apart < 0 ? apart + UNKNOWNS : apart;
            if (d < DIAGONALS) {
                g_v[MATRIX(element) + d * STRIDE + row] = entry;
            } else if (2 * d == UNKNOWNS && row < d) {
                g_v[LAST_DIAGONAL(element) + row] = entry;
            }
#else
            g_v[MATRIX(element) + (size_t)column * STRIDE + row] = entry;
#endif
        }
    }
}
