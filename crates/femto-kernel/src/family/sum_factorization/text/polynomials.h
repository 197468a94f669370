/* Elements of degree 1 at their points, see elements.c. On an element u is trilinear as the map is, and kept in the same
 * way:
 *
 *   u = sum_m c_m xi^a eta^b zeta^c,   m = a + 2 b + 4 c
 *
 * On a pencil along zeta u and its derivatives along xi and eta are linear, and the derivative along zeta is the slope
 * of u. The geometry is prepared once for a pencil and all components:
 *
 *   for j, i: u and its derivatives along xi and eta at zeta = 0, and their slopes
 *     for k: values, derivatives; the point step; the transposes, in reverse
 */

/* A component on a pencil: a number at zeta = 0, and its slope. */
typedef struct {
    real value[2];
#if GRADIENTS
    real along_xi[2], along_eta[2];
#endif
} pencil;

INLINE pencil pencil_at(const node_numbers *u, real xi, real eta)
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
INLINE void add_pencil(const pencil *p, real xi, real eta, node_numbers *v)
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
