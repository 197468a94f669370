/* A block's sixteen cells, which are the rows of all products of matrix units.
 *
 * Quad lane / 4 of a warp has cells lane / 4 and lane / 4 + 8, thread lane % 4 of it numbers 2 (lane % 4) and
 * 2 (lane % 4) + 1 of each tile of eight columns. As both numbers of a thread may be multiplied in any order, sums of
 * matrix units are left factors as they are. Cells past the end repeat the last one and are not written.
 */
#define CELLS 16
#define FUNCTIONS (COMPONENTS + NODAL_FIELDS)
/* Number i of a thread. */
#define CELL_OF(i) (lane / 4 + (i) % 2 * 8)
#define OF_TILE(tile, i) ((tile) * 8 + lane % 4 * 2 + (i) / 2)
#define OWN(cell) (first + (cell) < elements ? first + (cell) : elements - 1)
#define S_MAP(number, cell) s_maps[(number) * CELLS + (cell)]
/* Whether functions have values or derivatives at the points, components or fields. */
#define HAS_VALUES(f) ((f) < COMPONENTS ? READS_VALUES : 1)
#define HAS_SLOPES(f) ((f) < COMPONENTS ? READS_GRADIENTS : FIELD_GRADIENTS)
#define ANY_VALUES (READS_VALUES || NODAL_FIELDS)
#define ANY_SLOPES (READS_GRADIENTS || (NODAL_FIELDS && FIELD_GRADIENTS))

/* The map of a cell, or at one of its points, by the axes along which tables have derivatives. */
INLINE void read_own_map(const operands *o, uint cell, int q, real *r_numbers, map *m)
{
    read_map(o, cell, q, r_numbers);
    make_map(r_numbers, m);
#if CLASSES == 4
    /* Row a along an axis is a row of J⁻¹ and a multiple of another. */
    const int rows[DIM] = AXIS_ROWS, others[DIM] = AXIS_OTHERS;
    const real factors[DIM] = AXIS_FACTORS;
    real r_inverse[DIM * DIM];
    EACH(n, DIM * DIM) r_inverse[n] = m->inverse[n];
    EACH(a, DIM) EACH(d, DIM)
    {
        m->inverse[a * DIM + d] = r_inverse[rows[a] * DIM + d] + factors[a] * r_inverse[others[a] * DIM + d];
    }
#endif
}

/* Constant maps of a block's cells, [number][cell] in shared memory. */
INLINE void share_maps(const operands *o, SHARED real *s_maps, uint first, uint elements)
{
#if MAP_CONSTANT
    for (int cell = THREAD_Y * 32 + THREAD_X; cell < CELLS; cell += 32 * WARPS)
    {
        real r_numbers[MAP_NUMBERS];
        map m;
        read_own_map(o, OWN(cell), 0, r_numbers, &m);
        EACH(n, DIM * DIM) S_MAP(n, cell) = m.inverse[n];
        S_MAP(DIM * DIM, cell) = m.determinant;
#if POSITIONS
        EACH(n, MAP_NUMBERS) S_MAP(DIM * DIM + 1 + n, cell) = r_numbers[n];
#endif
    }
#endif
}

/* What multiplies test functions at point q of one of the block's cells, in place of values [function][0] and derivatives
 * [function][1 + axis] of the components and fields. */
INLINE void evaluate_own(TABLES_PARAMETER const operands *o, const SHARED real *s_maps, int own, uint cell, int q,
    real r_at[FUNCTIONS][1 + DIM])
{
    at_functions at;
    tested t;
    map m;
    real r_numbers[MAP_NUMBERS];
#if MAP_CONSTANT
    EACH(n, DIM * DIM) m.inverse[n] = S_MAP(n, own);
    m.determinant = S_MAP(DIM * DIM, own);
#if POSITIONS
    EACH(n, MAP_NUMBERS) r_numbers[n] = S_MAP(DIM * DIM + 1 + n, own);
#endif
#else
    read_own_map(o, cell, q, r_numbers, &m);
#endif
    EACH(f, FUNCTIONS)
    {
        at.values[f] = r_at[f][0];
        physical_gradient(&r_at[f][1], &m, at.gradients + f * DIM);
    }
    evaluate(TABLES o, cell, q, r_numbers, &m, &at, &t);
    EACH(c, COMPONENTS)
    {
#if WRITES_VALUES
        r_at[c][0] = t.f0[c];
#endif
#if WRITES_GRADIENTS
        EACH(r, DIM) r_at[c][1 + r] = t.f1[c * DIM + r];
#endif
    }
}
