/* Rows of numbers of neighbouring cells, between global memory and shared memory.
 *
 * All threads of a block move the rows of ROWS cells together, with neighbouring threads reading
 * neighbouring numbers. With PADDED, rows in shared memory have odd length, so that threads which read the
 * same number of neighbouring cells use different banks.
 */
#define ROW(numbers) (PADDED ? (numbers) | 1 : (numbers))
#define ROW_AT(n, numbers) ((n) / (numbers) * ROW(numbers) + (n) % (numbers))
/* Numbers that a thread moves. */
#define MOVES(numbers) ((ROWS * (numbers) + BLOCK_X - 1) / BLOCK_X)
#define EACH_MOVE(k, n, numbers)                                                               \
    UNROLL for (int k = 0, n = THREAD_X; k < MOVES(numbers); ++k, n += BLOCK_X)

/* Copies a thread's numbers of some rows to their places in shared memory. */
INLINE void put_rows(const real *r_held, int numbers, SHARED real *s_rows)
{
    EACH_MOVE(k, n, numbers) if (n < ROWS * numbers) s_rows[ROW_AT(n, numbers)] = r_held[k];
}

/* A thread's numbers of the rows of the cells from `first` on, read by READ(operands, cell, number). */
#define HOLD_ROWS(READ, o, first, cells, numbers, r_held)                                      \
    EACH_MOVE(k, n, numbers)                                                                   \
    {                                                                                          \
        const uint cell = (first) + n / (numbers);                                             \
        r_held[k] = n < ROWS * (numbers) && cell < (cells) ? READ(o, cell, n % (numbers)) : 0; \
    }
#define READ_MAP_NUMBER(o, cell, n) read_map_number(o, cell, 0, n)
