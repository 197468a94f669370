/* Code shared by texts that read the geometry of hexahedra: vectors, and trilinear maps along zeta. */

typedef struct {
    real x, y, z;
} vector;

INLINE vector cross_product(vector a, vector b)
{
    const vector c = {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
    return c;
}

INLINE real inner_product(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* a + s b */
INLINE vector combine(vector a, real s, vector b)
{
    const vector c = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
    return c;
}

INLINE vector coefficient(const real *r_map, int m)
{
    const vector c = {r_map[3 * m], r_map[3 * m + 1], r_map[3 * m + 2]};
    return c;
}

/* The rows of the adjugate of the Jacobian, and its determinant, of a trilinear map along zeta: the first
 * two columns of the Jacobian are linear and the third is constant, so that two rows of the adjugate are
 * linear, and the third one and the determinant quadratic. */
typedef struct {
    vector row_xi[2], row_eta[2], row_zeta[3];
    real determinant[3];
} trilinear;

/* r_map: coefficients of xi, eta, xi eta, zeta, xi zeta, eta zeta, xi eta zeta, [7][3]. */
INLINE trilinear trilinear_along(const real *r_map, real xi, real eta)
{
    const vector c4 = coefficient(r_map, 4), c5 = coefficient(r_map, 5), c6 = coefficient(r_map, 6);
    const vector c2 = coefficient(r_map, 2);
    /* The columns of the Jacobian: a0 + zeta a1, b0 + zeta b1, c. */
    const vector a0 = combine(coefficient(r_map, 0), eta, c2), a1 = combine(c4, eta, c6);
    const vector b0 = combine(coefficient(r_map, 1), xi, c2), b1 = combine(c5, xi, c6);
    const vector c = combine(combine(coefficient(r_map, 3), xi, c4), eta, b1);
    trilinear m;
    m.row_zeta[0] = cross_product(a0, b0);
    m.row_zeta[1] = combine(cross_product(a0, b1), 1, cross_product(a1, b0));
    m.row_zeta[2] = cross_product(a1, b1);
    UNROLL for (int n = 0; n < 3; ++n) m.determinant[n] = inner_product(c, m.row_zeta[n]);
    m.row_xi[0] = cross_product(b0, c);
    m.row_xi[1] = cross_product(b1, c);
    m.row_eta[0] = cross_product(c, a0);
    m.row_eta[1] = cross_product(c, a1);
    return m;
}

INLINE real determinant_at(const trilinear *m, real zeta)
{
    return m->determinant[0] + zeta * (m->determinant[1] + zeta * m->determinant[2]);
}

INLINE vector row_xi_at(const trilinear *m, real zeta)
{
    return combine(m->row_xi[0], zeta, m->row_xi[1]);
}

INLINE vector row_eta_at(const trilinear *m, real zeta)
{
    return combine(m->row_eta[0], zeta, m->row_eta[1]);
}

INLINE vector row_zeta_at(const trilinear *m, real zeta)
{
    return combine(m->row_zeta[0], zeta, combine(m->row_zeta[1], zeta, m->row_zeta[2]));
}
