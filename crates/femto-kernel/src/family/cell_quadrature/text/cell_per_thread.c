/* A cell per thread: all data of a cell in the memory of one thread, a kernel that Knepley et al. compare
 * with.
 *
 * With STAGED, rows of the map, of unknowns and of nodal fields, and the results, pass through shared
 * memory, so that neighbouring threads read and write neighbouring numbers of E-vectors [cell][number].
 * Threads past the last cell repeat it and write nothing.
 */
#define MAP_ROW (MAP_CONSTANT ? MAP_NUMBERS : 0)
#define S_U (MAP_CONSTANT ? ROWS * ROW(MAP_ROW) : 0)
#define S_FIELDS (S_U + ROWS * ROW(UNKNOWNS))

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    OPERANDS
    const uint asked = BLOCK * BLOCK_X + THREAD_X;
    const bool writes = asked < elements;
    const uint cell = writes ? asked : elements - 1;
    real r_map[MAP_NUMBERS], r_u[UNKNOWNS], r_fields[SOME(NODAL_NUMBERS)], r_v[UNKNOWNS];
#if STAGED
    SHARED_MEMORY(s_memory);
    SHARED real *s_map = s_memory, *s_u = s_memory + S_U, *s_fields = s_memory + S_FIELDS;
    const uint first = BLOCK * BLOCK_X;
    {
        real r_held_u[MOVES(UNKNOWNS)];
#if MAP_CONSTANT
        real r_held_map[MOVES(MAP_NUMBERS)];
        HOLD_ROWS(READ_MAP_NUMBER, &o, first, elements, MAP_NUMBERS, r_held_map)
#endif
#if NODAL_FIELDS
        real r_held_fields[MOVES(NODAL_NUMBERS)];
        HOLD_ROWS(read_nodal, &o, first, elements, NODAL_NUMBERS, r_held_fields)
#endif
        HOLD_ROWS(read_unknown, &o, first, elements, UNKNOWNS, r_held_u)
#if MAP_CONSTANT
        put_rows(r_held_map, MAP_NUMBERS, s_map);
#endif
        put_rows(r_held_u, UNKNOWNS, s_u);
#if NODAL_FIELDS
        put_rows(r_held_fields, NODAL_NUMBERS, s_fields);
#endif
    }
    BARRIER();
#if MAP_CONSTANT
    EACH(n, MAP_NUMBERS) r_map[n] = s_map[THREAD_X * ROW(MAP_NUMBERS) + n];
#endif
    EACH(n, UNKNOWNS) r_u[n] = s_u[THREAD_X * ROW(UNKNOWNS) + n];
    EACH(n, NODAL_NUMBERS) r_fields[n] = s_fields[THREAD_X * ROW(NODAL_NUMBERS) + n];
#else
#if MAP_CONSTANT
    read_map(&o, cell, 0, r_map);
#endif
    EACH(n, UNKNOWNS) r_u[n] = read_unknown(&o, cell, n);
    EACH(n, NODAL_NUMBERS) r_fields[n] = read_nodal(&o, cell, n);
#endif
    EACH(n, UNKNOWNS) r_v[n] = 0;
    evaluate_cell(TABLES & o, cell, r_map, r_u, r_fields, r_v);
#if STAGED
    /* A row of unknowns is private to its thread. */
    EACH(n, UNKNOWNS) s_u[THREAD_X * ROW(UNKNOWNS) + n] = r_v[n];
    BARRIER();
    EACH_MOVE(k, n, UNKNOWNS)
    {
        const uint of = first + n / UNKNOWNS;
        if (n < ROWS * UNKNOWNS && of < elements)
            add_unknown(&o, of, n % UNKNOWNS, s_u[ROW_AT(n, UNKNOWNS)]);
    }
#else
    EACH(n, UNKNOWNS) if (writes) add_unknown(&o, cell, n, r_v[n]);
#endif
}
