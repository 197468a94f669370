/* L-vectors through a list of nodes per block: a block reads each of its nodes once, whether coordinates,
 * unknowns or fields, and adds to each once; its cells find their nodes by 16-bit indices in shared memory.
 * A thread evaluates a fan: up to FAN_CELLS cells around a hinge of NODES - 2 nodes. Each cell after the
 * first adds one new node, so that a node of the fan is read and summed only once. A block has
 * FANS_PER_BLOCK / BLOCK_X fans in series. With FAN_CELLS 1 a fan is a cell.
 *
 *   g_blocks   [block + 1][2]: first entry in the list, and number of entries from there on whose nodes
 *              no other block has, which are written; the others are summed by atomic additions
 *   g_list     [entry]: nodes of the blocks
 *   g_local    [block][place in the fan][fan in the block]: entries, counted from the block's first;
 *              ABSENT where a fan is shorter
 *   g_ends     [entry]: end of the entry's slots among the block's
 *   g_slots    [block][slot]: place in the fan * FANS_PER_BLOCK + fan in the block
 *
 * Data of cells are [block][cell of the fan][fan of the block].
 *
 * Within a block, contributions of fans to a node are summed in the order of its slots, which is
 * deterministic. With CONTRIBUTIONS the sum is written to g_contributions
 * [component][contribution_first + entry] for sum.c to add up in a fixed order.
 *
 * Entries and their slots are ordered so that threads which read at the same time use different banks: see
 * banks.rs.
 *
 * A block first loads all of its lists, then the data that the lists refer to: two waits for memory, and
 * none during the computation. The first is short, since the block BLOCKS_AHEAD before has prefetched the
 * lists.
 *
 * Shared memory: the record of each entry, which is coordinates (GEOMETRY_VERTICES), unknowns and nodal
 * fields, [pair of numbers][BLOCK_NODES][2], an odd last number [BLOCK_NODES]; then the fans'
 * contributions, [component][slot].
 */
#define SLOTS ((NODES + FAN_CELLS - 1) * FANS_PER_BLOCK)
#define ABSENT 0xffff
#define FIRST_UNKNOWN (GEOMETRY_VERTICES ? DIM : 0)
#define FIRST_FIELD (FIRST_UNKNOWN + COMPONENTS)
#define RECORD (FIRST_FIELD + NODAL_FIELDS)
#define S_SUMS (RECORD * BLOCK_NODES)
/* Number k of the record of an entry. Threads read entries at random: pairs halve the number of requests. */
#define IN_RECORD(k, entry)                                                                    \
    ((k) / 2 * 2 * BLOCK_NODES + ((k) == RECORD - 1 && (k) % 2 == 0 ? (entry) : 2 * (entry) + (k) % 2))
/* Slots summed at the same time. */
#define SLOTS_AHEAD 6
/* A thread's entries: THREAD_X, THREAD_X + BLOCK_X, ... Loops of known length, so that all their loads are
 * in flight at the same time. */
#define ROUNDS(length) (((length) + BLOCK_X - 1) / BLOCK_X)
#define MINE(round) (THREAD_X + (round) * BLOCK_X)
/* Whether the coordinates of a node are adjacent, so that one request can load both, and its unknowns. */
#define PAIR_OF_COORDINATES (GEOMETRY_VERTICES && DIM == 2)
#define PAIR_OF_UNKNOWNS (COMPONENTS == 2 && NODE_STRIDE == 2)

/* Loads 16-bit numbers of the block's slots, eight at a time. */
INLINE void ask_for_slots(const GLOBAL ushort *g_numbers, SHARED ushort *s_numbers)
{
    EACH(r, ROUNDS(SLOTS / 8))
    {
        const int n = 8 * MINE(r);
        if (n < SLOTS) {
            ASYNC_COPY(16, s_numbers + n, g_numbers + n);
        }
    }
}

/* Prefetches an array of 16-bit numbers into L2, 64 at a time; it may start anywhere. */
INLINE void prefetch_l2(const GLOBAL ushort *g_numbers, int count)
{
    UNROLL_BY(1) for (int n = 64 * THREAD_X; n < count + 63; n += 64 * BLOCK_X)
    {
        PREFETCH_L2(g_numbers + (n < count ? n : count - 1));
    }
}

/* Starts to load a number of a node's record, complete after ASYNC_COPIES_DONE(). */
INLINE void ask(const GLOBAL real *g_number, int k, int entry, SHARED real *s_memory)
{
    ASYNC_COPY(REAL_BYTES, s_memory + IN_RECORD(k, entry), g_number);
}

