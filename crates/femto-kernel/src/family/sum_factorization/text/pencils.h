/* Code shared by the kernels of hexahedra and quadrilaterals: one pencil per thread.
 *
 * POINTS_1D^2 threads work on a hexahedron, POINTS_1D on a quadrilateral, which has one layer along k, k =
 * 0. In each phase a thread takes one pencil of the element along one axis, contracts it in registers and
 * puts the result back in its place, so that a phase reads and writes each value in shared memory once,
 * whatever the degree. If the points are the nodes (COLLOCATED) there is no interpolation, and without
 * GRADIENTS no derivative. A thread keeps the points of its pencil along the last axis: k for hexahedra, j
 * for quadrilaterals.
 *
 * Each input is brought to the points separately, and the numbers needed by the point step are kept:
 *
 *   number 0 of an input: value, number 1, ..., DIM: derivatives along i, j and, for hexahedra, k
 *
 * POINTS_IN_REGISTERS: derivatives along i and, for hexahedra, j in shared memory, where their pencils are
 *   contracted, the others in registers of the thread with the pencil along the last axis; all loops
 *   unrolled.
 * POINTS_IN_SHARED: everything in shared memory.
 * POINTS_PRIVATE: everything in private memory of the thread with the pencil along the last axis, which is
 *   in caches if there are too few registers; only one cube of shared memory is needed.
 *
 * Cubes are [k][j][i] of POINTS_1D along each axis, with strides LAYER and ROW padded against conflicts of
 * shared memory. In registers the first one is SCRATCH_CUBE, for data in transit; a single input can do
 * without it, with an extra barrier. With it values may be reloaded after differentiation (RELOAD_VALUES),
 * and the point step need not be unrolled (POINT_UNROLL > 0; derivatives along the last axis are then put
 * there): both save registers at high degree.
 *
 * A block has ELEMENTS_PER_BLOCK elements, each with a slot of SLOT numbers in shared memory. With
 * WARP_ELEMENTS that many belong to each warp and none is split, so that only warp barriers are needed;
 * idle lanes have a slot of their own and do the same work.
 *
 * The point step is in factors.h or form.h.
 */
#if DIM == 3
#define PENCILS (POINTS_1D * POINTS_1D)
#define CUBE (LAYER * POINTS_1D)
#define LAST_STRIDE LAYER
#define LAST_NODE(t, n) (n), (t)->slow, (t)->fast
#else
#define PENCILS POINTS_1D
#define CUBE LAYER
#define LAST_STRIDE ROW
#define LAST_NODE(t, n) 0, (n), (t)->fast
#endif
#if WARP_ELEMENTS
#define ELEMENT_BARRIER() WARP_BARRIER()
#define SLOTS (WARP_ELEMENTS + (32 % PENCILS ? 1 : 0))
#else
#define ELEMENT_BARRIER() BARRIER()
#define SLOTS ELEMENTS_PER_BLOCK
#endif
#if POINTS_IN_REGISTERS
#define EACH(n, count) UNROLL for (int n = 0; n < (count); ++n)
#else
#define EACH(n, count) UNROLL_BY(1) for (int n = 0; n < (count); ++n)
#endif
#define ALL(n, count) UNROLL for (int n = 0; n < (count); ++n)
#if POINTS_IN_REGISTERS && POINT_UNROLL
#define EACH_POINT(k) UNROLL_BY(POINT_UNROLL) for (int k = 0; k < POINTS_1D; ++k)
#else
#define EACH_POINT(k) EACH(k, POINTS_1D)
#endif

#if !COLLOCATED
CONTRACTION(interp, POINTS_1D, NODES_1D, 1)
#endif
#if GRADIENTS
CONTRACTION(grad, POINTS_1D, POINTS_1D, -1)
#endif

#define GEOMETRY_AT(place) (place)->element

/* The position of a thread. */
typedef struct {
    SHARED real *s_slot;
    uint element;
    bool writes;
    int slot;
    /* The pencil along the last axis, and the starts of the pencils. */
    int slow, fast, along_i, along_j, along_last;
    /* The pencil of nodes along j. */
    int node_slow, node_fast;
} place;

