/* Solves a separable problem on each element by fast diagonalisation: see element_inverse.rs.
 *
 * A thread has a line of N values. It multiplies lines along each axis by the eigenvectors of that axis, the slowest
 * axis first, divides by sums of eigenvalues, and goes back. Lines are exchanged through shared memory, with ROW
 * numbers from row to row, so that neither rows nor columns meet in a bank.
 */
#define ROW (N | 1)
#if AXES == 3
#define LINES (N * N)
#define SLOWEST (N * ROW)
#else
#define LINES N
#define SLOWEST ROW
#endif

/* The line of a thread along the slowest, the middle and the fastest axis, and a value of a line. */
#if AXES == 3
#define ALONG_SLOWEST(line) (s_values + (line) / N * ROW + (line) % N)
#define ALONG_MIDDLE(line) (s_values + (line) / N * SLOWEST + (line) % N)
#define ALONG_FASTEST(line) (s_values + (line) / N * SLOWEST + (line) % N * ROW)
#else
#define ALONG_SLOWEST(line) (s_values + (line))
#define ALONG_FASTEST(line) (s_values + (line)*ROW)
#endif

/* The ends of an element's lines along an axis. */
#define ENDS(ends, axis) (((ends) >> (ENDS_BITS * (axis))) & ((1u << ENDS_BITS) - 1u))

INLINE void load(const SHARED real *s_line, int stride, real r_line[N])
{
    UNROLL for (int n = 0; n < N; ++n) r_line[n] = s_line[n * stride];
}

INLINE void store(SHARED real *s_line, int stride, const real r_line[N])
{
    UNROLL for (int n = 0; n < N; ++n) s_line[n * stride] = r_line[n];
}

/* line = Vᵀ line, with V of [node][mode]. */
INLINE void to_modes(const SHARED real *s_vectors, real r_line[N])
{
    real r_sums[N];
    UNROLL for (int mode = 0; mode < N; ++mode) r_sums[mode] = 0;
    UNROLL for (int n = 0; n < N; ++n)
        UNROLL for (int mode = 0; mode < N; ++mode)
            r_sums[mode] += s_vectors[n * N + mode] * r_line[n];
    UNROLL for (int mode = 0; mode < N; ++mode) r_line[mode] = r_sums[mode];
}

/* line = V line. */
INLINE void to_nodes(const SHARED real *s_vectors, real r_line[N])
{
    real r_sums[N];
    UNROLL for (int n = 0; n < N; ++n)
    {
        r_sums[n] = 0;
        UNROLL for (int mode = 0; mode < N; ++mode)
            r_sums[n] += s_vectors[n * N + mode] * r_line[mode];
    }
    UNROLL for (int n = 0; n < N; ++n) r_line[n] = r_sums[n];
}

/* Arguments: the number of items, elements times components; the number of components; of the tables, eigenvectors
 * [ends][N][N] and eigenvalues [ends][N]; of items, the ends of their lines and their strengths [item][1 + AXES];
 * nodes, [element][N^AXES]; weights and input, L-vectors; the output, [item][N^AXES]. */
KERNEL(invert_elements)
(uint count, uint components, const GLOBAL real *RESTRICT g_vectors,
 const GLOBAL real *RESTRICT g_values, const GLOBAL uint *RESTRICT g_ends,
 const GLOBAL real *RESTRICT g_strengths, const GLOBAL uint *RESTRICT g_nodes,
 const GLOBAL real *RESTRICT g_weights, const GLOBAL real *RESTRICT g_x, GLOBAL real *RESTRICT g_e)
{
    SHARED_MEMORY(s_memory);
    const int own = THREAD_X / LINES, line = THREAD_X % LINES;
    SHARED real *s_values = s_memory + own * (N * SLOWEST);
    SHARED real *s_vectors = s_memory + ELEMENTS * (N * SLOWEST) + own * (AXES * N * N);
    /* Threads beyond the last item repeat it, and store nothing. */
    const bool is_there = BLOCK * ELEMENTS + own < count;
    const uint item = is_there ? BLOCK * ELEMENTS + own : count - 1;
    const uint ends = g_ends[item];
    for (int i = line; i < AXES * N * N; i += LINES)
        s_vectors[i] = g_vectors[ENDS(ends, i / (N * N)) * (N * N) + i % (N * N)];

    uint r_entries[N];
    real r_line[N];
    UNROLL for (int n = 0; n < N; ++n)
    {
        const size_t node = g_nodes[(size_t)(item / components) * (N * LINES) + n * LINES + line];
        r_entries[n] = (uint)(node * components + item % components);
        r_line[n] = g_weights[r_entries[n]] * g_x[r_entries[n]];
    }
    BARRIER();
    to_modes(s_vectors + (AXES - 1) * N * N, r_line);
    store(ALONG_SLOWEST(line), SLOWEST, r_line);
    BARRIER();
#if AXES == 3
    load(ALONG_MIDDLE(line), ROW, r_line);
    to_modes(s_vectors + N * N, r_line);
    store(ALONG_MIDDLE(line), ROW, r_line);
    BARRIER();
#endif
    load(ALONG_FASTEST(line), 1, r_line);
    to_modes(s_vectors, r_line);
    {
        const GLOBAL real *g_own = g_strengths + (size_t)item * (1 + AXES);
        const real slowest = g_own[AXES] * g_values[ENDS(ends, AXES - 1) * N + line / (LINES / N)];
#if AXES == 3
        const real others = g_own[0] + slowest + g_own[2] * g_values[ENDS(ends, 1) * N + line % N];
#else
        const real others = g_own[0] + slowest;
#endif
        UNROLL for (int mode = 0; mode < N; ++mode)
            r_line[mode] /= others + g_own[1] * g_values[ENDS(ends, 0) * N + mode];
    }
    to_nodes(s_vectors, r_line);
    store(ALONG_FASTEST(line), 1, r_line);
    BARRIER();
#if AXES == 3
    load(ALONG_MIDDLE(line), ROW, r_line);
    to_nodes(s_vectors + N * N, r_line);
    store(ALONG_MIDDLE(line), ROW, r_line);
    BARRIER();
#endif
    load(ALONG_SLOWEST(line), SLOWEST, r_line);
    to_nodes(s_vectors + (AXES - 1) * N * N, r_line);
    UNROLL for (int n = 0; n < N; ++n)
    {
        if (is_there)
            g_e[(size_t)item * (N * LINES) + n * LINES + line] = g_weights[r_entries[n]] * r_line[n];
    }
}
