/* Loops over vectors and sums over them.
 *
 * Entries are of type `number`; scalars and sums are `real`, which is double for both precisions. A thread
 * takes every (BLOCKS * BLOCK_X)th pack of PACK neighbours, 16 bytes. Sums are taken per thread, then per
 * block, then over the blocks by `finish`, which stores them in a slot: slot s is g_sums[2 s], and g_sums[2
 * s + 1] is its previous value.
 */
typedef struct __attribute__((aligned(16)))
{
    number v[PACK];
} pack;

#define EACH_LANE(l) UNROLL for (int l = 0; l < PACK; ++l)

/* For every pack i of the thread; the last one may extend beyond the end. */
#define EACH_PACK(i) for (uint i = BLOCK * BLOCK_X + THREAD_X; i < PACKS; i += BLOCKS * BLOCK_X)
#define PACKS (len / PACK + (len % PACK != 0))

/* A factor that is the ratio of two sums; zero unless both are positive. */
INLINE real ratio(const GLOBAL real *g_sums, int above, int below)
{
    return g_sums[above] > 0 && g_sums[below] > 0 ? g_sums[above] / g_sums[below] : 0;
}

/* Pack i, with zeros beyond the end. */
INLINE pack load(const GLOBAL number *g_x, uint i, uint len)
{
    if (len - i * PACK >= PACK)
        return ((const GLOBAL pack *)g_x)[i];
    pack r_x;
    EACH_LANE(l) r_x.v[l] = i * PACK + l < len ? g_x[i * PACK + l] : 0;
    return r_x;
}

/* Writes pack i up to the end. */
INLINE void store(GLOBAL number *g_y, uint i, uint len, pack r_y)
{
    if (len - i * PACK >= PACK)
        ((GLOBAL pack *)g_y)[i] = r_y;
    else
        EACH_LANE(l) if (i * PACK + l < len) g_y[i * PACK + l] = r_y.v[l];
}

/* Adds the sums of the block's threads, those farthest apart first; thread 0 gets the result. All threads
 * must call this. */
INLINE real block_sum(SHARED real *s_sums, real r_sum)
{
    BARRIER();
    s_sums[THREAD_X] = r_sum;
    for (int width = BLOCK_X / 2; width > 0; width /= 2) {
        BARRIER();
        if (THREAD_X < width)
            s_sums[THREAD_X] += s_sums[THREAD_X + width];
    }
    return THREAD_X == 0 ? s_sums[0] : 0;
}

/* Stores the block's part of sum `which` for `finish`. */
INLINE void leave(int which, SHARED real *s_sums, real r_sum, GLOBAL real *g_partial)
{
    r_sum = block_sum(s_sums, r_sum);
    if (THREAD_X == 0)
        g_partial[which * MOST_BLOCKS + BLOCK] = r_sum;
}

/* y = a */
KERNEL(fill)(uint len, real value, GLOBAL number *RESTRICT g_y)
{
    pack r_y;
    EACH_LANE(l) r_y.v[l] = (number)value;
    EACH_PACK(i) store(g_y, i, len, r_y);
}

/* y = P y at the nodes of a list, with a projector P for each, [node][component][component]. The components
 * of a node are adjacent, 2 or 3. */
KERNEL(project)
(uint len, uint components, const GLOBAL uint *RESTRICT g_nodes, const GLOBAL number *RESTRICT g_projectors,
 GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X) {
        GLOBAL number *g_own = g_y + g_nodes[i] * components;
        const GLOBAL number *g_row = g_projectors + i * components * components;
        number r_y[3];
        for (uint c = 0; c < 3; ++c)
            r_y[c] = c < components ? g_own[c] : 0;
        for (uint c = 0; c < components; ++c, g_row += components) {
            number r_sum = g_row[0] * r_y[0] + g_row[1] * r_y[1];
            if (components > 2)
                r_sum += g_row[2] * r_y[2];
            g_own[c] = r_sum;
        }
    }
}

/* y = a at the entries of a list */
KERNEL(set_entries)
(uint len, real value, const GLOBAL uint *RESTRICT g_entries, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[g_entries[i]] = (number)value;
}

/* y = the entries of a list of x */
KERNEL(gather)
(uint len, const GLOBAL number *RESTRICT g_x, const GLOBAL uint *RESTRICT g_entries,
    GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[i] = g_x[g_entries[i]];
}

