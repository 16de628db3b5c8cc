// The peak of global memory: a copy by vectors; neighbouring work-items copy neighbouring vectors.
//
// VW        elements of a vector
// PER_ITEM  vectors that a work-item copies, GROUP apart: 1 on a GPU, enough to be worth a work-item on a CPU
// GROUP     work-items of a work-group

typedef VECTOR(VW) vector;

__kernel void copy(const int ROWS, const int COLUMNS, const __global REAL* input, __global REAL* output)
{
    const size_t vectors = (size_t)ROWS * COLUMNS / VW;
    const size_t first = get_group_id(0) * GROUP * PER_ITEM + get_local_id(0);
    const __global vector* from = (const __global vector*)input;
    __global vector* to = (__global vector*)output;
#pragma unroll
    for (int i = 0; i < PER_ITEM; i++)
        if (first + i * GROUP < vectors)
            to[first + i * GROUP] = from[first + i * GROUP];
}
