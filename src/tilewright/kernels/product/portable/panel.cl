// How one operand gets from global memory into a panel of local memory, and from there into registers.
//
// Included once for A and once for B, each time with these macros, which it undefines at its end:
//   NAME(x)  the operand's own name for x
//   SIDE     rows of A, or columns of B, that a panel holds (both are called rows here)
//   ORDER    PANEL_ALONG_K or PANEL_ACROSS: the direction in which it is read by vectors
//   WIDTH    elements of one load
//   LOADS    loads of one work-item for one panel
//   PITCH    components from one k of the panel to the next
//   CONJUGATE  1 to conjugate it
//   TILE     rows of the panel that a work-item multiplies
//
// All loops have bounds known when compiling, so that the private arrays stay in registers.

// Where load number `load` lies in the panel: row and k.
INLINE int2 NAME(place)(const int load)
{
    const int vector = get_local_id(0) + load * ITEMS;
#if ORDER == PANEL_ALONG_K
    return MAKE2(int, vector / (BK / WIDTH), vector % (BK / WIDTH) * WIDTH);
#else
    return MAKE2(int, vector % (SIDE / WIDTH) * WIDTH, vector / (SIDE / WIDTH));
#endif
}

// The offsets from a panel's first element of what this work-item reads. Rows from `rows` on become the last one; a
// vector of rows may begin before and end behind it, in the room that a packed operand has at the end of its rows.
INLINE void NAME(locate)(INDEX* offsets, const int rows, const INDEX row_stride, const INDEX k_stride)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int2 at = NAME(place)(load);
        const int last = ORDER == PANEL_ALONG_K ? rows - 1 : (rows - 1) / WIDTH * WIDTH;
        const int row = min(at.x, last);
        offsets[load] = (row * row_stride + at.y * k_stride) * PARTS;
    }
}

INLINE void NAME(load)(STORED* loaded, const __global STORED* panel, const INDEX* offsets)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++)
        load_stored(loaded + load * WIDTH * PARTS, panel + offsets[load], WIDTH * PARTS);
}

// The same for the first panel, which is only `depth` deep: the rest of it is zero.
INLINE void NAME(load_first)(STORED* loaded, const __global STORED* panel, const INDEX* offsets, const int depth)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
#pragma unroll
        for (int word = 0; word < WIDTH * PARTS; word++)
            loaded[load * WIDTH * PARTS + word] = 0;
        if (NAME(place)(load).y < depth)
            load_stored(loaded + load * WIDTH * PARTS, panel + offsets[load], WIDTH * PARTS);
    }
}

// Stores what was loaded in a panel in local memory, k-major.
INLINE void NAME(store)(local COMPONENT* panel, const STORED* loaded)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int2 at = NAME(place)(load);
        const STORED* from = loaded + load * WIDTH * PARTS;
        local COMPONENT* to = panel + at.y * PITCH + at.x * PARTS;
#if ORDER == PANEL_ACROSS && WIDTH * PARTS % WORDS == 0
#pragma unroll
        for (int word = 0; word < WIDTH * PARTS; word += WORDS)
            *(local WORDS_TYPE*)(to + word) = DECODE_WORDS(from + word, CONJUGATE);
#else
#pragma unroll
        for (int word = 0; word < WIDTH * PARTS; word++)
            to[(ORDER == PANEL_ALONG_K ? word / PARTS * PITCH : word / PARTS * PARTS) + word % PARTS] =
                COMPONENT_OF(from, word, CONJUGATE);
#endif
    }
}

// The work-item's operands for one k: FRAGMENT of them lie together, the next are SIDE / (TILE / FRAGMENT) further.
INLINE void NAME(read)(COMPONENT* operands, const local COMPONENT* row)
{
#pragma unroll
    for (int i = 0; i < TILE / FRAGMENT; i++)
        JOIN(vstore, WORDS)(*(const local WORDS_TYPE*)(row + i * (SIDE / (TILE / FRAGMENT)) * PARTS), i, operands);
}

#undef NAME
#undef SIDE
#undef ORDER
#undef WIDTH
#undef LOADS
#undef PITCH
#undef CONJUGATE
#undef TILE
