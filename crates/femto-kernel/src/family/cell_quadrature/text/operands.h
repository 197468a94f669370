/* The arguments of a kernel, and access to the data of a cell.
 *
 * Arrays over cells have some number NUMBERS of entries for each, [cell][number], or, with TOGETHER cells
 * interleaved, [cell / TOGETHER][number][cell % TOGETHER], so that neighbouring threads read neighbouring
 * numbers. VECTOR_INTERLEAVE is for E-vectors, DATA_INTERLEAVE for geometry, tables and fields.
 *
 *   g_geometry      map_numbers of the cell, or of each of its points (GEOMETRY_POINTS)
 *   g_vertices      GEOMETRY_VERTICES: the cell's vertices; absent if VERTICES_ARE_NODES
 *   g_coordinates   GEOMETRY_VERTICES: [vertex][DIM]
 *   g_nodes         VECTORS_NODAL: the cell's nodes
 *   g_list          the nodes of blocks, see block_local.c
 *   g_contributions CONTRIBUTIONS: [component][contribution_first + cell][node], components
 *                   contribution_stride apart, for sum.c to add up in a fixed order; else atomic additions
 *   g_elements      VECTORS_LISTED: each cell's number in E-vectors
 *   g_cell_fields   [cell][field]
 *   g_nodal_fields  E-vector [cell][field][node]; or L-vectors of all nodes, field_stride apart
 *   g_point_fields  [cell][field][point]
 *   g_context       the time, then the parameters
 *   g_u, g_v        E-vector [cell][component][node]; or nodes NODE_STRIDE apart, components
 *                   component_stride apart
 */
#define UNKNOWNS (COMPONENTS * NODES)
#define NODAL_NUMBERS (NODAL_FIELDS * NODES)
#define POINT_NUMBERS (POINT_FIELDS * POINTS)
#define SOME(count) ((count) > 0 ? (count) : 1)

#define PLACE(cell, n, numbers, together)                                                      \
    ((together) > 1                                                                            \
            ? ((size_t)((cell) / (together)) * (numbers) + (n)) * (together) + (cell) % (together) \
            : (size_t)(cell) * (numbers) + (n))
#define DATA_AT(cell, n, numbers) PLACE(cell, n, numbers, DATA_INTERLEAVE)
#define VECTOR_AT(cell, n, numbers) PLACE(ELEMENT(cell), n, numbers, VECTOR_INTERLEAVE)
#if VECTORS_LISTED
#define ELEMENT(cell) o->g_elements[cell]
#else
#define ELEMENT(cell) (cell)
#endif

typedef struct {
    const GLOBAL real *g_geometry, *g_coordinates;
    const GLOBAL uint *g_vertices;
    const GLOBAL uint *g_nodes, *g_list, *g_elements;
    uint component_stride;
    GLOBAL real *g_contributions;
    uint contribution_stride, contribution_first;
    const GLOBAL real *g_cell_fields, *g_nodal_fields;
    uint field_stride;
    const GLOBAL real *g_point_fields, *g_context, *g_u;
    GLOBAL real *g_v;
} operands;

/* The start of every kernel: its operands, with zeros for absent ones. */
#define OPERANDS                                                                               \
    ABSENT_OPERANDS                                                                            \
    const operands o = {g_geometry,    g_coordinates,       g_vertices,         g_nodes,       \
                        g_list,        g_elements,                                             \
                        component_stride, g_contributions,                                     \
                        contribution_stride, contribution_first, g_cell_fields,                \
                        g_nodal_fields, field_stride,       g_point_fields,     g_context,     \
                        g_u,           g_v};

/* Number n of the map of a cell, or of its point q. */
INLINE real read_map_number(const operands *o, uint cell, int q, int n)
{
#if GEOMETRY_VERTICES && VERTICES_ARE_NODES
    return o->g_coordinates[(size_t)o->g_nodes[DATA_AT(cell, n / DIM, NODES)] * DIM + n % DIM];
#elif GEOMETRY_VERTICES
    return o->g_coordinates[(size_t)o->g_vertices[DATA_AT(cell, n / DIM, DIM + 1)] * DIM + n % DIM];
#elif GEOMETRY_POINTS
    return o->g_geometry[DATA_AT(cell, q * MAP_NUMBERS + n, POINTS * MAP_NUMBERS)];
#else
    return o->g_geometry[DATA_AT(cell, n, MAP_NUMBERS)];
#endif
}

/* Unknown n, node n % NODES of component n / NODES. */
INLINE real read_unknown(const operands *o, uint cell, int n)
{
#if VECTORS_NODAL
    const uint node = o->g_nodes[DATA_AT(cell, n % NODES, NODES)];
    const size_t at = (size_t)node * NODE_STRIDE + (size_t)(n / NODES) * o->component_stride;
    return o->g_u[at];
#else
    return o->g_u[VECTOR_AT(cell, n, UNKNOWNS)];
#endif
}

/* Value n of the fields in the solution's space, node n % NODES of field n / NODES. */
INLINE real read_nodal(const operands *o, uint cell, int n)
{
#if !NODAL_FIELDS
    return 0;
#elif VECTORS_NODAL
    const uint node = o->g_nodes[DATA_AT(cell, n % NODES, NODES)];
    return o->g_nodal_fields[(size_t)(n / NODES) * o->field_stride + node];
#else
    return o->g_nodal_fields[VECTOR_AT(cell, n, NODAL_NUMBERS)];
#endif
}

/* Writes or adds to unknown n. */
INLINE void add_unknown(const operands *o, uint cell, int n, real value)
{
#if VECTORS_NODAL && CONTRIBUTIONS
    const int component = n / NODES, node = n % NODES;
    o->g_contributions[(size_t)component * o->contribution_stride + (size_t)(o->contribution_first + cell) * NODES +
                node] = value;
#elif VECTORS_NODAL
    const uint node = o->g_nodes[DATA_AT(cell, n % NODES, NODES)];
    const size_t at = (size_t)node * NODE_STRIDE + (size_t)(n / NODES) * o->component_stride;
    atomic_add(o->g_v + at, value);
#else
    o->g_v[VECTOR_AT(cell, n, UNKNOWNS)] = value;
#endif
}
