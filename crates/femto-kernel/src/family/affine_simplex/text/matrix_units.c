/* λ u, κ ∇u on affine simplices with matrix units: v = λ M u + Σ_a D_aᵀ (Σ_b G_ab D_b u), where the derivatives D_a
 * have as many rows as there are polynomials of one degree less. A warp has 16 ELEMENT_TILES elements, which are
 * the rows of all products; u, v and the fluxes stay in the registers of the threads that multiply them.
 *
 * Quad lane / 4 of a warp has elements lane / 4 and lane / 4 + 8 of each tile, and of each tile of eight nodes or
 * rows of derivatives thread lane % 4 has numbers 2 (lane % 4) and 2 (lane % 4) + 1. Sums come out of the matrix
 * units in these places, and as both numbers of a thread may be multiplied in any order, they go in again as they
 * are.
 *
 * With TOGETHER the warps of a block have the same elements: each forms the fluxes of its own rows of derivatives, and
 * sums v at its own tiles of nodes from the fluxes of all.
 *
 *   g_fragments  the right factors, [tile of 8 × 8][lane][FRAGMENT]: of M by tiles of columns, then for each tile of
 *                rows of derivatives D_aᵀ by tiles of nodes, and D_a likewise
 *   g_geometry   [element][factor]
 *   g_elements, g_nodes, g_u, g_v  as in apply.c
 *
 * Shared memory: with INPUT_SHARED u, [warp][element tile][node tile][number of the thread][lane], together for all
 * warps; then, together, fluxes [turn][tile of rows][element tile][axis][number][lane].
 */
#define NODE_TILES ((NODES + 7) / 8)
#define RANK_TILES ((RANK + 7) / 8)
#if TOGETHER
#define OWNERS WARPS
#define OWNER THREAD_Y
#define TEAM BLOCK
#else
#define OWNERS 1
#define OWNER 0
#define TEAM (BLOCK * WARPS + THREAD_Y)
#endif
/* Tiles of nodes at which a warp sums v: the last may not be there. */
#define OWN_TILES ((NODE_TILES + OWNERS - 1) / OWNERS)
#define OWN_TILE(n) ((n) * OWNERS + OWNER)
#define IS_TILE(n) (NODE_TILES % OWNERS == 0 || OWN_TILE(n) < NODE_TILES)
#define FRAGMENT_AT(n) load_fragment(g_fragments + ((size_t)(n) * 32 + lane) * FRAGMENT)
#define MASS_FRAGMENTS (MASS * NODE_TILES * NODE_TILES)
/* Number i of a thread in an element tile: those past the last element repeat it and are not written. */
#define ASKED(tile, i) (first + (tile) * 16 + (i) % 2 * 8)
#define OWN(tile, i) (ASKED(tile, i) < elements ? ASKED(tile, i) : elements - 1)
#define NODE(tile, i) ((tile) * 8 + 2 * (lane % 4) + (i) / 2)
#define PLANE(a, b) ((a) < (b) ? (a) * DIM - (a) * ((a) + 1) / 2 + (b) : (b) * DIM - (b) * ((b) + 1) / 2 + (a))

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int lane = THREAD_X;
    const uint first = TEAM * 16 * ELEMENT_TILES + lane / 4;
#if INPUT_SHARED
    SHARED_MEMORY(s_memory);
    real *s_u = s_memory + (TOGETHER ? 0 : THREAD_Y) * ELEMENT_TILES * NODE_TILES * 128 + lane;
#define U(tile, k, i) s_u[(((tile) * NODE_TILES + (k)) * 4 + (i)) * 32]
#else
#define U(tile, k, i) r_u[tile][k][i]
    real r_u[ELEMENT_TILES][NODE_TILES][4];
