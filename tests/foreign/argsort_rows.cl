// Indices that sort each row, bitonic with padding.
#define SWAP(x, y, T) { T tmp = (x); (x) = (y); (y) = tmp; }
enum order { ASC = 0, DESC };
kernel void argsort_rows(global const float* src0, global int* dst, const int ne00, const int ne00_pad, const int order,
                         local int* dst_row)
{
    int col = get_local_id(0), row = get_group_id(1);
    global const float* x_row = src0 + row * ne00;
    dst_row[col] = col;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 2; k <= ne00_pad; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int ixj = col ^ j;
            if (ixj > col) {
                bool up = (col & k) == 0;
                bool left_pad = dst_row[col] >= ne00, right_pad = dst_row[ixj] >= ne00;
                bool greater = left_pad || (!right_pad && (order == ASC ? x_row[dst_row[col]] > x_row[dst_row[ixj]]
                                                                       : x_row[dst_row[col]] < x_row[dst_row[ixj]]));
                bool smaller = right_pad || (!left_pad && (order == ASC ? x_row[dst_row[col]] < x_row[dst_row[ixj]]
                                                                       : x_row[dst_row[col]] > x_row[dst_row[ixj]]));
                if (up ? greater : smaller)
                    SWAP(dst_row[col], dst_row[ixj], int)
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    if (col < ne00)
        dst[row * ne00 + col] = dst_row[col];
}
