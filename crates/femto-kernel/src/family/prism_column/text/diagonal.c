/* The diagonal of the prisms' matrices of λ u, κ ∇u where these are constant: a prism per thread, which applies its matrix to one
 * unit vector after the other; components that are not evaluated TOGETHER have the same diagonal. */
KERNEL(diagonal)(KERNEL_ARGUMENTS)
{
    STACK_OF_PRISMS
    PRISM(0)
    READ_FIELDS(r_fields)
    real r_u[UNKNOWNS], r_v[UNKNOWNS];
    EACH(n, UNKNOWNS) r_u[n] = 0;
    UNROLL_BY(1) for (int c = 0; c < TOGETHER; ++c)
    {
        UNROLL_BY(1) for (int t = 0; t < TRIANGLE_NODES; ++t)
        {
            UNROLL_BY(1) for (int k = 0; k < LINE_NODES; ++k)
            {
                const int n = c * NODES + AT(t, k);
                r_u[n] = 1;
                evaluate_prism(&p, r_u, r_fields, r_v);
                r_u[n] = 0;
                EACH(other, COMPONENTS / TOGETHER)
                {
                    if (writes) ADD(c + other, t, k, r_v[n]);
                }
            }
        }
    }
}
