// Words along rows of int8 or int16 become words down columns: MERGE rows of one word each, MERGE elements in a word.
// With MERGE = 1 an element is a word, and nothing is merged.

#define LOW_BYTES(a, b) (((a) & 0x00ff00ff) | ((b) & 0x00ff00ff) << 8)   // bytes 0 and 2 of a, with those of b between
#define HIGH_BYTES(a, b) (((a) >> 8 & 0x00ff00ff) | ((b) & 0xff00ff00))  // bytes 1 and 3
#define LOW_HALF(a, b) (((a) & 0x0000ffff) | (b) << 16)
#define HIGH_HALF(a, b) ((a) >> 16 | ((b) & 0xffff0000))

INLINE void merge(uint columns[MERGE], const uint rows[MERGE])
{
#if MERGE == 4
    const uint even = LOW_BYTES(rows[0], rows[1]), even_below = LOW_BYTES(rows[2], rows[3]);
    const uint odd = HIGH_BYTES(rows[0], rows[1]), odd_below = HIGH_BYTES(rows[2], rows[3]);
    columns[0] = LOW_HALF(even, even_below);
    columns[1] = LOW_HALF(odd, odd_below);
    columns[2] = HIGH_HALF(even, even_below);
    columns[3] = HIGH_HALF(odd, odd_below);
#elif MERGE == 2
    columns[0] = LOW_HALF(rows[0], rows[1]);
    columns[1] = HIGH_HALF(rows[0], rows[1]);
#endif
}
