/* An E-vector that is 1 at unknown `column` of each element, of the first right-hand side, and otherwise 0. */
KERNEL(unit)(KERNEL_ARGUMENTS)
{
    const uint element = BLOCK * ELEMENTS_ASIDE + THREAD_Y;
    if (element < elements) {
        for (int row = THREAD_X; row < UNKNOWNS; row += ROW_THREADS) {
            for (int side = 0; side < SIDES; ++side) {
                g_v[PLACE(element, COMPONENT(side, row), row % NODES)] = side == 0 && row == (int)column;
            }
        }
    }
}
