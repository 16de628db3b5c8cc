// fp64 and complex128 by mma.sync: TMA loads, eight warps only multiply and store.
//
// BM, BN            the tile of C that a work-group computes
// WARPS_M, WARPS_N  how its warps lie in that tile
// STAGES            panels of each operand that TMA may be ahead
// GROUP_M           rows of tiles of a swizzle group: work-groups that run at a time then share panels in the L2 cache
// A_ACROSS, B_ACROSS  1: neighbours in memory are neighbours across k; 0: they are along k
// A_BATCHED, B_BATCHED  0: all matrices of a batch share the operand
// C_VEC             elements of one store; above 1, c_column is 1
// WITH_C            1 if beta is not 0
//
// A work-group computes one part of the product after the other (scheduler.cl). One more warp has TMA load panels, as many ahead as there are, and does not stop at the end of a tile. mbarriers of a stage: `full`, when TMA has
// written it; `empty`, when all warps have read it. No warp waits for another one that multiplies, so a warp that
// stores its part of a tile leaves the matrix units to the others.
//
// A warp multiplies its tile row by row of 16 x 8 x 8. When it has issued a row's instructions it reads the operands of A of
// the row before for the next step of k: those are no longer in use then, and there is time until they are wanted. A warp
// issues in order, and if it waited for operands the matrix units would be idle.
//
// An arrival at an mbarrier does not wait for reads of local memory that are under way. They may be queued behind another warp's
// stores for longer than TMA takes to write there again. So a warp arrives (`done`) only after it has multiplied all of a stage.
//
// Panels consist of lines of 128 bytes whose eight chunks of 16 bytes TMA has permuted: chunk p of line L lies at
// p ^ (L & 7). A line is a row's 128 bytes along k, or, across k, 128 bytes of rows with one k; the boxes of a panel, of
// 128 bytes each, follow each other. Which k a work-item's operands stand for is free, as long as A and B agree: so it is
// chosen such that the 16 work-items that read doubles together meet all 32 banks in every case (docs/notebook/fp64-hopper.md).

#include "../elements.cl"
#include "../epilogue.cl"

#define STREAM_K 1
#define SKIP_DIVISIONS 1
#include "../scheduler.cl"

#define WARPS (WARPS_M * WARPS_N)  // that multiply
#define ITEMS (32 * WARPS)
#define WARP_M (BM / WARPS_M)      // the tile of C that a warp computes
#define WARP_N (BN / WARPS_N)
#define OCTETS (WARP_N / 8)        // eight columns of B each
#define TILES_M (WARP_M / 16)      // instructions of a step; complex numbers have two tiles of sums for eight columns
#define TILES_N (OCTETS * PARTS)
#define SUMS (TILES_M * TILES_N * 4)
#define LINE 128
#define DOUBLES 16                 // of a line
#define BK (DOUBLES / PARTS)       // elements of k in a panel
#define A_BYTES (BM * LINE)
#define STAGE_BYTES ((BM + BN) * LINE)
#define K_STEPS 2                   // of a panel, eight doubles deep each
#define SLOTS 2                    // doubles that a work-item holds of a row or column for one step

// Where the four doubles lie that a work-item reads of a line: it takes their place exclusive-or these. Work-items that
// hold neighbouring k read lines or chunks that no other one of their half of the warp reads.
#if PARTS == 2
#define FIRST_K(q) ((q) / 2 * 4 + (q) % 2)
#else
#define FIRST_K(q) ((q) / 2 * 4 + (q))
#endif
#define SLOT(slot, across) \
    (PARTS == 2 ? (slot) % 2 * 8 ^ (slot) / 2 * ((across) ? 0x120 : 0x20) : (slot) * ((across) ? 0x120 : 0x10))

// The place of a work-item's first double in the first eight rows of a panel.
INLINE uint first_place(const int across, const int lane)
{
    const int g = lane / 4, q = lane % 4, k = FIRST_K(q);
    if (!across)
        return g * LINE + ((k ^ g) << 4) + q % 2 * 8;
#if PARTS == 2
    return k * LINE + ((g ^ k) << 4) + q % 2 * 8;
#else
    const int line = 2 * k + q % 2;
    return line * LINE + ((g / 2 ^ line % 8) << 4) + g % 2 * 8;
#endif
}

// A double of the eight rows number `octet` from a warp's first row on.
INLINE double panel_double(const local uchar* rows, const uint place, const int across, const int octet, const int slot)
{
#if PARTS == 1
    if (across)
        return *(const local double*)(rows + octet / 2 * 2048 + (place ^ SLOT(slot, 1) ^ octet % 2 * 0x40));
#endif
    return *(const local double*)(rows + octet * 1024 + (place ^ SLOT(slot, across)));
}

