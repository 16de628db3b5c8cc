// How one operand gets into a panel of local memory: copies that run by themselves while the warps multiply.
//
// Included once for A and once for B, each time with these macros, which it undefines at its end:
//   NAME(x)  the operand's own name for x
//   SIDE     rows of A, or columns of B, that a panel holds (both are called rows here)
//   ORDER    PANEL_ALONG_K or PANEL_ACROSS: the direction in which it is read, and lies in the panel
//   WIDTH    elements of one copy
//   COPY     the instruction that copies so many: cp_async_cg_16, cp_async_ca_8 or cp_async_ca_4
//
// A panel consists of lines. Across k each has the SIDE elements of one k; along k each has 128 bytes of a row, first of all
// rows the first 128 bytes, then the next. Their chunks of 16 bytes are permuted (SWIZZLED), so that a warp that reads a
// column of chunks meets all banks.

#if ORDER == PANEL_ALONG_K
#define LENGTH BLOCK  // elements of a line
#define LINES (SIDE * (BK / BLOCK))
#else
#define LENGTH SIDE
#define LINES BK
#endif
#define PER_LINE (LENGTH / WIDTH)          // copies of a line
#define LINES_AT_ONCE (ITEMS / PER_LINE)   // that the work-group's items copy together

// Where this work-item's first copy comes from.
INLINE const __global ELEMENT* NAME(begin)(const __global ELEMENT* from, const long row_stride, const long k_stride)
{
    const int line = get_local_id(0) / PER_LINE, place = get_local_id(0) % PER_LINE * WIDTH;
#if ORDER == PANEL_ALONG_K
    return from + line % SIDE * row_stride + (line / SIDE * BLOCK + place) * k_stride;
#else
    return from + line * k_stride + place * row_stride;
#endif
}

// How many elements of k this work-item's first copy is before the end of k, if it is inside of the `rows`; else 0.
INLINE int NAME(depth)(const int rows, const int depth)
{
    const int line = get_local_id(0) / PER_LINE, place = get_local_id(0) % PER_LINE * WIDTH;
#if ORDER == PANEL_ALONG_K
    return line % SIDE < rows ? depth - line / SIDE * BLOCK - place : 0;
#else
    return place < rows ? depth - line : 0;
#endif
}

// Starts copy number `load` of this work-item into a panel. What lies beyond the `rows`, or what is `left` of k for its
// first copy, becomes zero and is not read.
INLINE void NAME(copy)(const int load, const uint panel, const __global ELEMENT* from, const int rows, const int left,
                       const long row_stride, const long k_stride)
{
    const int line = get_local_id(0) / PER_LINE, place = get_local_id(0) % PER_LINE * WIDTH;
    const int further = load * LINES_AT_ONCE;  // lines beyond the one of the first copy
    const uint to =
        panel + (line + further) * LENGTH * ITEM_BYTES + SWIZZLED(ORDER, LENGTH * ITEM_BYTES, line + further, place * ITEM_BYTES);
#if ORDER == PANEL_ALONG_K
    const int inside = further % SIDE == 0 || line % SIDE + further % SIDE < rows;
    const int elements = left - further / SIDE * BLOCK;
    const __global ELEMENT* source = from + further % SIDE * row_stride + further / SIDE * BLOCK * k_stride;
#else
    const int inside = further < left;
    const __global ELEMENT* source = from + further * k_stride;
#endif
#if PARTIAL && ORDER == PANEL_ALONG_K
    COPY(to, source, inside ? max(0, min(elements, WIDTH)) * ITEM_BYTES : 0);
#elif PARTIAL
    COPY(to, source, inside ? max(0, min(rows - place, WIDTH)) * ITEM_BYTES : 0);
#elif ORDER == PANEL_ALONG_K
    COPY(to, source, inside && elements > 0 ? WIDTH * ITEM_BYTES : 0);
#else
    COPY(to, source, inside ? WIDTH * ITEM_BYTES : 0);
#endif
}

#undef NAME
#undef SIDE
#undef ORDER
#undef WIDTH
#undef COPY
#undef LENGTH
#undef LINES
#undef PER_LINE
#undef LINES_AT_ONCE
