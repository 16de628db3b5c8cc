// Words of local memory, and of int8 and int16 rows with an unaligned leading dimension.
//
// ELEMENT  an unsigned type of the element's size
// MERGE    elements of a word of 4 bytes, or 1: longer elements are words themselves
// WORD     the type of a word
//
// Elements are numbered from the buffer's start, which is aligned to a word.

#define BITS (32 / MERGE)                            // bits of an element in a word of 4 bytes
#define WORD_OF(element) ((element) >> (MERGE / 2))  // number of the element's word
#define SHIFT_OF(element) ((int)(element) & (MERGE - 1))

// MERGE elements of two neighbouring words, from element `shift` of the first one on.
INLINE WORD shifted(const WORD word, const WORD next, const int shift)
{
#if MERGE > 1
    return (uint)(((ulong)next << 32 | word) >> shift * BITS);
#else
    return word;
#endif
}

INLINE ELEMENT element_of(const WORD word, const int place)
{
#if MERGE > 1
    return (ELEMENT)(word >> place * BITS);
#else
    return word;
#endif
}
