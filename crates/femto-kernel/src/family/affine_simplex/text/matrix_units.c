/* λ u, κ ∇u on affine simplices with matrix units: v = λ M u + Σ_a D_aᵀ (Σ_b G_ab D_b u), where the derivatives D_a
 * have as many rows as there are polynomials of one degree less. The matrices are those between nodes; or with four
 * CLASSES those between sums over orbits of nodes, which the classes keep apart: along axis a, functions of class
 * BEFORE(a, class) have derivatives of that class.
 *
 * A warp has 16 ELEMENT_TILES elements, which are the rows of all products. With four classes nodal values pass through
 * shared memory, where threads form the sums over orbits and take them apart. Unless INPUT_SHARED or TOGETHER say
 * otherwise, sums and fluxes stay in the registers of the threads that multiply them.
 *
 * Quad lane / 4 of a warp has elements lane / 4 and lane / 4 + 8 of each tile, and of each tile of eight sums or
 * rows of derivatives thread lane % 4 has numbers 2 (lane % 4) and 2 (lane % 4) + 1. Sums come out of the matrix
 * units in these places, and as both numbers of a thread may be multiplied in any order, they go in again as they
 * are.
 *
 * With TOGETHER the warps of a block have the same elements, and each has a class: it forms the fluxes of its rows of
 * derivatives, and adds up v at its sums.
 *
 *   g_fragments  the right factors, [tile of 8 × 8][lane][FRAGMENT]: for each class those of M by tiles of columns;
 *                then for each class and tile of rows of derivatives D_aᵀ axis by axis by tiles of sums, and D_a likewise
 *   g_orbits     four classes: [orbit of four nodes][4]; for each class [sum of one or two nodes][2]: a node, and the
 *                other or itself
 *   g_geometry   [element][factor]
 *   g_elements, g_nodes, g_u, g_v  as in apply.c
 *
 * Shared memory: with INPUT_SHARED sums of u, [warp][element tile][tile of sums][number of the thread][lane], together for
 * all warps; then with four classes [warp][element][node], rows of STRIDE, together for all warps, in the place of fluxes
 * [turn][class][element tile][axis][number][lane].
 */
#if CLASSES != 1 && CLASSES != 4
#error "matrix units multiply matrices of one class or of four"
#endif
#if TOGETHER
#define WARPS_TOGETHER WARPS
#define CLASS THREAD_Y
#define TEAM BLOCK
#define TEAM_BARRIER() BARRIER()
#else
#define WARPS_TOGETHER 1
#define CLASS 0
#define TEAM (BLOCK * WARPS + THREAD_Y)
#define TEAM_BARRIER() WARP_BARRIER()
#endif
/* Tiles of rows of derivatives, as of sums. */
#define RANK_TILES(c) ((c) == 0 ? RANK_TILES_FIRST : RANK_TILES_OTHERS)
#define SUMS(c) ((c) == 0 ? SUMS_FIRST : SUMS_OTHERS)
#if CLASSES == 4
#define BEFORE(a, c) ((c) ^ ((a) + 1))
#define AXES_FROM_FIRST(c) ((c) != 0)
#else
#define BEFORE(a, c) 0
#define AXES_FROM_FIRST(c) DIM
#endif
/* Fragments of M of a class, and of D_aᵀ or D_a along all axes for a tile of rows of a class. */
#define MASS_AT(c)                                                                             \
    ((c) == 0 ? 0 : SUM_TILES_FIRST * SUM_TILES_FIRST + ((c) - 1) * SUM_TILES_OTHERS * SUM_TILES_OTHERS)
#define SLOPES(c) (DIM * SUM_TILES_OTHERS + AXES_FROM_FIRST(c) * (SUM_TILES_FIRST - SUM_TILES_OTHERS))
#define SLOPES_AT(c)                                                                           \
    (MASS * MASS_AT(CLASSES) +                                                                 \
     ((c) == 0 ? 0 : 2 * (RANK_TILES_FIRST * SLOPES(0) + ((c) - 1) * RANK_TILES_OTHERS * SLOPES(1))))
