/* A point at a time: each basis function has a thread, which takes one point of its cell after the other,
 * evaluates the form there and adds the result tested with its function. Only the tables are shared, and no
 * thread waits; but all threads of a cell evaluate the same points and read all unknowns for each. The
 * other strategy that Knepley et al. compare with. Threads past the last cell repeat it and write nothing.
 */
KERNEL(apply)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    SHARED real *s_tables = s_memory;
    OPERANDS
    for (int n = THREAD_X; n < TABLE_NUMBERS; n += BLOCK_X) s_tables[n] = c_tables[n];
    BARRIER();

    const int b = THREAD_X % NODES;
    const uint asked = BLOCK * (BLOCK_X / NODES) + THREAD_X / NODES;
    const bool writes = asked < elements;
    const uint cell = writes ? asked : elements - 1;
    real r_sums[COMPONENTS];
    EACH(c, COMPONENTS) r_sums[c] = 0;
    UNROLL_BY(1) for (int q = 0; q < POINTS; ++q)
    {
        real r_numbers[MAP_NUMBERS], r_u[UNKNOWNS], r_fields[SOME(NODAL_NUMBERS)];
        map m;
        tested t;
        read_map(&o, cell, q, r_numbers);
        make_map(r_numbers, &m);
        EACH(n, UNKNOWNS) r_u[n] = read_unknown(&o, cell, n);
        EACH(n, NODAL_NUMBERS) r_fields[n] = read_nodal(&o, cell, n);
        at_point(TABLES & o, cell, q, r_numbers, &m, r_u, r_fields, &t);
        EACH(c, COMPONENTS)
        {
#if WRITES_VALUES
            r_sums[c] += INTERP(q, b) * t.f0[c];
#endif
#if WRITES_GRADIENTS
            EACH(r, DIM) r_sums[c] += GRAD(q, b, r) * t.f1[c * DIM + r];
#endif
        }
    }
    EACH(c, COMPONENTS) if (writes) add_unknown(&o, cell, c * NODES + b, r_sums[c]);
}
