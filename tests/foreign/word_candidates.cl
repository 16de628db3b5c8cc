// Candidates of a keyspace by tables of characters: structures of arrays, unions of bytes and words.
typedef struct { uint key; uint length; uchar letters[16]; } cs_t;
typedef struct { union { uint words[4]; uchar bytes[16]; } text; uint length; } pw_t;
__kernel void word_candidates(__global pw_t* out, __constant cs_t* tables, const ulong offset, const uint places, const ulong total)
{
    const ulong gid = get_global_id(0);
    if (gid >= total) return;
    ulong rest = gid + offset;
    pw_t word;
    for (int i = 0; i < 4; i++)
        word.text.words[i] = 0;
    for (uint i = 0; i < places; i++) {
        const uint len = tables[i].length;
        const ulong next = rest / len;
        word.text.bytes[i] = tables[i].letters[rest - next * len] ^ (uchar)tables[i].key;
        rest = next;
    }
    word.text.bytes[places] = 0x80;
    word.length = places;
    out[gid] = word;
}
