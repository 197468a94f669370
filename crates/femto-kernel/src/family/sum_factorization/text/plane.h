/* The geometry of a quadrilateral at the points of a pencil along j, for any form; see jacobian.h for
 * hexahedra.
 *
 * map_along prepares the pencil at i; at its point k, jacobian_at gives the rows of the adjugate of J =
 * dx/dxi = [a b], which are (b_y, -b_x) and (-a_y, a_x), and the determinant; position_at gives the
 * position.
 *
 * GEOMETRY_AFFINE: per element the coefficients of the map, of xi, eta and, if POSITION, of 1.
 * GEOMETRY_MULTILINEAR: of xi, eta, xi eta and, if POSITION, of 1.
 * GEOMETRY_JACOBIANS: at the points [element][j][number][i] the columns a, b and, if POSITION, x.
 */
typedef struct {
    real x, y;
} vector;

/* a + s b */
INLINE vector combine(vector a, real s, vector b)
{
    const vector c = {a.x + s * b.x, a.y + s * b.y};
    return c;
}

INLINE void write_vector(vector v, real *r_numbers)
{
    r_numbers[0] = v.x;
    r_numbers[1] = v.y;
}

typedef struct {
    vector x, y;
    real determinant;
} jacobian;

/* From the columns of J. */
INLINE jacobian jacobian_of(vector a, vector b)
{
    const jacobian J = {{b.y, -b.x}, {-a.y, a.x}, a.x * b.y - a.y * b.x};
    return J;
}

/* The physical gradient from the reference derivatives. */
INLINE void gradient_of(const jacobian *J, real inverse, const real *r_derivatives, real *r_gradient)
{
    const real r = r_derivatives[0] * inverse, s = r_derivatives[1] * inverse;
    r_gradient[0] = J->x.x * r + J->y.x * s;
    r_gradient[1] = J->x.y * r + J->y.y * s;
}

/* The coefficients of the test function's derivatives from those of its gradient. */
INLINE void flux_of(const jacobian *J, real weight, const real *r_f1, real *r_flux)
{
    const vector flux = {weight * r_f1[0], weight * r_f1[1]};
    r_flux[0] = J->x.x * flux.x + J->x.y * flux.y;
    r_flux[1] = J->y.x * flux.x + J->y.y * flux.y;
}

#if GEOMETRY_JACOBIANS

#define MAP_NUMBERS (4 + 2 * POSITION)

typedef struct {
    const GLOBAL real *g_points;
} map;

INLINE map map_along(const GLOBAL real *g_geometry, const GLOBAL real *g_rule, uint element, int j,
                     int i)
{
    const map m = {g_geometry + (size_t)element * (MAP_NUMBERS * POINTS_1D * POINTS_1D) + i};
    return m;
}

INLINE vector vector_at(const map *m, int k, int first)
{
    const GLOBAL real *g_numbers = m->g_points + (k * MAP_NUMBERS + first) * POINTS_1D;
    const vector v = {stream_load(g_numbers), stream_load(g_numbers + POINTS_1D)};
    return v;
}

INLINE jacobian jacobian_at(const map *m, int k)
{
    return jacobian_of(vector_at(m, k, 0), vector_at(m, k, 2));
}

INLINE vector position_at(const map *m, int k)
{
    return vector_at(m, k, 4);
}

#else

#define MAP_NUMBERS (4 + 2 * GEOMETRY_MULTILINEAR + 2 * POSITION)

/* a = along_xi + eta twist, b = along_eta, x = origin + eta along_eta. */
typedef struct {
    vector along_xi, along_eta, twist, origin;
} map;

INLINE vector coefficient(const real *r_map, int m)
{
    const vector c = {r_map[2 * m], r_map[2 * m + 1]};
    return c;
}

INLINE map map_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule, uint element,
                     int j, int i)
{
    real r_map[MAP_NUMBERS];
    read_pairs(geometry + (size_t)element * MAP_NUMBERS, MAP_NUMBERS, r_map);
    const real xi = rule_at(g_rule, i).x;
    map m;
    m.along_xi = m.origin = m.twist = coefficient(r_map, 0);
    m.along_eta = coefficient(r_map, 1);
#if GEOMETRY_MULTILINEAR
    m.twist = coefficient(r_map, 2);
    m.along_eta = combine(m.along_eta, xi, m.twist);
#endif
#if POSITION
    m.origin = combine(coefficient(r_map, MAP_NUMBERS / 2 - 1), xi, m.along_xi);
#endif
    return m;
}

INLINE jacobian jacobian_at(const map *m, int k)
{
#if GEOMETRY_MULTILINEAR
    return jacobian_of(combine(m->along_xi, c_points[k], m->twist), m->along_eta);
#else
    return jacobian_of(m->along_xi, m->along_eta);
#endif
}

INLINE vector position_at(const map *m, int k)
{
    return combine(m->origin, c_points[k], m->along_eta);
}

#endif
