// How gemm.cl finishes a warpgroup's sums and stores them: through local memory, so that whole rows leave, or directly.
//
// Where more tiles follow, the copy engine stores, and the next tile's products begin meanwhile. Where none does, each warp
// stores its own rows, and does not wait.

#if STAGED || STORE_BY_TMA
// What becomes of a sum, still in the sums' type: as `finish` does it, for an element of C that another one stores.
INLINE COMPONENT finished(const COMPONENT sum, const ACC alpha, const ACC beta, const __global RESULT* C, const int inside,
                          const __global RESULT* bias)
{
#if WITH_ALPHA
    COMPONENT value = alpha * sum;
#else
    COMPONENT value = sum;
#endif
#if WITH_C
    if (inside)
        value += beta * DECODE_RESULT(*C);
#endif
#if BIAS
    if (inside)
        value += DECODE_RESULT(*bias);
#endif
    return ACTIVATE(value);
}

#define pack_half(first, second) cvt_rn_f16x2_f32(first, second)
#define pack_bfloat(first, second) cvt_rn_bf16x2_f32(first, second)
#define PACK(first, second) JOIN(pack_, RESULT_AS)(first, second)

// A warp's 16 rows of a slab from its finished sums to local memory. Pieces of 16 bytes are permuted to meet all banks.
INLINE void stage_slab(const COMPONENT* values, __local uchar* slab, const int lane)
{
#if RESULT_BYTES == 2
    const int row = lane % 16;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j += 2) {
        const COMPONENT* v = values + 4 * j;
        const uint to = local_address(slab) + row * LINE + ((j + lane / 16) ^ row % 8) * 16;
        stmatrix_x4(to, PACK(v[0], v[1]), PACK(v[2], v[3]), PACK(v[4], v[5]), PACK(v[6], v[7]));
    }
#else
    const int row = lane / 4;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j++) {
        const COMPONENT* v = values + 4 * j;
        __local uchar* to = slab + row * LINE + ((2 * j + lane % 4 / 2) ^ row % 8) * 16 + lane % 2 * 8;
        *(__local JOIN(COMPONENT, 2)*)to = (JOIN(COMPONENT, 2))(v[0], v[1]);
        *(__local JOIN(COMPONENT, 2)*)(to + 8 * LINE) = (JOIN(COMPONENT, 2))(v[2], v[3]);
    }
#endif
}
#endif

// A consumer's part of a tile: where it begins in a matrix of C, and that matrix' number and sizes.
typedef struct {
    int m, n, matrix, M, N;
} Part;

// The place in C of sum number `i` of a block of 64 rows. Each work-item holds two neighbours of each 8 columns, of two rows.
INLINE int2 place_of(const Part part, const int block, const int i, const int item)
{
    return (int2)(part.m + block * 64 + item / 32 * 16 + item % 32 / 4 + i / 2 % 2 * 8,
                  part.n + i / 4 * 8 + item % 4 * 2 + i % 2);
}

#if SCALED
// Each sum by its row's scale and its column's. Rows and columns outside of C have none: they take the last one's.
INLINE void scale_part(COMPONENT sums[BLOCKS][WN / 2], const Part part, const __global float* scale_a, const long scale_a_row,
                       const __global float* scale_b, const long scale_b_column, const int item)
{
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++) {
        const int2 at = place_of(part, i / (WN / 2), i % (WN / 2), item);
        sums[i / (WN / 2)][i % (WN / 2)] *= scale_a[min(at.x, part.M - 1) * scale_a_row]
                                            * scale_b[min(at.y, part.N - 1) * scale_b_column];
    }
}
#endif

#if STAGED
// A warp's slab to C: four rows of 128 bytes at a time, 16 bytes from each work-item.
INLINE void store_rows(const __local uchar* slab, const Part part, const int first_m, const int first_n, __global RESULT* C,
                       const long c_row, const int lane)
{
#pragma unroll
    for (int i = 0; i < WARP_ROWS; i += 4) {
        const int row = i + lane / 8, piece = lane % 8, m = first_m + row, n = first_n + piece * (16 / RESULT_BYTES);
        const uint4 held = *(const __local uint4*)(slab + row * LINE + (piece ^ row % 8) * 16);
        if (m < part.M && n < part.N)
            *(__global uint4*)(C + m * c_row + n) = held;
    }
}
#endif

#if STAGED || STORE_BY_TMA
// Sums of a slab, `across` columns from the left of their block, become elements of C.
INLINE void finish_slab(COMPONENT* values, const Part part, const int block, const int across, const ACC alpha, const ACC beta,
                        const __global RESULT* C, const long c_row, const __global RESULT* bias, const long bias_row,
                        const long bias_column, const int item)
{
#pragma unroll
    for (int i = 0; i < SLAB / 2; i++) {
        const int2 at = place_of(part, block, across / 2 + i, item);
        values[i] = finished(values[i], alpha, beta, C + at.x * c_row + at.y, at.x < part.M && at.y < part.N,
                             bias + at.x * bias_row + at.y * bias_column);
    }
}
#endif

// Finishes a consumer's part of a tile and stores it.
INLINE void store_part(COMPONENT sums[BLOCKS][WN / 2], const Part part, const ACC alpha, const ACC beta,
                       const __global ulong* map_c, __global RESULT* C, const long c_row, const __global RESULT* bias,
                       const long bias_row, const long bias_column, __local uchar* slots, const int consumer, const int item)
{
#if STAGED || STORE_BY_TMA
    const int lane = item % 32, warp_row = item / 32 * WARP_ROWS;
#pragma unroll
    for (int slab = 0; slab < SLABS; slab++) {
        const int block = slab / (WN / SLAB), across = slab % (WN / SLAB) * SLAB;
        COMPONENT* values = sums[block] + across / 2;
        finish_slab(values, part, block, across, alpha, beta, C, c_row, bias, bias_row, bias_column, item);
        __local uchar* slot = slots + slab % SLOTS * BLOCK;
        __local uchar* own = slot + warp_row * LINE;
#if STORE_BY_TMA
        if (item == 0) {
            if (slab == 0)
                bulk_wait_group_read();
            else
                bulk_wait_group_read_1();
        }
        bar_sync(1 + consumer, 128);
        stage_slab(values, own, lane);
        fence_proxy_async();
        bar_sync(1 + consumer, 128);
        if (item == 0) {
            cp_async_bulk_tensor_3d_store(map_c, part.n + across, part.m + block * 64, part.matrix, local_address(slot));
            bulk_commit_group();
        }
#else
        stage_slab(values, own, lane);
        bar_warp_sync();
        store_rows(own, part, part.m + block * 64 + warp_row, part.n + across, C, c_row, lane);
#endif
    }
#else
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i += C_VEC) {
        const int block = i / (WN / 2), j = i % (WN / 2);
        const int2 at = place_of(part, block, j, item);
        if (at.x < part.M && at.y < part.N)
            finish(sums[block] + j, alpha, beta, C + at.x * c_row + at.y, bias + at.x * bias_row + at.y * bias_column,
                   bias_column);
    }
#endif
}
