/* Prisms on each other in a column, by one thread: where their numbers are, and their maps.
 *
 * The column's base is the triangle with vertices (x_c, y_c), the prism lies between heights z_c and z_c + h_c over
 * them. With λ = (1 - ξ - η, ξ, η): x = Σ λ_c x_c, y = Σ λ_c y_c, z = Σ λ_c (z_c + (1 + ζ) h_c / 2), so that
 *
 *   J = | x_ξ x_η  0  |    ∂ξ/∂(x, y) and ∂η/∂(x, y) are those of the base,
 *       | y_ξ y_η  0  |    ∂ζ/∂x = -(z_ξ ξ_x + z_η η_x) / z_ζ, likewise y, and ∂ζ/∂z = 1 / z_ζ.
 *       | z_ξ z_η z_ζ |
 *
 *   g_columns   [place][node of the lowest prism, then 3 edges, the column's number, what it exchanges (apply.c)]
 *   g_bases     [place][vertex][2]
 *   g_heights   [edge][layer][z below, height]
 *   c_steps     each node's step from layer to layer
 *   c_places    each node's place in an element
 *
 * Nodes here are [triangle node t][k upwards]; private arrays [component][t][k], of as many components as are evaluated TOGETHER.
 */
#define AT(t, k) ((t) * LINE_NODES + (k))
#define SOME(count) ((count) > 0 ? (count) : 1)
#define UNKNOWNS (TOGETHER * NODES)
#define COLUMN_NUMBERS (NODES + 5)

/* The node over t at level k, in L-vectors. A shared one on top is the lowest of the prism above. */
#if SHARE
#define NODE(t, k)                                                                             \
    ((k) == LINE_NODES - 1 ? g_column[AT(t, 0)] + (layer + 1) * c_steps[AT(t, 0)]              \
                           : g_column[AT(t, k)] + layer * c_steps[AT(t, k)])
#else
#define NODE(t, k) (g_column[AT(t, k)] + layer * c_steps[AT(t, k)])
#endif
/* Places of a prism's numbers, of the component or field c. */
#undef PLACE
#undef ADD
#if VECTORS_NODAL
#define PLACE(c, t, k) ((size_t)NODE(t, k) * NODE_STRIDE + (size_t)(c) * component_stride)
#define FIELD_PLACE(n, t, k) ((size_t)(n) * field_stride + NODE(t, k))
#else
#define PLACE(c, t, k) (((size_t)ELEMENT(cell) * COMPONENTS + (c)) * NODES + c_places[AT(t, k)])
#define FIELD_PLACE(n, t, k) (((size_t)ELEMENT(cell) * NODAL_FIELDS + (n)) * NODES + c_places[AT(t, k)])
#endif
#if CONTRIBUTIONS
#define ADD(c, t, k, value)                                                                    \
    (g_contributions[(size_t)(c) * contribution_stride +                                       \
         (size_t)(contribution_first + cell) * NODES + c_places[AT(t, k)]] = (value))
#elif VECTORS_NODAL
#define ADD(c, t, k, value) atomic_add(g_v + PLACE(c, t, k), value)
#else
#define ADD(c, t, k, value) (g_v[PLACE(c, t, k)] = (value))
#endif
#define EACH_NODE(t, k) EACH(t, TRIANGLE_NODES) EACH(k, LINE_NODES)

/* A column is cut into stacks of STACK prisms, of which the highest may have fewer; a thread has a stack. Of PAIRS of columns,
 * at places 2n and 2n + 1, the first half of a block has stacks of the first and the second half those of the second. */
#define STACKS ((LAYERS + STACK - 1) / STACK)
#define ABOVE_EACH_OTHER (BLOCK_X / (1 + PAIRS))
#define COUNT (elements / (1 + PAIRS))
#define ASKED (BLOCK * ABOVE_EACH_OTHER + THREAD_X % ABOVE_EACH_OTHER)
#define COLUMN_PLACE(stack) ((1 + PAIRS) * ((stack) / STACKS) + THREAD_X / ABOVE_EACH_OTHER)

/* The thread's stack of `count` prisms from the layer `lowest` on; threads past the last one repeat it and write nothing. */
#define STACK_OF_PRISMS                                                                        \
    ABSENT_OPERANDS                                                                            \
    const bool writes = ASKED < COUNT;                                                         \
    const uint asked = writes ? ASKED : COUNT - 1;                                             \
    const uint place = COLUMN_PLACE(asked), lowest = asked % STACKS * STACK;                   \
    const uint count = lowest + STACK < LAYERS ? STACK : LAYERS - lowest;                      \
    const GLOBAL uint *g_column = g_columns + (size_t)place * COLUMN_NUMBERS;                  \
    uint layer, cell;                                                                          \
    prism p;                                                                                   \
    read_base(g_bases + (size_t)place * 6, &p);                                                \
    p.g_context = g_context;

/* Its prism with a number of others below it. */
#define PRISM(below)                                                                           \
    layer = lowest + (below);                                                                  \
    cell = g_column[NODES + 3] * LAYERS + layer;                                               \
    read_heights(g_column, g_heights, layer, &p);                                              \
    p.g_cell_fields = g_cell_fields + (size_t)cell * CELL_FIELDS;                              \
    p.g_point_fields = g_point_fields + (size_t)cell * POINT_FIELDS * POINTS;

#define READ_FIELDS(r_fields)                                                                  \
    real r_fields[SOME(NODAL_FIELDS) * NODES];                                                 \
    EACH(n, NODAL_FIELDS)                                                                      \
    {                                                                                          \
        EACH_NODE(t, k) r_fields[n * NODES + AT(t, k)] = g_nodal_fields[FIELD_PLACE(n, t, k)]; \
    }

#define POINTS (TRIANGLE_POINTS * LINE_POINTS)

typedef struct {
    /* Of the base: [reference axis][x, y], the determinant, vertices [vertex][2]. */
    real inverse[4], determinant, base[6];
    /* At the vertices of the base: z below, and half of the height. */
    real low[3], h[3];
    const GLOBAL real *g_cell_fields, *g_point_fields, *g_context;
} prism;

INLINE void read_heights(const GLOBAL uint *g_column, const GLOBAL real *g_heights, uint layer, prism *p)
{
    EACH(c, 3)
    {
        const GLOBAL real *g_own = g_heights + 2 * ((size_t)g_column[NODES + c] * LAYERS + layer);
        p->low[c] = g_own[0];
        p->h[c] = (real)0.5 * g_own[1];
    }
}

INLINE void read_base(const GLOBAL real *g_base, prism *p)
{
    EACH(n, 6) p->base[n] = g_base[n];
    const real xr = p->base[2] - p->base[0], yr = p->base[3] - p->base[1];
    const real xs = p->base[4] - p->base[0], ys = p->base[5] - p->base[1];
    p->determinant = xr * ys - xs * yr;
    const real factor = reciprocal(p->determinant);
    p->inverse[0] = factor * ys;
    p->inverse[1] = -factor * xs;
    p->inverse[2] = -factor * yr;
    p->inverse[3] = factor * xr;
}
