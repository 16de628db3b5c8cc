// Copies a matrix into one of another size: zeros where that is larger, cut off where it is smaller.
//
// TILE           columns that a work-group copies, and rows
// ROWS_PER_ITEM  rows that a work-item copies, TILE / ROWS_PER_ITEM apart

__kernel void pad(const int ROWS, const int COLUMNS, const int NEW_ROWS, const int NEW_COLUMNS,
                  const __global REAL* input, __global REAL* output)
{
    const size_t x = get_group_id(0) * TILE + get_local_id(0);
    const size_t y = get_group_id(1) * TILE + get_local_id(1);
#pragma unroll
    for (int i = 0; i < TILE; i += TILE / ROWS_PER_ITEM)
        if (x < NEW_COLUMNS && y + i < NEW_ROWS)
            output[(y + i) * NEW_COLUMNS + x] = x < COLUMNS && y + i < ROWS ? input[(y + i) * COLUMNS + x] : 0;
}
