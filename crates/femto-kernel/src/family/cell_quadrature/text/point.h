/* Evaluation at a point of a cell, in private memory: the map, the form, and fluxes to be tested.
 *
 * Tables: [POINTS][NODES] values of the basis functions, [POINTS][NODES][DIM] their derivatives, [POINTS]
 * weights, [POINTS][DIM] positions; c_tables, or a copy in shared memory (TABLES_SHARED) for threads at
 * different points, or an operand (TABLES_GIVEN) if constant memory is too small. CELL_MEMORY is the
 * address space of a cell's node values.
 */
#define INTERP_TABLE 0
#define GRAD_TABLE (POINTS * NODES)
#define WEIGHT_TABLE (GRAD_TABLE * (1 + DIM))
#define POSITION_TABLE (WEIGHT_TABLE + POINTS)
#define TABLE_NUMBERS (POSITION_TABLE + POINTS * DIM)
#if TABLES_SHARED
#define TABLES_PARAMETER const SHARED real *s_tables,
#define TABLES s_tables,
#define TABLE(n) s_tables[n]
#elif TABLES_GIVEN
#define TABLES_PARAMETER const GLOBAL real *g_tables,
#define TABLES g_tables,
#define TABLE(n) g_tables[n]
#else
#define TABLES_PARAMETER
#define TABLES
#define TABLE(n) c_tables[n]
#endif
#define INTERP(q, b) TABLE(INTERP_TABLE + (q) * NODES + (b))
#define GRAD(q, b, r) TABLE(GRAD_TABLE + ((q) * NODES + (b)) * DIM + (r))
#define WEIGHT(q) TABLE(WEIGHT_TABLE + (q))
#define POSITION(q, r) TABLE(POSITION_TABLE + (q) * DIM + (r))

#define MAP_CONSTANT (!GEOMETRY_POINTS)
#define EACH(i, count) EACH_LOOP for (int i = 0; i < (count); ++i)

/* r_inverse [reference][physical] is the inverse of J [physical][reference]. */
typedef struct {
    real inverse[DIM * DIM];
    real determinant;
} map;

INLINE real invert(const real *r_m, real *r_inverse)
{
#if DIM == 2
    const real determinant = r_m[0] * r_m[3] - r_m[1] * r_m[2];
    const real factor = reciprocal(determinant);
    r_inverse[0] = factor * r_m[3];
    r_inverse[1] = -factor * r_m[1];
    r_inverse[2] = -factor * r_m[2];
    r_inverse[3] = factor * r_m[0];
#else
    /* Columns of the inverse are cross products of rows. */
    EACH(r, 3) EACH(c, 3)
    {
        const int a = 3 * ((r + 1) % 3), b = 3 * ((r + 2) % 3);
        const int i = (c + 1) % 3, j = (c + 2) % 3;
        r_inverse[3 * c + r] = r_m[a + i] * r_m[b + j] - r_m[a + j] * r_m[b + i];
    }
    const real determinant =
        r_m[0] * r_inverse[0] + r_m[1] * r_inverse[3] + r_m[2] * r_inverse[6];
    const real factor = reciprocal(determinant);
    EACH(n, 9) r_inverse[n] *= factor;
#endif
    return determinant;
}

/* J of an affine cell. */
INLINE void affine_jacobian(const real *r_numbers, real *r_jacobian)
{
#if GEOMETRY_VERTICES
    EACH(row, DIM) EACH(column, DIM)
    {
        r_jacobian[row * DIM + column] = r_numbers[(column + 1) * DIM + row] - r_numbers[row];
    }
#else
    (void)invert(r_numbers, r_jacobian);
#endif
}

INLINE void make_map(const real *r_numbers, map *m)
{
#if GEOMETRY_VERTICES
    real r_jacobian[DIM * DIM];
    affine_jacobian(r_numbers, r_jacobian);
    m->determinant = invert(r_jacobian, m->inverse);
#elif GEOMETRY_POINTS
    m->determinant = invert(r_numbers, m->inverse);
#else
    EACH(n, DIM * DIM) m->inverse[n] = r_numbers[n];
    m->determinant = r_numbers[DIM * DIM];
#endif
}

INLINE void read_map(const operands *o, uint cell, int q, real *r_numbers)
{
    EACH(n, MAP_NUMBERS) r_numbers[n] = read_map_number(o, cell, q, n);
}

#if POSITIONS
INLINE void position_at(TABLES_PARAMETER int q, const real *r_numbers, real *r_x)
{
#if GEOMETRY_POINTS
    EACH(d, DIM) r_x[d] = r_numbers[DIM * DIM + d];
#else
    real r_jacobian[DIM * DIM];
    affine_jacobian(r_numbers, r_jacobian);
    EACH(d, DIM)
    {
        r_x[d] = r_numbers[(GEOMETRY_VERTICES ? 0 : DIM * DIM + 1) + d];
        EACH(r, DIM) r_x[d] += r_jacobian[d * DIM + r] * POSITION(q, r);
    }
#endif
}
#endif

