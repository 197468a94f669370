/* Code shared by texts that read the geometry of hexahedra: vectors, Jacobians, and trilinear maps along zeta, by the
 * columns of J if MAP_COLUMNS, by polynomials otherwise. */

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

/* The rows of the adjugate of the Jacobian J = dx/dxi = [a b c], which are b x c, c x a and a x b, and its
 * determinant. */
typedef struct {
    vector x, y, z;
    real determinant;
} jacobian;

INLINE jacobian jacobian_of(vector a, vector b, vector c)
{
    jacobian J;
    J.x = cross_product(b, c);
    J.y = cross_product(c, a);
    J.z = cross_product(a, b);
    J.determinant = inner_product(a, J.x);
    return J;
}

/* A trilinear map along zeta: the columns a = a[0] + zeta a[1] and b = b[0] + zeta b[1] of J, and c. */
typedef struct {
    vector a[2], b[2], c;
} columns;

/* r_map: coefficients of xi, eta, xi eta, zeta, xi zeta, eta zeta, xi eta zeta, [7][3]. */
INLINE columns columns_along(const real *r_map, real xi, real eta)
{
    const vector c2 = coefficient(r_map, 2), c4 = coefficient(r_map, 4), c6 = coefficient(r_map, 6);
    columns m;
    m.a[0] = combine(coefficient(r_map, 0), eta, c2);
    m.a[1] = combine(c4, eta, c6);
    m.b[0] = combine(coefficient(r_map, 1), xi, c2);
    m.b[1] = combine(coefficient(r_map, 5), xi, c6);
    m.c = combine(combine(coefficient(r_map, 3), xi, c4), eta, m.b[1]);
    return m;
}

#if MAP_COLUMNS

#define trilinear columns
#define trilinear_along columns_along

INLINE jacobian trilinear_at(const trilinear *m, real zeta)
{
    return jacobian_of(combine(m->a[0], zeta, m->a[1]), combine(m->b[0], zeta, m->b[1]), m->c);
}

#else

/* Polynomials in zeta: two rows of the adjugate are linear, the third and the determinant quadratic. They take more to
 * prepare, and less at a point. */
typedef struct {
    vector row_xi[2], row_eta[2], row_zeta[3];
    real determinant[3];
} trilinear;

INLINE trilinear trilinear_along(const real *r_map, real xi, real eta)
{
    const columns from = columns_along(r_map, xi, eta);
    const vector *a = from.a, *b = from.b, c = from.c;
    trilinear m;
    m.row_zeta[0] = cross_product(a[0], b[0]);
    m.row_zeta[1] = combine(cross_product(a[0], b[1]), 1, cross_product(a[1], b[0]));
    m.row_zeta[2] = cross_product(a[1], b[1]);
    UNROLL for (int n = 0; n < 3; ++n) m.determinant[n] = inner_product(c, m.row_zeta[n]);
    UNROLL for (int n = 0; n < 2; ++n)
    {
        m.row_xi[n] = cross_product(b[n], c);
        m.row_eta[n] = cross_product(c, a[n]);
    }
    return m;
}

INLINE jacobian trilinear_at(const trilinear *m, real zeta)
{
    const real *r_determinant = m->determinant;
    jacobian J;
    J.x = combine(m->row_xi[0], zeta, m->row_xi[1]);
    J.y = combine(m->row_eta[0], zeta, m->row_eta[1]);
    J.z = combine(m->row_zeta[0], zeta, combine(m->row_zeta[1], zeta, m->row_zeta[2]));
    J.determinant = r_determinant[0] + zeta * (r_determinant[1] + zeta * r_determinant[2]);
    return J;
}

#endif
