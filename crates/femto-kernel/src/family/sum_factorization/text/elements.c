/* v = A u on hexahedra of degree 1, one element per thread.
 *
 * At degree 1 the pencils of pencils.c are so short that exchanging them through shared memory costs more than
 * contracting them. Here nothing is exchanged. On an element u is trilinear as the map is, and kept in the same way:
 *
 *   u = sum_m c_m xi^a eta^b zeta^c,   m = a + 2 b + 4 c
 *
 * On a pencil along zeta u and its derivatives along xi and eta are linear, and the derivative along zeta is the slope
 * of u. The geometry is prepared once for a pencil and all components:
 *
 *   for j, i: u and its derivatives along xi and eta at zeta = 0, and their slopes
 *     for k: values, derivatives; the point step; the transposes, in reverse
 *
 * Vectors are L-vectors, and forms have no fields at nodes.
 */

/* A component: coefficients, or what they are tested with. */
typedef struct {
    real numbers[NODES];
} polynomial;

/* A component on a pencil: a number at zeta = 0, and its slope. */
typedef struct {
    real value[2];
#if GRADIENTS
    real along_xi[2], along_eta[2];
#endif
} pencil;

/* From values at the nodes to coefficients; transposed, from what these are tested with back to the nodes. */
INLINE void transform(polynomial *u, bool transposed)
{
    real *r = u->numbers;
    ALL(axis, DIM) ALL(m, NODES)
    {
        const int next = m + (1 << axis);
        if ((m >> axis) % 2 == 0) {
            const real first = r[m], second = r[next];
            r[m] = transposed ? first - second : first + second;
            r[next] = transposed ? first + second : second - first;
        }
    }
    ALL(m, NODES) r[m] *= (real)1 / NODES;
}

INLINE pencil pencil_at(const polynomial *u, real xi, real eta)
{
    pencil p;
    ALL(c, 2)
    {
        const real *r = u->numbers + 4 * c;
        const real along_eta = r[2] + xi * r[3];
        p.value[c] = r[0] + xi * r[1] + eta * along_eta;
#if GRADIENTS
        p.along_xi[c] = r[1] + eta * r[3];
        p.along_eta[c] = along_eta;
#endif
    }
    return p;
}

/* The transpose, added. */
INLINE void add_pencil(const pencil *p, real xi, real eta, polynomial *v)
{
    ALL(c, 2)
    {
        real *r = v->numbers + 4 * c;
        real along_xi = 0, along_eta = 0;
#if GRADIENTS
        along_xi = p->along_xi[c];
        along_eta = p->along_eta[c];
#endif
        /* Without values nothing is tested with u itself at zeta = 0. */
        if (VALUES || c == 1) {
            r[0] += p->value[c];
            r[1] += xi * p->value[c];
            along_eta += eta * p->value[c];
        }
        if (GRADIENTS) {
            r[1] += along_xi;
            r[3] += eta * along_xi;
        }
        r[2] += along_eta;
        r[3] += xi * along_eta;
    }
}

/* The point step at point k of a pencil. */
INLINE void at_point(const place *t, int k, step_inputs *in, const pencil *r_in, pencil *r_out)
{
    const point_data none = {0};
    const real zeta = POINT(k);
    real r_u[COUPLED], r_g[3 * COUPLED];
    ALL(n, COUPLED)
    {
        r_u[n] = r_in[n].value[0] + zeta * r_in[n].value[1];
#if GRADIENTS
        r_g[3 * n] = r_in[n].along_xi[0] + zeta * r_in[n].along_xi[1];
        r_g[3 * n + 1] = r_in[n].along_eta[0] + zeta * r_in[n].along_eta[1];
        r_g[3 * n + 2] = r_in[n].value[1];
#endif
    }
    point_step(t, &none, k, in, r_u, r_g);
    ALL(n, COUPLED)
    {
#if VALUES
        r_out[n].value[0] += r_u[n];
        r_out[n].value[1] += zeta * r_u[n];
#endif
#if GRADIENTS
        r_out[n].along_xi[0] += r_g[3 * n];
        r_out[n].along_xi[1] += zeta * r_g[3 * n];
        r_out[n].along_eta[0] += r_g[3 * n + 1];
        r_out[n].along_eta[1] += zeta * r_g[3 * n + 1];
        r_out[n].value[1] += r_g[3 * n + 2];
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
        polynomial r_inputs[COUPLED], r_sums[COUPLED];
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
            ALL(n, NODES)
            {
                r_inputs[c].numbers[n] = read_node(&at, g_u, NODE_PLACE(n));
                r_sums[c].numbers[n] = 0;
            }
            transform(&r_inputs[c], false);
        }
        EACH_PENCIL(p)
        {
            pencil r_in[COUPLED], r_out[COUPLED] = {{{0}}};
            t.slow = p / POINTS_1D;
            t.fast = p % POINTS_1D;
            const real xi = POINT(t.fast), eta = POINT(t.slow);
            ALL(c, COUPLED) r_in[c] = pencil_at(&r_inputs[c], xi, eta);
            step_inputs at = STEP_INPUTS(&t);
            ALL(k, POINTS_1D) at_point(&t, k, &at, r_in, r_out);
            ALL(c, COUPLED) add_pencil(&r_out[c], xi, eta, &r_sums[c]);
        }
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
            transform(&r_sums[c], true);
            ALL(n, NODES)
            {
                if (writes)
                    add_node(&at, g_v, NODE_PLACE(n), r_sums[c].numbers[n]);
            }
        }
    }
#if BLOCK_SUMS
    ASYNC_COPIES_DONE();
    BARRIER();
    add_sums(&lists, s_memory, component_stride, g_v);
#endif
}