#define FRAGMENT_AT(n) load_fragment(g_fragments + ((size_t)(n) * 32 + lane) * FRAGMENT)
/* Number i of a thread in an element tile. Elements past the last one repeat it and are not written. */
#define ELEMENT_OF(tile, i) ((tile) * 16 + lane / 4 + (i) % 2 * 8)
#define OWN(element) (first + (element) < elements ? first + (element) : elements - 1)
#define PLANE(a, b) ((a) < (b) ? (a) * DIM - (a) * ((a) + 1) / 2 + (b) : (b) * DIM - (b) * ((b) + 1) / 2 + (a))
/* Nodal value of an element in shared memory; sum i of u or v in a tile of a class. */
#define S_NODAL(element, node) s_nodal[(element) * STRIDE + (node)]
#define S_SUM(tile, c, n, i) s_sums[(((tile) * ALL_TILES + FIRST_TILE(c) + (n)) * 4 + (i)) * 32]
#if INPUT_SHARED
#define U(tile, c, n, i) S_SUM(tile, c, n, i)
#else
#define U(tile, c, n, i) r_u[tile][FIRST_TILE(c) + (n)][i]
#endif
#if TOGETHER
#define V(tile, c, n, i) S_SUM(tile, c, n, i)
#define FLUX(tile, c, a, i) s_fluxes[((((c) * ELEMENT_TILES + (tile)) * DIM + (a)) * 4 + (i)) * 32]
#else
#define V(tile, c, n, i) r_v[tile][FIRST_TILE(c) + (n)][i]
#define FLUX(tile, c, a, i) r_fluxes[tile][a][i]
#endif
/* Whether all, or none, of the sums of a tile are of orbits of four nodes. */
#define IS_QUADS(n) ((n) * 8 + 8 <= QUADS)
#define IS_OTHERS(n) ((n) * 8 >= QUADS)
#define OTHERS_AT(c) (QUADS * 4 + ((c) == 0 ? 0 : SUMS_FIRST - QUADS + ((c) - 1) * (SUMS_OTHERS - QUADS)) * 2)
/* The nodes of orbits, of one of four nodes or of a class. */
#define QUAD(sum) (*(const GLOBAL ushort4 *)(g_orbits + (sum) * 4))
#define PAIR(c, sum) (*(const GLOBAL ushort2 *)(g_orbits + OTHERS_AT(c) + ((sum) - QUADS) * 2))
/* Nodal values of a team's elements, which its threads copy in chunks: so many that few wait for the lists of nodes. */
#define CHUNK_MOST (VECTORS_NODAL ? 24 : 4)
#define VALUES (16 * ELEMENT_TILES * NODES)
#define CHUNK_STEP (32 * WARPS_TOGETHER)
#define ROUNDS ((VALUES + CHUNK_STEP - 1) / CHUNK_STEP)
#define CHUNKS ((ROUNDS + CHUNK_MOST - 1) / CHUNK_MOST)
#define CHUNK ((ROUNDS + CHUNKS - 1) / CHUNKS)
#define VALUE(i) (start + (i) * CHUNK_STEP < VALUES ? start + (i) * CHUNK_STEP : VALUES - 1)
#define ELEMENT_AT(n) ((n) / NODES)
#define NODE_AT(n) ((n) % NODES)
#define SUM(n, j) ((n) * 8 + lane % 4 * 2 + (j))
#define EACH_TILE_OF_TEAM(tile, n)                                                             \
    EACH(tile, ELEMENT_TILES) EACH(n, SUM_TILES_FIRST)                                         \
        if (WARPS_TOGETHER == 1 || (tile * SUM_TILES_FIRST + n) % WARPS_TOGETHER == CLASS)

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int lane = THREAD_X;
    const uint first = TEAM * 16 * ELEMENT_TILES;
    SHARED_MEMORY(s_memory);