/* Adds x to y at the entries of a list, each of which occurs once. */
KERNEL(add_to_entries)
(uint len, const GLOBAL number *RESTRICT g_x, const GLOBAL uint *RESTRICT g_entries,
    GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[g_entries[i]] += g_x[i];
}

/* y = y + a x */
KERNEL(axpy)(uint len, real value, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    const number a = (number)value;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        pack r_y = load(g_y, i, len);
        EACH_LANE(l) r_y.v[l] += a * r_x.v[l];
        store(g_y, i, len, r_y);
    }
}

/* y = x + b y */
KERNEL(xpby)(uint len, const GLOBAL number *RESTRICT g_x, real value, GLOBAL number *RESTRICT g_y)
{
    const number b = (number)value;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        pack r_y = load(g_y, i, len);
        EACH_LANE(l) r_y.v[l] = r_x.v[l] + b * r_y.v[l];
        store(g_y, i, len, r_y);
    }
}

/* y = x y */
KERNEL(multiply)(uint len, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        pack r_y = load(g_y, i, len);
        EACH_LANE(l) r_y.v[l] *= r_x.v[l];
        store(g_y, i, len, r_y);
    }
}

/* y = x, rounded */
KERNEL(convert)(uint len, const GLOBAL real *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[i] = (number)g_x[i];
}

/* The same from single precision. */
KERNEL(convert_single)
(uint len, const GLOBAL float *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < len; i += BLOCKS * BLOCK_X)
        g_y[i] = (number)g_x[i];
}

/* y = A x, or y = y + A x if `add`, with the rows of A in slices of SLICE: entry k of lane i is
 * g_offsets[slice] + k SLICE + i % SLICE in slice i / SLICE, and its row is g_order[i], or i if `in_order`. */
KERNEL(multiply_sparse)
(uint rows, int add, int has_values, int in_order, const GLOBAL uint *RESTRICT g_order,
 const GLOBAL uint *RESTRICT g_offsets, const GLOBAL uint *RESTRICT g_columns,
 const GLOBAL number *RESTRICT g_values, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < rows; i += BLOCKS * BLOCK_X) {
        const uint slice = i / SLICE, end = g_offsets[slice + 1], row = in_order ? i : g_order[i];
        number r_sum = 0;
        uint k = g_offsets[slice] + i % SLICE;
        if (has_values) {
            for (; k < end; k += SLICE)
                r_sum += g_values[k] * g_x[g_columns[k]];
        } else {
            for (; k < end; k += SLICE)
                r_sum += g_columns[k] != NO_COLUMN ? g_x[g_columns[k]] : 0;
        }
        g_y[row] = add ? g_y[row] + r_sum : r_sum;
    }
}

/* The product with the blocks `block`, `block` + SLICE, … of `width` columns. */
INLINE number block_product(uint width, uint block, uint end, const GLOBAL uint *RESTRICT g_columns,
                            const GLOBAL number *RESTRICT g_values, const GLOBAL number *RESTRICT g_x)
{
    const uint lane = block % SLICE;
    number r_sum = 0;
    UNROLL_BY(4) for (; block < end; block += SLICE)
    {
        const GLOBAL number *g_block = g_values + ((size_t)(block - lane) * width + lane);
        const GLOBAL number *g_first = g_x + g_columns[block];
        UNROLL for (uint c = 0; c < width; ++c) r_sum += g_block[c * SLICE] * g_first[c];
    }
    return r_sum;
}

/* As multiply_sparse, with `width` columns together, 2, 3 or 6: a block k begins in column g_columns[k], and its entry c is
 * g_values[(k - lane) width + c SLICE + lane] with lane = i % SLICE. */
KERNEL(multiply_sparse_blocks)
(uint rows, int add, uint width, int in_order, const GLOBAL uint *RESTRICT g_order,
 const GLOBAL uint *RESTRICT g_offsets, const GLOBAL uint *RESTRICT g_columns,
 const GLOBAL number *RESTRICT g_values, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < rows; i += BLOCKS * BLOCK_X) {
        const uint slice = i / SLICE, end = g_offsets[slice + 1], row = in_order ? i : g_order[i];
        const uint block = g_offsets[slice] + i % SLICE;
        number r_sum;
        if (width == 2)
            r_sum = block_product(2, block, end, g_columns, g_values, g_x);
        else if (width == 3)
            r_sum = block_product(3, block, end, g_columns, g_values, g_x);
        else
            r_sum = block_product(6, block, end, g_columns, g_values, g_x);
        g_y[row] = add ? g_y[row] + r_sum : r_sum;
    }
}

