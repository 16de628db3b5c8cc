// NVIDIA's instructions in plain OpenCL C, in place of prelude/nvidia.cl, mma.cl, tma.cl and wgmma.cl; see emulation.py.
//
// All warps go in step: whoever waits for a stage fills it, and barriers of a stage have nothing to do. One of these is
// defined, and says which kernel follows: EMULATED_FMA, EMULATED_MMA, EMULATED_MMA_ELEMENTS,
// EMULATED_MMA_TMA, EMULATED_WGMMA.

#define fence_mbarrier_init()
#define mbarrier_init(barrier, count)
#define mbarrier_arrive(barrier)
#define mbarrier_arrive_expect_tx(barrier, bytes)
#define tensormap_address(map, address)
#define setmaxnreg_dec(registers)
#define setmaxnreg_inc(registers)
#define fence_proxy_async()
#define fence_acq_rel_gpu() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define bar_sync(number, items) barrier(CLK_LOCAL_MEM_FENCE)
#define shfl_sync_idx(value, lane) (value)
#ifdef EMULATED_MMA
#define local_address(pointer) (pointer)
#else
#define local_address(pointer) 0
#endif
#ifdef EMULATED_MMA_TMA
#define bar_warp_sync()
#else
#define bar_warp_sync() barrier(CLK_LOCAL_MEM_FENCE)
#endif

#ifdef EMULATED_FMA
// What TMA puts into a stage: blocks of `side` rows, BK lines of k each, and zeros beyond the matrix.
#define FETCH_SIDE(to, matrix, size, side, first, rows, pitch)                                                        \
    for (int i = get_local_id(0); i < (size) * BK; i += ITEMS) {                                                      \
        const int row = i / ((side) * BK) * (side) + i % (side), k = step * BK + i / (side) % BK;                     \
        (to)[i] = (first) + row < (rows) && k < K ? (matrix)[(size_t)k * (pitch) + (first) + row] : 0;                \
    }

#define mbarrier_wait(barrier_address, parity)                                                                        \
    {                                                                                                                 \
        const int2 tile = tile_coordinates(work.number % area, rows, columns) * (int2)(BM, BN);                             \
        const size_t batch = work.number / area;                                                                      \
        __local COMPONENT* to = stages + stage * STAGE_ELEMENTS;                                                      \
        const __global STORED *a = A + a_offset * PARTS + batch * A_BATCH, *b = B + b_offset * PARTS + batch * B_BATCH;\
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        FETCH_SIDE(to, a, BM, A_SIDE, tile.x, rows, A_PITCH)                                                          \
        FETCH_SIDE(to + A_ELEMENTS, b, BN, B_SIDE, tile.y, columns, B_PITCH)                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
    }
#endif

