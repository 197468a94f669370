/* v = A u on hexahedra of low degree, one element per thread.
 *
 * At low degree the pencils of pencils.c are so short that exchanging them through shared memory costs more than
 * contracting them. Here nothing is exchanged: a thread takes its element layer by layer along j, pencil by pencil
 * along k, so that the geometry is prepared once for a pencil and all components:
 *
 *   for j: values, derivatives along j of the layer         [k][i] of nodes
 *     for i: values, derivatives along i and j               [k] of nodes
 *       for k: values, derivatives along i, j, k; the point step; the transposes, in reverse
 *
 * Vectors are L-vectors, and forms have no fields at nodes.
 */
#define LAYER_NODES (NODES_1D * NODES_1D)
#define NODE_PLACE(n) (n) / LAYER_NODES, (n) / NODES_1D % NODES_1D, (n) % NODES_1D
/* The node with j = 0 of the column at place n of a layer. */
#define COLUMN(n) ((n) / NODES_1D * LAYER_NODES + (n) % NODES_1D)
#define DIRECTIONS (GRADIENTS ? 3 : 1)

/* A pencil of nodes interpolated to a point, and its derivative there. */
INLINE real value_at(const real *r_nodes, int stride, int point)
{
#if COLLOCATED
    return r_nodes[point * stride];
#else
    real r_sum = 0;
    ALL(n, NODES_1D) r_sum += c_values[point * NODES_1D + n] * r_nodes[n * stride];
    return r_sum;
#endif
}

INLINE real slope_at(const real *r_nodes, int stride, int point)
{
    real r_sum = 0;
    ALL(n, NODES_1D) r_sum += c_slopes[point * NODES_1D + n] * r_nodes[n * stride];
    return r_sum;
}

/* The transposes: add what a number at a point is tested with. */
INLINE void add_value(real number, int point, real *r_nodes, int stride)
{
#if COLLOCATED
    r_nodes[point * stride] += number;
#else
    ALL(n, NODES_1D) r_nodes[n * stride] += c_values[point * NODES_1D + n] * number;
#endif
}

INLINE void add_slope(real number, int point, real *r_nodes, int stride)
{
    ALL(n, NODES_1D) r_nodes[n * stride] += c_slopes[point * NODES_1D + n] * number;
}

/* A layer of points along j: values, and derivatives along j, each [k][i] of nodes. */
typedef struct {
    real numbers[GRADIENTS ? 2 : 1][LAYER_NODES];
} layer;

/* A pencil along k of such a layer: values, derivatives along i and along j, each [k] of nodes. */
typedef struct {
    real numbers[DIRECTIONS][NODES_1D];
} pencil;

INLINE void pencil_of(const layer *from, int i, pencil *to)
{
    ALL(k, NODES_1D)
    {
        to->numbers[0][k] = value_at(from->numbers[0] + k * NODES_1D, 1, i);
#if GRADIENTS
        to->numbers[1][k] = slope_at(from->numbers[0] + k * NODES_1D, 1, i);
        to->numbers[2][k] = value_at(from->numbers[1] + k * NODES_1D, 1, i);
#endif
    }
}

INLINE void add_pencil(const pencil *from, int i, layer *to)
{
    ALL(k, NODES_1D)
    {
        add_value(from->numbers[0][k], i, to->numbers[0] + k * NODES_1D, 1);
#if GRADIENTS
        add_slope(from->numbers[1][k], i, to->numbers[0] + k * NODES_1D, 1);
        add_value(from->numbers[2][k], i, to->numbers[1] + k * NODES_1D, 1);
#endif
    }
}

