/* λ u, κ ∇u on affine simplices: v = Σ_m factor_m A_m u with the MATRICES matrices A_m of the reference cell. A
 * thread has a row of the matrices and ELEMENTS_PER_THREAD elements; ELEMENTS_ASIDE threads side by side have
 * the same row. An entry of a matrix is read once for all elements of a thread.
 *
 *   g_tables     [matrix][column][row]
 *   g_geometry   [element][factor]
 *   g_elements   VECTORS_LISTED: each element's number in E-vectors
 *   g_nodes      VECTORS_NODAL: [element][node]
 *   g_u, g_v     E-vector [element][component][node]; or nodes NODE_STRIDE apart, components component_stride apart
 *
 * Shared memory: INPUT_SHARED [element of the thread][element aside][node], then FACTORS_SHARED likewise [factor].
 *
 * A. Karakus, T. Warburton et al., "Finite Element Stiffness Matrix Action: monolithic kernel optimization on Titan
 * V" (2018).
 */
#if !CONST_INPUTS
/* The first step of the ladder declares no pointer const. */
#define const
#endif
#define ELEMENTS_PER_BLOCK (ELEMENTS_PER_THREAD * ELEMENTS_ASIDE)
#define S_FACTORS (INPUT_SHARED * ELEMENTS_PER_BLOCK * NODES)
/* The factor of matrix m: S_ab and S_ba have the same one. */
#if SYMMETRIC || !STIFFNESS
#define FACTOR_OF(m) (m)
#else
#define LOWER(m) ((m) / DIM < (m) % DIM ? (m) / DIM : (m) % DIM)
#define UPPER(m) ((m) / DIM < (m) % DIM ? (m) % DIM : (m) / DIM)
#define FACTOR_OF(m)                                                                           \
    ((m) == DIM * DIM ? FACTORS - 1 : LOWER(m) * DIM - LOWER(m) * (LOWER(m) + 1) / 2 + UPPER(m))
#endif
/* Element t of the thread; those past the last one repeat it and are not written. */
#define SLOT(t) ((t) * ELEMENTS_ASIDE + aside)
#define ASKED(t) (BLOCK * ELEMENTS_PER_BLOCK + SLOT(t))
#define OWN(t) (ASKED(t) < elements ? ASKED(t) : elements - 1)

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int row = THREAD_X, aside = THREAD_Y;
#if INPUT_SHARED || FACTORS_SHARED
    SHARED_MEMORY(s_memory);
#endif
#if FACTORS_BEFORE
    real r_factors[ELEMENTS_PER_THREAD][FACTORS];
    EACH(t, ELEMENTS_PER_THREAD)
    {
        EACH(m, FACTORS) r_factors[t][m] = g_geometry[(size_t)OWN(t) * FACTORS + m];
    }
#endif
    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; ++component)
    {
#if INPUT_SHARED
        EACH(t, ELEMENTS_PER_THREAD) s_memory[SLOT(t) * NODES + row] = g_u[PLACE(OWN(t), component, row)];
#endif
#if FACTORS_SHARED && FACTORS_FLAT
        const uint first = BLOCK * ELEMENTS_PER_BLOCK * FACTORS, end = elements * FACTORS;
        for (int n = row + aside * NODES; n < ELEMENTS_PER_BLOCK * FACTORS; n += NODES * ELEMENTS_ASIDE) {
            s_memory[S_FACTORS + n] = g_geometry[first + n < end ? first + n : end - 1];
        }
#elif FACTORS_SHARED
        EACH(t, ELEMENTS_PER_THREAD)
        {
            for (int m = row; m < FACTORS; m += NODES) {
                s_memory[S_FACTORS + SLOT(t) * FACTORS + m] = g_geometry[(size_t)OWN(t) * FACTORS + m];
            }
        }
#endif
#if INPUT_SHARED || FACTORS_SHARED
        BARRIER();
#endif
#if INPUT_SHARED
#define U(t, k) s_memory[SLOT(t) * NODES + (k)]
#else
#define U(t, k) g_u[PLACE(OWN(t), component, k)]
#endif
        real r_sums[ELEMENTS_PER_THREAD][MATRICES];
        EACH(t, ELEMENTS_PER_THREAD) EACH(m, MATRICES) r_sums[t][m] = 0;
        COLUMN_LOOP for (int k = 0; k < NODES; ++k)
        {
#if INPUT_ONCE
            real r_u[ELEMENTS_PER_THREAD];
            EACH(t, ELEMENTS_PER_THREAD) r_u[t] = U(t, k);
#endif
            EACH(m, MATRICES)
            {
                const real entry = g_tables[(m * NODES + k) * NODES + row];
#if INPUT_ONCE
                EACH(t, ELEMENTS_PER_THREAD) r_sums[t][m] += entry * r_u[t];
#else
                EACH(t, ELEMENTS_PER_THREAD) r_sums[t][m] += entry * U(t, k);
#endif
            }
        }
        EACH(t, ELEMENTS_PER_THREAD)
        {
            real r_v = 0;
            EACH(m, MATRICES)
            {
#if FACTORS_BEFORE
                const real factor = r_factors[t][FACTOR_OF(m)];
#elif !FACTORS_SHARED
                const real factor = g_geometry[(size_t)OWN(t) * FACTORS + FACTOR_OF(m)];
#else
                const real factor = s_memory[S_FACTORS + SLOT(t) * FACTORS + FACTOR_OF(m)];
#endif
                r_v += factor * r_sums[t][m];
            }
            if (ASKED(t) < elements) ADD(OWN(t), component, row, r_v);
        }
#if COMPONENTS > 1 && (INPUT_SHARED || FACTORS_SHARED)
        BARRIER();
#endif
    }
}