/* The gradient from derivatives along the reference axes. */
INLINE void physical_gradient(const real *r_reference, const map *m, real *r_gradient)
{
    EACH(d, DIM)
    {
        r_gradient[d] = 0;
        EACH(r, DIM) r_gradient[d] += r_reference[r] * m->inverse[r * DIM + d];
    }
}

/* Value and gradient of a function at point q from its values at the nodes. */
INLINE real value_at(TABLES_PARAMETER int q, const CELL_MEMORY real *nodal)
{
    real sum = 0;
    EACH(b, NODES) sum += INTERP(q, b) * nodal[b];
    return sum;
}

INLINE void gradient_at(
    TABLES_PARAMETER int q, const CELL_MEMORY real *nodal, const map *m, real *r_gradient)
{
    real r_reference[DIM];
#if DEGREE_ONE
    EACH(r, DIM) r_reference[r] = nodal[r + 1] - nodal[0];
#else
    EACH(r, DIM) r_reference[r] = 0;
    EACH(b, NODES)
    {
        const real value = nodal[b];
        EACH(r, DIM) r_reference[r] += GRAD(q, b, r) * value;
    }
#endif
    physical_gradient(r_reference, m, r_gradient);
}

/* What a form reads of functions at a point: of the components, then of the nodal fields. */
typedef struct {
    real values[COMPONENTS + NODAL_FIELDS];
    real gradients[(COMPONENTS + NODAL_FIELDS) * DIM];
} at_functions;

/* f0 [component] and f1 [component][reference axis], times weight and determinant. */
typedef struct {
    real f0[COMPONENTS];
    real f1[COMPONENTS * DIM];
} tested;

/* The form at point q of a cell. */
INLINE void evaluate(TABLES_PARAMETER const operands *o, uint cell, int q, const real *r_numbers,
    const map *m, const at_functions *at, tested *t)
{
    real r_u[COMPONENTS], r_grad_u[COMPONENTS * DIM], r_x[DIM];
    real r_a[SOME(FIELDS)], r_grad_a[SOME(FIELDS) * DIM], r_parameters[SOME(PARAMETERS)];
    real r_f0[COMPONENTS], r_f1[COMPONENTS * DIM];
    EACH(c, COMPONENTS)
    {
#if READS_VALUES
        r_u[c] = at->values[c];
#endif
#if READS_GRADIENTS
        EACH(d, DIM) r_grad_u[c * DIM + d] = at->gradients[c * DIM + d];
#endif
    }
    /* Zero for fields without gradients. */
    EACH(n, FIELDS * DIM) r_grad_a[n] = 0;
#if CELL_FIELDS
    EACH(n, CELL_FIELDS) r_a[CELL_FIELD(n)] = o->g_cell_fields[DATA_AT(cell, n, CELL_FIELDS)];
#endif
#if NODAL_FIELDS
    EACH(n, NODAL_FIELDS)
    {
        r_a[NODAL_FIELD(n)] = at->values[COMPONENTS + n];
#if FIELD_GRADIENTS
        EACH(d, DIM) r_grad_a[NODAL_FIELD(n) * DIM + d] = at->gradients[(COMPONENTS + n) * DIM + d];
#endif
    }
#endif
#if POINT_FIELDS
    EACH(n, POINT_FIELDS)
    {
        r_a[POINT_FIELD(n)] = o->g_point_fields[DATA_AT(cell, n * POINTS + q, POINT_NUMBERS)];
    }
#endif
#if POSITIONS
    position_at(TABLES q, r_numbers, r_x);
#endif
    EACH(n, PARAMETERS) r_parameters[n] = o->g_context[1 + n];
    point_form(
        r_u, r_grad_u, r_a, r_grad_a, r_x, r_parameters, o->g_context[0], r_f0, r_f1);
    const real scale = WEIGHT(q) * m->determinant;
    EACH(c, COMPONENTS)
    {
#if WRITES_VALUES
        t->f0[c] = scale * r_f0[c];
#endif
#if WRITES_GRADIENTS
        EACH(r, DIM)
        {
            real sum = 0;
            EACH(d, DIM) sum += m->inverse[r * DIM + d] * r_f1[c * DIM + d];
            t->f1[c * DIM + r] = scale * sum;
        }
#endif
    }
}

/* The form at point q of a cell whose unknowns are u [component][node] and whose nodal fields are
 * `fields` [field][node]. */
INLINE void at_point(TABLES_PARAMETER const operands *o, uint cell, int q, const real *r_numbers,
    const map *m, const CELL_MEMORY real *u, const CELL_MEMORY real *fields, tested *t)
{
    at_functions at;
    EACH(c, COMPONENTS)
    {
#if READS_VALUES
        at.values[c] = value_at(TABLES q, u + c * NODES);
#endif
#if READS_GRADIENTS
        gradient_at(TABLES q, u + c * NODES, m, at.gradients + c * DIM);
#endif
    }
    EACH(n, NODAL_FIELDS)
    {
        at.values[COMPONENTS + n] = value_at(TABLES q, fields + n * NODES);
#if FIELD_GRADIENTS
        gradient_at(TABLES q, fields + n * NODES, m, at.gradients + (COMPONENTS + n) * DIM);
#endif
    }
    evaluate(TABLES o, cell, q, r_numbers, m, &at, t);
}
