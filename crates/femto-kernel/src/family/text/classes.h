/* Σ_g χ_c(g) x_g for each class c of a tetrahedron, in place: sums over an orbit of four from values, and four times the
 * values from sums. */
INLINE void sums_of_four(real x[4])
{
    const real plus = x[0] + x[1], minus = x[0] - x[1], other_plus = x[2] + x[3], other_minus = x[2] - x[3];
    x[0] = plus + other_plus;
    x[1] = minus + other_minus;
    x[2] = plus - other_plus;
    x[3] = minus - other_minus;
}

/* Tiles of sums: the first class may have more than the others. */
#define SUM_TILES(c) ((c) == 0 ? SUM_TILES_FIRST : SUM_TILES_OTHERS)
#define FIRST_TILE(c) ((c) == 0 ? 0 : SUM_TILES_FIRST + ((c) - 1) * SUM_TILES_OTHERS)
#define ALL_TILES FIRST_TILE(CLASSES)
