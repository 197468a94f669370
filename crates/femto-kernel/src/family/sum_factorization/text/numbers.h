/* NODES_STAGED: numbers at the nodes pass through shared memory, so that neighbouring threads read and add neighbouring numbers of
 * a vector, all components of a node, while a thread's pencil has one component of nodes all over the element:
 *
 *   s_numbers  [element][k][j][i][component], nodes NODE_STEP and layers NODE_LAYER nodes apart, against conflicts of
 *              shared memory
 *
 * The elements of a warp or, unless they are by warp, of a block do so together: GROUP_THREADS threads.
 */
#if WARP_ELEMENTS
#define GROUP_ELEMENTS WARP_ELEMENTS
#define GROUP_THREADS 32
#else
#define GROUP_ELEMENTS ELEMENTS_PER_BLOCK
#define GROUP_THREADS BLOCK_X
#endif
/* Nodes at a time: each has COMPONENTS threads, and a few threads are idle. */
#define NODES_AT_ONCE (GROUP_THREADS / COMPONENTS)
#define OWN_NODES ((GROUP_ELEMENTS * NODES + NODES_AT_ONCE - 1) / NODES_AT_ONCE)
/* As many are on their way at the same time: waiting for them costs more than their registers. */
#define NODES_AHEAD (OWN_NODES < 24 ? OWN_NODES : 16)
/* Number c of node n of the group. */
#define NUMBER_AT(n, c) (((n) + (n) / (NODES_1D * NODES_1D) * (NODE_LAYER - NODES_1D * NODES_1D)) * NODE_STEP + (c))
#define EACH_OWN_NODE(n, group)                                                                \
    UNROLL for (int m = 0, n = first; m < NODES_AHEAD; ++m, n += NODES_AT_ONCE)                \
        if (n < (group)->end)

typedef struct {
    /* The lists of the group's elements, and their numbers. */
    const GLOBAL uint *nodes;
    SHARED real *s_numbers;
    /* The thread's nodes are first_node, first_node + NODES_AT_ONCE, ..., below `end`. */
    int first_node, end;
    /* Its component, and where that starts in a vector. */
    int component;
    size_t start;
} node_group;

INLINE node_group group_of(SHARED real *s_numbers, const GLOBAL uint *g_nodes, uint elements, size_t component_stride)
{
    node_group group;
    const int thread = THREAD_X % GROUP_THREADS, number = THREAD_X / GROUP_THREADS;
    const uint first = BLOCK * ELEMENTS_PER_BLOCK + number * GROUP_ELEMENTS;
    const uint left = first < elements ? elements - first : 0;
    group.nodes = g_nodes + (size_t)first * NODES;
    group.s_numbers = s_numbers + number * (SLOTS * NUMBERS_SLOT);
    group.component = thread % COMPONENTS;
    group.start = group.component * component_stride;
    group.first_node = thread / COMPONENTS;
    group.end = (left < GROUP_ELEMENTS ? (int)left : GROUP_ELEMENTS) * NODES;
    if (group.first_node >= NODES_AT_ONCE)
        group.first_node = group.end;
    return group;
}

INLINE void read_numbers(const node_group *group, const GLOBAL real *g_u)
{
    UNROLL_BY(1) for (int first = group->first_node; first < group->end; first += NODES_AHEAD * NODES_AT_ONCE)
    {
        uint r_nodes[NODES_AHEAD];
        EACH_OWN_NODE(n, group) r_nodes[m] = group->nodes[n];
        EACH_OWN_NODE(n, group)
        ASYNC_COPY(REAL_BYTES, group->s_numbers + NUMBER_AT(n, group->component),
                   g_u + (size_t)r_nodes[m] * NODE_STRIDE + group->start);
    }
    ASYNC_COPIES_DONE();
}

/* Adds what the elements have put in the place of what was read. */
INLINE void add_numbers(const node_group *group, GLOBAL real *g_v)
{
    UNROLL_BY(1) for (int first = group->first_node; first < group->end; first += NODES_AHEAD * NODES_AT_ONCE)
    {
        uint r_nodes[NODES_AHEAD];
        EACH_OWN_NODE(n, group) r_nodes[m] = group->nodes[n];
        EACH_OWN_NODE(n, group)
        {
            const int i = n % NODES_1D, j = n / NODES_1D % NODES_1D, k = n / (NODES_1D * NODES_1D) % NODES_K;
            const real number = group->s_numbers[NUMBER_AT(n, group->component)];
            GLOBAL real *g_target = g_v + (size_t)r_nodes[m] * NODE_STRIDE + group->start;
            if (is_inside(k, j, i))
                *g_target = number;
            else
                atomic_add(g_target, number);
        }
    }
}
