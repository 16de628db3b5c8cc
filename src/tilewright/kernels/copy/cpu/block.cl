// LINE rows of VW elements of the input become VW rows of LINE elements of the output, in registers.
//
// STREAM: the output is aligned, and stored by non-temporal stores. This file is included once with and once without,
// for two functions: of a store with and without that hint in two branches, a compiler makes one store without it.
static __attribute__((noinline)) void BLOCK(const __global Element* in, long in_column, __global Element* out,
                                            long out_row)
{
    vec line[VW][PIECES];
#pragma unroll
    for (int piece = 0; piece < PIECES; piece++) {
        vec rows[VW];
#pragma unroll
        for (int t = 0; t < VW; t++) {
            const __global Element* from = in + (piece * VW + t) * in_column;
            rows[t] = *(const __global loose_vec*)from;
            PREFETCH(from + AHEAD * LINE);
        }
        // A round interleaves vector t with vector t + VW/2: log2(VW) rounds transpose the block.
#pragma unroll
        for (int round = 0; round < LOG2_VW; round++) {
            vec next[VW];
#pragma unroll
            for (int t = 0; t < VW / 2; t++) {
                next[2 * t] = low(rows[t], rows[t + VW / 2]);
                next[2 * t + 1] = high(rows[t], rows[t + VW / 2]);
            }
#pragma unroll
            for (int t = 0; t < VW; t++)
                rows[t] = next[t];
        }
#pragma unroll
        for (int t = 0; t < VW; t++)
            line[t][piece] = rows[t];
    }
#pragma unroll
    for (int t = 0; t < VW; t++) {
#pragma unroll
        for (int piece = 0; piece < PIECES; piece++) {
            __global Element* to = out + t * out_row + piece * VW;
#if STREAM
            __builtin_nontemporal_store(line[t][piece], (__global vec*)to);
#else
            *(__global loose_vec*)to = line[t][piece];
#endif
        }
    }
}
#undef BLOCK
#undef STREAM
