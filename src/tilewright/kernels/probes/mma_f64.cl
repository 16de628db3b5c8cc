// mma.sync in double precision, 16 x 8 x 16: A[row][k] is row + 1 and B[k][column] column + 1.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    const int lane = get_local_id(0), row = lane / 4, column = lane % 4 * 2;
    const double upper = row + 1, lower = row + 9;
    double4 sum = 0;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %4, %5, %4, %5, %4, %5}, "
                 "{%4, %4, %4, %4}, {%0, %1, %2, %3};"
                 : "+d"(sum.x), "+d"(sum.y), "+d"(sum.z), "+d"(sum.w)
                 : "d"(upper), "d"(lower));
    check(answer, is_outer_product(convert_float4(sum), 16, row, column));
}
