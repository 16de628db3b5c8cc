// The fallback of a tile of C: its elements that fp16 cannot hold are multiplied in float32.
//
// BM, BN      the tile of C
// C_VEC       elements of a row that are stored together, and so left together: 1 or 2
// EXACT_SYNC  the barrier of the EXACT_ITEMS work-items that compute a tile

#define EXACT_SIDE 16  // work-items across and down
#define EXACT_ITEMS (EXACT_SIDE * EXACT_SIDE)
#define EXACT_TM (BM / EXACT_SIDE)
#define EXACT_TN (BN / EXACT_SIDE)
#define EXACT_K 16  // steps of k of a panel
#define EXACT_BLOCK 64  // steps of k that are summed by themselves, so that fewer roundings follow each other
#define EXACT_PANELS (EXACT_K * (BM + 1 + BN + 2))  // floats
#define EXACT_ROW(i) (y + (i) * EXACT_SIDE)
#define EXACT_COLUMN(j) (2 * x + (j) % 2 + (j) / 2 * 2 * EXACT_SIDE)

// A tile's place in a matrix and its size, cut off at the edges of C.
typedef struct {
    const __global float *a, *b;
    __global RESULT* c;
    const __global RESULT* bias;
    const __global int2 *rows, *columns;  // ranges
    int height, width;
} Tile;

INLINE int is_left(const Tile tile, const int m, const int n)
{
    int left = 0;
#pragma unroll
    for (int i = 0; i < C_VEC; i++)
        left += needs_floats(tile.rows[m].y, tile.columns[n + i].y);
    return left;
}

// Whether any element of the tile is left.
INLINE int has_left(const Tile tile, const int x, const int y, local int* shared)
{
    int any = 0;
#pragma unroll 1
    for (int i = 0; i < EXACT_TM; i++)
#pragma unroll 1
        for (int j = 0; j < EXACT_TN; j += C_VEC)
            if (EXACT_ROW(i) < tile.height && EXACT_COLUMN(j) < tile.width)
                any |= is_left(tile, EXACT_ROW(i), EXACT_COLUMN(j));
    EXACT_SYNC;
    if (x + y == 0)
        *shared = 0;
    EXACT_SYNC;
    if (any)
        *shared = 1;
    EXACT_SYNC;
    return *shared;
}

INLINE void exact_tile(const Tile tile, const int item, const int K, const ACC alpha, const ACC beta, const long a_row,
                       const long a_column, const long b_row, const long b_column, const long c_row, const long c_column,
                       const long bias_row, const long bias_column, local float* panels, local int* shared)
{
    const int x = item % EXACT_SIDE, y = item / EXACT_SIDE;
    if (!has_left(tile, x, y, shared))
        return;
    local float* a_panel = panels;
    local float* b_panel = panels + EXACT_K * (BM + 1);
    float sum[EXACT_TM][EXACT_TN], block[EXACT_TM][EXACT_TN];
#pragma unroll
    for (int i = 0; i < EXACT_TM; i++)
#pragma unroll
        for (int j = 0; j < EXACT_TN; j++)
            sum[i][j] = block[i][j] = 0;
    for (int first = 0; first < K; first += EXACT_K) {
        for (int i = item; i < BM * EXACT_K; i += EXACT_ITEMS) {
            const int m = i / EXACT_K, k = i % EXACT_K;
            a_panel[k * (BM + 1) + m] = m < tile.height && first + k < K ? tile.a[m * a_row + (first + k) * a_column] : 0.0f;
        }
        for (int i = item; i < BN * EXACT_K; i += EXACT_ITEMS) {
            const int n = i % BN, k = i / BN;
            b_panel[k * (BN + 2) + n] = n < tile.width && first + k < K ? tile.b[(first + k) * b_row + n * b_column] : 0.0f;
        }
        EXACT_SYNC;
#pragma unroll 2
        for (int k = 0; k < EXACT_K; k++) {
            float a[EXACT_TM], b[EXACT_TN];
#pragma unroll
            for (int i = 0; i < EXACT_TM; i++)
                a[i] = a_panel[k * (BM + 1) + EXACT_ROW(i)];
#pragma unroll
            for (int j = 0; j < EXACT_TN; j++)
                b[j] = b_panel[k * (BN + 2) + EXACT_COLUMN(j)];
#pragma unroll
            for (int i = 0; i < EXACT_TM; i++)
#pragma unroll
                for (int j = 0; j < EXACT_TN; j++)
                    block[i][j] = fma(a[i], b[j], block[i][j]);
        }
        EXACT_SYNC;
        if (first % EXACT_BLOCK == EXACT_BLOCK - EXACT_K || first + EXACT_K >= K)
#pragma unroll
            for (int i = 0; i < EXACT_TM; i++)
#pragma unroll
                for (int j = 0; j < EXACT_TN; j++) {
                    sum[i][j] += block[i][j];
                    block[i][j] = 0;
                }
    }
    // Stored by a loop, for which the sums leave their registers: tiles with such elements are few, and unrolled stores would be a
    // third of what a first call has to compile.
    float finished[EXACT_TM * EXACT_TN];
#pragma unroll
    for (int i = 0; i < EXACT_TM * EXACT_TN; i++)
        finished[i] = sum[i / EXACT_TN][i % EXACT_TN];
#pragma unroll 1
    for (int i = 0; i < EXACT_TM * EXACT_TN; i += C_VEC) {
        const int m = EXACT_ROW(i / EXACT_TN), n = EXACT_COLUMN(i % EXACT_TN);
        if (m < tile.height && n < tile.width && is_left(tile, m, n))
            finish(finished + i, alpha, beta, tile.c + m * c_row + n * c_column, tile.bias + m * bias_row + n * bias_column,
                   bias_column);
    }
}
