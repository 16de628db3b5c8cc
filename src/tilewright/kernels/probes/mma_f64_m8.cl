// mma.sync in double precision, 8 x 8 x 4, since sm_80: A[row][k] is row + 1 and B[k][column] column + 1.
#include "check.cl"

__kernel __attribute__((reqd_work_group_size(32, 1, 1)))
void probe(__global ulong* map, const __global uint* numbers, __global int* answer)
{
    const int lane = get_local_id(0), row = lane / 4, column = lane % 4 * 2;
    const double side = row + 1;
    double2 sum = 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%2}, {%0, %1};"
                 : "+d"(sum.x), "+d"(sum.y)
                 : "d"(side));
    check(answer, sum.x == 4 * (row + 1) * (column + 1) && sum.y == 4 * (row + 1) * (column + 2));
}
