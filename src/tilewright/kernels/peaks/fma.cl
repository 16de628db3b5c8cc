// The peak of arithmetic: multiply-adds on registers alone, in independent chains that do not wait for each other.
//
// VW            elements of a vector: 1 on GPUs, whose lanes are scalar; 16 floats fill a register of AVX-512
// ACCUMULATORS  chains of vectors in a work-item: at least a multiply-add's latency times the units that take one
//
// ROUNDS is a multiple of 8, so that the loop's own instructions are few compared with the multiply-adds.
// Every chain starts from another value and is stored at its end, so no compiler can leave any of it out.

#if VW == 1
typedef REAL vector;
#define ALL(value) (value)
#define STORE(value, i, pointer) ((pointer)[i] = (value))
#else
typedef VECTOR(VW) vector;
#define ALL(value) SPLAT(VW, value)
#define STORE VSTORE(VW)
#endif

#if REAL_IS_INTEGER
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#else
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#endif

__kernel void chains(const int ROUNDS, const REAL FACTOR, const REAL ADDEND, __global REAL* output)
{
    const size_t first = get_global_id(0) * ACCUMULATORS;
    const vector factor = ALL(FACTOR);
    const vector addend = ALL(ADDEND);
    vector value[ACCUMULATORS];
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        value[i] = ALL((REAL)((first + i) % 1024));
    for (int round = 0; round < ROUNDS; round += 8)
#pragma unroll
        for (int step = 0; step < 8 * ACCUMULATORS; step++)
            value[step % ACCUMULATORS] = MULTIPLY_ADD(value[step % ACCUMULATORS], factor, addend);
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        STORE(value[i], first + i, output);
}
