// Tensor cores for operands in any layout, by loads of single elements where lines are odd: they go through registers.
//
// BM, BN, BK        the tile of C that a work-group computes, and how deep its panels of A and B are
// WARPS_M, WARPS_N  its warps, which divide the tile
// WARPS_K           slices of every panel's depth: each has warps for the whole tile, and their sums are added up in the end
// GROUP_M           rows of tiles of a swizzle group
// FRAGMENTS         the file that knows the element type: how operands are read, and what multiplies them
// STORED_BYTES, SUM_BYTES  of a component of A and B, and of a sum
// PAD               unused elements at the end of a panel's lines
// A_ORDER, B_ORDER  PANEL_ALONG_K or PANEL_ACROSS: the direction in which the operand is read, and lies in its panel
// A_VEC, B_VEC      elements of one load; sizes, strides and alignment are multiples of it in that direction
// C_VEC             elements of one store; above 1, c_column is 1
// C_PAIRS           1 where rows of 16-bit elements begin anywhere, but their elements lie side by side: words of two are stored
// SPLIT_K           1 if work-groups share a tile's k: each stores a partial tile, and the last one to arrive adds them up
//
// A copy without registers takes 4 bytes at least, and TMA wants lines of multiples of 16: lines of an odd number of
// 16-bit elements have neither. Packing them first costs a launch for each operand, which is more than small products take.
// Here the next panel is loaded into registers while the warps multiply, as in the kernel for any GPU.
//
// C goes through local memory, too: a warp then stores neighbours of a row, where the sums' own places would make it
// write 2 elements in each of 8 rows. With odd rows each of those is two stores, and a thin product is nothing but stores.
//
// Work-groups: dimension 0 the tiles of C, 1 the parts of K (k_chunk deep), 2 the batch.

#define PANEL_ALONG_K 0
#define PANEL_ACROSS 1

#include "../elements.cl"
#if STORED_BYTES == 2  // one instruction in the place of eight
#undef encode_bfloat
#define encode_bfloat(value) cvt_rn_bf16_f32(value)
#endif
#include "../epilogue.cl"
#include "../scheduler.cl"

#define SLICE_ITEMS (32 * WARPS_M * WARPS_N)
#define ITEMS (SLICE_ITEMS * WARPS_K)
#define SLICE_DEPTH (BK / WARPS_K)
#define WARP_M (BM / WARPS_M)  // the tile of C that a warp computes
#define WARP_N (BN / WARPS_N)
#define TILES_M (WARP_M / 16)  // and its tiles of 16 x 8
#define TILES_N (WARP_N / 8)
#define SUMS (TILES_M * TILES_N * PARTS * 4)
#define A_PANEL ((A_ORDER == PANEL_ALONG_K ? BM * (BK + PAD) : BK * (BM + PAD)) * PARTS)  // components
#define B_PANEL ((B_ORDER == PANEL_ALONG_K ? BN * (BK + PAD) : BK * (BN + PAD)) * PARTS)
#define PANELS (A_PANEL + B_PANEL)
#define C_PITCH ((BN + 8) * PARTS)  // of sums: eight rows of four pairs lie in different banks
#define PANEL_BYTES (2 * PANELS * STORED_BYTES)
#define TILE_BYTES (WARPS_K * BM * C_PITCH * SUM_BYTES)
#if PANEL_BYTES > TILE_BYTES
#define LOCAL_BYTES PANEL_BYTES
#else
#define LOCAL_BYTES TILE_BYTES
#endif

// Writes `count` components (1, 2, 4 or 8, known when compiling) by one store.
INLINE void store_panel(local STORED* to, const STORED* elements, const int count)
{
    if (count == 8)
        *(local JOIN(STORED, 8)*)to = vload8(0, elements);
    else if (count == 4)
        *(local JOIN(STORED, 4)*)to = vload4(0, elements);
    else if (count == 2)
        *(local JOIN(STORED, 2)*)to = vload2(0, elements);
    else
        *to = elements[0];
}