#if defined(EMULATED_MMA) || defined(EMULATED_MMA_ELEMENTS) || defined(EMULATED_MMA_TMA)
// mma.sync of doubles. Work-items exchange their operands, four of A and two of B, through local memory.
static inline void exchange_and_multiply(__local double* held, double* sum, const double* a, const double* b)
{
    const int item = get_local_id(0), warp = item / 32 * 32, g = item % 32 / 4, q = item % 4;
    for (int i = 0; i < 6; i++)
        held[item * 6 + i] = i < 4 ? a[i] : b[i - 4];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 4; i++)
            sum[i] = fma(held[(warp + g * 4 + k % 4) * 6 + k / 4 * 2 + i / 2],
                         held[(warp + (2 * q + i % 2) * 4 + k % 4) * 6 + 4 + k / 4], sum[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#ifdef EMULATED_MMA
// Copies happen at once, the earliest that cp.async may do it: a panel that is filled while it is read would show.
#define cp_async_cg_16(to, from, bytes) copy_bytes(to, from, bytes, 16)
#define cp_async_ca_8(to, from, bytes) copy_bytes(to, from, bytes, 8)
#define cp_async_commit_group()
#define cp_async_wait_group(pending)
#define mma_sync_m16n8k8_f64(sum, a, b)

static inline void copy_bytes(__local uchar* to, const __global void* from, uint bytes, int width)
{
    for (int i = 0; i < width; i++)
        to[i] = i < bytes ? ((const __global uchar*)from)[i] : 0;
}
#endif

#ifdef EMULATED_MMA_ELEMENTS
#define ldmatrix_x4(held, panel, fragment, line) exchange_lines(held, panel, fragment, line, 0)
#define ldmatrix_x4_trans(held, panel, fragment, line) exchange_lines(held, panel, fragment, line, 1)
// ldmatrix and mma.sync of 16-bit floats. Work-items exchange places and operands through local memory, eight words each.
static inline void exchange_lines(__local int* held, const __local ushort* panel, uint* fragment, const __local ushort* line,
                                  int transposed)
{
    const int item = get_local_id(0), warp = item / 32 * 32, lane = item % 32;
    held[item * 8] = (int)(line - panel);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 4; i++) {
        const int first = transposed ? lane % 4 * 2 : lane / 4, second = transposed ? first + 1 : first;
        const int place = transposed ? lane / 4 : lane % 4 * 2, next = transposed ? place : place + 1;
        const uint low = panel[held[(warp + i * 8 + first) * 8] + place];
        fragment[i] = low | (uint)panel[held[(warp + i * 8 + second) * 8] + next] << 16;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

static inline void exchange_words(__local int* held, float* sum, const uint* a, const uint* b)
{
    const int item = get_local_id(0), warp = item / 32 * 32, g = item % 32 / 4, q = item % 4;
    for (int i = 0; i < 6; i++)
        held[item * 8 + i] = as_int(i < 4 ? a[i] : b[i - 4]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < 16; k++)
        for (int i = 0; i < 4; i++) {
            const uint left = as_uint(held[(warp + g * 4 + k % 8 / 2) * 8 + k / 8 * 2 + i / 2]);
            const uint right = as_uint(held[(warp + (2 * q + i % 2) * 4 + k % 8 / 2) * 8 + 4 + k / 8]);
            ushort one = (ushort)(left >> k % 2 * 16), other = (ushort)(right >> k % 2 * 16);
            sum[i] = fma(vload_half(0, (const half*)&one), vload_half(0, (const half*)&other), sum[i]);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

#ifdef EMULATED_MMA_TMA
#define mma_sync_m16n8k8_f64(sum, a, b) exchange_and_multiply(held, sum, a, b)

// What work-item 0 of the warp holds.
static inline uint of_first(__local double* held, uint value)
{
    if (get_local_id(0) % 32 == 0)
        held[get_local_id(0) / 32] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    value = held[get_local_id(0) / 32];
    barrier(CLK_LOCAL_MEM_FENCE);
    return value;
}

// What TMA puts into a panel: lines of 16 doubles, whose pieces of two are exchanged within eight lines.
static inline void copy_panel(__local uchar* panel, const __global double* matrix, const int across, const int side,
                              const int parts, const int row, const int k, const int rows, const int depth, const int pitch)
{
    const int lines = 16 / parts;  // of a box that runs across k
    for (int i = get_local_id(0); i < side * 16; i += get_local_size(0)) {
        const int line = i / 16, place = i % 16, part = place % parts;
        const int r = row + (across ? line / lines * lines + place / parts : line);
        const int d = k + (across ? line % lines : place / parts);
        const double value = r < rows && d < depth ? matrix[(across ? d * pitch + r : r * pitch + d) * parts + part] : 0;
        ((__local double*)panel)[line * 16 + (place / 2 ^ line % 8) * 2 + place % 2] = value;
    }
}

#define mbarrier_wait(barrier_address, parity)                                                                        \
    {                                                                                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
        if (ahead.first == ahead.last)                                                                                \
            next_work(&ahead, whole, tiles, steps);                                                                   \
        if (ahead.first < ahead.last) {                                                                               \
            const int2 tile = tile_coordinates(ahead.number % area, M, N) * (int2)(BM, BN);                                 \
            const size_t batch = ahead.number / area;                                                                 \
            copy_panel(stages + stage * STAGE_BYTES, A + a_offset + A_BATCHED * batch * M * K * PARTS, A_ACROSS, BM,  \
                       PARTS, tile.x, ahead.first * BK, M, K, A_ACROSS ? M : K);                                      \
            copy_panel(stages + stage * STAGE_BYTES + A_BYTES, B + b_offset + B_BATCHED * batch * N * K * PARTS,      \
                       B_ACROSS, BN, PARTS, tile.y, ahead.first * BK, N, K, B_ACROSS ? N : K);                        \
            ahead.first++;                                                                                            \
        }                                                                                                             \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                 \
    }
#endif

#ifdef EMULATED_WGMMA
// wgmma reads local memory by addresses, whose bits it permutes: here they are offsets from `tiles`, which every function
// that multiplies gets. Work-items exchange what they hold through local memory, in `words`.
#define mbarrier_wait(barrier, parity)
#define cp_async_bulk_tensor_3d(to, map, x, y, z, barrier)
#define cp_async_bulk_tensor_3d_hint(to, map, x, y, z, barrier, policy)
#define createpolicy_evict_first() 0
#define wgmma_fence()
#define wgmma_commit_group()
#define wgmma_wait_group_1()
#define wgmma_wait_group_0()
#define wgmma_ready(N, kind, sums)
#define wgmma_descriptor(address, leading, stride) ((address) / 16)
#define wgmma_descriptor_by(address, leading, stride, line) ((address) / 16)
#define wgmma_f32_f16(N, sums, tile, other, keep, a_across, b_across)  // a test brings its own sums
#define wgmma_f32_tf32_held(N, sums, held, other, keep) multiply_held(words, tiles, N, sums, held, other, keep)
#define cvt_rn_f16x2_f32(first, second) (float_to_half(first) | (uint)float_to_half(second) << 16)
#define cvt_rn_bf16x2_f32(first, second) (float_to_bfloat(first) | (uint)float_to_bfloat(second) << 16)
#define stmatrix_x4(row_address, a, b, c, d) exchange_rows(words, slab, row_address, (uint4)(a, b, c, d))

// stmatrix.m8n8.x4: lane 8 i + r says where row r of matrix i goes, an offset in `slab`, and holds two elements of one row of each.
static inline void exchange_rows(__local uint* words, __local uchar* slab, uint row_address, uint4 held)
{
    const int item = get_local_id(0), lane = item % 32;
    const uint own[4] = {held.x, held.y, held.z, held.w};
    words[item] = row_address;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < 4; i++)
        *(__local uint*)(slab + words[item - lane + 8 * i + lane / 4] + lane % 4 * 4) = own[i];
    barrier(CLK_LOCAL_MEM_FENCE);
}

// wgmma.m64nNk8: fragments and the swizzle of 128 bytes as the PTX ISA draws them.
static inline void multiply_held(__local uint* words, const __local uchar* tiles, int columns, float* sums,
                                 const uint* held, ulong other, int keep)
{
    const int item = get_local_id(0);
    for (int i = 0; i < 4; i++)
        words[item * 4 + i] = held[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < columns / 2; i++) {
        const int row = item % 32 / 4 + i / 2 % 2 * 8, column = i / 4 * 8 + item % 4 * 2 + i % 2;
        float sum = keep ? sums[i] : 0;
        for (int k = 0; k < 8; k++) {
            const uint place = other * 16 + column * 128 + k * 4, swizzled = place ^ place / 128 % 8 * 16;
            const int lane = row % 8 * 4 + k % 4, number = row / 8 + k / 4 * 2;
            sum += as_float(words[(item / 32 * 32 + lane) * 4 + number] & 0xffffe000)
                   * *(const __local float*)(tiles + swizzled);
        }
        sums[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif
