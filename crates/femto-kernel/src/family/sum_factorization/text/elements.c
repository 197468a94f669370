/* v = A u on hexahedra of degree 1, one element per thread; with DIAGONAL the diagonal of A.
 *
 * At degree 1 the pencils of pencils.c are so short that exchanging them through shared memory costs more than
 * contracting them. Here nothing is exchanged. An element is evaluated at its points, by polynomials.h, or multiplied by
 * the numbers of its matrix, by entries.h.
 *
 * Vectors are L-vectors, or E-vectors with these numbers; forms have no fields at nodes.
 */

#if DIAGONAL
KERNEL(diagonal)(KERNEL_ARGUMENTS)
#else
KERNEL(apply)(KERNEL_ARGUMENTS)
#endif
{
    ABSENT_OPERANDS
    SHARED_MEMORY(s_memory);
#if BLOCK_SUMS
    const node_lists lists = copy_lists(s_memory, g_blocks, g_list, g_ends, g_slots);
    SHARED real *s_own = s_memory + THREAD_X * GEOMETRY_ROW;
#endif
    const int lane = THREAD_X % WARP, own_warp = THREAD_X - lane;
    const uint first = BLOCK * BLOCK_X + own_warp;
#if SINGLE_FACTORS
    COPY_ROWS(stored_real, s_memory + own_warp * GEOMETRY_ROW, GEOMETRY_ROW, g_geometry, GEOMETRY_LENGTH)
#else
    COPY_ROWS(real2, (SHARED real2 *)(s_memory + own_warp * GEOMETRY_ROW), GEOMETRY_ROW / 2, g_geometry,
              GEOMETRY_LENGTH / 2)
#endif
#if VECTORS_NODAL
    SHARED uint *s_nodes = (SHARED uint *)(s_memory + NODES_START);
    COPY_ROWS(uint, s_nodes + own_warp * NODE_ROW, NODE_ROW, g_nodes, NODES)
    const SHARED uint *nodes = s_nodes + THREAD_X * NODE_ROW;
#endif
    WARP_BARRIER();

    const bool writes = first + lane < elements;
    place t;
    t.element = writes ? first + lane : elements - 1;
    const SHARED real *geometry = s_memory + THREAD_X * GEOMETRY_ROW;

    UNROLL_BY(1) for (int component = 0; component < COMPONENTS; component += COUPLED)
    {
        node_numbers r_inputs[COUPLED], r_sums[COUPLED];
#if DIAGONAL
        ALL(c, COUPLED) r_sums[c] = diagonal_of(geometry);
#else
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
            ALL(n, NODES) r_inputs[c].numbers[n] = read_node(&at, g_u, NODE_PLACE(n));
        }
#if GEOMETRY_ENTRIES
        multiply(geometry, r_inputs, r_sums);
#else
        ALL(c, COUPLED)
        {
            transform(&r_inputs[c], false);
            ALL(n, NODES)
            {
                r_inputs[c].numbers[n] *= (real)1 / NODES;
                r_sums[c].numbers[n] = 0;
            }
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
            transform(&r_sums[c], true);
            ALL(n, NODES) r_sums[c].numbers[n] *= (real)1 / NODES;
        }
#endif
#endif
        ALL(c, COUPLED)
        {
            const element_nodes at = ELEMENT_NODES(t.element, component + c);
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
