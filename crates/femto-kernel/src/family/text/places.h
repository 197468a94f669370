/* Unrolled loops, and the numbers of an element in vectors: E-vectors [element][component][node], VECTORS_LISTED with
 * the number of each element in g_elements; or VECTORS_NODAL L-vectors with the nodes g_nodes, [element][node],
 * NODE_STRIDE apart and components component_stride apart.
 *
 * ADD adds to an L-vector, or with CONTRIBUTIONS writes what is to be added; into E-vectors it writes.
 */
#define EACH(n, count) UNROLL for (int n = 0; n < (count); ++n)
#if VECTORS_LISTED
#define ELEMENT(element) g_elements[element]
#else
#define ELEMENT(element) (element)
#endif
#if VECTORS_NODAL
#define PLACE(element, component, node)                                                        \
    ((size_t)g_nodes[(size_t)(element) * NODES + (node)] * NODE_STRIDE + (size_t)(component) * component_stride)
#else
#define PLACE(element, component, node) (((size_t)ELEMENT(element) * COMPONENTS + (component)) * NODES + (node))
#endif
#if CONTRIBUTIONS
#define ADD(element, component, node, value)                                                   \
    (g_contributions[(size_t)(component) * contribution_stride +                               \
         (size_t)(contribution_first + (element)) * NODES + (node)] = (value))
#elif VECTORS_NODAL
#define ADD(element, component, node, value) atomic_add(g_v + PLACE(element, component, node), value)
#else
#define ADD(element, component, node, value) (g_v[PLACE(element, component, node)] = (value))
#endif
