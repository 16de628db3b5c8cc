// Adds 1.0f ROUNDS times, one addition after the other: what shows whether a device runs a long loop to its end.
//
// Mesa's llvmpipe leaves every loop after some 65,535 rounds, and says nothing. ONE is an argument so that no compiler can
// know the sum, and the sum is exact below 2^24 rounds.

__kernel void long_loop(const int ROUNDS, const float ONE, __global float* output)
{
    float sum = 0.0f;
    for (int round = 0; round < ROUNDS; round++)
        sum += ONE;
    output[get_global_id(0)] = sum;
}
