// elements.cl for products whose bits are promised: a multiply-add rounds once, also where fma is slow.
#ifndef FP_FAST_FMAF
#define FP_FAST_FMAF 1
#endif
#include "elements.cl"