/* Threads past the last element repeat it and write nothing. */
INLINE place place_of(SHARED real *s_memory, uint elements)
{
    place t;
#if WARP_ELEMENTS
    const int lane = THREAD_X % 32, warp = THREAD_X / 32, of_warp = lane / PENCILS;
    const int pencil = lane % PENCILS, slot = warp * SLOTS + of_warp;
    const uint asked = BLOCK * ELEMENTS_PER_BLOCK + warp * WARP_ELEMENTS + of_warp;
    t.writes = asked < elements && of_warp < WARP_ELEMENTS;
#else
    const int slot = THREAD_X / PENCILS, pencil = THREAD_X % PENCILS;
    const uint asked = BLOCK * ELEMENTS_PER_BLOCK + slot;
    t.writes = asked < elements;
#endif
    t.element = asked < elements ? asked : elements - 1;
    t.slot = slot;
    t.s_slot = s_memory + slot * SLOT;
    t.fast = pencil % POINTS_1D;
    t.slow = pencil / POINTS_1D;
    t.along_i = t.slow * LAYER + t.fast * ROW;
    t.along_j = t.slow * LAYER + t.fast;
    t.along_last = t.slow * ROW + t.fast;
    t.node_fast = pencil % NODES_1D;
    t.node_slow = pencil / NODES_1D;
    return t;
}

/* The numbers kept of all inputs. */
#if POINTS_IN_REGISTERS

typedef struct {
    real value[INPUTS][POINTS_1D], along_last[INPUTS][POINTS_1D];
} point_data;
#define SCRATCH(n) 0
#if SCRATCH_CUBE
#define CUBE_OF(n, q) ((DIM - 1) * (n) + (q))
#else
/* The derivative along j takes the place of the values. */
#define CUBE_OF(n, q) (DIM - 1 - (q))
#endif

#elif POINTS_IN_SHARED

typedef struct {
    int nothing;
} point_data;
/* If values are not needed at the points, derivatives along the last axis take their place. */
#define COMPONENT_CUBES (GRADIENTS ? DIM + VALUES : 1)
#define FIELD_CUBES (NODAL_GRADIENTS ? DIM + 1 : 1)
#define CUBE_OF(n, q)                                                                          \
    ((n) < COUPLED ? (n) * COMPONENT_CUBES + (VALUES ? (q) : (q) % DIM)                       \
                      : COUPLED * COMPONENT_CUBES + ((n) - COUPLED) * FIELD_CUBES + (q))
#define SCRATCH(n) CUBE_OF(n, 0)

#else /* POINTS_PRIVATE */

typedef struct {
    real numbers[INPUTS][DIM + 1][POINTS_1D];
} point_data;
#define SCRATCH(n) 0

#endif

INLINE SHARED real *cube(const place *t, int number)
{
    return t->s_slot + number * CUBE;
}

/* The cube that has number q of input n along the last axis. */
#if POINTS_IN_REGISTERS
#define PENCIL_CUBE(n, q) ((q) == DIM ? SCRATCH(n) : CUBE_OF(n, q))
#else
#define PENCIL_CUBE(n, q) CUBE_OF(n, q)
#endif

/* Number q of input n at point k of the thread's pencil. */
INLINE real get(const place *t, const point_data *d, int n, int q, int k)
{
#if POINTS_IN_REGISTERS
    if (q == 0)
        return d->value[n][k];
    if (q == DIM)
        return POINT_UNROLL ? cube(t, SCRATCH(n))[t->along_last + k * LAST_STRIDE] : d->along_last[n][k];
#elif POINTS_PRIVATE
    return d->numbers[n][q][k];
#endif
#if !POINTS_PRIVATE
    return cube(t, CUBE_OF(n, q))[t->along_last + k * LAST_STRIDE];
#endif
}

INLINE void put(const place *t, point_data *d, int n, int q, int k, real number)
{
#if POINTS_PRIVATE
    d->numbers[n][q][k] = number;
#else
#if POINTS_IN_REGISTERS
    if (q == 0)
        d->value[n][k] = number;
    else if (q == DIM)
#if POINT_UNROLL
        cube(t, SCRATCH(n))[t->along_last + k * LAST_STRIDE] = number;
#else
        d->along_last[n][k] = number;
#endif
    else
#endif
        cube(t, CUBE_OF(n, q))[t->along_last + k * LAST_STRIDE] = number;
#endif
}

/* Number q of input n at all points of the thread's pencil. As loops over get and put it makes the compilers spill. */
INLINE void get_pencil(const place *t, const point_data *d, int n, int q, real *r_pencil)
{
#if POINTS_PRIVATE
    ALL(k, POINTS_1D) r_pencil[k] = d->numbers[n][q][k];
#else
#if POINTS_IN_REGISTERS
    if (q == 0) {
        ALL(k, POINTS_1D) r_pencil[k] = d->value[n][k];
        return;
    }
#if !POINT_UNROLL
    if (q == DIM) {
        ALL(k, POINTS_1D) r_pencil[k] = d->along_last[n][k];
        return;
    }
#endif
#endif
    load(r_pencil, cube(t, PENCIL_CUBE(n, q)) + t->along_last, LAST_STRIDE, POINTS_1D);
#endif
}

