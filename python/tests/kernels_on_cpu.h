// The kernels of python/bestset/device on a processor: the lanes of a warp are fibers that take turns, and wait for each other where lanes
// exchange numbers. Compiled by the tests with -DSOURCE="...": exports run(name, grid, threads, arguments), as a driver launches.

#include <cmath>
#include <csetjmp>
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
static ucontext_t begun, fibers[LANES];
static jmp_buf turns, places[LANES];
static std::vector<char> stacks(LANES *STACK);
static int lane_now, ended;
static void (*body)(void *);
static void *given;

// A fiber begins by its context, and goes on by a jump: every change of context asks the system for the signals that are blocked, twice.
static void next_lane() {
    if (!_setjmp(places[lane_now])) _longjmp(turns, 1);
}

static void fiber() {
    body(given);
    ended++;
    _longjmp(turns, 1);
}

static void turn(bool begins) {
    if (_setjmp(turns)) return;
    if (begins) swapcontext(&begun, &fibers[lane_now]);
    _longjmp(places[lane_now], 1);
}

static void warp() {
    ended = 0;
    for (int lane = 0; lane < LANES; lane++) {
        getcontext(&fibers[lane]);
        fibers[lane].uc_stack.ss_sp = stacks.data() + lane * STACK;
        fibers[lane].uc_stack.ss_size = STACK;
        fibers[lane].uc_link = nullptr;
        makecontext(&fibers[lane], fiber, 0);
    }
    const unsigned first = threadIdx.x;
    for (bool begins = true; ended < LANES; begins = false)
        for (lane_now = 0; lane_now < LANES; lane_now++) {
            threadIdx.x = first + lane_now;
            turn(begins);
        }
}

// Lanes that exchange numbers write, wait for all others and read. The next exchange has another place, so that none waits a second time
// until the others have read.
static bool other[LANES];
static int exchange() { return other[lane_now] = !other[lane_now]; }

static double shown[2][LANES];
static double __shfl_xor_sync(unsigned, double x, int mask) {
    const int at = exchange();
    shown[at][lane_now] = x;
    next_lane();
    return shown[at][lane_now ^ mask];
}

// The four lanes of a row, or of a column, have sixteen bytes of each half beside each other.
static unsigned rows_of[2][4][LANES], columns_of[2][2][LANES];
static void multiply(int c[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1) {
    const unsigned a[4] = {a0, a1, a2, a3}, b[2] = {b0, b1};
    const int at = exchange();
    for (int i = 0; i < 4; i++) rows_of[at][i][lane_now] = a[i];
    for (int i = 0; i < 2; i++) columns_of[at][i][lane_now] = b[i];
    next_lane();
    const int g = lane_now >> 2, t = lane_now & 3;
    for (int r = 0; r < 2; r++)
        for (int d = 0; d < 2; d++)
            for (int half = 0; half < 2; half++) {
                const auto *values = (const uint8_t *)&rows_of[at][r + 2 * half][g * 4];
                const auto *digits = (const int8_t *)&columns_of[at][half][(2 * t + d) * 4];
                int sum = 0;
                for (int k = 0; k < 16; k++) sum += values[k] * digits[k];
                // As 32 bits do it, without being undefined where it does not fit.
                c[2 * r + d] = (int)((unsigned)c[2 * r + d] + (unsigned)sum);
            }
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
