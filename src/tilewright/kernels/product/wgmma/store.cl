// The epilogue of main_loop.cl: finishes sums and stores them, through local memory, so that whole rows leave, or directly.
//
// Where more tiles follow, TMA stores, and the next tile's products begin meanwhile. After the last tile each warp stores its
// own rows, and does not wait.

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

// A warp's part of the first `columns` of a slab, from its finished sums to local memory. Chunks of 16 bytes are permuted to meet all
// banks.
INLINE void stage_slab(const COMPONENT* values, local uchar* slab, const int columns, const int item)
{
    const int lane = item % 32;
#if REGISTER_A
#pragma unroll
    for (int i = 0; i < SLAB_SUMS; i += 2) {
        const int row = first_row(item) % SLAB_ROWS + i / 2 % UNIT, chunk = i / (2 * UNIT) * 2 + lane % 4 / 2;
        *(local JOIN(COMPONENT, 2)*)(slab + row * LINE + (chunk ^ row % 8) * 16 + lane % 2 * 8) = vload2(0, values + i);
    }
#elif RESULT_BYTES == 2
    const int row = item / 32 * WARP_ROWS + lane % 16;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j += 2) {
        const COMPONENT* v = values + 4 * j;
        const uint to = local_address(slab) + row * LINE + ((j + lane / 16) ^ row % 8) * 16;
        if (8 * j < columns)
            stmatrix_x4(to, PACK(v[0], v[1]), PACK(v[2], v[3]), PACK(v[4], v[5]), PACK(v[6], v[7]));
    }
#else
    const int row = item / 32 * WARP_ROWS + lane / 4;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j++) {
        const COMPONENT* v = values + 4 * j;
        local uchar* to = slab + row * LINE + ((2 * j + lane % 4 / 2) ^ row % 8) * 16 + lane % 2 * 8;
        *(local JOIN(COMPONENT, 2)*)to = MAKE2(COMPONENT, v[0], v[1]);
        *(local JOIN(COMPONENT, 2)*)(to + 8 * LINE) = MAKE2(COMPONENT, v[2], v[3]);
    }
#endif
}
#endif

// A consumer's part of a tile: where it begins in a matrix of C, and that matrix' number and sizes.
typedef struct {
    int m, n, matrix, M, N;
} Part;

// The place in C of sum number `i`. Each work-item holds two neighbours of each 8 columns, of two rows of each 64; with A in
// registers of UNIT rows side by side; with B in registers UNIT neighbours of two rows of each 8.
INLINE int2 place_of(const Part part, const int i, const int item)
{
#if REGISTER_A
    return MAKE2(int, part.m + first_row(item) + i / 2 % UNIT, part.n + i / (2 * UNIT) * 8 + item % 4 * 2 + i % 2);
#elif REGISTER_B
    return MAKE2(int, part.m + i / (2 * UNIT) * 8 + item % 4 * 2 + i / UNIT % 2, part.n + first_row(item) + i % UNIT);
#else
    const int block = i / (WN / 2), own = i % (WN / 2);
    return MAKE2(int, part.m + block * 64 + item / 32 * 16 + item % 32 / 4 + own / 2 % 2 * 8,
                  part.n + own / 4 * 8 + item % 4 * 2 + own % 2);
#endif
}

#if SCALED
// Each sum by its row's scale and its column's. Rows and columns outside of C have none: they take the last one's.
INLINE void scale_part(COMPONENT sums[BLOCKS][WN / 2], const Part part, const __global float* scale_a, const long scale_a_row,
                       const __global float* scale_b, const long scale_b_column, const int item)
{
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i++) {
        const int2 at = place_of(part, i, item);
        sums[i / (WN / 2)][i % (WN / 2)] *= scale_a[min(at.x, part.M - 1) * scale_a_row]
                                            * scale_b[min(at.y, part.N - 1) * scale_b_column];
    }
}
#endif

#if STAGED
#include "store_rows.cl"
#endif

#if STAGED || STORE_BY_TMA
// A work-item's sums of the first `columns` of a slab, from number `first` on, become elements of C. A loop that ends early is not
// unrolled by every compiler, and then the sums lie in memory.
INLINE void finish_slab(COMPONENT* values, const Part part, const int first, const int columns, const ACC alpha, const ACC beta,
                        const __global RESULT* C, const long c_row, const __global RESULT* bias, const long bias_row,
                        const long bias_column, const int item)
{
#pragma unroll
    for (int i = 0; i < SLAB_SUMS; i++) {
        const int2 at = place_of(part, first + i, item);
        if (i < SLAB_SUMS * columns / SLAB)
            values[i] = finished(values[i], alpha, beta, C + at.x * c_row + at.y, at.x < part.M && at.y < part.N,
                                 bias + at.x * bias_row + at.y * bias_column);
    }
}

