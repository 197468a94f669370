/* The positions of an element's nodes in a vector, and access to them. A quadrilateral has one layer of
 * nodes along k.
 *
 * VECTORS_NODAL: an L-vector with nodes g_nodes [element][k][j][i]; NODE_STRIDE and
 *   component_stride are the strides of nodes and of components. Interior nodes belong to one element and
 *   are written, unless BLOCK_SUMS. The others, its shell, are shared: they are summed by atomic additions or, with
 *   CONTRIBUTIONS, each element writes its contribution to g_contributions [component][element][k][j][i], components
 *   contribution_stride apart, elements from contribution_first on, for sum.c to add up in a fixed order. With
 *   BLOCK_SUMS a thread has an element and puts its contributions into its row s_own [component][k][j][i] of shared
 *   memory, for sums.h to add up. With NODES_STAGED numbers are read from, and put into, the element's s_numbers
 *   [k][j][i][component] in shared memory, see numbers.h.
 *
 * Otherwise: an E-vector, [element][component][k][j][i], with elements from a list if VECTORS_LISTED;
 *   entries are written.
 */
#if DIM == 3
#define NODES_K NODES_1D
#else
#define NODES_K 1
#endif
#define NODES (NODES_K * NODES_1D * NODES_1D)
#define NODE_AT(k, j, i) (((k) * NODES_1D + (j)) * NODES_1D + (i))

#if VECTORS_NODAL

/* With an element per thread its nodes are a row in shared memory. */
#if ELEMENT_PER_THREAD
#define NODE_MEMORY SHARED
#define NODES_OF(element) nodes
#else
#define NODE_MEMORY GLOBAL
#define NODES_OF(element) g_nodes + (size_t)(element) * NODES
#endif
#if NODES_STAGED
/* An element's numbers, and where those of a node start. */
#define NUMBERS_SLOT (NODES_K * NODE_LAYER * NODE_STEP)
#define STAGED_AT(k, j, i) (((k) * NODE_LAYER + (j) * NODES_1D + (i)) * NODE_STEP)
#define ELEMENT_NODES(element, component) {NODES_OF(element), s_numbers + (component)}
#else
#define ELEMENT_NODES(element, component)                                                      \
    {                                                                                          \
        NODES_OF(element), (size_t)(component) * component_stride,                             \
            CONTRIBUTIONS_OF(element, component)                                               \
    }
#endif

/* Where an element's contributions to a component go, if not to the vector. */
#if BLOCK_SUMS
#define CONTRIBUTION_MEMORY SHARED
#define CONTRIBUTIONS_OF(element, component) s_own + (component) * NODES
#else
#define CONTRIBUTION_MEMORY GLOBAL
#if CONTRIBUTIONS
#define CONTRIBUTIONS_OF(element, component)                                                   \
    g_contributions + (size_t)(component) * contribution_stride +                              \
        (size_t)(contribution_first + (element)) * NODES
#else
#define CONTRIBUTIONS_OF(element, component) 0
#endif
#endif

typedef struct {
    const NODE_MEMORY uint *nodes;
#if NODES_STAGED
    SHARED real *s_numbers;
#else
    size_t first;
    CONTRIBUTION_MEMORY real *contributions;
#endif
} element_nodes;

INLINE bool is_inside(int k, int j, int i)
{
    const int last = NODES_1D - 1;
#if DIM == 3
    return k > 0 && k < last && j > 0 && j < last && i > 0 && i < last;
#else
    return j > 0 && j < last && i > 0 && i < last;
#endif
}

INLINE real read_node(const element_nodes *at, const GLOBAL real *g_u, int k, int j, int i)
{
#if NODES_STAGED
    return at->s_numbers[STAGED_AT(k, j, i)];
#else
    const uint node = at->nodes[NODE_AT(k, j, i)];
    return g_u[(size_t)node * NODE_STRIDE + at->first];
#endif
}

INLINE void add_node(const element_nodes *at, GLOBAL real *g_v, int k, int j, int i, real value)
{
#if NODES_STAGED
    at->s_numbers[STAGED_AT(k, j, i)] = value;
#elif BLOCK_SUMS
    at->contributions[NODE_AT(k, j, i)] = value;
#else
    const bool inside = is_inside(k, j, i);
#if CONTRIBUTIONS
    if (!inside) {
        at->contributions[NODE_AT(k, j, i)] = value;
        return;
    }
#endif
    const uint node = at->nodes[NODE_AT(k, j, i)];
    GLOBAL real *g_target = g_v + (size_t)node * NODE_STRIDE + at->first;
#if !CONTRIBUTIONS
    if (!inside) {
        atomic_add(g_target, value);
        return;
    }
#endif
    *g_target = value;
#endif
}

#else

#if VECTORS_LISTED
#define ELEMENT(element) g_elements[element]
#else
#define ELEMENT(element) (element)
#endif
#define ELEMENT_NODES(element, component)                                                      \
    {                                                                                          \
        ((size_t)ELEMENT(element) * COMPONENTS + (component)) * NODES                          \
    }

typedef struct {
    size_t first;
} element_nodes;

INLINE real read_node(const element_nodes *at, const GLOBAL real *g_u, int k, int j, int i)
{
    return g_u[at->first + NODE_AT(k, j, i)];
}

INLINE void add_node(const element_nodes *at, GLOBAL real *g_v, int k, int j, int i, real value)
{
    g_v[at->first + NODE_AT(k, j, i)] = value;
}

#endif
