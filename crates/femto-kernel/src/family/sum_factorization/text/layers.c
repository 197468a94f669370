/* v = A u on hexahedra, see layers.h. Along two axes at once a thread contracts what it has in registers, so that a
 * number passes shared memory twice, there and back, where pencils.c exchanges numbers for each axis:
 *
 *   each layer k of nodes: interpolate along j and i, differentiate along i, j
 *   each pencil (j, i) of points: interpolate, differentiate along k; the point step; the transposes
 *   each layer k of nodes: the transposes
 *
 * Values along j are held as columns, so that contractions are of pencils. Fields are brought to the
 * points; nothing is returned for them.
 */

/* Contracts the columns of a layer of nodes: rows of points. */
#define TO_ROWS(NAME, r_columns, r_rows)                                                       \
    ALL(i, NODES_1D)                                                                           \
    {                                                                                          \
        real r_column[POINTS_1D];                                                              \
        NAME((r_columns)[i], r_column);                                                        \
        ALL(j, POINTS_1D) (r_rows)[j][i] = r_column[j];                                        \
    }

/* The transpose, added. */
#define ADD_COLUMNS(NAME, r_rows, r_columns)                                                   \
    ALL(i, NODES_1D)                                                                           \
    {                                                                                          \
        real r_row[POINTS_1D], r_column[NODES_1D];                                             \
        ALL(j, POINTS_1D) r_row[j] = (r_rows)[j][i];                                           \
        NAME(r_row, r_column);                                                                 \
        ALL(j, NODES_1D) (r_columns)[i][j] += r_column[j];                                     \
    }

/* From the thread's layer of nodes to numbers on its rows of points. */
INLINE void spread(const place *t, int n, const source *from)
{
    real r_u[NODES_1D][NODES_1D], r_rows[POINTS_1D][NODES_1D], r_row[POINTS_1D];
    ALL(j, NODES_1D) ALL(i, NODES_1D) r_u[i][j] = read_source(from, t->layer, j, i);
    if (HAS_GRADIENT(n)) {
        TO_ROWS(grad, r_u, r_rows)
        ALL(j, POINTS_1D)
        {
            interp(r_rows[j], r_row);
            store(row(t, n, 2, j), 1, POINTS_1D, r_row);
        }
    }
    TO_ROWS(interp, r_u, r_rows)
    ALL(j, POINTS_1D)
    {
        interp(r_rows[j], r_row);
        store(row(t, n, 0, j), 1, POINTS_1D, r_row);
        if (HAS_GRADIENT(n)) {
            grad(r_rows[j], r_row);
            store(row(t, n, 1, j), 1, POINTS_1D, r_row);
        }
    }
}

/* The transpose, added to the nodes of a vector. */
INLINE void collect(const place *t, int c, const element_nodes *at, GLOBAL real *g_v)
{
    real r_v[NODES_1D][NODES_1D] = {{0}}, r_rows[POINTS_1D][NODES_1D];
    real r_row[POINTS_1D], r_along[NODES_1D];
    ALL(j, POINTS_1D)
    {
        load(r_row, row(t, c, 0, j), 1, POINTS_1D);
        interp_transposed(r_row, r_rows[j]);
        load(r_row, row(t, c, 1, j), 1, POINTS_1D);
        grad_transposed(r_row, r_along);
        ALL(i, NODES_1D) r_rows[j][i] += r_along[i];
    }
    ADD_COLUMNS(interp_transposed, r_rows, r_v)
    ALL(j, POINTS_1D)
    {
        load(r_row, row(t, c, 2, j), 1, POINTS_1D);
        interp_transposed(r_row, r_rows[j]);
    }
    ADD_COLUMNS(grad_transposed, r_rows, r_v)
    ALL(j, NODES_1D) ALL(i, NODES_1D)
    {
        if (t->writes)
            add_node(at, g_v, t->layer, j, i, r_v[i][j]);
    }
}

INLINE void read_pencils(const place *t, point_data *p)
{
    const int first = t->slow * POINTS_1D + t->fast;
    ALL(n, INPUTS)
    {
        real r_nodes[NODES_1D];
        load(r_nodes, layers(t, n, 0) + first, LAYER, NODES_1D);
        if (VALUES || n >= COUPLED)
            interp(r_nodes, p->value[n]);
        if (HAS_GRADIENT(n)) {
            grad(r_nodes, p->derivative[2][n]);
            ALL(q, 2)
            {
                load(r_nodes, layers(t, n, 1 + q) + first, LAYER, NODES_1D);
                interp(r_nodes, p->derivative[q][n]);
            }
        }
    }
}

/* The transpose, in place of what was read. */
INLINE void write_pencils(const place *t, const point_data *p)
{
    const int first = t->slow * POINTS_1D + t->fast;
    ALL(c, COUPLED)
    {
        real r_nodes[NODES_1D], r_along[NODES_1D];
        grad_transposed(p->derivative[2][c], r_nodes);
#if VALUES
        interp_transposed(p->value[c], r_along);
        ALL(k, NODES_1D) r_nodes[k] += r_along[k];
#endif
        store(layers(t, c, 0) + first, LAYER, NODES_1D, r_nodes);
        ALL(q, 2)
        {
            interp_transposed(p->derivative[q][c], r_along);
            store(layers(t, c, 1 + q) + first, LAYER, NODES_1D, r_along);
        }
    }
}

INLINE void at_point(const place *t, int k, step_inputs *in, point_data *p)
{
    real r_u[COUPLED], r_g[3 * COUPLED];
    ALL(c, COUPLED)
    {
        r_u[c] = VALUES ? p->value[c][k] : 0;
        ALL(q, 3) r_g[3 * c + q] = p->derivative[q][c][k];
    }
    point_step(t, p, k, in, r_u, r_g);
    ALL(c, COUPLED)
    {
        p->value[c][k] = r_u[c];
        ALL(q, 3) p->derivative[q][c][k] = r_g[3 * c + q];
    }
}

KERNEL(apply)(KERNEL_ARGUMENTS)
{
    ABSENT_OPERANDS
    SHARED_MEMORY(s_memory);
    place t = place_of(s_memory, elements);
    const bool has_layer = t.works && t.layer < NODES_1D;
    const GLOBAL stored_real *geometry = g_geometry;

    /* A thread starts the next components in the layer that only it has read last: no barrier between them. */
    UNROLL_BY(1) for (int first = 0; first < COMPONENTS; first += COUPLED)
    {
        if (has_layer) {
            ALL(n, INPUTS)
            {
                const source from = SOURCE(t.element, first, n, g_u);
                spread(&t, n, &from);
            }
        }
        WARP_BARRIER();
        if (t.works) {
            /* One at a time: each takes as many registers as there are. */
            UNROLL_BY(1) for (t.slow = 0; t.slow < POINTS_1D; ++t.slow)
            {
                point_data p;
                step_inputs in = STEP_INPUTS(&t);
                read_pencils(&t, &p);
                ALL(k, POINTS_1D) at_point(&t, k, &in, &p);
                write_pencils(&t, &p);
            }
        }
        WARP_BARRIER();
        if (has_layer) {
            ALL(c, COUPLED)
            {
                const element_nodes at = ELEMENT_NODES(t.element, first + c);
                collect(&t, c, &at, g_v);
            }
        }
    }
}