#define A_LOADED (BM * BK * PARTS / ITEMS)  // components of a work-item
#define B_LOADED (BN * BK * PARTS / ITEMS)

#define NAME(x) a_##x
#define SIDE BM
#define ORDER A_ORDER
#define WIDTH A_VEC
#include "elements_panel.cl"

#define NAME(x) b_##x
#define SIDE BN
#define ORDER B_ORDER
#define WIDTH B_VEC
#include "elements_panel.cl"

#if SPLIT_K
#define PARTIAL_WIDTH 2
#define PARTIAL_VECTORS (SUMS / 2)
#define PARTIAL_ITEMS ITEMS
#include "../fixup.cl"
#endif

#include "FRAGMENTS"

// Puts a warp's sums into their places of the tile in local memory, by vectors.
INLINE void gather(local COMPONENT* tile, COMPONENT sum[TILES_M][TILES_N * PARTS][4], const int2 warp)
{
    const int lane = get_local_id(0) % 32;
#pragma unroll
    for (int i = 0; i < TILES_M; i++)
#pragma unroll
        for (int j = 0; j < TILES_N; j++)
#pragma unroll
            for (int octet = 0; octet < 2; octet++) {
                const int row = warp.x + i * 16 + octet * 8 + lane / 4, column = warp.y + j * 8 + lane % 4 * 2;
                COMPONENT pair[2 * PARTS];
#pragma unroll
                for (int word = 0; word < 2 * PARTS; word++)
                    pair[word] = sum[i][j * PARTS + word % PARTS][2 * octet + word / PARTS];
#pragma unroll
                for (int part = 0; part < PARTS; part++)
                    vstore2(vload2(part, pair), part, tile + row * C_PITCH + column * PARTS);
            }
}

// A component's sum over all slices.
INLINE COMPONENT sum_of_slices(const local COMPONENT* sums)
{
    COMPONENT sum = sums[0];
#pragma unroll
    for (int slice = 1; slice < WARPS_K; slice++)
        sum += sums[slice * BM * C_PITCH];
    return sum;
}

