/* Matrix units: a warp evaluates the form at eight points of sixteen cells at a time.
 *
 * The warps of a block take the tiles of eight points in turns: matrix units form values and derivatives there from
 * nodal values, and threads evaluate the form, each at the places where its own numbers are. What multiplies test
 * functions passes through shared memory, and each warp sums v at its own tiles of eight nodes, WARPS apart.
 *
 *   g_fragments  the right factors, [tile of 8 × 8][lane][FRAGMENT]: [tile of points][value, then derivative along each
 *                axis][tile of nodes], those to points; then likewise those to nodes
 *
 * Shared memory: maps, if they are constant, [number][cell]; nodal values [component, then field][tile of nodes][number
 * of the thread][lane]; what multiplies test functions [warp][component][value, then axes][number][lane].
 */
#define NODE_TILES ((NODES + 7) / 8)
#define POINT_TILES ((POINTS + 7) / 8)
/* Tiles of nodes of a warp. */
#define OWN_TILES ((NODE_TILES + WARPS - 1) / WARPS)
#define TESTED (WRITES_VALUES + DIM * WRITES_GRADIENTS)
#define TILE_AT(way, points, row, nodes)                                                       \
    ((((way) * POINT_TILES + (points)) * (1 + DIM) + (row)) * NODE_TILES + (nodes))
#define FRAGMENT_AT(way, points, row, nodes)                                                   \
    load_fragment(g_fragments + ((size_t)TILE_AT(way, points, row, nodes) * 32 + lane) * FRAGMENT)
#define TO_POINTS 0
#define TO_NODES 1
#define S_NODAL(function, nodes, i) s_nodal[((function) * NODE_TILES + (nodes)) * 128 + (i) * 32]
#define S_FLUX(warp, component, row, i) s_fluxes[(((warp) * COMPONENTS + (component)) * TESTED + (row)) * 128 + (i) * 32]

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int lane = THREAD_X, warp = THREAD_Y;
    const uint first = BLOCK * CELLS;
    SHARED_MEMORY(s_memory);
    real *s_maps = s_memory;
    real *s_nodal = s_maps + MAP_CONSTANT * MAP_SHARED * CELLS + lane;
    real *s_fluxes = s_nodal + FUNCTIONS * NODE_TILES * 128;
    OPERANDS
    share_maps(&o, s_maps, first, elements);
    UNROLL_BY(2) for (int n = warp; n < FUNCTIONS * NODE_TILES; n += WARPS)
    {
        const int function = n / NODE_TILES, nodes = n % NODE_TILES;
        real r_held[4];
        EACH(i, 4)
        {
            const int node = OF_TILE(nodes, i);
            const uint cell = OWN(CELL_OF(i));
            r_held[i] = 0;
            if (NODES % 8 == 0 || node < NODES) {
                r_held[i] = function < COMPONENTS ? read_unknown(&o, cell, function * NODES + node)
                                                  : read_nodal(&o, cell, (function - COMPONENTS) * NODES + node);
            }
        }
        EACH(i, 4) S_NODAL(function, nodes, i) = r_held[i];
    }
    BARRIER();

    real r_v[COMPONENTS][OWN_TILES][4];
    EACH(c, COMPONENTS) EACH(n, OWN_TILES) EACH(i, 4) r_v[c][n][i] = 0;
    UNROLL_BY(1) for (int turn = 0; turn < POINT_TILES; turn += WARPS)
    {
        const int points = turn + warp;
        if (points < POINT_TILES) {
            real r_rows[FUNCTIONS][1 + DIM][4];
            EACH(f, FUNCTIONS) EACH(row, 1 + DIM) EACH(i, 4) r_rows[f][row][i] = 0;
            UNROLL_BY(2) for (int k = 0; k < NODE_TILES; ++k)
            {
                fragment values, slopes[DIM];
#if ANY_VALUES
                values = FRAGMENT_AT(TO_POINTS, points, 0, k);
#endif
#if ANY_SLOPES
                EACH(a, DIM) slopes[a] = FRAGMENT_AT(TO_POINTS, points, 1 + a, k);
#endif
                EACH(f, FUNCTIONS)
                {
                    real r_nodal[4];
                    EACH(i, 4) r_nodal[i] = S_NODAL(f, k, i);
                    if (HAS_VALUES(f)) multiply_add(r_rows[f][0], r_nodal, values);
                    if (HAS_SLOPES(f)) EACH(a, DIM) multiply_add(r_rows[f][1 + a], r_nodal, slopes[a]);
                }
            }
            EACH(i, 4)
            {
                const int q = OF_TILE(points, i), own = CELL_OF(i);
                real r_at[FUNCTIONS][1 + DIM];
                EACH(f, FUNCTIONS) EACH(row, 1 + DIM) r_at[f][row] = r_rows[f][row][i];
                /* Nothing is added from points past the last. */
                if (POINTS % 8 == 0 || q < POINTS) evaluate_own(TABLES & o, s_maps, own, OWN(own), q, r_at);
                else EACH(c, COMPONENTS) EACH(row, 1 + DIM) r_at[c][row] = 0;
                EACH(c, COMPONENTS)
                {
#if WRITES_VALUES
                    S_FLUX(warp, c, 0, i) = r_at[c][0];
#endif
#if WRITES_GRADIENTS
                    EACH(r, DIM) S_FLUX(warp, c, WRITES_VALUES + r, i) = r_at[c][1 + r];
#endif
                }
            }
        }
        BARRIER();
        UNROLL_BY(1) for (int other = 0; other < WARPS; ++other) if (turn + other < POINT_TILES)
        {
            EACH(row, TESTED)
            {
                fragment b[OWN_TILES];
                EACH(n, OWN_TILES) if (warp + n * WARPS < NODE_TILES)
                {
                    b[n] = FRAGMENT_AT(TO_NODES, turn + other, row + 1 - WRITES_VALUES, warp + n * WARPS);
                }
                EACH(c, COMPONENTS)
                {
                    real r_flux[4];
                    EACH(i, 4) r_flux[i] = S_FLUX(other, c, row, i);
                    EACH(n, OWN_TILES) if (warp + n * WARPS < NODE_TILES) multiply_add(r_v[c][n], r_flux, b[n]);
                }
            }
        }
        BARRIER();
    }
    EACH(c, COMPONENTS) EACH(n, OWN_TILES) EACH(i, 4)
    {
        const int node = OF_TILE(warp + n * WARPS, i);
        if (first + CELL_OF(i) < elements && node < NODES) {
            add_unknown(&o, first + CELL_OF(i), c * NODES + node, r_v[c][n][i]);
        }
    }
}
