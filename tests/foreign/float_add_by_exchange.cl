// Float addition by compare and exchange; the values are small integers, so that any order gives the same sum.
// FAULT by the letter of the standard: the plain read beside the exchange is not atomic. Devices read whole words.
void add_float(volatile __global float* address, const float value)
{
    union { uint bits; float number; } before, after;
    do {
        before.number = *address;
        after.number = before.number + value;
    } while (atomic_cmpxchg((volatile __global uint*)address, before.bits, after.bits) != before.bits);
}

__kernel void float_add_by_exchange(__global float* sums, __global const float* values, __global const int* where)
{
    int i = get_global_id(0);
    add_float(&sums[where[i]], values[i]);
}
