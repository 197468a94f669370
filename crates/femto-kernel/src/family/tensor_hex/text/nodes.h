/* Where the nodes of an element are in a vector, and how a thread reads and adds to them.
 *
 * VECTORS_NODAL: an L-vector or T-vector. Nodes on the element's surface, its shell, have an index
 *   each, g_shell [element][shell node], lexicographic; those inside follow each other from
 *   g_interior[element]. Nodes from `nodes` on are constrained: they read as zero and are not
 *   written. Shell nodes are shared and summed by atomic additions; those inside belong to the
 *   element alone and are written.
 * Otherwise: an E-vector, [element][component][k][j][i], elements found in a list if VECTORS_LISTED;
 *   entries are written.
 *
 * NODE_STRIDE and component_stride are the distances of nodes and of components.
 */
#define NODES (NODES_1D * NODES_1D * NODES_1D)

#if VECTORS_NODAL

#define INNER (NODES_1D - 2)
#define SHELL_NODES (NODES - INNER * INNER * INNER)
#define NODE_ARGUMENTS                                                                         \
    const GLOBAL uint *RESTRICT g_shell, const GLOBAL uint *RESTRICT g_interior,               \
        const uint nodes, const uint component_stride, SHARE_ARGUMENTS
#define ELEMENT_NODES(element, component)                                                      \
    {                                                                                          \
        g_shell + (size_t)(element) * SHELL_NODES, g_interior[element], nodes,                 \
            (component) * component_stride, SHARES_OF(element, component)                      \
    }

#if SHARES
#define SHARE_ARGUMENTS                                                                        \
    GLOBAL real *RESTRICT g_shares, const uint share_stride, const uint share_first,
#define SHARES_OF(element, component)                                                          \
    g_shares + (size_t)(component) * share_stride +                                            \
        (size_t)(share_first + (element)) * SHELL_NODES
#else
#define SHARE_ARGUMENTS
#define SHARES_OF(element, component) 0
#endif

typedef struct {
    const GLOBAL uint *g_shell;
    uint interior;
    uint nodes;
    uint first;
    GLOBAL real *g_shares;
} element_nodes;

INLINE bool is_inside(int k, int j, int i)
{
    const int last = NODES_1D - 1;
    return k > 0 && k < last && j > 0 && j < last && i > 0 && i < last;
}

INLINE int shell_index(int k, int j, int i)
{
    const int last = NODES_1D - 1, layer = NODES_1D * NODES_1D, ring = 4 * last;
    if (k == 0)
        return j * NODES_1D + i;
    if (k == last)
        return layer + (last - 1) * ring + j * NODES_1D + i;
    const int below = layer + (k - 1) * ring;
    if (j == 0)
        return below + i;
    if (j == last)
        return below + NODES_1D + 2 * (last - 1) + i;
    return below + NODES_1D + 2 * (j - 1) + (i > 0 ? 1 : 0);
}

INLINE uint node_at(const element_nodes *at, int k, int j, int i)
{
    if (is_inside(k, j, i))
        return at->interior + ((k - 1) * INNER + (j - 1)) * INNER + (i - 1);
    return at->g_shell[shell_index(k, j, i)];
}

INLINE real read_node(const element_nodes *at, const GLOBAL real *g_u, int k, int j, int i)
{
    const uint node = node_at(at, k, j, i);
    return node < at->nodes ? g_u[(size_t)node * NODE_STRIDE + at->first] : 0;
}

INLINE void add_node(const element_nodes *at, GLOBAL real *g_v, int k, int j, int i, real value)
{
#if SHARES
    if (!is_inside(k, j, i)) {
        at->g_shares[shell_index(k, j, i)] = value;
        return;
    }
#endif
    const uint node = node_at(at, k, j, i);
    if (node < at->nodes) {
        GLOBAL real *g_target = g_v + (size_t)node * NODE_STRIDE + at->first;
        if (is_inside(k, j, i))
            *g_target = value;
        else
            atomic_add(g_target, value);
    }
}

#else

#if VECTORS_LISTED
#define NODE_ARGUMENTS const GLOBAL uint *RESTRICT g_elements,
#define ELEMENT(element) g_elements[element]
#else
#define NODE_ARGUMENTS
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
    return g_u[at->first + (k * NODES_1D + j) * NODES_1D + i];
}

INLINE void add_node(const element_nodes *at, GLOBAL real *g_v, int k, int j, int i, real value)
{
    g_v[at->first + (k * NODES_1D + j) * NODES_1D + i] = value;
}

#endif
