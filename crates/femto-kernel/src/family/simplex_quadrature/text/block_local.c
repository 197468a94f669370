/* L-vectors through a list of nodes per block: a block reads each of its nodes once, whether coordinates,
 * unknowns or fields, and adds to each once; its cells find their nodes by 16-bit numbers in shared
 * memory. A cell per thread, CELLS_PER_BLOCK / BLOCK_X of them in series.
 *
 *   g_blocks   [block + 1][2]: first entry in the list, and how many entries from there on are of nodes
 *              that no other block has, which are written; the others are summed by atomic additions
 *   g_list     [entry]: nodes of the blocks
 *   g_local    [block][node of the cell][cell of the block]: entries, counted from the block's first
 *   g_ends, g_slots (LISTED_SUMS): [entry] where in the block's slots those of the entry end, and
 *              [block][slot]: node of the cell * CELLS_PER_BLOCK + cell of the block
 *
 * Within a block, what cells give to a node is summed in the order of its slots, which is repeatable
 * (LISTED_SUMS), or by atomic additions in shared memory. With SHARES the sum is put to
 * g_shares [component][share_first + entry] for sum.c to add up in a fixed order.
 *
 * Shared memory: coordinates [DIM][BLOCK_NODES] (GEOMETRY_VERTICES), unknowns and nodal fields
 * [component or field][BLOCK_NODES], then what cells give, [component][slot], or sums
 * [component][BLOCK_NODES].
 */
#define SLOTS (NODES * CELLS_PER_BLOCK)
#define S_U (GEOMETRY_VERTICES ? DIM * BLOCK_NODES : 0)
#define S_SUMS (S_U + (COMPONENTS + NODAL_FIELDS) * BLOCK_NODES)
#define EACH_ENTRY(n, count) for (int n = THREAD_X; n < (count); n += BLOCK_X)

#if LISTED_SUMS
#define SLOT_ARGUMENTS const GLOBAL ushort *RESTRICT g_ends, const GLOBAL ushort *RESTRICT g_slots,
#else
#define SLOT_ARGUMENTS
#endif

/* Brings the nodes of a block. */
INLINE void read_nodes(const operands *o, uint first, int count, SHARED real *s_memory)
{
    SHARED real *s_u = s_memory + S_U;
    EACH_ENTRY(n, count)
    {
        const uint node = o->g_nodes[first + n];
#if GEOMETRY_VERTICES
        EACH(d, DIM) s_memory[d * BLOCK_NODES + n] = o->g_geometry[(size_t)node * DIM + d];
#endif
        EACH(c, COMPONENTS)
        {
            const size_t at = (size_t)node * NODE_STRIDE + (size_t)c * o->component_stride;
            s_u[c * BLOCK_NODES + n] = node < o->nodes ? o->g_u[at] : 0;
        }
        EACH(f, NODAL_FIELDS)
        {
            s_u[(COMPONENTS + f) * BLOCK_NODES + n] =
                o->g_nodal_fields[(size_t)f * o->field_stride + node];
        }
#if !LISTED_SUMS
        EACH(c, COMPONENTS) s_memory[S_SUMS + c * BLOCK_NODES + n] = 0;
#endif
    }
}

/* Adds the block's sum of entry n to its node. */
INLINE void add_entry(
    const operands *o, uint first, int n, bool is_private, int component, real sum)
{
#if SHARES
    o->g_shares[(size_t)component * o->share_stride + o->share_first + first + n] = sum;
#else
    const uint node = o->g_nodes[first + n];
    GLOBAL real *g_target =
        o->g_v + ((size_t)node * NODE_STRIDE + (size_t)component * o->component_stride);
    if (node < o->nodes) {
        if (is_private)
            *g_target = sum;
        else
            atomic_add(g_target, sum);
    }
#endif
}

KERNEL(apply)
(const GLOBAL uint *RESTRICT g_blocks, const GLOBAL ushort *RESTRICT g_local, SLOT_ARGUMENTS
        ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    SHARED real *s_u = s_memory + S_U, *s_sums = s_memory + S_SUMS;
    const operands o = OPERANDS;
    const uint first = g_blocks[2 * BLOCK];
    const int privates = g_blocks[2 * BLOCK + 1], count = g_blocks[2 * BLOCK + 2] - first;
    read_nodes(&o, first, count, s_memory);
    BARRIER();

    UNROLL_BY(1) for (int member = THREAD_X; member < CELLS_PER_BLOCK; member += BLOCK_X)
    {
        const uint asked = BLOCK * CELLS_PER_BLOCK + member;
        const uint cell = asked < cells ? asked : cells - 1;
        const GLOBAL ushort *g_entries = g_local + (size_t)BLOCK * SLOTS + member;
        int r_entries[NODES];
        real r_map[MAP_NUMBERS], r_u[UNKNOWNS], r_fields[SOME(NODAL_NUMBERS)], r_v[UNKNOWNS];
        EACH(b, NODES) r_entries[b] = g_entries[b * CELLS_PER_BLOCK];
#if GEOMETRY_VERTICES
        EACH(n, MAP_NUMBERS) r_map[n] = s_memory[n % DIM * BLOCK_NODES + r_entries[n / DIM]];
#elif MAP_CONSTANT
        read_map(&o, cell, 0, r_map);
#endif
        EACH(n, UNKNOWNS) r_u[n] = s_u[n / NODES * BLOCK_NODES + r_entries[n % NODES]];
        EACH(n, NODAL_NUMBERS)
        {
            r_fields[n] = s_u[(COMPONENTS + n / NODES) * BLOCK_NODES + r_entries[n % NODES]];
        }
        evaluate_cell(&o, cell, r_map, r_u, r_fields, r_v);
        EACH(n, UNKNOWNS)
        {
#if LISTED_SUMS
            s_sums[n * CELLS_PER_BLOCK + member] = r_v[n];
#else
            if (asked < cells)
                shared_atomic_add(s_sums + n / NODES * BLOCK_NODES + r_entries[n % NODES], r_v[n]);
#endif
        }
    }
    BARRIER();

    EACH_ENTRY(n, count)
    {
#if LISTED_SUMS
        const int end = g_ends[first + n], begin = n > 0 ? g_ends[first + n - 1] : 0;
        real r_sums[COMPONENTS];
        EACH(c, COMPONENTS) r_sums[c] = 0;
        for (int slot = begin; slot < end; ++slot) {
            const int at = g_slots[(size_t)BLOCK * SLOTS + slot];
            EACH(c, COMPONENTS) r_sums[c] += s_sums[c * SLOTS + at];
        }
        EACH(c, COMPONENTS) add_entry(&o, first, n, n < privates, c, r_sums[c]);
#else
        EACH(c, COMPONENTS)
        {
            add_entry(&o, first, n, n < privates, c, s_sums[c * BLOCK_NODES + n]);
        }
#endif
    }
}