// The operands of 16 rows for a step.
INLINE void read_a(double* fragment, const local uchar* rows, const uint place, const int tile, const int k_step)
{
#pragma unroll
    for (int i = 0; i < 2 * SLOTS; i++)
        fragment[i] = panel_double(rows, place, A_ACROSS, 2 * tile + i % 2, k_step * SLOTS + i / 2);
}

INLINE double with_sign(const double value, const ulong sign)
{
    return as_double(as_ulong(value) ^ sign);
}

// The operands of eight columns. Of a complex element a work-item with even q holds first the real part, one with odd q the
// imaginary part, of A and of B: where A's imaginary part meets B's, the real sum wants it subtracted.
INLINE void read_b(double* fragment, const local uchar* columns, const uint place, const int octet, const int k_step)
{
    const double one = panel_double(columns, place, B_ACROSS, octet, k_step * SLOTS);
    const double other = panel_double(columns, place, B_ACROSS, octet, k_step * SLOTS + 1);
#if PARTS == 1
    fragment[0] = one, fragment[1] = other;
#else
    const int odd = get_local_id(0) % 2;
    const ulong imaginary = CONJUGATE_A == CONJUGATE_B ? 1ul << 63 : 0;
    const ulong first = CONJUGATE_B ? 1ul << 63 : 0, second = CONJUGATE_A ? 1ul << 63 : 0;
    fragment[0] = with_sign(one, odd ? imaginary : 0);
    fragment[1] = with_sign(other, odd ? 0 : imaginary);
    fragment[2] = with_sign(other, odd ? second : first);
    fragment[3] = with_sign(one, odd ? first : second);
#endif
}

#include "../pipeline.cl"

#define WARP_FIXUP 1  // warps do not wait for each other
#define PARTIAL_WIDTH 2
#define PARTIAL_VECTORS (SUMS / 2)
#define PARTIAL_ITEMS ITEMS
#include "../fixup.cl"

#ifndef EMULATED  // the producer
// Has TMA load a panel of `side` rows from `row` on.
INLINE void load_panel(const uint panel, const uint full, const __global ulong* map, const int across, const int side, const int row,
                  const int k, const int batch)
{
    if (across)
#pragma unroll
        for (int box = 0; box < side / BK; box++)
            cp_async_bulk_tensor_3d(panel + box * BK * LINE, map, (row + box * BK) * PARTS, k, batch, full);
    else
        cp_async_bulk_tensor_3d(panel, map, k * PARTS, row, batch, full);
}

INLINE void load_stage(const Ring ring, const int stage, const uint parity, const __global ulong* map_a,
                        const __global ulong* map_b, const int2 tile, const int batch, const int k)
{
    const uint to = ring.stages + stage * STAGE_BYTES, full = begin_stage(ring, stage, parity, STAGE_BYTES);
    load_panel(to, full, map_a, A_ACROSS, BM, tile.x, k, A_BATCHED * batch);
    load_panel(to + A_BYTES, full, map_b, B_ACROSS, BN, tile.y, k, B_BATCHED * batch);
}

#endif

#ifdef EMULATED
#define GROUP_ITEMS ITEMS  // consumers also load
#else
#define GROUP_ITEMS ITEMS + 128
#endif

