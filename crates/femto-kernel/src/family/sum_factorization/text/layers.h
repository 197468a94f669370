/* Code of the kernel of hexahedra with a layer of nodes per thread, see layers.c.
 *
 * POINTS_1D threads work on an element. Thread k < NODES_1D has the nodes of layer k, and thread i < POINTS_1D all
 * points with this i, a pencil along k at a time. They exchange rows of points through shared memory, SLOT numbers an
 * element, [input][number][k of NODES_1D][j][i] with stride LAYER of k:
 *
 *   number 0: the value; 1, 2: the derivatives along xi and eta; fields have these only if
 *   the gradient of any is read
 *
 * No element is split between warps, which have WARP_ELEMENTS each, so that only warp barriers are needed.
 */
#define PENCILS (POINTS_1D * POINTS_1D)
#define FIELD_NUMBERS (NODAL_GRADIENTS ? 3 : 1)
#define NUMBERS_BEFORE(n)                                                                      \
    ((n) < COUPLED ? 3 * (n) : 3 * COUPLED + FIELD_NUMBERS * ((n) - COUPLED))
#define ALL(n, count) UNROLL for (int n = 0; n < (count); ++n)

CONTRACTION(interp, POINTS_1D, NODES_1D, 1)
CONTRACTION(interp_transposed, NODES_1D, POINTS_1D, 1)
CONTRACTION(grad, POINTS_1D, NODES_1D, -1)
CONTRACTION(grad_transposed, NODES_1D, POINTS_1D, -1)

/* The position of a thread. */
typedef struct {
    SHARED real *s_slot;
    uint element;
    /* Whether the thread has a part of an element, and whether that is one of the mesh. */
    bool works, writes;
    /* The layer of nodes, if less than NODES_1D, and the pencil along k at (slow, fast). */
    int layer, slow, fast;
} place;

/* The inputs on a pencil of points: values and reference derivatives. */
typedef struct {
    real value[INPUTS][POINTS_1D], derivative[3][INPUTS][POINTS_1D];
} point_data;

/* Number q of input n at point k: its value or a derivative. */
INLINE real get(const place *t, const point_data *d, int n, int q, int k)
{
    return q == 0 ? d->value[n][k] : d->derivative[q - 1][n][k];
}

#define GEOMETRY_AT(place) (place)->element

/* Threads past the last element repeat it and write nothing. */
INLINE place place_of(SHARED real *s_memory, uint elements)
{
    place t;
    const int warp = THREAD_X / 32, lane = THREAD_X % 32;
    const int slot = warp * WARP_ELEMENTS + lane / POINTS_1D;
    const uint asked = BLOCK * ELEMENTS_PER_BLOCK + slot;
    t.works = lane < WARP_ELEMENTS * POINTS_1D;
    t.writes = t.works && asked < elements;
    t.element = asked < elements ? asked : elements - 1;
    t.s_slot = s_memory + slot * SLOT;
    t.layer = t.fast = lane % POINTS_1D;
    t.slow = 0;
    return t;
}

/* Number q of input n on all layers. */
INLINE SHARED real *layers(const place *t, int n, int q)
{
    return t->s_slot + (NUMBERS_BEFORE(n) + q) * (NODES_1D * LAYER);
}

/* The same on row j of the thread's layer. */
INLINE SHARED real *row(const place *t, int n, int q, int j)
{
    return layers(t, n, q) + t->layer * LAYER + j * POINTS_1D;
}
