// Square blocks of elements, transposed in registers.
//
// VW       the side of a block, and the elements of a vector
// PIECES   vectors of a cache line: whole lines are stored

#include "element.cl"

// Prefetches lines further along the input's rows into the L2 cache. Hardware does not foresee that strided reads down
// columns come back for the neighbours. It doubles the speed on large matrices.
#define AHEAD 2
#define PREFETCH(p) __builtin_prefetch((const void*)(ulong)(p), 0, 2)

#define LINE (VW * PIECES)
#define LINE_BYTES (LINE * (int)sizeof(Element))

#if SCALARS == 2 && VW == 4
#define LOG2_VW 2
#define LOW 0, 1, 8, 9, 2, 3, 10, 11
#define HIGH 4, 5, 12, 13, 6, 7, 14, 15
#elif SCALARS == 2 && VW == 2
#define LOG2_VW 1
#define LOW 0, 1, 4, 5
#define HIGH 2, 3, 6, 7
#elif SCALARS == 2 && VW == 1
#define LOG2_VW 0
#define LOW 0, 1
#define HIGH 0, 1
#elif VW == 16
#define LOG2_VW 4
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif VW == 8
#define LOG2_VW 3
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif VW == 4
#define LOG2_VW 2
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#else
#define LOG2_VW 1
#define LOW 0, 2
#define HIGH 1, 3
#endif

// Interleave the lower, or the upper, halves of two vectors. They are functions, not macros: LLVM uses vectors of half
// the machine's length unless a function takes long ones.
static inline vec low(const vec a, const vec b) { return __builtin_shufflevector(a, b, LOW); }
static inline vec high(const vec a, const vec b) { return __builtin_shufflevector(a, b, HIGH); }

#define BLOCK block
#define STREAM 0
#include "block.cl"
#define BLOCK block_around_caches
#define STREAM 1
#include "block.cl"