#define OWN_SHARED(numbers) ((TOGETHER ? 0 : THREAD_Y) * ELEMENT_TILES * (numbers))
#define SHARED_SUMS (INPUT_SHARED * (TOGETHER ? 1 : WARPS) * ELEMENT_TILES * ALL_TILES * 128)
    real *s_nodal = s_memory + SHARED_SUMS + OWN_SHARED(16 * STRIDE);
#if INPUT_SHARED
    real *s_sums = s_memory + OWN_SHARED(ALL_TILES * 128) + lane;
#else
    real r_u[ELEMENT_TILES][ALL_TILES][4];
#endif
    real r_factors[ELEMENT_TILES][2][FACTORS];
    EACH(tile, ELEMENT_TILES) EACH(i, 2) EACH(m, FACTORS)
        r_factors[tile][i][m] = g_geometry[(size_t)OWN(ELEMENT_OF(tile, i)) * FACTORS + m];
    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; ++component)
    {
#if CLASSES == 1
        /* A sum is a node. */
        EACH(tile, ELEMENT_TILES) EACH(n, ALL_TILES) EACH(i, 4)
        {
            const int node = SUM(n, i / 2);
            U(tile, 0, n, i) = (NODES % 8 == 0 || node < NODES) ? g_u[PLACE(OWN(ELEMENT_OF(tile, i)), component, node)] : 0;
        }
#else
        TEAM_BARRIER();
        UNROLL_BY(1) for (int start = CLASS * 32 + lane; start < VALUES; start += CHUNK * CHUNK_STEP)
        {
            /* All places are read before the first copy waits for its own. */
            size_t r_places[CHUNK];
            EACH(i, CHUNK) r_places[i] = PLACE(OWN(ELEMENT_AT(VALUE(i))), component, NODE_AT(VALUE(i)));
            EACH(i, CHUNK) if (start + i * CHUNK_STEP < VALUES)
                ASYNC_COPY(REAL_BYTES, &S_NODAL(ELEMENT_AT(VALUE(i)), NODE_AT(VALUE(i))), g_u + r_places[i]);
        }
        /* They arrive along with the values. */
        ushort4 r_quads[SUM_TILES_FIRST][2];
        EACH(n, SUM_TILES_FIRST) EACH(j, 2) if (!IS_OTHERS(n) && SUM(n, j) < QUADS) r_quads[n][j] = QUAD(SUM(n, j));
        ASYNC_COPIES_DONE();
        TEAM_BARRIER();
        EACH_TILE_OF_TEAM(tile, n) EACH(j, 2)
        {
            const int sum = SUM(n, j);
            if (!IS_OTHERS(n) && (IS_QUADS(n) || sum < QUADS)) {
                const ushort4 nodes = r_quads[n][j];
                EACH(half, 2)
                {
                    const real *s_own = &S_NODAL(ELEMENT_OF(tile, half), 0);
                    real x[4] = {s_own[nodes.x], s_own[nodes.y], s_own[nodes.z], s_own[nodes.w]};
                    sums_of_four(x);
                    EACH(c, CLASSES) U(tile, c, n, 2 * j + half) = x[c];
                }
            } else EACH(c, CLASSES) if (n < SUM_TILES(c))
            {
                const ushort2 nodes = sum < SUMS(c) ? PAIR(c, sum) : make_ushort2(0, 0);
                EACH(half, 2)
                {
                    const real *s_own = &S_NODAL(ELEMENT_OF(tile, half), 0);
                    real x = sum < SUMS(c) ? s_own[nodes.x] : 0;
                    if (nodes.x != nodes.y) x += c == 0 ? s_own[nodes.y] : -s_own[nodes.y];
                    U(tile, c, n, 2 * j + half) = x;
                }
            }
        }
#endif
#if TOGETHER
        BARRIER();
        real r_v[ELEMENT_TILES][SUM_TILES_FIRST][4];
        EACH(tile, ELEMENT_TILES) EACH(n, SUM_TILES_FIRST) EACH(i, 4) r_v[tile][n][i] = 0;
#define SUM_OF(tile, c, n) r_v[tile][n]
#define EACH_OWN_CLASS(c) const int c = CLASS;
#else
        real r_v[ELEMENT_TILES][ALL_TILES][4];
        EACH(tile, ELEMENT_TILES) EACH(n, ALL_TILES) EACH(i, 4) r_v[tile][n][i] = 0;
#define SUM_OF(tile, c, n) r_v[tile][FIRST_TILE(c) + (n)]
#define EACH_OWN_CLASS(c) EACH(c, CLASSES)
#endif
#if MASS
        EACH_OWN_CLASS(c)
        {
            EACH(k, SUM_TILES_FIRST) if (k < SUM_TILES(c))
            {
                real r_a[ELEMENT_TILES][4];
                EACH(tile, ELEMENT_TILES) EACH(i, 4)
                    r_a[tile][i] = r_factors[tile][i % 2][FACTORS - 1] * U(tile, c, k, i);
                EACH(n, SUM_TILES_FIRST) if (n < SUM_TILES(c))
                {
                    const fragment b = FRAGMENT_AT(MASS_AT(c) + n * SUM_TILES(c) + k);
                    EACH(tile, ELEMENT_TILES) multiply_add(SUM_OF(tile, c, n), r_a[tile], b);
                }
            }
        }
#endif
#if STIFFNESS
#if TOGETHER
        UNROLL_BY(1) for (int r = 0; r < RANK_TILES_FIRST; ++r)
        {
            /* What turns r and r + 1 write differs, so that one barrier a turn is enough. */
            real *s_fluxes = s_memory + SHARED_SUMS + r % 2 * CLASSES * ELEMENT_TILES * DIM * 128 + lane;
            const int c = CLASS;
            if (r < RANK_TILES(c))
#else
        EACH(c, CLASSES)
        {
            UNROLL_BY(1) for (int r = 0; r < RANK_TILES(c); ++r)
#endif
            {
                const int at = SLOPES_AT(c) + 2 * r * SLOPES(c);
                real r_w[ELEMENT_TILES][DIM][4];
#if !TOGETHER
                real r_fluxes[ELEMENT_TILES][DIM][4];
#endif
                EACH(tile, ELEMENT_TILES) EACH(a, DIM) EACH(i, 4) r_w[tile][a][i] = 0;
                EACH(k, SUM_TILES_FIRST)
                {
                    int axis_at = at;
                    EACH(a, DIM)
                    {
                        const int before = BEFORE(a, c);
                        if (k < SUM_TILES(before)) {
                            const fragment b = FRAGMENT_AT(axis_at + k);
                            EACH(tile, ELEMENT_TILES)
                            {
                                real r_a[4];
                                EACH(i, 4) r_a[i] = U(tile, before, k, i);
                                multiply_add(r_w[tile][a], r_a, b);
                            }
                        }
                        axis_at += SUM_TILES(before);
                    }
                }
                EACH(tile, ELEMENT_TILES) EACH(a, DIM) EACH(i, 4)
                {
                    real flux = 0;
                    EACH(b, DIM) flux += r_factors[tile][i % 2][PLANE(a, b)] * r_w[tile][b][i];
                    FLUX(tile, c, a, i) = flux;
                }
#if !TOGETHER
                EACH(n, SUM_TILES_FIRST)
                {
                    int axis_at = at + SLOPES(c);
                    EACH(a, DIM)
                    {
                        const int before = BEFORE(a, c);
                        if (n < SUM_TILES(before)) {
                            const fragment b = FRAGMENT_AT(axis_at + n);
                            EACH(tile, ELEMENT_TILES) multiply_add(SUM_OF(tile, before, n), r_fluxes[tile][a], b);
                        }
                        axis_at += SUM_TILES(before);
                    }
                }
#if LOCKSTEP
                /* The warps of a block read the same fragments at about the same time. */
                BARRIER();
#endif
#endif
            }
#if TOGETHER
            BARRIER();
            EACH(a, DIM)
            {
                /* Fluxes along this axis of rows of another class add to this one's sums. */
                const int other = BEFORE(a, c);
                if (r < RANK_TILES(other)) {
                    int at = SLOPES_AT(other) + (2 * r + 1) * SLOPES(other);
                    EACH(b, a) at += SUM_TILES(BEFORE(b, other));
                    real r_f[ELEMENT_TILES][4];
                    EACH(tile, ELEMENT_TILES) EACH(i, 4) r_f[tile][i] = FLUX(tile, other, a, i);
                    EACH(n, SUM_TILES_FIRST) if (n < SUM_TILES(c))
                    {
                        const fragment b = FRAGMENT_AT(at + n);
                        EACH(tile, ELEMENT_TILES) multiply_add(r_v[tile][n], r_f[tile], b);
                    }
                }
            }
#endif
        }
#endif
#if TOGETHER
        BARRIER();
        EACH(tile, ELEMENT_TILES) EACH(n, SUM_TILES_FIRST) if (n < SUM_TILES(CLASS)) EACH(i, 4)
            S_SUM(tile, CLASS, n, i) = r_v[tile][n][i];
#endif
#if CLASSES == 1
        EACH(tile, ELEMENT_TILES) EACH(n, ALL_TILES) EACH(i, 4)
        {
            const int node = SUM(n, i / 2);
            if (first + ELEMENT_OF(tile, i) < elements && (NODES % 8 == 0 || node < NODES)) {
                ADD(first + ELEMENT_OF(tile, i), component, node, V(tile, 0, n, i));
            }
        }
#else
        TEAM_BARRIER();
        EACH_TILE_OF_TEAM(tile, n) EACH(j, 2)
        {
            const int sum = SUM(n, j);
            if (!IS_OTHERS(n) && (IS_QUADS(n) || sum < QUADS)) {
                const ushort4 nodes = QUAD(sum);
                EACH(half, 2)
                {
                    real x[4];
                    EACH(c, CLASSES) x[c] = V(tile, c, n, 2 * j + half);
                    sums_of_four(x);
                    real *s_own = &S_NODAL(ELEMENT_OF(tile, half), 0);
                    s_own[nodes.x] = x[0];
                    s_own[nodes.y] = x[1];
                    s_own[nodes.z] = x[2];
                    s_own[nodes.w] = x[3];
                }
            } else if (sum < SUMS_FIRST) {
                const ushort2 nodes = PAIR(0, sum);
                EACH(half, 2)
                {
                    real *s_own = &S_NODAL(ELEMENT_OF(tile, half), 0);
                    s_own[nodes.x] = s_own[nodes.y] = V(tile, 0, n, 2 * j + half);
                }
            }
        }
        TEAM_BARRIER();
#if SUMS_OTHERS > QUADS
        /* Differences are added to the sums of the same pairs. */
        EACH_TILE_OF_TEAM(tile, n) EACH(j, 2)
        {
            const int sum = SUM(n, j);
            if (!IS_QUADS(n) && sum >= QUADS && sum < SUMS_OTHERS) EACH(o, CLASSES - 1)
            {
                const ushort2 nodes = PAIR(o + 1, sum);
                EACH(half, 2)
                {
                    real *s_own = &S_NODAL(ELEMENT_OF(tile, half), 0);
                    s_own[nodes.x] += V(tile, o + 1, n, 2 * j + half);
                    s_own[nodes.y] -= V(tile, o + 1, n, 2 * j + half);
                }
            }
        }
        TEAM_BARRIER();
#endif
        UNROLL_BY(1) for (int start = CLASS * 32 + lane; start < VALUES; start += CHUNK * CHUNK_STEP)
        {
            EACH(i, CHUNK)
            {
                const int element = ELEMENT_AT(VALUE(i)), node = NODE_AT(VALUE(i));
                if (start + i * CHUNK_STEP < VALUES && first + element < elements) {
                    ADD(first + element, component, node, S_NODAL(element, node));
                }
            }
        }
#endif
    }
}
