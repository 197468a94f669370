/* Knepley et al.'s thread transposition (Knepley, Rupp, Terrel 2016, section 3 and appendix).
 *
 *   load N_bc cells | a thread is a point: N_sqc cells in series | transpose |
 *   a thread is a basis coefficient: N_sbc cells in series
 *
 * A block of N_t threads takes a chunk of N_cb batches, one after the other, each of N_bl concurrent cell
 * blocks. In a cell block, N_bs threads (for each of THREAD_COMPONENTS components) are first N_bs / POINTS
 * groups of points, each with N_sqc cells, and after one barrier N_bs / NODES groups of coefficients, each
 * with N_sbc cells. Sums over points are done by one thread: no reduction.
 *
 * THREAD_COMPONENTS is COMPONENTS, as in Knepley et al., where the threads of different components at a
 * point evaluate the same form and keep one component each; or 1, and a thread keeps all. With PREFETCH the
 * next batch is loaded while this one is computed.
 *
 * Shared memory: tables; rows of the map, of unknowns and of nodal fields, [cell][number]; and the fluxes
 * to be tested, [number][cell][point][component]. Cells past the end are computed from zeros and not
 * written.
 */
#define BLOCK_CELLS (N_SQC * N_SBC)
#define BLOCK_THREADS (N_BS * THREAD_COMPONENTS)
#define GROUP_COMPONENTS (COMPONENTS / THREAD_COMPONENTS)
#define MAP_ROW (MAP_CONSTANT ? MAP_NUMBERS : 0)
#define FLUX_NUMBERS (WRITES_VALUES + DIM * WRITES_GRADIENTS)
#define FLUX_PLANE (N_BC * POINTS * COMPONENTS)
#define S_MAP TABLE_NUMBERS
#define S_U (S_MAP + N_BC * ROW(MAP_ROW) * MAP_CONSTANT)
#define S_FIELDS (S_U + N_BC * ROW(UNKNOWNS))
#define S_FLUX (S_FIELDS + (NODAL_FIELDS ? N_BC * ROW(NODAL_NUMBERS) : 0))

/* A thread's numbers of the next batch. */
typedef struct {
    real map[SOME(MOVES(MAP_ROW))];
    real u[MOVES(UNKNOWNS)];
    real fields[SOME(MOVES(NODAL_NUMBERS))];
} held;

INLINE void hold(const operands *o, uint first, uint cells, held *h)
{
#if MAP_CONSTANT
    HOLD_ROWS(READ_MAP_NUMBER, o, first, cells, MAP_NUMBERS, h->map)
#endif
    HOLD_ROWS(read_unknown, o, first, cells, UNKNOWNS, h->u)
#if NODAL_FIELDS
    HOLD_ROWS(read_nodal, o, first, cells, NODAL_NUMBERS, h->fields)
#endif
}

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    SHARED real *s_tables = s_memory, *s_map = s_memory + S_MAP, *s_u = s_memory + S_U;
    SHARED real *s_fields = s_memory + S_FIELDS, *s_flux = s_memory + S_FLUX;
    OPERANDS
    for (int n = THREAD_X; n < TABLE_NUMBERS; n += BLOCK_X) s_tables[n] = c_tables[n];

    const int block = THREAD_X / BLOCK_THREADS, thread = THREAD_X % BLOCK_THREADS;
    const int q = thread % POINTS, q_component = thread / POINTS % THREAD_COMPONENTS;
    const int q_group = thread / (POINTS * THREAD_COMPONENTS);
    const int b = thread % NODES, b_component = thread / NODES % THREAD_COMPONENTS;
    const int b_group = thread / (NODES * THREAD_COMPONENTS);

    held h;
    const uint chunk = BLOCK * (N_CB * N_BC);
    hold(&o, chunk, elements, &h);
    UNROLL_BY(1) for (int batch = 0; batch < N_CB; ++batch)
    {
        const uint first = chunk + batch * N_BC;
        /* All threads are past the points of the previous batch. */
#if MAP_CONSTANT
        put_rows(h.map, MAP_NUMBERS, s_map);
#endif
        put_rows(h.u, UNKNOWNS, s_u);
#if NODAL_FIELDS
        put_rows(h.fields, NODAL_NUMBERS, s_fields);
#endif
        BARRIER();
#if PREFETCH
        if (batch + 1 < N_CB)
            hold(&o, first + N_BC, elements, &h);
#endif

        SERIAL_LOOP for (int s = 0; s < N_SQC; ++s)
        {
            const int member = block * BLOCK_CELLS + s * (N_BS / POINTS) + q_group;
            const uint cell = first + member < elements ? first + member : elements - 1;
            real r_numbers[MAP_NUMBERS];
            map m;
            tested t;
#if MAP_CONSTANT
            EACH(n, MAP_NUMBERS) r_numbers[n] = s_map[member * ROW(MAP_NUMBERS) + n];
#else
            read_map(&o, cell, q, r_numbers);
#endif
            make_map(r_numbers, &m);
            at_point(TABLES & o, cell, q, r_numbers, &m, s_u + member * ROW(UNKNOWNS),
                s_fields + member * ROW(NODAL_NUMBERS), &t);
            EACH(c, COMPONENTS)
            {
                const int at = (member * POINTS + q) * COMPONENTS + c;
                if (THREAD_COMPONENTS == 1 || c == q_component) {
#if WRITES_VALUES
                    s_flux[at] = t.f0[c];
#endif
#if WRITES_GRADIENTS
                    EACH(r, DIM) s_flux[(WRITES_VALUES + r) * FLUX_PLANE + at] = t.f1[c * DIM + r];
#endif
                }
            }
        }
        BARRIER();

        SERIAL_LOOP for (int s = 0; s < N_SBC; ++s)
        {
            const int member = block * BLOCK_CELLS + s * (N_BS / NODES) + b_group;
            EACH(g, GROUP_COMPONENTS)
            {
                const int c = b_component + g;
                real sum = 0;
                POINT_LOOP for (int p = 0; p < POINTS; ++p)
                {
                    const int at = (member * POINTS + p) * COMPONENTS + c;
#if WRITES_VALUES
                    sum += INTERP(p, b) * s_flux[at];
#endif
#if WRITES_GRADIENTS
                    EACH(r, DIM)
                    {
                        sum += GRAD(p, b, r) * s_flux[(WRITES_VALUES + r) * FLUX_PLANE + at];
                    }
#endif
                }
                if (first + member < elements)
                    add_unknown(&o, first + member, c * NODES + b, sum);
            }
        }
#if !PREFETCH
        if (batch + 1 < N_CB)
            hold(&o, first + N_BC, elements, &h);
#endif
    }
}
