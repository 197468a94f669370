/* Interpolates the values of an L-vector at the nodes of elements to an E-vector.
 *
 * A block takes ELEMENTS elements, each component of an element counted as one. The FROM x TO matrix is
 * applied along each of AXES axes, the slowest first; what was the slowest index becomes the fastest, so
 * that the order is the old one at the end. Sums are in the order of the nodes. A thread has a whole line in
 * registers if LINES, and otherwise one of its outputs.
 */
#define EACH(i, count) for (int i = THREAD_X; i < (count); i += BLOCK_X)

/* Arguments: the number of elements times components; the number of components, the strides of nodes and
 * of components in g_x; the matrix, [TO][FROM]; the nodes, [element][INPUTS]; the first number of g_e,
 * [element][component][OUTPUTS]. */
KERNEL(interpolate)
(uint count, uint components, uint node_stride, uint component_stride,
 const GLOBAL real *RESTRICT g_matrix, const GLOBAL uint *RESTRICT g_nodes,
 const GLOBAL real *RESTRICT g_x, uint first, GLOBAL real *RESTRICT g_e)
{
    SHARED_MEMORY(s_values);
    SHARED real *s_from = s_values, *s_to = s_values + ELEMENTS * EVEN_PITCH;
    int from_pitch = EVEN_PITCH, to_pitch = ODD_PITCH;
#if LINES
    SHARED real *s_matrix = s_to + ELEMENTS * ODD_PITCH;
    EACH(i, TO *FROM) s_matrix[i] = g_matrix[i];
#endif
    EACH(i, ELEMENTS *INPUTS)
    {
        const uint item = BLOCK * ELEMENTS + i / INPUTS;
        const uint node = item < count ? g_nodes[item / components * INPUTS + i % INPUTS] : NO_NODE;
        real r_value = 0;
        if (node != NO_NODE)
            r_value = g_x[(size_t)node * node_stride + item % components * component_stride];
        s_from[i / INPUTS * from_pitch + i % INPUTS] = r_value;
    }
    int inputs = INPUTS;
    UNROLL for (int axis = 0; axis < AXES; ++axis)
    {
        const int lines = inputs / FROM, outputs = lines * TO;
        BARRIER();
#if LINES
        EACH(i, ELEMENTS *lines)
        {
            const int element = i / lines, line = i % lines;
            real r_line[FROM];
            UNROLL for (int n = 0; n < FROM; ++n)
                r_line[n] = s_from[element * from_pitch + n * lines + line];
            UNROLL for (int row = 0; row < TO; ++row)
            {
                real r_sum = 0;
                UNROLL for (int n = 0; n < FROM; ++n)
                    r_sum += s_matrix[row * FROM + n] * r_line[n];
                s_to[element * to_pitch + line * TO + row] = r_sum;
            }
        }
#else
        EACH(i, ELEMENTS *outputs)
        {
            const int element = i / outputs, line = i % outputs / TO, row = i % TO;
            real r_sum = 0;
            for (int n = 0; n < FROM; ++n)
                r_sum += g_matrix[row * FROM + n] * s_from[element * from_pitch + n * lines + line];
            s_to[element * to_pitch + i % outputs] = r_sum;
        }
#endif
        SHARED real *s_other = s_from;
        s_from = s_to;
        s_to = s_other;
        const int other_pitch = from_pitch;
        from_pitch = to_pitch;
        to_pitch = other_pitch;
        inputs = outputs;
    }
    BARRIER();
    EACH(i, ELEMENTS *OUTPUTS)
    {
        const uint item = BLOCK * ELEMENTS + i / OUTPUTS;
        if (item < count)
            g_e[first + (size_t)item * OUTPUTS + i % OUTPUTS] = s_from[i / OUTPUTS * from_pitch + i % OUTPUTS];
    }
}
