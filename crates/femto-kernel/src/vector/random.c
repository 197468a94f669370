/* Random numbers for measurements, and extraction of a few of them. */

/* x_i: a number in [-1, 1) that depends only on the seed and on i, by splitmix64. */
KERNEL(random)(uint len, uint seed, GLOBAL number *RESTRICT g_x)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X) {
        ulong z = (((ulong)seed << 32) + i + 1) * 0x9e3779b97f4a7c15UL;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
        z = z ^ (z >> 31);
        g_x[i] = (number)((real)(z >> 11) / 4503599627370496.0 - 1.0);
    }
}

/* y_i = x_(first + i) */
KERNEL(pick)
(uint len, uint first, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[i] = g_x[first + i];
}
