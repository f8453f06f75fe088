// Passes over a dense X on a device, compiled at run time for the one at hand (_launch.py); -DELEMENT is the type of its entries.
//
// Entries of any width are widened in registers, and products are added up in double precision, fused, in a tree of some shape: off by at
// most n 2^-53 of the sum of their sizes, to first order (MATH 3.10). Nothing is rounded to fewer digits on the way.
//
// A processor runs the same lines by python/tests/kernels_on_cpu.h.

#ifndef ELEMENT
#define ELEMENT float
#endif

typedef long long i64;

// Columns that a warp multiplies side by side, so that a number of a vector is read once for all of them, and rows of each of them that
// a lane reads ahead.
#ifndef SIDE_BY_SIDE
#define SIDE_BY_SIDE 4
#endif
#ifndef AHEAD
#define AHEAD 4
#endif

static __device__ double over_lanes(double x) {
    for (int step = 16; step > 0; step >>= 1) x += __shfl_xor_sync(0xffffffffu, x, step);
    return x;
}

static __device__ int within(int i, int end) { return i < end ? i : end - 1; }

static __device__ i64 place(const i64 *list, i64 k) { return list ? list[k] : k; }

// out[part][m][k] = sum over the rows i of a part of x[i, list[k]] v[m][i]; columns contiguous, `step` entries apart. A warp takes some
// columns, its lanes every 32nd row.
template <int M>
static __device__ void by_columns(const ELEMENT *x, i64 step, const i64 *list, i64 count, int rows, int length, const double *v, double *out) {
    const int lane = threadIdx.x & 31;
    const i64 first = ((i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * SIDE_BY_SIDE;
    if (first >= count) return;
    const int begin = blockIdx.y * length, end = begin + length < rows ? begin + length : rows;
    const ELEMENT *at[SIDE_BY_SIDE];
    double sum[SIDE_BY_SIDE][M];
    for (int c = 0; c < SIDE_BY_SIDE; c++) {
        at[c] = x + place(list, first + c < count ? first + c : count - 1) * step;
        for (int m = 0; m < M; m++) sum[c][m] = 0.0;
    }
    // What comes next is on its way while this is multiplied; of a row beyond the end the last is read, and not used.
    ELEMENT next[AHEAD][SIDE_BY_SIDE];
#pragma unroll
    for (int r = 0; r < AHEAD; r++)
#pragma unroll
        for (int c = 0; c < SIDE_BY_SIDE; c++) next[r][c] = __ldcs(at[c] + within(begin + lane + 32 * r, end));
    for (int i = begin + lane; i < end; i += 32 * AHEAD) {
        ELEMENT now[AHEAD][SIDE_BY_SIDE];
#pragma unroll
        for (int r = 0; r < AHEAD; r++)
#pragma unroll
            for (int c = 0; c < SIDE_BY_SIDE; c++) {
                now[r][c] = next[r][c];
                next[r][c] = __ldcs(at[c] + within(i + 32 * (AHEAD + r), end));
            }
#pragma unroll
        for (int r = 0; r < AHEAD; r++) {
            const int row = i + 32 * r;
            if (row >= end) break;
            double a[M];
#pragma unroll
            for (int m = 0; m < M; m++) a[m] = __ldg(v + (i64)m * rows + row);
#pragma unroll
            for (int c = 0; c < SIDE_BY_SIDE; c++)
#pragma unroll
                for (int m = 0; m < M; m++) sum[c][m] = fma((double)now[r][c], a[m], sum[c][m]);
        }
    }
#pragma unroll
    for (int c = 0; c < SIDE_BY_SIDE; c++)
#pragma unroll
        for (int m = 0; m < M; m++) {
            const double total = over_lanes(sum[c][m]);
            if (lane == 0 && first + c < count) out[((i64)blockIdx.y * M + m) * count + first + c] = total;
        }
}

// The same with contiguous rows, `step` entries apart: a thread for each column.
template <int M>
static __device__ void by_rows(const ELEMENT *x, i64 step, const i64 *list, i64 count, int rows, int length, const double *v, double *out) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const int begin = blockIdx.y * length, end = begin + length < rows ? begin + length : rows;
    const ELEMENT *at = x + place(list, k);
    double sum[M];
    for (int m = 0; m < M; m++) sum[m] = 0.0;
#pragma unroll 8
    for (int i = begin; i < end; i++) {
        const double entry = (double)__ldcs(at + i * step);
        for (int m = 0; m < M; m++) sum[m] = fma(entry, __ldg(v + (i64)m * rows + i), sum[m]);
    }
    for (int m = 0; m < M; m++) out[((i64)blockIdx.y * M + m) * count + k] = sum[m];
}

#define DENSE(M)                                                                                                                          \
    extern "C" __global__ void by_columns_##M(const ELEMENT *x, i64 step, const i64 *list, i64 count, int rows, int length,               \
                                              const double *v, double *out) {                                                             \
        by_columns<M>(x, step, list, count, rows, length, v, out);                                                                        \
    }                                                                                                                                     \
    extern "C" __global__ void by_rows_##M(const ELEMENT *x, i64 step, const i64 *list, i64 count, int rows, int length, const double *v, \
                                           double *out) {                                                                                 \
        by_rows<M>(x, step, list, count, rows, length, v, out);                                                                           \
    }
DENSE(1)
DENSE(2)
DENSE(4)
DENSE(8)

// Mean, sum of squares and centred sum of squares of z = (x - centre) / scale, weighted: out[0..3][k]. The lanes of a
// warp take every 32nd row of a column, or one thread all rows.
static __device__ void moments(const ELEMENT *at, i64 step, int lane, int lanes, int rows, const double *weights, double centre, double scale,
                               double total, i64 count, i64 k, double *out) {
    double sum = 0.0, squares = 0.0, left = 0.0, centred = 0.0;
    for (int i = lane; i < rows; i += lanes) {
        const double z = ((double)at[i * step] - centre) / scale, w = weights ? weights[i] : 1.0;
        sum = fma(w, z, sum);
        squares = fma(w * z, z, squares);
    }
    if (lanes > 1) sum = over_lanes(sum), squares = over_lanes(squares);
    const double mean = sum / total;
    for (int i = lane; i < rows; i += lanes) {
        const double z = ((double)at[i * step] - centre) / scale - mean, w = weights ? weights[i] : 1.0;
        left = fma(w, z, left);
        centred = fma(w * z, z, centred);
    }
    if (lanes > 1) left = over_lanes(left), centred = over_lanes(centred);
    if (lane > 0) return;
    // What rounding left in the mean is taken out again, or a constant column would seem to vary.
    centred -= left * left / total;
    out[k] = mean + left / total;
    out[count + k] = squares;
    out[2 * count + k] = centred < 0.0 ? 0.0 : centred > squares ? squares : centred;
}

extern "C" __global__ void moments_by_columns(const ELEMENT *x, i64 step, i64 count, int rows, const double *weights, const double *centre,
                                              const double *scale, double total, double *out) {
    const i64 k = (i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (k >= count) return;
    moments(x + k * step, 1, threadIdx.x & 31, 32, rows, weights, centre ? centre[k] : 0.0, scale ? scale[k] : 1.0, total, count, k, out);
}

extern "C" __global__ void moments_by_rows(const ELEMENT *x, i64 step, i64 count, int rows, const double *weights, const double *centre,
                                           const double *scale, double total, double *out) {
    const i64 k = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    moments(x + k, step, 0, 1, rows, weights, centre ? centre[k] : 0.0, scale ? scale[k] : 1.0, total, count, k, out);
}