/* The point step at point k of a pencil. */
INLINE void at_point(const place *t, int k, step_inputs *in, const pencil *r_in, pencil *r_out)
{
    const point_data none = {0};
    real r_u[COUPLED], r_g[3 * COUPLED];
    ALL(c, COUPLED)
    {
        r_u[c] = VALUES ? value_at(r_in[c].numbers[0], 1, k) : 0;
#if GRADIENTS
        r_g[3 * c] = value_at(r_in[c].numbers[1], 1, k);
        r_g[3 * c + 1] = value_at(r_in[c].numbers[2], 1, k);
        r_g[3 * c + 2] = slope_at(r_in[c].numbers[0], 1, k);
#endif
    }
    point_step(t, &none, k, in, r_u, r_g);
    ALL(c, COUPLED)
    {
#if VALUES
        add_value(r_u[c], k, r_out[c].numbers[0], 1);
#endif
#if GRADIENTS
        add_value(r_g[3 * c], k, r_out[c].numbers[1], 1);
        add_value(r_g[3 * c + 1], k, r_out[c].numbers[2], 1);
        add_slope(r_g[3 * c + 2], k, r_out[c].numbers[0], 1);
#endif
    }
}

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    ABSENT_OPERANDS
    SHARED_MEMORY(s_memory);
#if BLOCK_SUMS
    const node_lists lists = copy_lists(s_memory, g_blocks, g_list, g_ends, g_slots);
    SHARED real *s_own = s_memory + THREAD_X * GEOMETRY_ROW;
#endif
    const int lane = THREAD_X % WARP, own_warp = THREAD_X - lane;
    const uint first = BLOCK * BLOCK_X + own_warp;
    SHARED uint *s_nodes = (SHARED uint *)(s_memory + NODES_START);
    COPY_ROWS(real2, (SHARED real2 *)(s_memory + own_warp * GEOMETRY_ROW), GEOMETRY_ROW / 2, g_geometry,
              GEOMETRY_LENGTH / 2)
    COPY_ROWS(uint, s_nodes + own_warp * NODE_ROW, NODE_ROW, g_nodes, NODES)
    WARP_BARRIER();

    const bool writes = first + lane < elements;
    place t;
    t.element = writes ? first + lane : elements - 1;
    const SHARED real *geometry = s_memory + THREAD_X * GEOMETRY_ROW;
    const SHARED uint *nodes = s_nodes + THREAD_X * NODE_ROW;

    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; component += COUPLED)
    {
        real r_inputs[COUPLED][NODES], r_sums[COUPLED][NODES];
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
            ALL(n, NODES)
            {
                r_inputs[c][n] = read_node(&at, g_u, NODE_PLACE(n));
                r_sums[c][n] = 0;
            }
        }
        EACH_PENCIL(j)
        {
            layer in[COUPLED], out[COUPLED];
            ALL(c, COUPLED) ALL(n, LAYER_NODES)
            {
                const real *r_column = r_inputs[c] + COLUMN(n);
                in[c].numbers[0][n] = value_at(r_column, NODES_1D, j);
                out[c].numbers[0][n] = 0;
#if GRADIENTS
                in[c].numbers[1][n] = slope_at(r_column, NODES_1D, j);
                out[c].numbers[1][n] = 0;
#endif
            }
            EACH_PENCIL(i)
            {
                pencil r_in[COUPLED], r_out[COUPLED];
                ALL(c, COUPLED)
                {
                    pencil_of(&in[c], i, &r_in[c]);
                    ALL(d, DIRECTIONS) ALL(k, NODES_1D) r_out[c].numbers[d][k] = 0;
                }
                t.slow = j;
                t.fast = i;
                step_inputs at = STEP_INPUTS(&t);
                ALL(k, POINTS_1D) at_point(&t, k, &at, r_in, r_out);
                ALL(c, COUPLED) add_pencil(&r_out[c], i, &out[c]);
            }
            ALL(c, COUPLED) ALL(n, LAYER_NODES)
            {
                real *r_column = r_sums[c] + COLUMN(n);
                add_value(out[c].numbers[0][n], j, r_column, NODES_1D);
#if GRADIENTS
                add_slope(out[c].numbers[1][n], j, r_column, NODES_1D);
#endif
            }
        }
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
            ALL(n, NODES)
            {
                if (writes)
                    add_node(&at, g_v, NODE_PLACE(n), r_sums[c][n]);
            }
        }
    }
#if BLOCK_SUMS
    ASYNC_COPIES_DONE();
    BARRIER();
    add_sums(&lists, s_memory, component_stride, g_v);
#endif
}
