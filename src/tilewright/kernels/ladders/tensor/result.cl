// The type of C: fp16, or fp32 if RESULT_IS_FLOAT. Both are rounded once, from the fp32 sum.
#if RESULT_IS_FLOAT
#define RESULT float
#define STORE2(pair, to) vstore2(pair, 0, to)
#else
#define RESULT half
#define STORE2(pair, to) vstorea_half2_rte(pair, 0, to)
#endif
