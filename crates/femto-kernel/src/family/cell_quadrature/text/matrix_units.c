/* Matrix units: a warp evaluates the form at eight points of sixteen cells at a time.
 *
 * A block has sixteen cells, which are the rows of all products. Its warps take the tiles of eight points in turns:
 * matrix units form values and derivatives there from nodal values, and threads evaluate the form, each at the places
 * where its own numbers are. What multiplies test functions passes through shared memory, and each warp sums v at its
 * own tiles of eight nodes, WARPS apart.
 *
 * Quad lane / 4 of a warp has cells lane / 4 and lane / 4 + 8, thread lane % 4 of it numbers 2 (lane % 4) and
 * 2 (lane % 4) + 1 of each tile of nodes or points. As both numbers of a thread may be multiplied in any
 * order, sums of matrix units are left factors as they are.
 *
 *   g_fragments  the right factors, [tile of 8 × 8][lane][FRAGMENT]: [tile of points][value, then derivative along each
 *                axis][tile of nodes], those to points; then likewise those to nodes
 *
 * Shared memory: maps, if they are constant, [number][cell]; nodal values [component, then field][tile of nodes][number
 * of the thread][lane]; what multiplies test functions [warp][component][value, then axes][number][lane]. Cells past
 * the end repeat the last one and are not written.
 */
#define CELLS 16
#define NODE_TILES ((NODES + 7) / 8)
#define POINT_TILES ((POINTS + 7) / 8)
/* Tiles of nodes of a warp. */
#define OWN_TILES ((NODE_TILES + WARPS - 1) / WARPS)
#define FUNCTIONS (COMPONENTS + NODAL_FIELDS)
#define TESTED (WRITES_VALUES + DIM * WRITES_GRADIENTS)
#define TILE_AT(way, points, row, nodes)                                                       \
    ((((way) * POINT_TILES + (points)) * (1 + DIM) + (row)) * NODE_TILES + (nodes))
#define FRAGMENT_AT(way, points, row, nodes)                                                   \
    load_fragment(g_fragments + ((size_t)TILE_AT(way, points, row, nodes) * 32 + lane) * FRAGMENT)
#define TO_POINTS 0
#define TO_NODES 1
/* Number i of a thread. */
#define CELL_OF(i) (lane / 4 + (i) % 2 * 8)
#define OF_TILE(tile, i) ((tile) * 8 + lane % 4 * 2 + (i) / 2)
#define OWN(cell) (first + (cell) < elements ? first + (cell) : elements - 1)
#define S_MAP(number, cell) s_maps[(number) * CELLS + (cell)]
#define S_NODAL(function, nodes, i) s_nodal[((function) * NODE_TILES + (nodes)) * 128 + (i) * 32]
#define S_FLUX(warp, component, row, i) s_fluxes[(((warp) * COMPONENTS + (component)) * TESTED + (row)) * 128 + (i) * 32]
/* Whether functions have values or derivatives at the points, components or fields. */
#define HAS_VALUES(f) ((f) < COMPONENTS ? READS_VALUES : 1)
#define HAS_SLOPES(f) ((f) < COMPONENTS ? READS_GRADIENTS : FIELD_GRADIENTS)
#define ANY_VALUES (READS_VALUES || NODAL_FIELDS)
#define ANY_SLOPES (READS_GRADIENTS || (NODAL_FIELDS && FIELD_GRADIENTS))

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int lane = THREAD_X, warp = THREAD_Y;
    const uint first = BLOCK * CELLS;
    SHARED_MEMORY(s_memory);
    real *s_maps = s_memory;
    real *s_nodal = s_maps + MAP_CONSTANT * MAP_SHARED * CELLS + lane;
    real *s_fluxes = s_nodal + FUNCTIONS * NODE_TILES * 128;
    OPERANDS
#if MAP_CONSTANT
    for (int cell = warp * 32 + lane; cell < CELLS; cell += 32 * WARPS)
    {
        real r_numbers[MAP_NUMBERS];
        map m;
        read_map(&o, OWN(cell), 0, r_numbers);
        make_map(r_numbers, &m);
        EACH(n, DIM * DIM) S_MAP(n, cell) = m.inverse[n];
        S_MAP(DIM * DIM, cell) = m.determinant;
#if POSITIONS
        EACH(n, MAP_NUMBERS) S_MAP(DIM * DIM + 1 + n, cell) = r_numbers[n];
#endif
    }
#endif
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
            real r_values[FUNCTIONS][4], r_slopes[FUNCTIONS][DIM][4];
            EACH(f, FUNCTIONS) EACH(i, 4)
            {
                r_values[f][i] = 0;
                EACH(a, DIM) r_slopes[f][a][i] = 0;
            }
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
                    if (HAS_VALUES(f)) multiply_add(r_values[f], r_nodal, values);
                    if (HAS_SLOPES(f)) EACH(a, DIM) multiply_add(r_slopes[f][a], r_nodal, slopes[a]);
                }
            }
            EACH(i, 4)
            {
                const int q = OF_TILE(points, i), own = CELL_OF(i);
                tested t;
                EACH(c, COMPONENTS)
                {
                    t.f0[c] = 0;
                    EACH(r, DIM) t.f1[c * DIM + r] = 0;
                }
                /* Nothing is added from points past the last. */
                if (POINTS % 8 == 0 || q < POINTS) {
                    const uint cell = OWN(own);
                    at_functions at;
                    map m;
                    real r_numbers[MAP_NUMBERS];
#if MAP_CONSTANT
                    EACH(n, DIM * DIM) m.inverse[n] = S_MAP(n, own);
                    m.determinant = S_MAP(DIM * DIM, own);
#if POSITIONS
                    EACH(n, MAP_NUMBERS) r_numbers[n] = S_MAP(DIM * DIM + 1 + n, own);
#endif
#else
                    read_map(&o, cell, q, r_numbers);
                    make_map(r_numbers, &m);
#endif
                    EACH(f, FUNCTIONS)
                    {
                        at.values[f] = r_values[f][i];
                        real r_reference[DIM];
                        EACH(a, DIM) r_reference[a] = r_slopes[f][a][i];
                        physical_gradient(r_reference, &m, at.gradients + f * DIM);
                    }
                    evaluate(TABLES & o, cell, q, r_numbers, &m, &at, &t);
                }
                EACH(c, COMPONENTS)
                {
#if WRITES_VALUES
                    S_FLUX(warp, c, 0, i) = t.f0[c];
#endif
#if WRITES_GRADIENTS
                    EACH(r, DIM) S_FLUX(warp, c, WRITES_VALUES + r, i) = t.f1[c * DIM + r];
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
