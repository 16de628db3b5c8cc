// The sum and the largest element of each row: a work-group takes a row, and joins its work-items' parts in a tree.
// tilewright: --global ROWS*GROUP --local GROUP -D GROUP=128 -D ROWS=64 -D COLUMNS=2048
// tilewright: --arg input=f32[131072] --arg sums=f32[64] --arg largest=f32[64] --arg columns=2048 --arg pitch=2048
//
// GROUP        work-items of a work-group: a power of two
// ROWS         rows of the matrix
// COLUMNS      its columns
//
// The tree begins with neighbours: in its first step only each second work-item adds, and the others wait. Their places in
// local memory are one step apart, then two, then four: the wider the steps, the more of them meet in one bank.

// The larger of two numbers.
float larger(const float a, const float b)
{
    return a > b ? a : b;
}

// What one work-item finds in its part of the row: every GROUP-th element, so that neighbours read neighbours.
void collect(const __global float* row, const int columns, float* sum, float* most)
{
    *sum = 0;
    *most = -INFINITY;
    for (int column = get_local_id(0); column < columns; column += GROUP) {
        const float value = row[column];
        *sum += value;
        *most = larger(*most, value);
    }
}

__kernel void sum_of_rows(const __global float* input, __global float* sums, __global float* largest,
                          const int columns, const int pitch)
{
    const int item = get_local_id(0);
    const int row = get_group_id(0);
    __local float parts[GROUP];
    __local float tops[GROUP];

    float sum, most;
    collect(input + (size_t)row * pitch, columns, &sum, &most);
    parts[item] = sum;
    tops[item] = most;
    barrier(CLK_LOCAL_MEM_FENCE);  // all parts must be there before anyone joins two of them

    for (int step = 1; step < GROUP; step *= 2) {
        const int mine = 2 * step * item;
        if (mine < GROUP) {
            parts[mine] += parts[mine + step];
            tops[mine] = larger(tops[mine], tops[mine + step]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // outside the condition: every work-item must reach it
    }

    if (item == 0) {
        sums[row] = parts[0];
        largest[row] = tops[0];
    }
}
