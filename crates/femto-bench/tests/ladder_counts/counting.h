/* The words of kernel texts in C++, with numbers that count where they are read and written. Threads run one after the
 * other, so that results mean nothing, but every access that a text states is made. */
#undef real
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <list>
#include <numeric>
#include <vector>

/* A number's accesses are counted, volatile or not. */
#define volatile

typedef unsigned int uint;
typedef unsigned short ushort;

/* An array in global or shared memory, and what has been done to it; times are counts of the first thread's events. */
struct Counted {
    const char *name;
    const char *begin, *end;
    long reads = 0, writes = 0;
    long first_thread_reads = 0, first_time = 0, last_time = 0;
    long indices[2] = {0, 0};
};

static std::list<Counted> arrays;
static uint thread_index[3];
static long barriers = 0, time_now = 0;

static bool is_first_thread()
{
    return thread_index[0] + thread_index[1] + thread_index[2] == 0;
}

static bool count_array(const char *name, const void *begin, size_t bytes)
{
    const char *first = static_cast<const char *>(begin);
    arrays.push_back(Counted{name, first, first + bytes});
    return true;
}

/* Numbers that belong to no counted array are in registers. */
static Counted *array_of(const void *address)
{
    const char *at = static_cast<const char *>(address);
    for (Counted &array : arrays) {
        if (at >= array.begin && at < array.end) return &array;
    }
    return nullptr;
}

struct Number {
    double value;
    Number() {}
    Number(double start) : value(start) {}
    Number(const Number &other) : value(other.read()) {}
    Number &operator=(const Number &other)
    {
        value = other.read();
        wrote();
        return *this;
    }
    Number &operator+=(const Number &other) { return *this = *this + other; }
    Number &operator-=(const Number &other) { return *this = *this - other; }
    Number &operator*=(const Number &other) { return *this = *this * other; }
    friend Number operator+(const Number &a, const Number &b) { return a.read() + b.read(); }
    friend Number operator-(const Number &a, const Number &b) { return a.read() - b.read(); }
    friend Number operator*(const Number &a, const Number &b) { return a.read() * b.read(); }
    friend Number operator-(const Number &a) { return -a.read(); }

    double read() const
    {
        if (Counted *array = array_of(this)) {
            array->reads += 1;
            if (is_first_thread()) {
                time_now += 1;
                if (array->first_thread_reads == 0) array->first_time = time_now;
                if (array->first_thread_reads < 2) {
                    array->indices[array->first_thread_reads] = this - reinterpret_cast<const Number *>(array->begin);
                }
                array->last_time = time_now;
                array->first_thread_reads += 1;
            }
        }
        return value;
    }
    void wrote()
    {
        if (Counted *array = array_of(this)) array->writes += 1;
    }
};
typedef Number real;

/* Enough of every array for a few elements. */
template <typename Of> static Of *array_named(const char *name)
{
    static std::list<std::vector<Of>> all;
    all.emplace_back(1 << 16);
    Of *first = all.back().data();
    count_array(name, first, sizeof(Of) << 16);
    return first;
}

/* Lists of elements and nodes name each its own. */
template <> uint *array_named<uint>(const char *)
{
    static std::list<std::vector<uint>> all;
    all.emplace_back(1 << 16);
    std::iota(all.back().begin(), all.back().end(), 0u);
    return all.back().data();
}

static void print_counts()
{
    std::printf("barriers %ld\n", barriers);
    for (const Counted &it : arrays) {
        std::printf("%s %ld %ld %ld %ld %ld %ld\n", it.name, it.reads, it.writes, it.first_thread_reads, it.first_time,
                    it.last_time, it.indices[1] - it.indices[0]);
    }
}

#define GLOBAL
#define SHARED
#define CONSTANT static const
#define RESTRICT
#define INLINE static inline
#define UNROLL
#define UNROLL_BY(count)
#define KERNEL(name) static void name
#define FORGET(g_pointer)
#define THREAD_X ((int)thread_index[0])
#define THREAD_Y ((int)thread_index[1])
#define THREAD_Z ((int)thread_index[2])
#define BLOCK 0u
#define BLOCKS 1u
#define BARRIER() (barriers += is_first_thread())
#define WARP_BARRIER() BARRIER()
#define SHARED_MEMORY(name)                                                                    \
    static real name[SHARED_REALS];                                                            \
    static const bool name##_counted = count_array(#name, name, sizeof name);                  \
    (void)name##_counted
#define PREFETCH_L2(g_source)
