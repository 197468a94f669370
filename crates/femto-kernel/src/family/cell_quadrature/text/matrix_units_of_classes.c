/* Matrix units between sums over orbits: each of a block's four warps has a class of a tetrahedron's symmetry.
 *
 * Nodal values become sums over orbits of four nodes, one for each class. The block takes tiles of eight orbits of points
 * in turns. From its sums the warp of class c forms values, of class c too, and derivatives along axis a, of class
 * c xor (a + 1). They pass through shared memory: a thread has an orbit of a cell, number i of a thread of the product in
 * warp i. It takes values apart to the four points, evaluates the form, and forms sums over the orbit of what multiplies
 * test functions, from which the warp of class c adds up v at its sums.
 *
 *   g_fragments  the right factors, [tile of 8 × 8][lane][FRAGMENT]: [tile of orbits of points][to points, to nodes]
 *                [tile of sums over nodes][value, then derivative along each axis]
 *   g_orbits     [slot][8]: the nodes of an orbit and the place of its sum in each class; then [orbit of points][4]:
 *                points. Slots fill up the tiles of the first class, and give every place of a tile a sum, maybe zero.
 *                NONE: no orbit; no sum of this class; the same point again
 *
 * Shared memory: maps, if they are constant, [number][cell]; sums of u, then of v [component, then field][tile of sums]
 * [number of the thread][lane]; at a tile of orbits of points [component, then field][value, then derivative along each axis]
 * [class][number][lane].
 */
#define NONE 0xffff
#define NODES_OF(slot) (*(const GLOBAL ushort4 *)(g_orbits + (slot) * 8))
#define PLACES_OF(slot) (*(const GLOBAL ushort4 *)(g_orbits + (slot) * 8 + 4))
#define POINTS_OF(orbit) (*(const GLOBAL ushort4 *)(g_orbits + SUM_TILES_FIRST * 64 + (orbit) * 4))
#define TO_POINTS 0
#define TO_NODES 1
#define TILE_AT(turn, way, tile, row) ((((turn) * 2 + (way)) * ALL_TILES + (tile)) * (1 + DIM) + (row))
#define FRAGMENT_AT(turn, way, tile, row)                                                      \
    load_fragment(g_fragments + ((size_t)TILE_AT(turn, way, tile, row) * 32 + lane) * FRAGMENT)
/* Row 0 of a function is its value, the others are derivatives along the axes. */
#define FIRST_ROW (ANY_VALUES || WRITES_VALUES ? 0 : 1)
#define ROWS (ANY_SLOPES || WRITES_GRADIENTS ? 1 + DIM - FIRST_ROW : 1)
#define IS_READ(f, row) ((row) == 0 ? HAS_VALUES(f) : HAS_SLOPES(f))
#define IS_TESTED(row) ((row) == 0 ? WRITES_VALUES : WRITES_GRADIENTS)
/* The class of a row of functions of class c. */
#define CLASS_OF(row, c) ((row) ^ (c))
/* Whether there is a tile in each class, or in a warp's own. */
#define IS_TILE(n) ((n) < SUM_TILES_OTHERS || own_class == 0)
#define S_SUM(function, tile, i) s_sums[(((function) * ALL_TILES + (tile)) * 4 + (i)) * 32 + lane]
/* The sum at a place of a class, of the cell of number i of a thread. */
#define S_PLACE(function, c, place, i)                                                         \
    s_sums[(((function) * ALL_TILES + FIRST_TILE(c) + (place) / 8) * 4 + (i) % 2 + (place) % 2 * 2) * 32 +             \
        (lane & ~3) + (place) % 8 / 2]