#endif
    real r_factors[ELEMENT_TILES][2][FACTORS];
    EACH(tile, ELEMENT_TILES) EACH(i, 2) EACH(m, FACTORS)
        r_factors[tile][i][m] = g_geometry[(size_t)OWN(tile, i) * FACTORS + m];
    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; ++component)
    {
#if TOGETHER
        BARRIER();
#endif
        EACH(tile, ELEMENT_TILES) EACH(n, OWN_TILES)
        {
            if (IS_TILE(n)) EACH(i, 4)
            {
                const int node = NODE(OWN_TILE(n), i);
                U(tile, OWN_TILE(n), i) = (NODES % 8 == 0 || node < NODES) ? g_u[PLACE(OWN(tile, i), component, node)] : 0;
            }
        }
#if TOGETHER
        BARRIER();
#endif
        real r_v[ELEMENT_TILES][OWN_TILES][4];
        EACH(n, OWN_TILES)
        {
            EACH(tile, ELEMENT_TILES) EACH(i, 4) r_v[tile][n][i] = 0;
#if MASS
            if (IS_TILE(n)) EACH(k, NODE_TILES)
            {
                const fragment b = FRAGMENT_AT(OWN_TILE(n) * NODE_TILES + k);
                EACH(tile, ELEMENT_TILES)
                {
                    real r_a[4];
                    EACH(i, 4) r_a[i] = r_factors[tile][i % 2][FACTORS - 1] * U(tile, k, i);
                    multiply_add(r_v[tile][n], r_a, b);
                }
            }
#endif
        }
#if STIFFNESS
        UNROLL_BY(1) for (int turn = 0; turn < (RANK_TILES + OWNERS - 1) / OWNERS; ++turn)
        {
            const int own = turn * OWNERS + OWNER;
            real r_f[ELEMENT_TILES][DIM][4];
#if TOGETHER
            /* What turn and turn + 1 write differs, so that one barrier a turn is enough. */
            real *s_f = s_u + (ELEMENT_TILES * NODE_TILES + turn % 2 * OWNERS * ELEMENT_TILES * DIM) * 128;
#define F(rank, tile, a, i) s_f[((((rank) * ELEMENT_TILES + (tile)) * DIM + (a)) * 4 + (i)) * 32]
#endif
            if (RANK_TILES % OWNERS == 0 || own < RANK_TILES) {
                real r_w[ELEMENT_TILES][DIM][4];
                EACH(tile, ELEMENT_TILES) EACH(a, DIM) EACH(i, 4) r_w[tile][a][i] = 0;
                EACH(k, NODE_TILES)
                {
                    real r_a[ELEMENT_TILES][4];
                    EACH(tile, ELEMENT_TILES) EACH(i, 4) r_a[tile][i] = U(tile, k, i);
                    EACH(a, DIM)
                    {
                        const fragment b = FRAGMENT_AT(MASS_FRAGMENTS + (own * 2 * NODE_TILES + k) * DIM + a);
                        EACH(tile, ELEMENT_TILES) multiply_add(r_w[tile][a], r_a[tile], b);
                    }
                }
                EACH(tile, ELEMENT_TILES) EACH(a, DIM) EACH(i, 4)
                {
                    real sum = 0;
                    EACH(b, DIM) sum += r_factors[tile][i % 2][PLANE(a, b)] * r_w[tile][b][i];
#if TOGETHER
                    F(OWNER, tile, a, i) = sum;
#else
                    r_f[tile][a][i] = sum;
#endif
                }
            }
#if TOGETHER
            BARRIER();
            UNROLL_BY(1)
#endif
            for (int r = 0; r < OWNERS; ++r)
            {
                const int rank = turn * OWNERS + r;
                if (RANK_TILES % OWNERS == 0 || rank < RANK_TILES) {
#if TOGETHER
                    EACH(tile, ELEMENT_TILES) EACH(a, DIM) EACH(i, 4) r_f[tile][a][i] = F(r, tile, a, i);
#endif
                    EACH(n, OWN_TILES)
                    {
                        if (IS_TILE(n)) EACH(a, DIM)
                        {
                            const fragment b = FRAGMENT_AT(
                                MASS_FRAGMENTS + ((rank * 2 + 1) * NODE_TILES + OWN_TILE(n)) * DIM + a);
                            EACH(tile, ELEMENT_TILES) multiply_add(r_v[tile][n], r_f[tile][a], b);
                        }
                    }
                }
            }
#if LOCKSTEP
            /* The warps of a block read the same fragments at about the same time. */
            BARRIER();
#endif
        }
#endif
        EACH(tile, ELEMENT_TILES) EACH(n, OWN_TILES) EACH(i, 4)
        {
            const int node = NODE(OWN_TILE(n), i);
            if (IS_TILE(n) && ASKED(tile, i) < elements && (NODES % 8 == 0 || node < NODES)) {
                ADD(OWN(tile, i), component, node, r_v[tile][n][i]);
            }
        }
    }
}
