// Words of 4 bytes from and to rows of smaller elements that begin anywhere.
//
// ELEMENT  an unsigned type of one or two bytes
// MERGE    elements of a word
//
// Elements count from the buffer's beginning, which lies on a word. A word that straddles two words of memory is shifted out of
// both. Nearly all tiles lie inside of the matrix, and need no questions and no numbers of 64 bits for each word: on an H200 the
// instructions for these took twice as long as memory.

#define BITS (32 / MERGE)                            // of an element
#define WORD_OF(element) ((element) >> (MERGE / 2))  // number of the word in which it lies
#define SHIFT_OF(element) ((int)(element) & (MERGE - 1))
#define NEAR 0x400000                                // elements from line to line, of which a tile's all have an int's number

// The last elements of a buffer that ends, or may end, with element number end - 1: those that do not fill a word.
INLINE uint last_elements(const __global ELEMENT* buffer, const long end)
{
    const int count = SHIFT_OF(end);
    uint word = 0;
    for (int i = 0; i < count; i++)
        word |= (uint)buffer[end - count + i] << i * BITS;
    return word;
}

// The elements from number `shift` on of two words, one behind the other: shift is 0 .. MERGE.
INLINE uint shifted(const uint word, const uint next, const int shift)
{
    return (uint)(((ulong)next << 32 | word) >> shift * BITS);
}

// MERGE elements from `first` on, behind which there are others.
INLINE uint read_inside(const __global uint* words, const int first)
{
    const int number = WORD_OF(first);
    return shifted(words[number], words[number + 1], SHIFT_OF(first));
}

// MERGE elements from `first` on, of words before number `words`; what comes after is `last`.
INLINE uint read_elements(const __global ELEMENT* buffer, const long first, const long words, const uint last)
{
    const __global uint* from = (const __global uint*)buffer;
    const long number = WORD_OF(first);
    uint word = last, next = last;
    if ((ulong)number < (ulong)words)  // before the buffer, too, there is nothing
        word = from[number];
    if (number + 1 < words)
        next = from[number + 1];
    return shifted(word, next, SHIFT_OF(first));
}

// Writes MERGE elements to `first`, which lies on a word; those outside of [low, high) are not there.
INLINE void write_word(__global ELEMENT* buffer, const long first, const uint word, const long low, const long high)
{
    if (first >= low && first + MERGE <= high)
        *(__global uint*)(buffer + first) = word;
    else
        for (int i = 0; i < MERGE; i++)
            if (first + i >= low && first + i < high)
                buffer[first + i] = (ELEMENT)(word >> i * BITS);
}
