/* The inputs of the point step: the COUPLED components that it takes together, then NODAL_FIELDS auxiliary fields in their
 * (scalar) space. NODAL_GRADIENTS has bit n set if the gradient of nodal field n is read.
 */
#define INPUTS (COUPLED + NODAL_FIELDS)
#define SOME(count) ((count) > 0 ? (count) : 1)
#define HAS_GRADIENT(n)                                                                        \
    ((n) < COUPLED ? GRADIENTS : NODAL_GRADIENTS >> ((n) - COUPLED) & 1)

/* The start of field f of an element. */
#if VECTORS_NODAL
#define FIELD_FIRST(element, f) ((size_t)(f) * field_stride)
#else
#define FIELD_FIRST(element, f) (((size_t)ELEMENT(element) * NODAL_FIELDS + (f)) * NODES)
#endif

/* The source of an input's values at the nodes. */
typedef struct {
    element_nodes at;
    const GLOBAL real *g_values;
    size_t field_first;
    bool is_field;
} source;

/* Input n of a group whose first component is `first`. */
#define SOURCE(element, first, n, g_u)                                                         \
    {                                                                                          \
        ELEMENT_NODES(element, (n) < COUPLED ? (first) + (n) : 0), (n) < COUPLED ? g_u : g_nodal_fields, \
            FIELD_FIRST(element, (n) - COUPLED), (n) >= COUPLED                                \
    }

INLINE real read_source(const source *from, int k, int j, int i)
{
#if NODAL_FIELDS
    if (from->is_field) {
        const GLOBAL real *g_field = from->g_values + from->field_first;
#if VECTORS_NODAL
        return g_field[from->at.nodes[NODE_AT(k, j, i)]];
#else
        return g_field[NODE_AT(k, j, i)];
#endif
    }
#endif
    return read_node(&from->at, from->g_values, k, j, i);
}
