// How one operand gets from global memory into a panel of local memory, and from there into registers.
//
// Included once for A and once for B, each time with these macros, which it undefines at its end:
//   NAME(x)  the operand's own name for x
//   SIDE     rows of A, or columns of B, that a panel holds (both are called rows here)
//   ORDER    PANEL_ALONG_K or PANEL_ACROSS: the direction in which it is read by vectors. PANEL_ANY: `how` says at run time, which is
//            READ_ALONG_K or READ_ACROSS, plus READ_SINGLE if elements are read one by one
//   WIDTH    elements of one load
//   PITCH    components from one k of the panel to the next
//   CONJUGATE  1 to conjugate it
//   TILE     rows of the panel that a work-item multiplies
//
// All loops have bounds known when compiling, so that the private arrays stay in registers: `order` and `width` are constants
// wherever a function that takes them is called.

#define LOADS(width) (SIDE * BK / (width) / ITEMS)  // of one work-item for one panel

// Calls `function` with the order and the width that `how` means.
#if ORDER == PANEL_ANY
#define BY_ORDER(function, how, ...)                          \
    {                                                         \
        if ((how) == READ_ACROSS)                             \
            function(PANEL_ACROSS, WIDTH, __VA_ARGS__);       \
        else if ((how) == READ_ALONG_K)                       \
            function(PANEL_ALONG_K, WIDTH, __VA_ARGS__);      \
        else if ((how) == READ_ACROSS + READ_SINGLE)          \
            function(PANEL_ACROSS, 1, __VA_ARGS__);           \
        else                                                  \
            function(PANEL_ALONG_K, 1, __VA_ARGS__);          \
    }
#else
#define BY_ORDER(function, how, ...) function(ORDER, WIDTH, __VA_ARGS__);
#endif

// Where load number `load` lies in the panel: row and k.
INLINE int2 NAME(place)(const int order, const int width, const int load)
{
    const int vector = get_local_id(0) + load * ITEMS;
    if (order == PANEL_ALONG_K)
        return MAKE2(int, vector / (BK / width), vector % (BK / width) * width);
    return MAKE2(int, vector % (SIDE / width) * width, vector / (SIDE / width));
}

// The offsets from a panel's first element of what this work-item reads. Rows from `rows` on become the last one; a
// vector of rows may begin before and end behind it, in the room that a packed operand has at the end of its rows.
INLINE void NAME(locate_by)(const int order, const int width, INDEX* offsets, const int rows, const INDEX row_stride, const INDEX k_stride)
{
#pragma unroll
    for (int load = 0; load < LOADS(width); load++) {
        const int2 at = NAME(place)(order, width, load);
        const int last = order == PANEL_ALONG_K ? rows - 1 : (rows - 1) / width * width;
        const int row = min(at.x, last);
        offsets[load] = (row * row_stride + at.y * k_stride) * PARTS;
    }
}

INLINE void NAME(load_by)(const int order, const int width, STORED* loaded, const __global STORED* panel, const INDEX* offsets)
{
#pragma unroll
    for (int load = 0; load < LOADS(width); load++)
        load_stored(loaded + load * width * PARTS, panel + offsets[load], width * PARTS);
}

// The same for the first panel, which is only `depth` deep: the rest of it is zero.
INLINE void NAME(load_first_by)(const int order, const int width, STORED* loaded, const __global STORED* panel,
                                const INDEX* offsets, const int depth)
{
#pragma unroll
    for (int load = 0; load < LOADS(width); load++) {
#pragma unroll
        for (int word = 0; word < width * PARTS; word++)
            loaded[load * width * PARTS + word] = 0;
        if (NAME(place)(order, width, load).y < depth)
            load_stored(loaded + load * width * PARTS, panel + offsets[load], width * PARTS);
    }
}

// Stores what was loaded in a panel in local memory, k-major.
INLINE void NAME(store_by)(const int order, const int width, local COMPONENT* panel, const STORED* loaded)
{
#pragma unroll
    for (int load = 0; load < LOADS(width); load++) {
        const int2 at = NAME(place)(order, width, load);
        const STORED* from = loaded + load * width * PARTS;
        local COMPONENT* to = panel + at.y * PITCH + at.x * PARTS;
        if (order == PANEL_ACROSS && width * PARTS % WORDS == 0)
#pragma unroll
            for (int word = 0; word < width * PARTS; word += WORDS)
                *(local WORDS_TYPE*)(to + word) = DECODE_WORDS(from + word, CONJUGATE);
        else
#pragma unroll
            for (int word = 0; word < width * PARTS; word++)
                to[(order == PANEL_ALONG_K ? word / PARTS * PITCH : word / PARTS * PARTS) + word % PARTS] =
                    COMPONENT_OF(from, word, CONJUGATE);
    }
}

// The same in the order and the width that `how` means.
INLINE void NAME(locate)(INDEX* offsets, const int rows, const INDEX row_stride, const INDEX k_stride, const int how)
{
    BY_ORDER(NAME(locate_by), how, offsets, rows, row_stride, k_stride)
}

INLINE void NAME(load)(STORED* loaded, const __global STORED* panel, const INDEX* offsets, const int how)
{
    BY_ORDER(NAME(load_by), how, loaded, panel, offsets)
}

INLINE void NAME(load_first)(STORED* loaded, const __global STORED* panel, const INDEX* offsets, const int depth, const int how)
{
    BY_ORDER(NAME(load_first_by), how, loaded, panel, offsets, depth)
}

INLINE void NAME(store)(local COMPONENT* panel, const STORED* loaded, const int how)
{
    BY_ORDER(NAME(store_by), how, panel, loaded)
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
#undef BY_ORDER
#undef PITCH
#undef CONJUGATE
#undef TILE