/* The product with single entries for vectors of up to MOST_COMPONENTS components. */
KERNEL(multiply_sparse_components)
(uint rows, int add, uint components, uint node_stride, uint component_stride, int in_order,
 const GLOBAL uint *RESTRICT g_order, const GLOBAL uint *RESTRICT g_offsets,
 const GLOBAL uint *RESTRICT g_columns, const GLOBAL number *RESTRICT g_values,
 const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    for (uint i = BLOCK * BLOCK_X + THREAD_X; i < rows; i += BLOCKS * BLOCK_X) {
        const uint slice = i / SLICE, end = g_offsets[slice + 1], row = in_order ? i : g_order[i];
        number r_sums[MOST_COMPONENTS];
        UNROLL for (uint c = 0; c < MOST_COMPONENTS; ++c) r_sums[c] = 0;
        for (uint k = g_offsets[slice] + i % SLICE; k < end; k += SLICE) {
            const number value = g_values[k];
            const uint first = g_columns[k] * node_stride;
            UNROLL for (uint c = 0; c < MOST_COMPONENTS; ++c)
                if (c < components) r_sums[c] += value * g_x[first + c * component_stride];
        }
        UNROLL for (uint c = 0; c < MOST_COMPONENTS; ++c) {
            const uint entry = row * node_stride + c * component_stride;
            if (c < components) g_y[entry] = add ? g_y[entry] + r_sums[c] : r_sums[c];
        }
    }
}

/* A step of the Chebyshev iteration with the inverse diagonal c. The first one, if `first`:
 * r = b - q, d = gain c r, x = x + weight d, or if not `has_product` r = b, x = weight d.
 * The others: r = r - q, d = momentum d + gain c r, x = x + weight d; b is not read. */
KERNEL(chebyshev_step)
(uint len, int first, int has_product, real momentum, real gain, real weight,
 const GLOBAL number *RESTRICT g_c, const GLOBAL number *g_b, const GLOBAL number *g_q,
 GLOBAL number *RESTRICT g_r, GLOBAL number *RESTRICT g_d, GLOBAL number *RESTRICT g_x)
{
    const number a = (number)momentum, g = (number)gain, w = (number)weight;
    EACH_PACK(i) {
        const pack r_c = load(g_c, i, len);
        pack r_r = first ? load(g_b, i, len) : load(g_r, i, len), r_d, r_x;
        if (has_product) {
            const pack r_q = load(g_q, i, len);
            EACH_LANE(l) r_r.v[l] -= r_q.v[l];
        }
        EACH_LANE(l) r_d.v[l] = g * (r_c.v[l] * r_r.v[l]);
        if (!first) {
            const pack r_old = load(g_d, i, len);
            EACH_LANE(l) r_d.v[l] += a * r_old.v[l];
        }
        EACH_LANE(l) r_x.v[l] = w * r_d.v[l];
        if (has_product) {
            const pack r_old = load(g_x, i, len);
            EACH_LANE(l) r_x.v[l] += r_old.v[l];
        }
        store(g_r, i, len, r_r);
        store(g_d, i, len, r_d);
        store(g_x, i, len, r_x);
    }
}

/* Whether x is above zero and finite. */
#define POSITIVE(x) ((x) > 0 && (x) - (x) == 0)

/* y = 1 / y, and the number of y that are not positive and finite, or whose inverse is not */
KERNEL(invert)(uint len, GLOBAL number *RESTRICT g_y, GLOBAL real *RESTRICT g_partial)
{
    SHARED_MEMORY(s_sums);
    real r_sum = 0;
    EACH_PACK(i) {
        pack r_y = load(g_y, i, len);
        EACH_LANE(l) {
            const number y = r_y.v[l];
            r_y.v[l] = 1 / y;
            r_sum += i * PACK + l < len && !(POSITIVE(y) && POSITIVE(r_y.v[l]));
        }
        store(g_y, i, len, r_y);
    }
    leave(0, s_sums, r_sum, g_partial);
}

/* sum x y */
KERNEL(dot_product)
(uint len, const GLOBAL number *g_x, const GLOBAL number *g_y, GLOBAL real *RESTRICT g_partial)
{
    SHARED_MEMORY(s_sums);
    real r_sum = 0;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len), r_y = load(g_y, i, len);
        EACH_LANE(l) r_sum += (real)r_x.v[l] * (real)r_y.v[l];
    }
    leave(0, s_sums, r_sum, g_partial);
}

