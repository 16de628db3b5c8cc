// The copy with x and y swapped: both sides jump by rows, which shows what coalescing is worth.
//
// As many elements are copied as in `copy`. But memory comes in sectors of 32 bytes: a request of 32 elements, which lie in
// 16 rows, touches 16 sectors and uses 8 bytes of each. The rest is used only if a cache keeps it until it is asked for.

__kernel void copy(const int ROWS, const int COLUMNS, const int OFFSET,
                   const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(1);
    const size_t y = get_global_id(0);
    const size_t width = COLUMNS - OFFSET;
    if (x < width && y < ROWS)
        output[y * width + x] = input[y * COLUMNS + x + OFFSET];
}
