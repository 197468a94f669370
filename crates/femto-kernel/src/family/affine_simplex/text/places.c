/* What the kernels of affine simplices share: unrolled loops, and the place of a node of an element in vectors. */
#define EACH(n, count) UNROLL for (int n = 0; n < (count); ++n)
#if VECTORS_LISTED
#define ELEMENT(element) g_elements[element]
#else
#define ELEMENT(element) (element)
#endif
#if VECTORS_NODAL
#define PLACE(element, node)                                                                   \
    ((size_t)g_nodes[(size_t)(element) * NODES + (node)] * NODE_STRIDE + (size_t)component * component_stride)
#else
#define PLACE(element, node) (((size_t)ELEMENT(element) * COMPONENTS + component) * NODES + (node))
#endif
