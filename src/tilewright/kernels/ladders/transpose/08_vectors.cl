// A work-item transposes a VEC x VEC square in registers: no local memory and no barrier.
//
// VEC  elements of one vector load or store, and side of the square
//
// It reads VEC rows by one vector each and writes VEC rows by one vector each. On a CPU, where local memory is ordinary
// memory and a barrier costs a loop of its own, this is the way to do it. On a GPU the work-items of a request write to
// different rows, a few bytes to each, and the cache has to put these pieces together: small squares, in groups that
// are higher than wide, let it.

__kernel void transpose(const int ROWS, const int COLUMNS, const int OFFSET,
                        const __global REAL* input, __global REAL* output)
{
    const size_t x = get_global_id(0) * VEC;
    const size_t y = get_global_id(1) * VEC;
    const size_t width = COLUMNS - OFFSET;

    if (x + VEC <= width && y + VEC <= ROWS) {
        REAL square[VEC][VEC];
#pragma unroll
        for (int i = 0; i < VEC; i++)
            VSTORE(VEC)(VLOAD(VEC)(0, input + (y + i) * COLUMNS + x + OFFSET), 0, square[i]);
#pragma unroll
        for (int i = 0; i < VEC; i++) {
            REAL column[VEC];
#pragma unroll
            for (int j = 0; j < VEC; j++)
                column[j] = square[j][i];
            VSTORE(VEC)(VLOAD(VEC)(0, column), 0, output + (x + i) * ROWS + y);
        }
    } else {
        for (size_t column = x; column < min(x + VEC, width); column++)  // a square at a ragged edge
            for (size_t row = y; row < min(y + VEC, (size_t)ROWS); row++)
                output[column * ROWS + row] = input[row * COLUMNS + column + OFFSET];
    }
}