#define S_POINT(function, row, c, i)                                                           \
    s_points[((((function) * ROWS + (row) - FIRST_ROW) * CLASSES + (c)) * 4 + (i)) * 32 + lane]

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    const int lane = THREAD_X, own_class = THREAD_Y;
    const uint first = BLOCK * CELLS;
    SHARED_MEMORY(s_memory);
    real *s_maps = s_memory;
    real *s_sums = s_maps + MAP_CONSTANT * MAP_SHARED * CELLS;
    real *s_points = s_sums + FUNCTIONS * ALL_TILES * 128;
    OPERANDS
    share_maps(&o, s_maps, first, elements);
    UNROLL_BY(1) for (int n = own_class; n < FUNCTIONS * SUM_TILES_FIRST; n += CLASSES)
    {
        const int function = n / SUM_TILES_FIRST, tile = n % SUM_TILES_FIRST;
        real r_held[4][CLASSES];
        EACH(i, 4)
        {
            const ushort4 own = NODES_OF(OF_TILE(tile, i));
            const int nodes[CLASSES] = {own.x, own.y, own.z, own.w};
            const uint cell = OWN(CELL_OF(i));
            EACH(g, CLASSES)
            {
                r_held[i][g] = 0;
                if (own.x != NONE) {
                    r_held[i][g] = function < COMPONENTS
                        ? read_unknown(&o, cell, function * NODES + nodes[g])
                        : read_nodal(&o, cell, (function - COMPONENTS) * NODES + nodes[g]);
                }
            }
        }
        EACH(i, 4)
        {
            const ushort4 own = PLACES_OF(OF_TILE(tile, i));
            const int places[CLASSES] = {own.x, own.y, own.z, own.w};
            sums_of_four(r_held[i]);
            EACH(c, CLASSES) if (places[c] != NONE) S_PLACE(function, c, places[c], i) = r_held[i][c];
        }
    }
    BARRIER();

    real r_v[COMPONENTS][SUM_TILES_FIRST][4];
    EACH(c, COMPONENTS) EACH(n, SUM_TILES_FIRST) EACH(i, 4) r_v[c][n][i] = 0;
    UNROLL_BY(1) for (int turn = 0; turn < ORBIT_TILES; ++turn)
    {
        real r_rows[FUNCTIONS][1 + DIM][4];
        EACH(f, FUNCTIONS) EACH(row, 1 + DIM) EACH(i, 4) r_rows[f][row][i] = 0;
        UNROLL_BY(2) for (int k = 0; k < SUM_TILES_FIRST; ++k)
        {
            if (IS_TILE(k)) {
                fragment b[1 + DIM];
                EACH(row, 1 + DIM) if (row == 0 ? ANY_VALUES : ANY_SLOPES)
                {
                    b[row] = FRAGMENT_AT(turn, TO_POINTS, FIRST_TILE(own_class) + k, row);
                }
                EACH(f, FUNCTIONS)
                {
                    real r_sums[4];
                    EACH(i, 4) r_sums[i] = S_SUM(f, FIRST_TILE(own_class) + k, i);
                    EACH(row, 1 + DIM) if (IS_READ(f, row)) multiply_add(r_rows[f][row], r_sums, b[row]);
                }
            }
        }
        /* What the last turn left is read. */
        BARRIER();
        EACH(f, FUNCTIONS) EACH(row, 1 + DIM) if (IS_READ(f, row))
        {
            EACH(i, 4) S_POINT(f, row, CLASS_OF(row, own_class), i) = r_rows[f][row][i];
        }
        BARRIER();
        {
            const int own = CELL_OF(own_class);
            const ushort4 orbit = POINTS_OF(OF_TILE(turn, own_class));
            const int points[CLASSES] = {orbit.x, orbit.y, orbit.z, orbit.w};
            real r_at[CLASSES][FUNCTIONS][1 + DIM];
            EACH(f, FUNCTIONS) EACH(row, 1 + DIM)
            {
                real r_four[CLASSES] = {0, 0, 0, 0};
                if (IS_READ(f, row)) EACH(c, CLASSES) r_four[c] = S_POINT(f, row, c, own_class);
                sums_of_four(r_four);
                EACH(g, CLASSES) r_at[g][f][row] = r_four[g];
            }
            EACH(g, CLASSES)
            {
                if (points[g] != NONE) evaluate_own(TABLES & o, s_maps, own, OWN(own), points[g], r_at[g]);
                else EACH(c, COMPONENTS) EACH(row, 1 + DIM) r_at[g][c][row] = 0;
            }
            EACH(f, COMPONENTS) EACH(row, 1 + DIM) if (IS_TESTED(row))
            {
                real r_four[CLASSES];
                EACH(g, CLASSES) r_four[g] = r_at[g][f][row];
                sums_of_four(r_four);
                EACH(c, CLASSES) S_POINT(f, row, c, own_class) = r_four[c];
            }
        }
        BARRIER();
        EACH(row, 1 + DIM) if (IS_TESTED(row))
        {
            fragment b[SUM_TILES_FIRST];
            EACH(n, SUM_TILES_FIRST) if (IS_TILE(n)) b[n] = FRAGMENT_AT(turn, TO_NODES, FIRST_TILE(own_class) + n, row);
            EACH(f, COMPONENTS)
            {
                real r_flux[4];
                EACH(i, 4) r_flux[i] = S_POINT(f, row, CLASS_OF(row, own_class), i);
                EACH(n, SUM_TILES_FIRST) if (IS_TILE(n)) multiply_add(r_v[f][n], r_flux, b[n]);
            }
        }
    }
    EACH(f, COMPONENTS) EACH(n, SUM_TILES_FIRST) if (IS_TILE(n))
    {
        EACH(i, 4) S_SUM(f, FIRST_TILE(own_class) + n, i) = r_v[f][n][i];
    }
    BARRIER();
    UNROLL_BY(1) for (int n = own_class; n < COMPONENTS * SUM_TILES_FIRST; n += CLASSES)
    {
        const int component = n / SUM_TILES_FIRST, tile = n % SUM_TILES_FIRST;
        EACH(i, 4)
        {
            const ushort4 own = NODES_OF(OF_TILE(tile, i)), at = PLACES_OF(OF_TILE(tile, i));
            const int nodes[CLASSES] = {own.x, own.y, own.z, own.w}, places[CLASSES] = {at.x, at.y, at.z, at.w};
            real r_four[CLASSES];
            EACH(c, CLASSES) r_four[c] = places[c] != NONE ? S_PLACE(component, c, places[c], i) : 0;
            sums_of_four(r_four);
            EACH(g, CLASSES)
            {
                int is_new = own.x != NONE && first + CELL_OF(i) < elements;
                EACH(h, g) is_new &= nodes[h] != nodes[g];
                if (is_new) add_unknown(&o, first + CELL_OF(i), component * NODES + nodes[g], r_four[g]);
            }
        }
    }
}
