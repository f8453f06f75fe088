// The kernels of python/bestset/device on a processor: the lanes of a warp are fibers that take turns, and wait for each other where lanes
// exchange numbers. Compiled by the tests with -DSOURCE="...": exports run(name, grid, threads, arguments), as a driver launches.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <ucontext.h>
#include <utility>
#include <vector>

#define ON_CPU
#define __global__
#define __device__
#define __launch_bounds__(...)

struct Three {
    unsigned x, y, z;
};
struct uint4 {
    unsigned x, y, z, w;
};
static Three threadIdx, blockIdx, blockDim, gridDim;

template <class T> T __ldg(const T *x) { return *x; }
template <class T> T __ldcs(const T *x) { return *x; }

static const int LANES = 32, STACK = 1 << 16;
static ucontext_t turns, fibers[LANES];
static std::vector<char> stacks(LANES *STACK);
static int lane_now, ended;
static void (*body)(void *);
static void *given;

static void next_lane() { swapcontext(&fibers[lane_now], &turns); }

static void fiber() {
    body(given);
    ended++;
    next_lane();
}

static void warp() {
    ended = 0;
    for (int lane = 0; lane < LANES; lane++) {
        getcontext(&fibers[lane]);
        fibers[lane].uc_stack.ss_sp = stacks.data() + lane * STACK;
        fibers[lane].uc_stack.ss_size = STACK;
        fibers[lane].uc_link = &turns;
        makecontext(&fibers[lane], fiber, 0);
    }
    const unsigned first = threadIdx.x;
    while (ended < LANES)
        for (lane_now = 0; lane_now < LANES; lane_now++) {
            threadIdx.x = first + lane_now;
            swapcontext(&turns, &fibers[lane_now]);
        }
}

static double shown[LANES];
static double __shfl_xor_sync(unsigned, double x, int mask) {
    shown[lane_now] = x;
    next_lane();
    const double found = shown[lane_now ^ mask];
    next_lane();
    return found;
}

static unsigned rows_of[LANES][4], columns_of[LANES][2];
static void multiply(int c[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
    memcpy(rows_of[lane_now], a, sizeof a);
    memcpy(columns_of[lane_now], b, sizeof b);
    next_lane();
    const int g = lane_now >> 2, t = lane_now & 3;
    for (int r = 0; r < 2; r++)
        for (int d = 0; d < 2; d++)
            for (int k = 0; k < 32; k++) {
                const int from = (k & 15) >> 2, byte = 8 * (k & 3);
                const unsigned value = (rows_of[g * 4 + from][r + 2 * (k >> 4)] >> byte) & 255;
                const int8_t digit = (int8_t)(columns_of[(2 * t + d) * 4 + from][k >> 4] >> byte);
                // As 32 bits do it, without being undefined where it does not fit.
                c[2 * r + d] = (int)((unsigned)c[2 * r + d] + (unsigned)((int)value * digit));
            }
    next_lane();
}

#include SOURCE

template <class... A, size_t... I> static void call(void (*kernel)(A...), void **arguments, std::index_sequence<I...>) {
    kernel(*(A *)arguments[I]...);
}

template <class... A> static void launch(void (*kernel)(A...), const unsigned *grid, unsigned threads, void **arguments) {
    static void (*chosen)(A...);
    chosen = kernel;
    given = arguments;
    body = [](void *arguments) { call(chosen, (void **)arguments, std::index_sequence_for<A...>{}); };
    gridDim = {grid[0], grid[1], 1}, blockDim = {threads, 1, 1};
    for (blockIdx.y = 0; blockIdx.y < grid[1]; blockIdx.y++)
        for (blockIdx.x = 0; blockIdx.x < grid[0]; blockIdx.x++)
            for (unsigned first = 0; first < threads; first += LANES) {
                threadIdx.x = first;
                warp();
            }
}

#define KERNEL(f)                                        \
    if (!strcmp(name, #f)) {                             \
        launch(f, grid, threads, arguments);             \
        return 0;                                        \
    }

extern "C" int run(const char *name, const unsigned *grid, unsigned threads, void **arguments) {
    KERNELS
    return 1;
}
