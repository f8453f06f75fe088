// Passes over genotypes on a device, two bits a person as in a .bed file, compiled at run time for the one at hand (_launch.py).
//
// Sums of whole numbers in digits of eight bits, exact until the end (MATH 3.10). A processor runs the same lines by
// python/tests/kernels_on_cpu.h.

#ifndef WARPS
#define WARPS 4
#endif
#ifndef BLOCKS
#define BLOCKS 4
#endif

typedef unsigned int u32;
typedef long long i64;

// c += a b of 16 rows, 32 places and 8 columns, a of whole numbers from 0 to 255, b from -128 to 127. A lane (g, t) = (lane / 4, lane % 4)
// has of a the rows g and g + 8 at places 4t.. and 16 + 4t.., of b column g at these places, of c the columns 2t and 2t + 1.
#ifndef ON_CPU
static __device__ void multiply(int c[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}
#endif

// A whole number in eight digits, a = sum of 256^g digit_g, -128 <= digit_g < 128; laid[s][word][g][k][b] is digit g of the person k of the
// byte 4 (word - 4) + b - s of a row: four copies, each a byte further on, for rows that begin anywhere in a word.
extern "C" __global__ void lay_digits(const i64 *numbers, int people, i64 words, signed char *laid) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= people) return;
    i64 left = numbers[i];
    for (int g = 0; g < 8; g++) {
        const signed char digit = (signed char)left;
        left = (left - digit) >> 8;
        for (int s = 0; s < 4; s++) {
            const i64 at = (i >> 2) + s + 16;
            laid[((((s * words + (at >> 2)) * 8 + g) * 4 + (i & 3)) << 2) + (at & 3)] = digit;
        }
    }
}

// Sixteen bytes of a row from one that lies at a multiple of sixteen; of those outside the row nothing is read.
static __device__ uint4 packed(const unsigned char *from, const unsigned char *begin, const unsigned char *end) {
    if (from >= begin && from + 16 <= end) return __ldcs((const uint4 *)from);
    u32 word[4] = {0, 0, 0, 0};
    for (int b = 0; b < 16; b++)
        if (from + b >= begin && from + b < end) word[b >> 2] |= (u32)from[b] << (8 * (b & 3));
    uint4 found;
    found.x = word[0], found.y = word[1], found.z = word[2], found.w = word[3];
    return found;
}

// Of the four people whose codes are bits 2k and 2k + 1 of four bytes, times 4^k: with the bits (high, low) of a code, 2 - high - low,
// which is the copies of the first allele, and one for those not known; or one for those with one copy, and nothing for all others.
static __device__ u32 first_plane(u32 w, u32 high, u32 mask, int ones) { return ones ? high & ~w & mask : ~w & mask; }

