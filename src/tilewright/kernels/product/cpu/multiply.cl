#if COMPLEX
#include "multiply_complex.cl"
#else
#include "multiply_real.cl"
#endif
#undef MICRO_KERNEL
#undef HEIGHT
#undef VECTORS
#undef FUSED
#undef STREAM
