// One work-item runs three nested loops: their order alone decides how memory is read.
//
// LOOP  0 to 5: the order of the loops over the rows r and columns c of C and the terms k, from the outermost inwards

#define OVER_R for (size_t r = 0; r < M; r++)
#define OVER_C for (size_t c = 0; c < N; c++)
#define OVER_K for (size_t k = 0; k < K; k++)

// Row-major, a step of k or c is a step to the neighbour in memory, and a step of r (or of k in B) is a jump over a
// row. What counts is the innermost loop:
//                           A[r][k]    B[k][c]    C[r][c]
//   r-c-k and c-r-k         neighbour  jump       stays      a running sum, but B is fetched a cache line per element
//   r-k-c and k-r-c         stays      neighbour  neighbour  streams; each line is used whole before the next one
//   c-k-r and k-c-r         jump       stays      jump       a new cache line twice per step: the worst
#if LOOP == 0
#define LOOPS OVER_R OVER_C OVER_K
#elif LOOP == 1
#define LOOPS OVER_R OVER_K OVER_C
#elif LOOP == 2
#define LOOPS OVER_C OVER_R OVER_K
#elif LOOP == 3
#define LOOPS OVER_C OVER_K OVER_R
#elif LOOP == 4
#define LOOPS OVER_K OVER_R OVER_C
#else
#define LOOPS OVER_K OVER_C OVER_R
#endif

__kernel void gemm(const int M, const int N, const int K,
                   const __global REAL* A, const __global REAL* B, __global REAL* C)
{
    OVER_R OVER_C C[r * N + c] = 0;
    LOOPS C[r * N + c] += A[r * K + k] * B[k * N + c];
}
