// The peak of local memory: reads without bank conflicts, each from another address than the one before.
//
// VW            elements of a vector
// ACCUMULATORS  sums in a work-item, so that no addition waits for another
// GROUP         work-items of a work-group
// PLACES        vectors among which the reads move, a power of two, no fewer than GROUP
//
// A read of one address in each round would be made once, into a register. Here each round reads one vector further, so
// neighbours still read neighbours, and every read is made. All elements of the tile are VALUE.

#if VW == 1
typedef REAL vector;
#define ALL(value) (value)
#else
typedef VECTOR(VW) vector;
#define ALL(value) SPLAT(VW, value)
#endif

__kernel void local_reads(const int READS, const REAL VALUE, __global REAL* output)
{
    const int item = get_local_id(0);
    __local vector tile[PLACES + ACCUMULATORS];
    for (int i = item; i < PLACES + ACCUMULATORS; i += GROUP)
        tile[i] = ALL(VALUE);
    barrier(CLK_LOCAL_MEM_FENCE);

    vector sum[ACCUMULATORS];
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++)
        sum[i] = ALL(0);
    for (int round = 0; round < READS / (VW * ACCUMULATORS); round++) {
        const int place = (item + round) & (PLACES - 1);
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; i++)
            sum[i] += tile[place + i];
    }
#pragma unroll
    for (int i = 1; i < ACCUMULATORS; i++)
        sum[0] += sum[i];
#if VW == 1
    output[get_global_id(0)] = sum[0];
#else
    REAL parts[VW];
    VSTORE(VW)(sum[0], 0, parts);
#pragma unroll
    for (int i = 1; i < VW; i++)
        parts[0] += parts[i];
    output[get_global_id(0)] = parts[0];
#endif
}
