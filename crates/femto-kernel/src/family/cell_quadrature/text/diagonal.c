/* The diagonal of the element matrices of a linear form: one cell per thread, which applies the cell's
 * matrix to one unit vector after the other. */
KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    OPERANDS
    const uint asked = BLOCK * BLOCK_X + THREAD_X;
    const uint cell = asked < elements ? asked : elements - 1;
    real r_map[MAP_NUMBERS], r_u[UNKNOWNS], r_fields[SOME(NODAL_NUMBERS)], r_v[UNKNOWNS];
#if MAP_CONSTANT
    read_map(&o, cell, 0, r_map);
#endif
    EACH(n, UNKNOWNS) r_u[n] = 0;
    EACH(n, NODAL_NUMBERS) r_fields[n] = read_nodal(&o, cell, n);
    UNROLL_BY(1) for (int n = 0; n < UNKNOWNS; ++n)
    {
        r_u[n] = 1;
        EACH(m, UNKNOWNS) r_v[m] = 0;
        evaluate_cell(TABLES & o, cell, r_map, r_u, r_fields, r_v);
        r_u[n] = 0;
        if (asked < elements)
            add_unknown(&o, cell, n, r_v[n]);
    }
}