/* sum x x */
KERNEL(square)(uint len, const GLOBAL number *RESTRICT g_x, GLOBAL real *RESTRICT g_partial)
{
    SHARED_MEMORY(s_sums);
    real r_sum = 0;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        EACH_LANE(l) r_sum += (real)r_x.v[l] * (real)r_x.v[l];
    }
    leave(0, s_sums, r_sum, g_partial);
}

/* x = x + a p, then p = z + b p; or p = d z + b p if `scaled`. If a is zero, x is unchanged; if b is zero,
 * p is not read. */
KERNEL(update_direction)
(uint len, const GLOBAL real *RESTRICT g_sums, int a_above, int a_below, int b_above, int b_below,
 int scaled, const GLOBAL number *RESTRICT g_d, const GLOBAL number *RESTRICT g_z,
 GLOBAL number *RESTRICT g_p, GLOBAL number *RESTRICT g_x)
{
    const number a = (number)ratio(g_sums, a_above, a_below);
    const number b = (number)ratio(g_sums, b_above, b_below);
    EACH_PACK(i) {
        pack r_z = load(g_z, i, len), r_p = load(g_p, i, len);
        if (scaled) {
            const pack r_d = load(g_d, i, len);
            EACH_LANE(l) r_z.v[l] *= r_d.v[l];
        }
        if (a != 0) {
            pack r_x = load(g_x, i, len);
            EACH_LANE(l) r_x.v[l] += a * r_p.v[l];
            store(g_x, i, len, r_x);
        }
        EACH_LANE(l) r_p.v[l] = b != 0 ? r_z.v[l] + b * r_p.v[l] : r_z.v[l];
        store(g_p, i, len, r_p);
    }
}

/* r = r - a ap, sum r r, and sum r (d r) if `scaled`. If a is zero, r is unchanged. */
KERNEL(update_residual)
(uint len, const GLOBAL real *RESTRICT g_sums, int above, int below, int scaled,
 const GLOBAL number *g_d, const GLOBAL number *g_ap, GLOBAL number *RESTRICT g_r,
 GLOBAL real *RESTRICT g_partial)
{
    SHARED_MEMORY(s_sums);
    const number a = (number)ratio(g_sums, above, below);
    real r_square = 0, r_product = 0;
    EACH_PACK(i) {
        const pack r_ap = load(g_ap, i, len);
        pack r_r = load(g_r, i, len);
        if (a != 0) {
            EACH_LANE(l) r_r.v[l] -= a * r_ap.v[l];
            store(g_r, i, len, r_r);
        }
        EACH_LANE(l) r_square += (real)r_r.v[l] * (real)r_r.v[l];
        if (scaled) {
            const pack r_d = load(g_d, i, len);
            EACH_LANE(l)
            r_product += (real)r_r.v[l] * (real)(number)(r_d.v[l] * r_r.v[l]);
        }
    }
    leave(0, s_sums, r_square, g_partial);
    leave(1, s_sums, r_product, g_partial);
}

/* z = d r, sum r z */
KERNEL(precondition_dot)
(uint len, const GLOBAL number *RESTRICT g_d, const GLOBAL number *RESTRICT g_r,
 GLOBAL number *RESTRICT g_z, GLOBAL real *RESTRICT g_partial)
{
    SHARED_MEMORY(s_sums);
    real r_sum = 0;
    EACH_PACK(i) {
        const pack r_d = load(g_d, i, len), r_r = load(g_r, i, len);
        pack r_z;
        EACH_LANE(l)
        {
            r_z.v[l] = r_d.v[l] * r_r.v[l];
            r_sum += (real)r_r.v[l] * (real)r_z.v[l];
        }
        store(g_z, i, len, r_z);
    }
    leave(0, s_sums, r_sum, g_partial);
}

/* Adds the sums left by the blocks of another kernel: block 0 the first sum, block 1 the second. */
KERNEL(finish)
(uint blocks, const GLOBAL real *RESTRICT g_partial, int first, int second,
 GLOBAL real *RESTRICT g_sums)
{
    SHARED_MEMORY(s_sums);
    const int slot = BLOCK == 0 ? first : second;
    real r_sum = 0;
    for (uint i = THREAD_X; i < blocks; i += BLOCK_X)
        r_sum += g_partial[BLOCK * MOST_BLOCKS + i];
    r_sum = block_sum(s_sums, r_sum);
    if (THREAD_X == 0) {
        g_sums[2 * slot + 1] = g_sums[2 * slot];
        g_sums[2 * slot] = r_sum;
    }
}