template <int N, int TILES>
static __device__ void genotypes(const unsigned char *x, i64 stride, const int *rows, const int *places, i64 count, const signed char *laid,
                                 i64 words, i64 length, int ones, double *out) {
    const int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    const i64 tile = ((i64)blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)) * TILES;
    // The rows of a warp begin at the same place of sixteen bytes: what they are multiplied with lies the same way for all.
    const int shift = (int)((unsigned long long)(x + (i64)rows[tile * 16] * stride) & 15);
    const unsigned char *begin[2 * TILES];
    for (int r = 0; r < 2 * TILES; r++) begin[r] = x + (i64)rows[tile * 16 + 8 * r + g] * stride;
    const uint4 *digits = (const uint4 *)laid + ((shift & 3) * words + 4 - (shift >> 2) + 4 * t) * 8 + g;
    const i64 more = 4 * words * 8;
    int first[TILES][N][4][4], missing[TILES][N][4][4];
    for (int i = 0; i < TILES * N * 16; i++) ((int *)first)[i] = ((int *)missing)[i] = 0;
    // A part is so short that no sum of bytes outgrows 32 bits.
    const i64 chunks = (shift + stride + 63) / 64, start = blockIdx.y * length, end = start + length < chunks ? start + length : chunks;
    uint4 next[2 * TILES];
    for (int r = 0; r < 2 * TILES; r++) next[r] = packed(begin[r] - shift + 64 * start + 16 * t, begin[r], begin[r] + stride);
    for (i64 c = start; c < end; c++) {
        uint4 now[2 * TILES];
        for (int r = 0; r < 2 * TILES; r++) {
            now[r] = next[r];
            next[r] = packed(begin[r] - shift + 64 * (c + 1) + 16 * t, begin[r], begin[r] + stride);
        }
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint4 b[N][2];
#pragma unroll
            for (int m = 0; m < N; m++)
#pragma unroll
                for (int i = 0; i < 2; i++) b[m][i] = __ldg(digits + m * more + (16 * c + 2 * half + i) * 8);
#pragma unroll
            for (int tiles = 0; tiles < TILES; tiles++) {
                // Words in the order of a0, a1, a2, a3.
                u32 w[4], high[4], sums[4];
                w[0] = half ? now[2 * tiles].z : now[2 * tiles].x, w[2] = half ? now[2 * tiles].w : now[2 * tiles].y;
                w[1] = half ? now[2 * tiles + 1].z : now[2 * tiles + 1].x, w[3] = half ? now[2 * tiles + 1].w : now[2 * tiles + 1].y;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    high[i] = w[i] >> 1;
                    // ~(w + h) = ~w - h, with h the high bits of ~w: 2 - high - low in each two bits.
                    sums[i] = ones ? w[i] : w[i] + (~high[i] & 0x55555555u);
                }
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    const u32 both = 0x03030303u << (2 * k), low = 0x01010101u << (2 * k), mask = ones ? low : both;
                    u32 a[4], u[4];
#pragma unroll
                    for (int i = 0; i < 4; i++) {
                        a[i] = first_plane(sums[i], high[i], mask, ones);
                        u[i] = w[i] & ~high[i] & low;
                    }
#pragma unroll
                    for (int m = 0; m < N; m++) {
                        const u32 b0 = k == 0 ? b[m][0].x : k == 1 ? b[m][0].y : k == 2 ? b[m][0].z : b[m][0].w;
                        const u32 b1 = k == 0 ? b[m][1].x : k == 1 ? b[m][1].y : k == 2 ? b[m][1].z : b[m][1].w;
                        multiply(first[tiles][m][k], a[0], a[1], a[2], a[3], b0, b1);
                        multiply(missing[tiles][m][k], u[0], u[1], u[2], u[3], b0, b1);
                    }
                }
            }
        }
    }
    // Whole numbers of 37 bits in each lane, of 53 in each pair of lanes; what the four of them make is rounded once.
    for (int tiles = 0; tiles < TILES; tiles++)
        for (int m = 0; m < N; m++)
            for (int r = 0; r < 2; r++) {
                i64 sum[2] = {0, 0};
                for (int k = 0; k < 4; k++)
                    for (int d = 0; d < 2; d++) {
                        sum[0] += (i64)(first[tiles][m][k][2 * r + d] >> (2 * k)) << (8 * d);
                        sum[1] += (i64)(missing[tiles][m][k][2 * r + d] >> (2 * k)) << (8 * d);
                    }
                if (!ones) sum[0] -= sum[1];
                const i64 to = places[(tile + tiles) * 16 + 8 * r + g];
                for (int kind = 0; kind < 2; kind++) {
                    const double beside = __shfl_xor_sync(0xffffffffu, (double)sum[kind], 1);
                    const double pair = t & 1 ? fma((double)sum[kind], 65536.0, beside) : fma(beside, 65536.0, (double)sum[kind]);
                    const double upper = __shfl_xor_sync(0xffffffffu, pair, 2);
                    if (t == 0 && to >= 0) out[(((i64)blockIdx.y * N + m) * 2 + kind) * count + to] = fma(upper, 4294967296.0, pair);
                }
            }
}

#define GENOTYPES(N, TILES)                                                                                                             \
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) genotypes_##N(const unsigned char *x, i64 stride, const int *rows, const int *places, i64 count,         \
                                             const signed char *laid, i64 words, i64 length, double *out) {                                         \
        genotypes<N, TILES>(x, stride, rows, places, count, laid, words, length, 0, out);                                                       \
    }
GENOTYPES(1, 2)
GENOTYPES(2, 1)

// The same with those who have one copy in place of the copies.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS) genotypes_ones(const unsigned char *x, i64 stride, const int *rows, const int *places, i64 count,
                                           const signed char *laid, i64 words, i64 length, double *out) {
    genotypes<1, 2>(x, stride, rows, places, count, laid, words, length, 1, out);
}