#if C_PAIRS
// Finishes and stores what of two elements of a row lies within its `columns`, by one store if it is one `word`.
INLINE void store_pair(const local COMPONENT* sums, const int2 column, const int columns, const int word, const ACC alpha,
                       const ACC beta, __global RESULT* c, const __global RESULT* bias, const long bias_column)
{
    RESULT elements[2];
    COMPONENT own[2] = {sum_of_slices(sums + column.x), sum_of_slices(sums + column.y)};
    const int first = column.x < columns, second = column.y < columns;
    if (first)
        finish_elements(elements, own, alpha, beta, c + column.x, bias + column.x * bias_column, bias_column);
    if (second)
        finish_elements(elements + 1, own + 1, alpha, beta, c + column.y, bias + column.y * bias_column, bias_column);
    if (word && second)
        *(__global uint*)(c + column.x) = elements[0] | (uint)elements[1] << 16;
    else {
        if (first)
            c[column.x] = elements[0];
        if (second)
            c[column.y] = elements[1];
    }
}
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const int k_chunk, const ACC alpha, const ACC beta,
             const __global STORED* restrict A, const long a_offset, const long a_row, const long a_column, const long a_batch,
             const __global STORED* restrict B, const long b_offset, const long b_row, const long b_column, const long b_batch,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
             __global COMPONENT* partial, volatile __global int* semaphores)
{
    __local uchar local_bytes[LOCAL_BYTES] __attribute__((aligned(128)));
    local STORED* panels = (local STORED*)local_bytes;
    local COMPONENT* sums = (local COMPONENT*)local_bytes;

    const int item = get_local_id(0), slice = item / SLICE_ITEMS;
    const int2 warp = MAKE2(int, item / 32 / WARPS_N % WARPS_M * WARP_M, item / 32 % WARPS_N * WARP_N);
    const int2 tile = tile_coordinates(get_group_id(0), M, N) * MAKE2(int, BM, BN);
    const long batch = get_group_id(2), k_begin = (long)get_group_id(1) * k_chunk;
    int depth = max((int)min((long)k_chunk, K - k_begin), 0);
    const int steps = max((depth + BK - 1) / BK, 1), rows = M - tile.x, columns = N - tile.y;
    A += (a_offset + batch * a_batch + tile.x * a_row + k_begin * a_column) * PARTS;
    B += (b_offset + batch * b_batch + tile.y * b_column + k_begin * b_row) * PARTS;

    COMPONENT sum[TILES_M][TILES_N * PARTS][4];
#pragma unroll
    for (int i = 0; i < SUMS; i++)
        sum[i / 4 / (TILES_N * PARTS)][i / 4 % (TILES_N * PARTS)][i % 4] = 0;

    // One loop with one place for each part, the first load and the last product included: short products wait for their
    // instructions, too, and these are many.
#pragma unroll 1
    for (int step = 0; step <= steps; step++) {
        STORED a_loaded[A_LOADED], b_loaded[B_LOADED];
        if (step < steps) {
            a_load(a_loaded, A, rows, depth, a_row, a_column);
            b_load(b_loaded, B, columns, depth, b_column, b_row);
            A += BK * a_column * PARTS, B += BK * b_row * PARTS, depth -= BK;
        }
        if (step > 0)
            multiply(sum, panels + (step - 1) % 2 * PANELS, warp, slice);
        if (step < steps) {
            a_store(panels + step % 2 * PANELS, a_loaded);
            b_store(panels + step % 2 * PANELS + A_PANEL, b_loaded);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#if SPLIT_K
    const int count = get_num_groups(1);
    const size_t number = get_group_id(2) * get_num_groups(0) + get_group_id(0);
    __global COMPONENT* partials = partial + number * count * (BM * BN * PARTS);
    store_partial(sum[0][0], partials, get_group_id(1));
    // No one reads the panels any more.
    if (!arrives_last(semaphores + number, count, (local int*)local_bytes))
        return;
    add_partials(sum[0][0], partials, count);
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    gather(sums + slice * BM * C_PITCH, sum, warp);
    barrier(CLK_LOCAL_MEM_FENCE);
    C += (c_offset + batch * c_batch + tile.x * c_row + tile.y * c_column) * PARTS;
    bias += (bias_offset + tile.x * bias_row + tile.y * bias_column) * PARTS;
#if C_PAIRS
    // A lane has the two elements of a word of 4 bytes, wherever its row begins, so that a warp fills lines of 128 bytes. Where rows
    // begin within a word, the first lane has the row's two ends.
#pragma unroll 4
    for (int i = 0; i < BM * BN / 2 / ITEMS; i++) {
        const int pair = i * ITEMS + item, row = pair / (BN / 2), place = pair % (BN / 2);
        __global RESULT* line = C + row * c_row;
        const int shift = (int)((ulong)line / 2 % 2), ends = shift && place == 0;
        const int2 column = MAKE2(int, ends ? BN - 1 : place * 2 - shift, place * 2 + 1 - shift);
        if (row < rows)
            store_pair(sums + row * C_PITCH, column, columns, !ends, alpha, beta, line, bias + row * bias_row, bias_column);
    }
#else
#pragma unroll 4
    for (int i = 0; i < BM * BN / C_VEC / ITEMS; i++) {
        const int vector = i * ITEMS + item, row = vector / (BN / C_VEC), column = vector % (BN / C_VEC) * C_VEC;
        COMPONENT own[C_VEC * PARTS];
#pragma unroll
        for (int j = 0; j < C_VEC * PARTS; j++)
            own[j] = sum_of_slices(sums + row * C_PITCH + column * PARTS + j);
        if (row < rows && column < columns)
            finish(own, alpha, beta, C + (row * c_row + column * c_column) * PARTS,
                   bias + (row * bias_row + column * bias_column) * PARTS, bias_column);
    }
#endif
}
