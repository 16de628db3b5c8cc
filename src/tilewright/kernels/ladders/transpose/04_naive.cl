// The plain transpose: reads are coalesced, but each write jumps by a whole row.

__kernel void transpose(const int ROWS, const int COLUMNS, const int OFFSET,
                        const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(0);
    const size_t y = get_global_id(1);
    const size_t width = COLUMNS - OFFSET;
    if (x < width && y < ROWS)
        output[x * ROWS + y] = input[y * COLUMNS + x + OFFSET];
}
