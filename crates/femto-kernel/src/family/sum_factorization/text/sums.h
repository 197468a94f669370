/* Sums within a block of threads of what its elements contribute to a node, so that fewer additions leave it:
 * atomic additions are what limits vectors of low degree.
 *
 *   g_blocks  [block + 1][2]: first entry, and number of entries from there on whose nodes no other block has
 *   g_list    [entry]: nodes
 *   g_ends    [entry]: end of the entry's slots among the block's
 *   g_slots   [block][slot]: where elements of the block contribute, for component 0, counted from the first row
 *
 * They are copied to shared memory when the block begins, since sums at its end would wait for each of them.
 */
#define SLOTS (ELEMENTS_PER_BLOCK * NODES)

typedef struct {
    SHARED uint *s_nodes;
    SHARED ushort *s_slots, *s_ends;
    /* Entries, and those whose nodes no other block has. */
    uint count, privates;
} node_lists;

/* The lists of the block, complete after ASYNC_COPIES_DONE and a barrier. */
INLINE node_lists copy_lists(SHARED real *s_memory, const GLOBAL uint *g_blocks, const GLOBAL uint *g_list,
                             const GLOBAL ushort *g_ends, const GLOBAL ushort *g_slots)
{
    const uint first = g_blocks[2 * BLOCK];
    node_lists lists;
    lists.s_nodes = (SHARED uint *)(s_memory + LIST_START);
    lists.s_slots = (SHARED ushort *)(s_memory + SLOTS_START);
    lists.s_ends = (SHARED ushort *)(s_memory + ENDS_START);
    lists.count = g_blocks[2 * BLOCK + 2] - first;
    lists.privates = g_blocks[2 * BLOCK + 1];
    for (int n = 8 * THREAD_X; n < SLOTS; n += 8 * BLOCK_X)
        ASYNC_COPY(16, lists.s_slots + n, g_slots + (size_t)BLOCK * SLOTS + n);
    for (uint n = THREAD_X; n < lists.count; n += BLOCK_X) {
        lists.s_nodes[n] = g_list[first + n];
        lists.s_ends[n] = g_ends[first + n];
    }
    return lists;
}

/* Slots summed at the same time. */
#define SLOTS_AHEAD 4

/* Adds the sums for all nodes of the block, in the order of slots. */
INLINE void add_sums(const node_lists *lists, const SHARED real *s_rows, size_t component_stride, GLOBAL real *g_v)
{
    UNROLL_BY(1) for (uint n = THREAD_X; n < lists->count; n += BLOCK_X)
    {
        const int end = lists->s_ends[n];
        real r_sums[COMPONENTS];
        ALL(c, COMPONENTS) r_sums[c] = 0;
        UNROLL_BY(1) for (int slot = n > 0 ? lists->s_ends[n - 1] : 0; slot < end; slot += SLOTS_AHEAD)
        {
            ALL(k, SLOTS_AHEAD)
            {
                const bool is_own = slot + k < end;
                const SHARED real *s_from = s_rows + lists->s_slots[is_own ? slot + k : slot];
                ALL(c, COMPONENTS) r_sums[c] += is_own ? s_from[c * NODES] : 0;
            }
        }
        GLOBAL real *g_target = g_v + (size_t)lists->s_nodes[n] * NODE_STRIDE;
        ALL(c, COMPONENTS)
        {
            if (n < lists->privates)
                g_target[c * component_stride] = r_sums[c];
            else
                atomic_add(g_target + c * component_stride, r_sums[c]);
        }
    }
}
