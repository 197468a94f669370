/* Stores column `column` of each element's matrix: g_u is the E-vector of products with units, g_v the matrices. */
KERNEL(store)(KERNEL_ARGUMENTS)
{
    const uint element = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    if (element < elements) {
        for (int row = THREAD_X; row < UNKNOWNS; row += ROW_THREADS) {
            const int line = LINE(row, column);
            if (IS_STORED(row, line)) {
                g_v[ENTRY(element, row, line)] = g_u[PLACE(element, COMPONENT(0, row), row % NODES)];
            }
        }
    }
}
