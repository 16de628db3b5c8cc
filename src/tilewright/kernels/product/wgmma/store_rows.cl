// How a warp of main_loop.cl stores its rows of a slab, which lies in local memory, its chunks of 16 bytes permuted, to C.

#if STAGED == 16
// Four rows of 128 bytes at a time, 16 bytes from each work-item.
INLINE void store_rows(const local uchar* slab, const int2 place, const int M, const int N, __global RESULT* C,
                       const long c_row, const int item)
{
#pragma unroll
    for (int i = 0; i < WARP_ROWS; i += 4) {
        const int row = item / 32 % SLAB_WARPS * WARP_ROWS + i + item % 32 / 8, chunk = item % 8;
        const int m = place.x + row, n = place.y + chunk * (16 / RESULT_BYTES);
        const uint4 fragment = *(const local uint4*)(slab + row * LINE + (chunk ^ row % 8) * 16);
        if (m < M && n < N)
            *(__global uint4*)(C + m * c_row + n) = fragment;
    }
}
#else
#if RESULT_BYTES == 4
#define ELEMENT uint
#else
#define ELEMENT ushort
#endif

// An element of a row of the slab.
INLINE ELEMENT slab_element(const local uchar* line, const int row, const int column)
{
    const int chunk = column * RESULT_BYTES / 16;
    return *(const local ELEMENT*)(line + (chunk ^ row % 8) * 16 + column * RESULT_BYTES % 16);
}

// The first `columns` of a row: whole words, wherever it begins in C, and what is left at its ends.
INLINE void store_row(const local uchar* line, const int row, __global ELEMENT* to, const int columns, const int lane)
{
#if RESULT_BYTES == 4
    if (lane < columns)
        to[lane] = slab_element(line, row, lane);
#else
    const int odd = (ulong)to / 2 % 2, first = odd + 2 * lane;
    if (first + 1 < columns)
        *(__global uint*)(to + first) = slab_element(line, row, first) | (uint)slab_element(line, row, first + 1) << 16;
    else if (first < columns)
        to[first] = slab_element(line, row, first);
    if (odd && lane == 0 && columns > 0)
        to[0] = slab_element(line, row, 0);
#endif
}

INLINE void store_rows(const local uchar* slab, const int2 place, const int M, const int N, __global RESULT* C,
                       const long c_row, const int item)
{
#pragma unroll 4
    for (int i = 0; i < WARP_ROWS; i++) {
        const int row = item / 32 % SLAB_WARPS * WARP_ROWS + i, m = place.x + row;
        if (m < M)
            store_row(slab + row * LINE, row, (__global ELEMENT*)(C + m * c_row + place.y), min(N - place.y, SLAB), item % 32);
    }
}
#endif
