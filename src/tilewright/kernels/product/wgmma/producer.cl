// The producer of main_loop.cl: one work-item of the first warpgroup has TMA load tiles of A and B.

// Without a cache policy the L2 cache merges requests that work-groups make at a time. Any policy, even the default one, ends that.
// What is loaded by `parts` goes to all work-groups of the cluster, without one.
INLINE void load_box(const uint to, const __global ulong* map, const int x, const int y, const int matrix, const uint ready,
                     const int parts, const int once, const ulong policy)
{
#if CLUSTER > 1
    if (parts > 1) {
        cp_async_bulk_tensor_3d_multicast(to, map, x, y, matrix, ready);
        return;
    }
#endif
    if (once)
        cp_async_bulk_tensor_3d_hint(to, map, x, y, matrix, ready, policy);
    else
        cp_async_bulk_tensor_3d(to, map, x, y, matrix, ready);
}

// How TMA loads an operand: by `map`, or by `edge` where a tile has fewer than `rows` rows before `end`.
typedef struct {
    const __global ulong *map, *edge;
    int batched;  // 0 if all matrices of the batch share it
    int end, rows, unit, edged;
} Source;

// Rows of a tile that are loaded from `first` on: in units of the swizzle for each part, or of boxes across k. A cluster at the edge of
// C may have a tile outside of it, for which nothing is loaded.
INLINE int rows_of_tile(const Source source, const int first)
{
    const int left = (source.end - first + source.unit - 1) / source.unit * source.unit;
    const int rows = source.edged ? min(source.rows, left) : source.rows;
    return CLUSTER > 1 && left <= 0 ? 0 : rows;
}

// One work-item loads all tiles, each as soon as its stage is empty.
INLINE void produce(const Grid grid, const Ring ring, const Source a, const Source b, const int b_once)
{
    const ulong policy = createpolicy_evict_first();
    const int a_part = grid.rank % A_PARTS, b_part = grid.rank % B_PARTS;
    PipelineState state = {0, 0};
    for (WorkTile work = first_work(grid); work.steps > 0; work = next_work(grid, work)) {
        const Origin place = origin_of(grid, work.tile);
        const int a_matrix = place.matrix * a.batched, b_matrix = place.matrix * b.batched;
        const int a_rows = rows_of_tile(a, place.m), b_rows = rows_of_tile(b, place.n);
        const __global ulong* map_a = a_rows < a.rows ? a.edge : a.map;
        const __global ulong* map_b = b_rows < b.rows ? b.edge : b.map;
        int k = work.first * BK - place.matrix * ODD_ROW_LEAD;
        for (int step = 0; step < work.steps; step++) {
            const uint to_a = ring.stages + state.stage * STAGE_BYTES, to_b = to_a + A_TILE;
            const uint ready = begin_stage(ring, state.stage, state.parity ^ 1, (a_rows + b_rows) * LINE);
#if A_ACROSS
#pragma unroll
            for (int row = 0; row < BM; row += BK)
                if (row < a_rows && row / BK % A_PARTS == a_part)
                    load_box(to_a + row * LINE, map_a, place.m + row, k, a_matrix, ready, A_PARTS, 0, policy);
#else
            const int a_first = a_part * (a_rows / A_PARTS);
            if (CLUSTER == 1 || a_rows > 0)
                load_box(to_a + a_first * LINE, map_a, k, place.m + a_first, a_matrix, ready, A_PARTS, 0, policy);
#endif
#if B_ACROSS
#pragma unroll
            for (int column = 0; column < BN; column += B_BOX)
                if (column < b_rows && column / B_BOX % B_PARTS == b_part)
                    load_box(to_b + column * LINE, map_b, place.n + column, k, b_matrix, ready, B_PARTS, b_once, policy);
#else
            const int b_first = b_part * (b_rows / B_PARTS);
            if (CLUSTER == 1 || b_rows > 0)
                load_box(to_b + b_first * LINE, map_b, k, place.n + b_first, b_matrix, ready, B_PARTS, b_once, policy);
#endif
            k += BK;
            NEXT_STAGE(state.stage, state.parity)
        }
    }
#if CLUSTER > 1
    // The other work-group arrives at this one's barriers as long as it reads: this one's local memory must last until then.
    for (int stage = 0; stage < STAGES; stage++) {
        mbarrier_wait(ring.empty + 8 * state.stage, state.parity ^ 1);
        NEXT_STAGE(state.stage, state.parity)
    }
#endif
}