INLINE void put_pencil(const place *t, point_data *d, int n, int q, const real *r_pencil)
{
#if POINTS_PRIVATE
    ALL(k, POINTS_1D) d->numbers[n][q][k] = r_pencil[k];
#else
#if POINTS_IN_REGISTERS
    if (q == 0) {
        ALL(k, POINTS_1D) d->value[n][k] = r_pencil[k];
        return;
    }
#if !POINT_UNROLL
    if (q == DIM) {
        ALL(k, POINTS_1D) d->along_last[n][k] = r_pencil[k];
        return;
    }
#endif
#endif
    store(cube(t, PENCIL_CUBE(n, q)) + t->along_last, LAST_STRIDE, POINTS_1D, r_pencil);
#endif
}

/* Values at the points of the pencil along the last axis, through the cube s_a. */
INLINE void interpolate(const place *t, const source *from, SHARED real *s_a, real *r_u)
{
#if COLLOCATED
    ALL(k, NODES_1D) r_u[k] = read_source(from, LAST_NODE(t, k));
#else
    const int node_fast = t->node_fast, node_slow = t->node_slow;
    real r_nodes[NODES_1D];
    if (node_slow < NODES_K) {
        real r_points[POINTS_1D];
        ALL(j, NODES_1D) r_nodes[j] = read_source(from, node_slow, j, node_fast);
        interp(r_nodes, r_points);
        store(s_a + node_slow * LAYER + node_fast, ROW, POINTS_1D, r_points);
    }
    ELEMENT_BARRIER();
    if (t->slow < NODES_K)
        CONTRACT(interp, s_a + t->along_i, s_a + t->along_i, 1, POINTS_1D, NODES_1D);
    ELEMENT_BARRIER();
#if DIM == 3
    load(r_nodes, s_a + t->along_last, LAYER, NODES_1D);
    interp(r_nodes, r_u);
#else
    load(r_u, s_a + t->along_last, ROW, POINTS_1D);
#endif
#endif
}

#if GRADIENTS && POINTS_PRIVATE

/* Derivatives in one direction, through the only cube; pencils start at `pencil`. */
INLINE void differentiate_along(const place *t, int pencil, int stride, const real *r_u,
                                real *r_derivative)
{
    SHARED real *s_a = cube(t, 0);
    real r_from[POINTS_1D], r_to[POINTS_1D];
    store(s_a + t->along_last, LAST_STRIDE, POINTS_1D, r_u);
    ELEMENT_BARRIER();
    load(r_from, s_a + pencil, stride, POINTS_1D);
    grad(r_from, r_to);
    store(s_a + pencil, stride, POINTS_1D, r_to);
    ELEMENT_BARRIER();
    load(r_derivative, s_a + t->along_last, LAST_STRIDE, POINTS_1D);
}

#endif

/* Brings input n to the points: keeps its value and, if it has a gradient, its derivatives. */
INLINE void bring(const place *t, const source *from, int n, point_data *d)
{
    SHARED real *s_a = cube(t, SCRATCH(n));
    real r_u[POINTS_1D];
    interpolate(t, from, s_a, r_u);
#if GRADIENTS
    real r_t[POINTS_1D];
    if (HAS_GRADIENT(n)) {
#if !SCRATCH_CUBE
        grad(r_u, r_t);
#endif
#if POINTS_PRIVATE
        differentiate_along(t, t->along_i, 1, r_u, d->numbers[n][1]);
#if DIM == 3
        differentiate_along(t, t->along_j, ROW, r_u, d->numbers[n][2]);
#endif
#else
        store(s_a + t->along_last, LAST_STRIDE, POINTS_1D, r_u);
        ELEMENT_BARRIER();
        CONTRACT(grad, cube(t, CUBE_OF(n, 1)) + t->along_i, s_a + t->along_i, 1, POINTS_1D,
                 POINTS_1D);
#if DIM == 3
#if POINTS_IN_REGISTERS && !SCRATCH_CUBE
        ELEMENT_BARRIER();
#endif
        CONTRACT(grad, cube(t, CUBE_OF(n, 2)) + t->along_j, s_a + t->along_j, ROW, POINTS_1D,
                 POINTS_1D);
#endif
#endif
    }
#endif
#if STAGED
    ASYNC_COPIES_DONE();
#endif
#if GRADIENTS || INPUTS > 1 || STAGED
    ELEMENT_BARRIER();
#endif
#if GRADIENTS
    if (HAS_GRADIENT(n)) {
#if RELOAD_VALUES
        load(r_u, s_a + t->along_last, LAST_STRIDE, POINTS_1D);
#endif
#if SCRATCH_CUBE
        grad(r_u, r_t);
#endif
        put_pencil(t, d, n, DIM, r_t);
    }
#endif
    if (VALUES || n >= COUPLED)
        put_pencil(t, d, n, 0, r_u);
}
