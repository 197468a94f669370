/* Counts the wavefronts of a kernel whose assembly calls `note_access` and `note_copy` before its accesses to memory, see
 * counting.rs. A wavefront is what a unit's L1 data path serves in one clock, at most 128 bytes of one access of a warp.
 * Lanes are served in groups: all with words of 4 bytes, halves with 8, quarters with 16. A group takes
 *
 *   c              of shared memory, if at most c different words of it share a bank
 *   c + (l - c)/3  of global memory that it reads or writes in l lines, an address's place in its line being the bank
 *   c + 2(l - c)/3 of reductions, or c if that is more
 *
 * where lanes of copies and of reductions count as different even with the same word, as was seen with Nsight Compute on an
 * H200: c in loops over chosen addresses, the thirds also in this library's kernels, where lines arrive at different times and
 * some of a group's are waited for.
 */

/* Wavefronts of shared memory, of global memory and of reductions, in thirds. */
static __device__ ulong counts[3];
enum { IN_SHARED, IN_GLOBAL, REDUCED };

/* Known outside by their addresses, the functions keep their names and arguments, and are declared before the kernels. */
extern "C" __device__ void note_access(ulong address, int bytes, int site, int reduces);
extern "C" __device__ void note_copy(ulong target, ulong source, int bytes, int site);
__device__ void (*kept_access)(ulong, int, int, int) = note_access;
__device__ void (*kept_copy)(ulong, ulong, int, int) = note_copy;

INLINE uint own_lane()
{
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/* Thirds of wavefronts of the active lanes' accesses to words of `bytes` at `place`: lanes with the same word are served
 * together if they `share` it, and a line beyond the conflicts takes `thirds`. */
static __device__ __noinline__ uint wavefronts(uint active, ulong place, uint bytes, bool share, uint thirds)
{
    const uint lane = own_lane(), width = bytes < 4 ? 4 : bytes, group = 128 / width;
    const ulong word = place / width;
    bool is_first = true, is_first_of_line = true;
    for (uint other = 0; other < 32; ++other) {
        if (!(active >> other & 1)) continue;
        const ulong found = __shfl_sync(active, word, other);
        if (other >= lane || other / group != lane / group) continue;
        if (share && found == word) is_first = false;
        if (found / group == word / group) is_first_of_line = false;
    }
    const uint firsts = __ballot_sync(active, is_first), lines = __ballot_sync(active, is_first_of_line);
    uint in_bank = 0, total = 0;
    for (uint other = 0; other < 32; ++other) {
        if (!(active >> other & 1)) continue;
        const ulong found = __shfl_sync(active, word, other);
        in_bank += (firsts >> other & 1) && other / group == lane / group && found % group == word % group;
    }
    for (uint first = 0; first < 32; first += group) {
        uint conflicts = 0, own_lines = 0;
        for (uint other = first; other < first + group; ++other) {
            if (!(active >> other & 1)) continue;
            conflicts = max(conflicts, __shfl_sync(active, in_bank, other));
            own_lines += lines >> other & 1;
        }
        total += max(3 * conflicts, (3 - thirds) * conflicts + thirds * own_lines);
    }
    return total;
}

/* Adds the lanes' common number to a count. */
INLINE void add_count(int kind, uint active, uint found)
{
    if ((active & ((1u << own_lane()) - 1)) == 0) atomicAdd(&counts[kind], (ulong)found);
}

/* Of the lanes that are here together, those that execute the same instruction, named by its site, are one access. All go on
 * together, as they would without being counted. */
#define ACCESS(site)                                                                           \
    const uint here = __activemask();                                                          \
    const uint active = __match_any_sync(here, site);
#define GO_ON() __syncwarp(here)

extern "C" __device__ __noinline__ void note_access(ulong address, int bytes, int site, int reduces)
{
    ACCESS(site)
    const void *pointer = (const void *)address;
    /* The stack of a thread is laid out so that lanes are neighbours. */
    if (__isLocal(pointer))
        add_count(IN_GLOBAL, active, 3 * ((bytes + 3) / 4));
    else {
        const bool in_shared = __isShared(pointer);
        const uint thirds = in_shared ? 0 : reduces ? 2 : 1;
        const uint found = wavefronts(active, address, bytes, !reduces, thirds);
        add_count(in_shared ? IN_SHARED : reduces ? REDUCED : IN_GLOBAL, active, found);
    }
    GO_ON();
}

/* A copy passes both memories at the same time. */
extern "C" __device__ __noinline__ void note_copy(ulong target, ulong source, int bytes, int site)
{
    ACCESS(site)
    const uint written = wavefronts(active, target, bytes, false, 0);
    add_count(IN_SHARED, active, max(written, wavefronts(active, source, bytes, false, 1)));
    GO_ON();
}

/* Moves the counts to g_counts [3], in wavefronts. */
extern "C" __global__ void take_counts(double *g_counts)
{
    g_counts[threadIdx.x] = counts[threadIdx.x] / 3;
    counts[threadIdx.x] = 0;
}