// Where a slab begins in C.
INLINE int2 place_of_slab(const Part part, const int slab, const int item)
{
#if REGISTER_A
    return MAKE2(int, part.m + item / 32 / SLAB_WARPS * SLAB_ROWS, part.n + slab * SLAB);
#else
    return MAKE2(int, part.m + slab / SLABS_ACROSS * SLAB_ROWS, part.n + slab % SLABS_ACROSS * SLAB);
#endif
}

// Warps that fill a slab wait for each other; `slab_group` is the number of such a group. Lower barriers are those of the fix-up.
INLINE void sync_slab_warps(const int slab_group)
{
#if SLAB_WARPS == 1
    bar_warp_sync();
#else
    bar_sync(1 + CONSUMERS + slab_group, 32 * SLAB_WARPS);
#endif
}
#endif

#if STORE_BY_TMA
// Waits until TMA has read all slabs in local memory, or all but the last.
INLINE void await_slot(const int all, const int slab_group, const int item)
{
    if (item % (32 * SLAB_WARPS) == 0) {
        if (all)
            bulk_wait_group_read();
        else
            bulk_wait_group_read_1();
    }
    sync_slab_warps(slab_group);
}

// TMA stores what the warps have put into a slot.
INLINE void store_slot(const local uchar* slot, const __global ulong* map_c, const int row, const int column, const int matrix,
                       const int slab_group, const int item)
{
    fence_proxy_async();
    sync_slab_warps(slab_group);
    if (item % (32 * SLAB_WARPS) == 0) {
        cp_async_bulk_tensor_3d_store(map_c, column, row, matrix, local_address(slot));
        bulk_commit_group();
    }
}
#endif

#if MIRRORED
#include "store_mirrored.cl"
#endif

// Finishes a consumer's part of a tile and stores it.
INLINE void store_part(COMPONENT sums[BLOCKS][WN / 2], const Part part, const ACC alpha, const ACC beta,
                       const __global ulong* map_c, __global RESULT* C, const long c_row, const __global RESULT* bias,
                       const long bias_row, const long bias_column, local uchar* slots, const int slab_group, const int item)
{
#if STAGED || STORE_BY_TMA
#pragma unroll
    for (int slab = 0; slab < SLABS; slab++) {
        const int first = REGISTER_A ? slab * SLAB_SUMS : slab / SLABS_ACROSS * (WN / 2) + slab % SLABS_ACROSS * SLAB_SUMS;
        const int columns = WN % SLAB == 0 ? SLAB : min(SLAB, WN - slab % SLABS_ACROSS * SLAB);
        COMPONENT* values = sums[first / (WN / 2)] + first % (WN / 2);
        finish_slab(values, part, first, columns, alpha, beta, C, c_row, bias, bias_row, bias_column, item);
        const int2 place = place_of_slab(part, slab, item);
#if MIRRORED
        store_with_mirror(values, map_c, place, part.matrix, slots, slab_group, item);
#else
        local uchar* slot = slots + slab % SLOTS * SLAB_ROWS * LINE;
#if STORE_BY_TMA
        await_slot((slab == 0) | (SLOTS == 1), slab_group, item);
        stage_slab(values, slot, columns, item);
        store_slot(slot, map_c, place.x, place.y, part.matrix, slab_group, item);
#else
#if SLOTS == 1 || (SLAB_WARPS > 1 && SLABS == 1)
        sync_slab_warps(slab_group);  // what was there has been read, be it the tile before this one
#endif
        stage_slab(values, slot, columns, item);
#if REGISTER_A
        sync_slab_warps(slab_group);
#else
        bar_warp_sync();  // each warp stores what it staged
#endif
        store_rows(slot, place, part.M, columns < SLAB ? min(part.N, place.y + columns) : part.N, C, c_row, item);
#endif
#endif
    }
#else
#pragma unroll
    for (int i = 0; i < BLOCKS * WN / 2; i += C_VEC) {
        const int2 at = place_of(part, i, item);
        if (at.x < part.M && at.y < part.N)
            finish(sums[i / (WN / 2)] + i % (WN / 2), alpha, beta, C + at.x * c_row + at.y,
                   bias + at.x * bias_row + at.y * bias_column, bias_column);
    }
#endif
}
