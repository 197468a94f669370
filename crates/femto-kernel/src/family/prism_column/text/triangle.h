/* The triangle's basis at the points of its rule, at the beginning of c_tables: values [point][node], derivatives
 * [point][node][2], weights, positions [point][2]. */
#define T_INTERP(q, t) c_tables[(q) * TRIANGLE_NODES + (t)]
#define T_GRAD(q, t, r) c_tables[TRIANGLE_POINTS * TRIANGLE_NODES + ((q) * TRIANGLE_NODES + (t)) * 2 + (r)]
#define T_REST (3 * TRIANGLE_POINTS * TRIANGLE_NODES)
#define T_WEIGHT(q) c_tables[T_REST + (q)]
#define T_POSITION(q, r) c_tables[T_REST + TRIANGLE_POINTS + 2 * (q) + (r)]
#define L_TABLES (T_REST + 3 * TRIANGLE_POINTS)
