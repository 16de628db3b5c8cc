// How one operand gets into a panel of local memory by loads: into registers first, then from there.
//
// Included once for A and once for B, each time with these macros, which it undefines at its end:
//   NAME(x)  the operand's own name for x
//   SIDE     rows of A, or columns of B, that a panel holds (both are called rows here)
//   ORDER    PANEL_ALONG_K or PANEL_ACROSS: the direction in which it is read, and lies in the panel
//   WIDTH    elements of one load: what all lines begin and end with a multiple of, 1 for odd lines
//
// A panel consists of lines: of BK elements of a row along k, or of SIDE elements of one k. PAD unused elements at the end
// of each keep eight neighbours, which ldmatrix reads at a time, in different banks.

#if ORDER == PANEL_ALONG_K
#define LENGTH BK
#else
#define LENGTH SIDE
#endif
#define PER_LINE (LENGTH / WIDTH)                               // loads of a line
#define LINE_ITEMS (PER_LINE < ITEMS ? PER_LINE : ITEMS)        // work-items that load side by side
#define LINE_LOADS (PER_LINE / LINE_ITEMS)                      // of a work-item in one line
#define LINES_AT_ONCE (ITEMS / LINE_ITEMS)
#define LOADS (SIDE * BK / WIDTH / ITEMS)

// The line of a work-item's load number `load`, and the place in it.
INLINE int2 NAME(place)(const int load)
{
    const int item = get_local_id(0);
    return MAKE2(int, item / LINE_ITEMS + load / LINE_LOADS * LINES_AT_ONCE,
                 (item % LINE_ITEMS + load % LINE_LOADS * LINE_ITEMS) * WIDTH);
}

// Loads a panel that begins at `from`. What lies beyond the `rows`, or beyond `depth` of k, becomes zero and is not read.
INLINE void NAME(load)(STORED* loaded, const __global STORED* from, const int rows, const int depth, const long row_stride,
                       const long k_stride)
{
    const int lines = ORDER == PANEL_ALONG_K ? rows : depth, length = ORDER == PANEL_ALONG_K ? depth : rows;
    const long line_stride = ORDER == PANEL_ALONG_K ? row_stride : k_stride;
    const long stride = WIDTH > 1 ? 1 : ORDER == PANEL_ALONG_K ? k_stride : row_stride;
    const int2 first = NAME(place)(0);
    const __global STORED* own = from + (first.x * line_stride + first.y * stride) * PARTS;
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int2 at = NAME(place)(load);
#pragma unroll
        for (int word = 0; word < WIDTH * PARTS; word++)
            loaded[load * WIDTH * PARTS + word] = 0;
        if (at.x < lines && at.y < length)
            load_stored(loaded + load * WIDTH * PARTS, own + load % LINE_LOADS * LINE_ITEMS * WIDTH * stride * PARTS,
                        WIDTH * PARTS);
        if (load % LINE_LOADS == LINE_LOADS - 1)
            own += LINES_AT_ONCE * line_stride * PARTS;
    }
}

INLINE void NAME(store)(local STORED* panel, const STORED* loaded)
{
#pragma unroll
    for (int load = 0; load < LOADS; load++) {
        const int2 at = NAME(place)(load);
        store_panel(panel + (at.x * (LENGTH + PAD) + at.y) * PARTS, loaded + load * WIDTH * PARTS, WIDTH * PARTS);
    }
}

INLINE const local STORED* NAME(line)(const local STORED* panel, const int line, const int place)
{
    return panel + (line * (LENGTH + PAD) + place) * PARTS;
}

#undef NAME
#undef SIDE
#undef ORDER
#undef WIDTH
#undef LENGTH
#undef PER_LINE
#undef LINE_ITEMS
#undef LINE_LOADS
#undef LINES_AT_ONCE
#undef LOADS