/* Starts to load numbers k and k + 1, with k even. */
INLINE void ask_for_pair(const GLOBAL real *g_pair, int k, int entry, SHARED real *s_memory)
{
    ASYNC_COPY(2 * REAL_BYTES, s_memory + IN_RECORD(k, entry), g_pair);
}

/* Starts to load the record of a node. */
INLINE void ask_for_node(const operands *o, uint node, int entry, SHARED real *s_memory)
{
#if PAIR_OF_COORDINATES
    ask_for_pair(o->g_coordinates + (size_t)node * DIM, 0, entry, s_memory);
#elif GEOMETRY_VERTICES
    EACH(d, DIM) ask(o->g_coordinates + (size_t)node * DIM + d, d, entry, s_memory);
#endif
    const GLOBAL real *g_u = o->g_u + (size_t)node * NODE_STRIDE;
#if PAIR_OF_UNKNOWNS && FIRST_UNKNOWN % 2 == 0
    ask_for_pair(g_u, FIRST_UNKNOWN, entry, s_memory);
#else
    EACH(c, COMPONENTS)
    {
        ask(g_u + (size_t)c * o->component_stride, FIRST_UNKNOWN + c, entry, s_memory);
    }
#endif
    EACH(f, NODAL_FIELDS)
    {
        const size_t at = (size_t)f * o->field_stride + node;
        ask(o->g_nodal_fields + at, FIRST_FIELD + f, entry, s_memory);
    }
}

/* Adds the block's sums for the node of this entry. */
INLINE void add_node(
    const operands *o, uint node, uint entry, bool is_private, const real *r_sums)
{
#if CONTRIBUTIONS
    GLOBAL real *g_own = o->g_contributions + (size_t)o->contribution_first + entry;
    EACH(c, COMPONENTS) g_own[(size_t)c * o->contribution_stride] = r_sums[c];
#else
    GLOBAL real *g_v = o->g_v + (size_t)node * NODE_STRIDE;
    if (is_private) {
#if PAIR_OF_UNKNOWNS
        real2 pair;
        pair.x = r_sums[0];
        pair.y = r_sums[1];
        *(GLOBAL real2 *)g_v = pair;
#else
        EACH(c, COMPONENTS) g_v[(size_t)c * o->component_stride] = r_sums[c];
#endif
    } else {
        EACH(c, COMPONENTS) atomic_add(g_v + (size_t)c * o->component_stride, r_sums[c]);
    }
#endif
}

/* A cell of a fan: coordinates [node][DIM], the rest [component or field][node]; sums are over all cells of
 * the fan so far. */
typedef struct {
    real map[MAP_NUMBERS], u[UNKNOWNS], fields[SOME(NODAL_NUMBERS)], sums[UNKNOWNS];
} member;

/* Puts a node at b. */
INLINE void take(int entry, int b, const SHARED real *s_memory, member *m)
{
    real r_record[RECORD];
    EACH(k, RECORD / 2)
    {
        const real2 pair = ((const SHARED real2 *)s_memory)[k * BLOCK_NODES + entry];
        r_record[2 * k] = pair.x;
        r_record[2 * k + 1] = pair.y;
    }
#if RECORD % 2
    r_record[RECORD - 1] = s_memory[IN_RECORD(RECORD - 1, entry)];
#endif
#if GEOMETRY_VERTICES
    EACH(d, DIM) m->map[b * DIM + d] = r_record[d];
#endif
    EACH(c, COMPONENTS) m->u[c * NODES + b] = r_record[FIRST_UNKNOWN + c];
    EACH(f, NODAL_FIELDS) m->fields[f * NODES + b] = r_record[FIRST_FIELD + f];
    EACH(c, COMPONENTS) m->sums[c * NODES + b] = 0;
}

/* Stores the sums of the node at b, at a place of the fan. */
INLINE void give(const member *m, int b, int place, int fan, SHARED real *s_memory)
{
    SHARED real *s_sums = s_memory + S_SUMS;
    EACH(c, COMPONENTS)
    {
        s_sums[c * SLOTS + place * FANS_PER_BLOCK + fan] = m->sums[c * NODES + b];
    }
}

