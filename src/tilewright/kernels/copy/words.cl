// Words of local memory, and of rows of bytes and shorts that begin anywhere.
//
// ELEMENT  an unsigned type of the element's size
// MERGE    elements of a word of 4 bytes, or 1: longer elements are words themselves
// WORD     the type of a word
//
// Elements count from the buffer's beginning, which lies on a word.

#define BITS (32 / MERGE)                            // of an element of a word of 4 bytes
#define WORD_OF(element) ((element) >> (MERGE / 2))  // number of the word in which it lies
#define SHIFT_OF(element) ((int)(element) & (MERGE - 1))

// The elements from number `shift` on of two words, one behind the other.
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
