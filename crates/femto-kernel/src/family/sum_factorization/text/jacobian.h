/* The geometry of a hexahedron at the points of a pencil along k, for any form; see plane.h for
 * quadrilaterals.
 *
 * map_along prepares the pencil at (j, i); at its point k, jacobian_at gives the rows of the adjugate of J
 * and the determinant, position_at the position.
 *
 * GEOMETRY_AFFINE: per element the coefficients of the map, of xi, eta, zeta and, if POSITION, of 1.
 * GEOMETRY_MULTILINEAR: of xi, eta, xi eta, zeta, xi zeta, eta zeta, xi eta zeta and, if POSITION, of 1.
 * GEOMETRY_JACOBIANS: at the points [element][k][number][j][i] the columns a, b, c and, if POSITION, x.
 *
 * Per-element constants are read in pairs, see map.h.
 */
/* The physical gradient from the reference derivatives. */
INLINE void gradient_of(const jacobian *J, real inverse, const real *r_derivatives, real *r_gradient)
{
    const real r = r_derivatives[0] * inverse, s = r_derivatives[1] * inverse;
    const real t = r_derivatives[2] * inverse;
    r_gradient[0] = J->x.x * r + J->y.x * s + J->z.x * t;
    r_gradient[1] = J->x.y * r + J->y.y * s + J->z.y * t;
    r_gradient[2] = J->x.z * r + J->y.z * s + J->z.z * t;
}

/* The coefficients of the test function's derivatives from those of its gradient. */
INLINE void flux_of(const jacobian *J, real weight, const real *r_f1, real *r_flux)
{
    const vector flux = {weight * r_f1[0], weight * r_f1[1], weight * r_f1[2]};
    r_flux[0] = inner_product(J->x, flux);
    r_flux[1] = inner_product(J->y, flux);
    r_flux[2] = inner_product(J->z, flux);
}

INLINE void write_vector(vector v, real *r_numbers)
{
    r_numbers[0] = v.x;
    r_numbers[1] = v.y;
    r_numbers[2] = v.z;
}

#if GEOMETRY_JACOBIANS

#define MAP_NUMBERS (9 + 3 * POSITION)

typedef struct {
    const GLOBAL real *g_points;
} map;

INLINE map map_along(const GLOBAL real *g_geometry, const GLOBAL real *g_rule, uint element, int j,
                     int i)
{
    const int layer = MAP_NUMBERS * POINTS_1D * POINTS_1D;
    const map m = {g_geometry + (size_t)element * (layer * POINTS_1D) + j * POINTS_1D + i};
    return m;
}

INLINE vector vector_at(const map *m, int k, int first)
{
    const int layer = POINTS_1D * POINTS_1D;
    const GLOBAL real *g_numbers = m->g_points + (k * MAP_NUMBERS + first) * layer;
    const vector v = {stream_load(g_numbers), stream_load(g_numbers + layer),
                      stream_load(g_numbers + 2 * layer)};
    return v;
}

INLINE jacobian jacobian_at(const map *m, int k)
{
    return jacobian_of(vector_at(m, k, 0), vector_at(m, k, 3), vector_at(m, k, 6));
}

INLINE vector position_at(const map *m, int k)
{
    return vector_at(m, k, 9);
}

#elif GEOMETRY_AFFINE

#define MAP_NUMBERS (9 + 3 * POSITION)

typedef struct {
    jacobian everywhere;
    vector origin, along;
} map;

INLINE map map_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule, uint element,
                     int j, int i)
{
    real r_map[EVEN(MAP_NUMBERS)];
    read_pairs(geometry + (size_t)element * EVEN(MAP_NUMBERS), MAP_NUMBERS, r_map);
    const vector a = coefficient(r_map, 0), b = coefficient(r_map, 1), c = coefficient(r_map, 2);
    map m;
    m.everywhere = jacobian_of(a, b, c);
    m.along = c;
#if POSITION
    m.origin = combine(combine(coefficient(r_map, 3), rule_at(g_rule, i).x, a), rule_at(g_rule, j).x, b);
#else
    m.origin = a;
#endif
    return m;
}

INLINE jacobian jacobian_at(const map *m, int k)
{
    return m->everywhere;
}

INLINE vector position_at(const map *m, int k)
{
    return combine(m->origin, c_points[k], m->along);
}

#else /* GEOMETRY_MULTILINEAR */

#define MAP_NUMBERS (21 + 3 * POSITION)

typedef struct {
    trilinear along_zeta;
    vector origin, along;
} map;

INLINE map map_along(const GEOMETRY_MEMORY real *geometry, const GLOBAL real *g_rule, uint element,
                     int j, int i)
{
    real r_map[EVEN(MAP_NUMBERS)];
    read_pairs(geometry + (size_t)element * EVEN(MAP_NUMBERS), MAP_NUMBERS, r_map);
    const real xi = rule_at(g_rule, i).x, eta = rule_at(g_rule, j).x;
    map m;
    m.along_zeta = trilinear_along(r_map, xi, eta);
    m.origin = m.along = coefficient(r_map, 0);
#if POSITION
    /* At zeta = 0, and the part proportional to zeta. */
    const vector b = combine(coefficient(r_map, 1), xi, coefficient(r_map, 2));
    const vector c = combine(coefficient(r_map, 5), xi, coefficient(r_map, 6));
    m.origin = combine(combine(coefficient(r_map, 7), xi, coefficient(r_map, 0)), eta, b);
    m.along = combine(combine(coefficient(r_map, 3), xi, coefficient(r_map, 4)), eta, c);
#endif
    return m;
}

INLINE jacobian jacobian_at(const map *m, int k)
{
    return trilinear_at(&m->along_zeta, c_points[k]);
}

INLINE vector position_at(const map *m, int k)
{
    return combine(m->origin, c_points[k], m->along);
}

#endif
