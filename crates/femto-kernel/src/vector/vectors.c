/* Loops over vectors and sums over them.
 *
 * Entries are of type `number`; scalars and sums are `real`, which is double for both precisions.
 * A thread takes every (BLOCKS * BLOCK_X)th pack of PACK neighbours, 16 bytes. Sums are taken per
 * thread, then per block, then over the blocks by `finish`, which puts them in a slot: slot s is
 * g_sums[2 s], and g_sums[2 s + 1] is what was there before.
 *
 * A factor is a number, or the ratio of two sums: `value` where `numerator` is negative, else
 * g_sums[numerator] / g_sums[denominator], which counts as zero unless both are positive.
 */
typedef struct __attribute__((aligned(16)))
{
    number v[PACK];
} pack;

#define FACTOR real value, const GLOBAL real *g_sums, int numerator, int denominator

#define EACH_LANE(l) UNROLL for (int l = 0; l < PACK; ++l)

/* Calls for pack i of the thread; the last may reach beyond the end. */
#define EACH_PACK(i) for (uint i = BLOCK * BLOCK_X + THREAD_X; i < PACKS; i += BLOCKS * BLOCK_X)
#define PACKS (len / PACK + (len % PACK != 0))

INLINE real factor(FACTOR)
{
    if (numerator < 0)
        return value;
    const real above = g_sums[numerator], below = g_sums[denominator];
    return above > 0 && below > 0 ? above / below : 0;
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

/* Adds the sums of the block's threads, neighbours at the largest distance first; the result is
 * thread 0's. Every thread gets here. */
INLINE real block_sum(SHARED real *s_sums, real r_sum)
{
    s_sums[THREAD_X] = r_sum;
    for (int width = BLOCK_X / 2; width > 0; width /= 2) {
        BARRIER();
        if (THREAD_X < width)
            s_sums[THREAD_X] += s_sums[THREAD_X + width];
    }
    return s_sums[0];
}

#define PARTIAL(r_sum)                                                                         \
    SHARED_MEMORY(s_sums);                                                                     \
    const real r_total = block_sum(s_sums, r_sum);                                             \
    if (THREAD_X == 0)                                                                         \
        g_partial[BLOCK] = r_total;

/* y = a */
KERNEL(fill)(uint len, real value, GLOBAL number *RESTRICT g_y)
{
    pack r_y;
    EACH_LANE(l) r_y.v[l] = (number)value;
    EACH_PACK(i) store(g_y, i, len, r_y);
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

/* y = x + b y; where b is zero, y is not read. */
KERNEL(xpby)(uint len, FACTOR, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    const number b = (number)factor(value, g_sums, numerator, denominator);
    if (b != 0) {
        EACH_PACK(i) {
            const pack r_x = load(g_x, i, len);
            pack r_y = load(g_y, i, len);
            EACH_LANE(l) r_y.v[l] = r_x.v[l] + b * r_y.v[l];
            store(g_y, i, len, r_y);
        }
    } else {
        EACH_PACK(i) store(g_y, i, len, load(g_x, i, len));
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

/* y = y / x */
KERNEL(divide)(uint len, const GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_y)
{
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        pack r_y = load(g_y, i, len);
        EACH_LANE(l) r_y.v[l] /= r_x.v[l];
        store(g_y, i, len, r_y);
    }
}

/* sum x y */
KERNEL(dot_product)
(uint len, const GLOBAL number *g_x, const GLOBAL number *g_y, GLOBAL real *RESTRICT g_partial)
{
    real r_sum = 0;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len), r_y = load(g_y, i, len);
        EACH_LANE(l) r_sum += (real)r_x.v[l] * (real)r_y.v[l];
    }
    PARTIAL(r_sum)
}

/* sum x x */
KERNEL(square)(uint len, const GLOBAL number *RESTRICT g_x, GLOBAL real *RESTRICT g_partial)
{
    real r_sum = 0;
    EACH_PACK(i) {
        const pack r_x = load(g_x, i, len);
        EACH_LANE(l) r_sum += (real)r_x.v[l] * (real)r_x.v[l];
    }
    PARTIAL(r_sum)
}

/* x = x + a p, r = r - a ap, sum r r; where a is zero, p and ap are not read. */
KERNEL(update)
(uint len, FACTOR, const GLOBAL number *RESTRICT g_p, const GLOBAL number *RESTRICT g_ap,
 GLOBAL number *RESTRICT g_x, GLOBAL number *RESTRICT g_r, GLOBAL real *RESTRICT g_partial)
{
    const number a = (number)factor(value, g_sums, numerator, denominator);
    real r_sum = 0;
    if (a != 0) {
        EACH_PACK(i) {
            const pack r_p = load(g_p, i, len), r_ap = load(g_ap, i, len);
            pack r_x = load(g_x, i, len), r_r = load(g_r, i, len);
            EACH_LANE(l)
            {
                r_x.v[l] += a * r_p.v[l];
                r_r.v[l] -= a * r_ap.v[l];
                r_sum += (real)r_r.v[l] * (real)r_r.v[l];
            }
            store(g_x, i, len, r_x);
            store(g_r, i, len, r_r);
        }
    } else {
        EACH_PACK(i) {
            const pack r_r = load(g_r, i, len);
            EACH_LANE(l) r_sum += (real)r_r.v[l] * (real)r_r.v[l];
        }
    }
    PARTIAL(r_sum)
}

/* z = d r, sum r z */
KERNEL(precondition_dot)
(uint len, const GLOBAL number *RESTRICT g_d, const GLOBAL number *RESTRICT g_r,
 GLOBAL number *RESTRICT g_z, GLOBAL real *RESTRICT g_partial)
{
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
    PARTIAL(r_sum)
}

/* Adds what the blocks of another kernel left. Of one block. */
KERNEL(finish)
(uint blocks, const GLOBAL real *RESTRICT g_partial, int slot, GLOBAL real *RESTRICT g_sums)
{
    SHARED_MEMORY(s_sums);
    real r_sum = 0;
    for (uint i = THREAD_X; i < blocks; i += BLOCK_X)
        r_sum += g_partial[i];
    r_sum = block_sum(s_sums, r_sum);
    if (THREAD_X == 0) {
        g_sums[2 * slot + 1] = g_sums[2 * slot];
        g_sums[2 * slot] = r_sum;
    }
}