/* Moves the node at NODES - 1 to the place before it. */
INLINE void move_on(member *m)
{
#if GEOMETRY_VERTICES
    EACH(d, DIM) m->map[(NODES - 2) * DIM + d] = m->map[(NODES - 1) * DIM + d];
#endif
    EACH(f, NODAL_FIELDS) m->fields[f * NODES + NODES - 2] = m->fields[f * NODES + NODES - 1];
    EACH(c, COMPONENTS)
    {
        m->u[c * NODES + NODES - 2] = m->u[c * NODES + NODES - 1];
        m->sums[c * NODES + NODES - 2] = m->sums[c * NODES + NODES - 1];
    }
}

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    SHARED_MEMORY(s_memory);
    SHARED_ARRAY(ushort, s_entries, SLOTS);
    OPERANDS
    const uint first = g_blocks[2 * BLOCK];
    const int privates = g_blocks[2 * BLOCK + 1], count = g_blocks[2 * BLOCK + 2] - first;
    /* Never with BLOCKS_AHEAD 0. */
    const bool is_some = BLOCKS_AHEAD > 0 && BLOCK + BLOCKS_AHEAD < BLOCKS;
    const uint later = is_some ? BLOCK + BLOCKS_AHEAD : BLOCKS;
    const uint later_first = g_blocks[2 * later];
    const int later_count = later < BLOCKS ? g_blocks[2 * later + 2] - later_first : 0;
    uint r_nodes[ROUNDS(BLOCK_NODES)];
    EACH(r, ROUNDS(BLOCK_NODES))
    {
        r_nodes[r] = o.g_list[first + (MINE(r) < count ? MINE(r) : 0)];
    }
    ask_for_slots(g_local + (size_t)BLOCK * SLOTS, s_entries);
    SHARED_ARRAY(ushort, s_slots, SLOTS);
    SHARED_ARRAY(ushort, s_ends, BLOCK_NODES);
    ask_for_slots(g_slots + (size_t)BLOCK * SLOTS, s_slots);
    EACH(r, ROUNDS(BLOCK_NODES))
    {
        if (MINE(r) < count) s_ends[MINE(r)] = g_ends[first + MINE(r)];
    }
    EACH(r, ROUNDS(BLOCK_NODES))
    {
        if (MINE(r) < count) ask_for_node(&o, r_nodes[r], MINE(r), s_memory);
    }
    if (later_count > 0) {
        prefetch_l2(g_local + (size_t)later * SLOTS, SLOTS);
        prefetch_l2((const GLOBAL ushort *)(o.g_list + later_first), 2 * later_count);
        prefetch_l2(g_slots + (size_t)later * SLOTS, SLOTS);
        prefetch_l2(g_ends + later_first, later_count);
    }
    ASYNC_COPIES_DONE();
    BARRIER();

    UNROLL_BY(1) for (int fan = THREAD_X; fan < FANS_PER_BLOCK; fan += BLOCK_X)
    {
        const SHARED ushort *s_fan = s_entries + fan;
        if (s_fan[0] != ABSENT) {
            member m;
            EACH(b, NODES - 1) take(s_fan[b * FANS_PER_BLOCK], b, s_memory, &m);
            int k = 0, entry = s_fan[(NODES - 1) * FANS_PER_BLOCK];
            UNROLL_BY(FAN_UNROLL) while (k < FAN_CELLS && entry != ABSENT)
            {
                const uint cell = (BLOCK * FAN_CELLS + k) * FANS_PER_BLOCK + fan;
                take(entry, NODES - 1, s_memory, &m);
                ++k;
                if (k < FAN_CELLS) entry = s_fan[(NODES - 1 + k) * FANS_PER_BLOCK];
#if MAP_CONSTANT && !GEOMETRY_VERTICES
                read_map(&o, cell, 0, m.map);
#endif
                evaluate_cell(TABLES & o, cell, m.map, m.u, m.fields, m.sums);
                give(&m, NODES - 2, NODES - 3 + k, fan, s_memory);
                move_on(&m);
            }
            EACH(b, NODES - 2) give(&m, b, b, fan, s_memory);
            give(&m, NODES - 2, NODES - 2 + k, fan, s_memory);
        }
    }
    BARRIER();

    const SHARED real *s_sums = s_memory + S_SUMS;
    EACH(r, ROUNDS(BLOCK_NODES))
    {
        const int n = MINE(r);
        if (n < count) {
            real r_sums[COMPONENTS];
            const int end = s_ends[n];
            EACH(c, COMPONENTS) r_sums[c] = 0;
            UNROLL_BY(1) for (int slot = n > 0 ? s_ends[n - 1] : 0; slot < end; slot += SLOTS_AHEAD)
            {
                EACH(k, SLOTS_AHEAD)
                {
                    const bool is_mine = slot + k < end;
                    const int from = s_slots[is_mine ? slot + k : slot];
                    EACH(c, COMPONENTS) r_sums[c] += is_mine ? s_sums[c * SLOTS + from] : 0;
                }
            }
            add_node(&o, r_nodes[r], first + n, n < privates, r_sums);
        }
    }
}
