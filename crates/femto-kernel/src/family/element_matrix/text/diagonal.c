/* The diagonal: a thread per row of a matrix. Operands as in apply.c. */
KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    const uint element = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    if (element < elements) {
        for (int row = THREAD_X; row < UNKNOWNS; row += ROW_THREADS) {
            const real entry = g_matrices[MATRIX(element) + (TRIANGLE ? row : row * (STRIDE + 1))];
            for (int side = 0; side < SIDES; ++side) ADD(element, COMPONENT(side, row), row % NODES, entry);
        }
    }
}
