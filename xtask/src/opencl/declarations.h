/* The functions of OpenCL C that femto's texts call, in place of a compiler's own declarations, which include
 * vectors of every type and length and take PoCL more time to read than most texts. */
#define OVERLOADED __attribute__((overloadable))
#define PURE OVERLOADED __attribute__((const))

size_t PURE get_global_id(uint);
size_t PURE get_local_id(uint);
size_t PURE get_group_id(uint);
size_t PURE get_num_groups(uint);
void OVERLOADED __attribute__((convergent)) barrier(cl_mem_fence_flags);

uint OVERLOADED atomic_cmpxchg(volatile __global uint *, uint, uint);
ulong OVERLOADED atom_cmpxchg(volatile __global ulong *, ulong, ulong);
void OVERLOADED prefetch(const __global ushort *, size_t);
void OVERLOADED prefetch(const __global uint *, size_t);
void OVERLOADED prefetch(const __global float *, size_t);
void OVERLOADED prefetch(const __global double *, size_t);

#define as_uint(x) __builtin_astype((x), uint)
#define as_ulong(x) __builtin_astype((x), ulong)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)

#define OF_ONE(name)                                                                           \
    float PURE name(float);                                                                    \
    double PURE name(double)
#define OF_TWO(name)                                                                           \
    float PURE name(float, float);                                                             \
    double PURE name(double, double)

OF_ONE(fabs);
OF_ONE(sqrt);
OF_ONE(exp);
OF_ONE(log);
OF_ONE(sin);
OF_ONE(cos);
OF_ONE(tan);
OF_ONE(sinh);
OF_ONE(cosh);
OF_ONE(tanh);
OF_TWO(pow);
OF_TWO(fmin);
OF_TWO(fmax);
float PURE fma(float, float, float);
double PURE fma(double, double, double);
