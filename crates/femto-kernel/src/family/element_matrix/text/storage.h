/* Where the kernels of element matrices find entries of matrices.
 *
 * Matrices are [group of GROUP elements][column][element of the group][row], or for a TRIANGLE [diagonal] in place of
 * [column]: diagonal d has the entries (row, (row + d) mod UNKNOWNS), and if UNKNOWNS is even only the first half of
 * the last one is stored.
 *
 * Unknown `row` of right-hand side `side` is a node of component `side`, or if components mix, SIDES is 1 and rows run
 * over nodes, then over components.
 */
#define STRIDE (GROUP * UNKNOWNS)
#define DIAGONALS ((UNKNOWNS + 1) / 2)
#define FIRST(element) ((size_t)((element) / GROUP) * GROUP * ENTRIES)
#define MATRIX(element) (FIRST(element) + (element) % GROUP * UNKNOWNS)
#define LAST_DIAGONAL(element)                                                                 \
    (FIRST(element) + DIAGONALS * STRIDE + (element) % GROUP * (UNKNOWNS / 2))
#define COMPONENT(side, row) ((side) + (row) / NODES)
