// The copy with x and y swapped: both sides jump by rows, which shows what coalescing is worth.
//
// Not an element more is moved than in `copy`. But memory comes in sectors of 32 bytes, of which a float needs 4, and
// the 32 elements of a request lie in as many sectors. Only what a cache keeps until the other 28 bytes are asked for
// saves the rest.

__kernel void copy(const int ROWS, const int COLUMNS, const int OFFSET,
                   const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(1);
    const size_t y = get_global_id(0);
    const size_t width = COLUMNS - OFFSET;
    if (x < width && y < ROWS)
        output[y * width + x] = input[y * COLUMNS + x + OFFSET];
}
