/* Where kernels find entries of the matrices of elements.
 *
 * Matrices are [group of GROUP elements][column][element of the group][row], or for a TRIANGLE [diagonal] in place of
 * [column]: diagonal d has the entries (row, (row + d) mod UNKNOWNS), and if UNKNOWNS is even only the first half of
 * the last one is stored. A line is a column, or a diagonal.
 *
 * Rows run over nodes, then over the components that are coupled. Each group of these is a right-hand side.
 */
#define STRIDE (GROUP * UNKNOWNS)
#define DIAGONALS ((UNKNOWNS + 1) / 2)
#define FIRST(element) ((size_t)((element) / GROUP) * GROUP * ENTRIES)
#define MATRIX(element) (FIRST(element) + (element) % GROUP * UNKNOWNS)
#define LAST_DIAGONAL(element)                                                                 \
    (FIRST(element) + DIAGONALS * STRIDE + (element) % GROUP * (UNKNOWNS / 2))
#define COMPONENT(side, row) ((side) * (UNKNOWNS / NODES) + (row) / NODES)
#if TRIANGLE
#define LINES (UNKNOWNS / 2 + 1)
#define LINE(row, column) (((int)(column) + UNKNOWNS - (row)) % UNKNOWNS)
#define COLUMN(row, line) (((row) + (line)) % UNKNOWNS)
#define IS_STORED(row, line) ((line) < DIAGONALS || (2 * (line) == UNKNOWNS && (row) < (line)))
#define ENTRY(element, row, line)                                                              \
    (((line) < DIAGONALS ? MATRIX(element) + (line) * STRIDE : LAST_DIAGONAL(element)) + (row))
#else
#define LINES UNKNOWNS
#define LINE(row, column) (column)
#define COLUMN(row, line) (line)
#define IS_STORED(row, line) 1
#define ENTRY(element, row, line) (MATRIX(element) + (size_t)(line) * STRIDE + (row))
#endif
