// The producer of main_loop.cl: one work-item of the first warpgroup has TMA load tiles of A and B.

// Without a cache policy the L2 cache merges requests that work-groups make at a time. Any policy, even the default one, ends that.
INLINE void load_b(const uint to, const __global ulong* map_b, const int x, const int y, const int matrix, const uint ready,
                    const int once, const ulong policy)
{
    if (once)
        cp_async_bulk_tensor_3d_hint(to, map_b, x, y, matrix, ready, policy);
    else
        cp_async_bulk_tensor_3d(to, map_b, x, y, matrix, ready);
}

// How TMA loads an operand: by `map`, or by `edge` where a tile has fewer than `rows` rows before `end`.
typedef struct {
    const __global ulong *map, *edge;
    int batched;  // 0 if all matrices of the batch share it
    int end, rows, unit, edged;
} Source;

// Rows of a tile that are loaded from `first` on: in units of the swizzle, or of boxes across k.
INLINE int rows_of_tile(const Source source, const int first)
{
    const int left = (source.end - first + source.unit - 1) / source.unit * source.unit;
    if (CLUSTER > 1 && left <= 0)
        return 0;  // a tile outside of C, beside the last one of an odd number
    return source.edged ? min(source.rows, left) : source.rows;
}

// Loads rows of an operand's tile along k: all of them, or one of two parts that work-groups of a cluster load for each other.
INLINE void load_rows(const uint to, const __global ulong* map, const int k, const int first, const int rows, const int matrix,
                      const uint ready, const int parts, const int rank)
{
    const int own = rank % parts * (rows / parts);
    if (parts > 1)
        cp_async_bulk_tensor_3d_multicast(to + own * LINE, map, k, first + own, matrix, ready, 3);
    else if (CLUSTER == 1 || rows > 0)
        cp_async_bulk_tensor_3d(to, map, k, first, matrix, ready);
}

// One work-item loads all tiles, each as soon as its stage is empty.
INLINE void produce(const Grid grid, const Ring ring, const Source a, const Source b, const int b_once)
{
    const ulong policy = createpolicy_evict_first();
    PipelineState state = {0, 0};
    for (WorkTile work = first_work(grid); work.steps > 0; work = next_work(grid, work)) {
        const Origin place = origin_of(grid, work.tile);
        const int a_matrix = place.matrix * a.batched, b_matrix = place.matrix * b.batched;
        const int a_rows = rows_of_tile(a, place.m), b_rows = rows_of_tile(b, place.n);
        const __global ulong* map_a = a_rows < A_ROWS ? a.edge : a.map;
        const __global ulong* map_b = b_rows < B_ROWS ? b.edge : b.map;
        int k = work.first * BK - place.matrix * ODD_ROW_LEAD;
        for (int step = 0; step < work.steps; step++) {
            const uint to_a = ring.stages + state.stage * STAGE_BYTES, to_b = to_a + A_TILE;
            const uint ready = begin_stage(ring, state.stage, state.parity ^ 1, (a_rows + b_rows) * LINE);
#if A_ACROSS
#pragma unroll
            for (int row = 0; row < A_ROWS; row += BK)
                if (row < a_rows) {
                    if (CLUSTER_N == 1)
                        cp_async_bulk_tensor_3d(to_a + row * LINE, map_a, place.m + row, k, a_matrix, ready);
                    else if (row / BK % CLUSTER_N == grid.rank)
                        cp_async_bulk_tensor_3d_multicast(to_a + row * LINE, map_a, place.m + row, k, a_matrix, ready, 3);
                }
#else
            load_rows(to_a, map_a, k, place.m, a_rows, a_matrix, ready, CLUSTER_N, grid.rank);
#endif
#if B_ACROSS
#pragma unroll
            for (int column = 0; column < B_ROWS; column += BK)
                if (column < b_rows) {
                    if (CLUSTER_M == 1)
                        load_b(to_b + column * LINE, map_b, place.n + column, k, b_matrix, ready, b_once, policy);
                    else if (column / BK % CLUSTER_M == grid.rank)
                        cp_async_bulk_tensor_3d_multicast(to_b + column * LINE, map_b, place.n + column, k, b_matrix, ready, 3);
                }
#elif CLUSTER > 1
            load_rows(to_b, map_b, k, place.n, b_rows, b_matrix, ready, CLUSTER_M, grid.rank);
#else
            load_b(to_b, map_b, k, place.n, b_matrix, ready, b_once, policy);
#endif
            k += BK;
            NEXT_STAGE(state.stage, state.parity)
        }
    }
#if CLUSTER > 1
    // The other work-group's consumers arrive here as long as there are stages to be emptied: this local memory must last.
    for (int stage = 0; stage < STAGES; stage++) {
        mbarrier_wait(ring.empty + 8 * state.stage, state.parity ^ 1);
        NEXT_STAGE(state.stage, state.parity)
    }
#endif
}
