// Both operands are copied before a product by one launch, element by element: wherever their lines begin.
//
// ELEMENT   an unsigned type of the element's size
// TILE      rows and k of an operand that a work-group copies: a line of them is 256 bytes
// ITEMS     work-items of a group
// A_READ, A_WRITTEN, B_READ, B_WRITTEN  1 if neighbours in memory are rows across k, 0 if they are along k: of the operand, and of
//           its copy
// A_BATCHED, B_BATCHED  0: all matrices of a batch share the operand, of which there is one copy
//
// Work-groups: dimension 0 the tiles of A, then those of B; 2 the batch. Every tile passes through local memory, where it is
// transposed if needed.

#define STEP (ITEMS / TILE)  // lines that a group reads or writes at a time
#define RUNS (TILE / STEP)
#define PITCH (TILE + 1)     // elements from line to line of local memory, so that columns meet all banks

// An operand by its rows across k, or its copy: elements from row to row, and from k to k.
typedef struct {
    __global ELEMENT* first;
    long row, k;
} View;

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void pack(const int M, const int N, const int K, const int a_tiles,
          __global ELEMENT* A, const long a_offset, const long a_row, const long a_column, const long a_batch,
          __global ELEMENT* B, const long b_offset, const long b_row, const long b_column, const long b_batch,
          __global ELEMENT* packed_A, const long packed_a_row, const long packed_a_column, const long packed_a_batch,
          __global ELEMENT* packed_B, const long packed_b_row, const long packed_b_column, const long packed_b_batch)
{
    __local ELEMENT tile[TILE * PITCH];
    const int item = get_local_id(0), x = item % TILE, y = item / TILE, of_a = (int)get_group_id(0) < a_tiles;
    const int number = (int)get_group_id(0) - (of_a ? 0 : a_tiles), read = of_a ? A_READ : B_READ;
    const int written = of_a ? A_WRITTEN : B_WRITTEN;
    const long batch = get_group_id(2);
    View from = {A + a_offset + batch * a_batch, a_row, a_column}, to = {packed_A + batch * packed_a_batch, packed_a_row, packed_a_column};
    if (!of_a) {
        from.first = B + b_offset + batch * b_batch, from.row = b_column, from.k = b_row;
        to.first = packed_B + batch * packed_b_batch, to.row = packed_b_row, to.k = packed_b_column;
    }
    const int tiles = ((of_a ? M : N) + TILE - 1) / TILE;
    const int first_row = number % tiles * TILE, first_k = number / tiles * TILE;
    // What is left of rows and of k; nothing, if there is a copy already.
    const int rows = batch == 0 || (of_a ? A_BATCHED : B_BATCHED) ? (of_a ? M : N) - first_row : 0, depth = K - first_k;
    from.first += first_row * from.row + first_k * from.k;
    to.first += first_row * to.row + first_k * to.k;

#pragma unroll
    for (int run = 0; run < RUNS; run++) {
        const int line = y + run * STEP, row = read ? x : line, k = read ? line : x;
        if (row < rows && k < depth)
            tile[line * PITCH + x] = from.first[row * from.row + k * from.k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int run = 0; run < RUNS; run++) {
        const int line = y + run * STEP, row = written ? x : line, k = written ? line : x;
        if (row < rows && k < depth)
            to.first[row * to.row + k * to.k] = tile[read == written ? line * PITCH + x : x * PITCH + line];
    }
}