__kernel __attribute__((reqd_work_group_size(GROUP_ITEMS, 1, 1)))
void product(const int M, const int N, const int K, const ACC alpha, const ACC beta, const int whole, const int tiles,
             __global ulong* map_a, const __global STORED* A, const long a_offset,
             __global ulong* map_b, const __global STORED* B, const long b_offset,
             __global RESULT* C, const long c_offset, const long c_row, const long c_column, const long c_batch,
             const __global RESULT* bias, const long bias_offset, const long bias_row, const long bias_column,
             __global COMPONENT* partial, volatile __global int* semaphores)
{
    __local uchar stages[STAGES * STAGE_BYTES] __attribute__((aligned(1024)));
    __local ulong barriers[2 * STAGES] __attribute__((aligned(16)));

    const int item = get_local_id(0), lane = item % 32, warp = shfl_sync_idx(item / 32, 0);
    const int steps = (K + BK - 1) / BK;
    const Ring ring = ring_at(local_address(stages), local_address(barriers));

    if (item == ITEMS) {
        init_barriers(ring, WARPS);
        fence_mbarrier_init();
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    if (warp >= WARPS) {
        setmaxnreg_dec(PRODUCER_REGISTERS);
#ifndef EMULATED
        if (item == ITEMS) {
            tensormap_address(map_a, (ulong)(A + a_offset * PARTS));
            tensormap_address(map_b, (ulong)(B + b_offset * PARTS));
            produce(ring, map_a, map_b, M, N, steps, whole, tiles, 1);
        }
#endif
    } else {
        setmaxnreg_inc(CONSUMER_REGISTERS);

        const int2 own = MAKE2(int, warp / WARPS_N * WARP_M, warp % WARPS_N * WARP_N);
        const int area = tiles_of_matrix(M, N);
        const uint a_place = first_place(A_ACROSS, lane), b_place = first_place(B_ACROSS, lane);
        const local uchar *a_panels = stages + own.x * LINE, *b_panels = stages + A_BYTES + own.y * LINE;
        const local uchar *a_rows = a_panels, *b_columns = b_panels;
        Work work = before_work(whole, tiles, steps);
        int stage = 0;
        uint parity = 0, done = 0;

        double a_fragments[TILES_M][2 * SLOTS], b_fragments[2][TILES_N * SLOTS], sum[TILES_M][TILES_N][4];
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            sum[i / 4 / TILES_N][i / 4 % TILES_N][i % 4] = 0;
        next_work(&work, whole, tiles, steps);
        mbarrier_wait(ring.full, parity);
#pragma unroll
        for (int i = 0; i < TILES_M - 1; i++)
            read_a(a_fragments[i], a_rows, a_place, i, 0);
#pragma unroll
        for (int j = 0; j < OCTETS; j++)
            read_b(b_fragments[0] + j * PARTS * SLOTS, b_columns, b_place, j, 0);

        while (work.first < work.last) {
#pragma unroll 1
            for (int step = work.first; step < work.last; step++) {
#pragma unroll
                for (int k_step = 0; k_step < K_STEPS; k_step++)
#pragma unroll
                    for (int i = 0; i < TILES_M; i++) {
#pragma unroll
                        for (int j = 0; j < TILES_N; j++)
                            mma_sync_m16n8k8_f64(sum[i][j], a_fragments[i], b_fragments[k_step] + j * SLOTS);
                        if (i == TILES_M - 1 && k_step == K_STEPS - 1) {
                            fence_proxy_async();
                            bar_warp_sync();
                            if (lane == 0)
                                mbarrier_arrive(done);
                        }
                        if (i == 0)
                            read_a(a_fragments[TILES_M - 1], a_rows, a_place, TILES_M - 1, k_step);
                        if (i == 0 && k_step == K_STEPS - 1) {
                            done = ring.empty + 8 * stage;
                            NEXT_STAGE(stage, parity)
                            a_rows = a_panels + stage * STAGE_BYTES;
                            b_columns = b_panels + stage * STAGE_BYTES;
                            mbarrier_wait(ring.full + 8 * stage, parity);
                        }
                        if (i > 0)
                            read_a(a_fragments[i - 1], a_rows, a_place, i - 1, 1 - k_step);
#pragma unroll
                        for (int j = 0; j < OCTETS; j++)
                            if (j * TILES_M / OCTETS == i)
                                read_b(b_fragments[1 - k_step] + j * PARTS * SLOTS, b_columns, b_place, j, 1 - k_step);
                    }
            }
            int complete = 1;
            if (work.last - work.first < steps) {
                const int tile_of_tail = work.number - whole;
                const TileGroups groups = groups_of(tile_of_tail, steps, (tiles - whole) * steps);
                // Counted over all tiles, the partial tiles before this one's are one for each group before, and one for each tile.
                __global double* partials = partial + (size_t)(groups.first + tile_of_tail) * SUMS * ITEMS;
                store_partial(sum[0][0], partials, (int)get_group_id(0) - groups.first);
                complete = 0;
                if (arrives_last(semaphores + tile_of_tail * WARPS + warp, groups.count)) {
                    add_partials(sum[0][0], partials, groups.count);
                    complete = 1;
                }
            }
            const int2 corner = tile_coordinates(work.number % area, M, N) * MAKE2(int, BM, BN) + own + MAKE2(int, lane / 4, lane % 4 * 2);
            __global RESULT* c = C + (c_offset + work.number / area * c_batch) * PARTS;
#pragma unroll
            for (int i = 0; i < TILES_M * 2; i++)
#pragma unroll
                for (int j = 0; j < OCTETS * 2; j += C_VEC) {
                    const int row = corner.x + i * 8, column = corner.y + j / 2 * 8 + j % 2;
                    double value[C_VEC * PARTS];
#pragma unroll
                    for (int word = 0; word < C_VEC * PARTS; word++)
                        value[word] = sum[i / 2][j / 2 * PARTS + word % PARTS][i % 2 * 2 + j % 2 + word / PARTS];
                    if (complete && row < M && column < N)
                        finish(value, alpha, beta, c + (row * c_row + column * c_column) * PARTS,
                               bias + (bias_offset + row * bias_row + column * bias_column) * PARTS, bias_column);
                }
#pragma unroll
            for (int i = 0; i < SUMS; i++)
                sum[i / 4 / TILES_N][i / 4 % TILES_N][i % 4] = 0;
            next_work(&work, whole, tiles, steps);
        }
    }
}
