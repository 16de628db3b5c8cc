// A plain copy, coalesced on both sides: the speed that a transpose can reach.

__kernel void copy(const int ROWS, const int COLUMNS, const int OFFSET,
                   const __global REAL* input, __global REAL* output)
{
    // x runs along the rows of the input, and dimension 0 with it: neighbours in a work-group are neighbours in memory.
    const size_t x = get_global_id(0);
    const size_t y = get_global_id(1);
    const size_t width = COLUMNS - OFFSET;
    if (x < width && y < ROWS)
        output[y * width + x] = input[y * COLUMNS + x + OFFSET];
}
