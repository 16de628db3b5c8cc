// Latencies and rates of a device's caches: a chain of dependent loads, and loads and stores of a region again and again.

__kernel void chase(__global const int* next, __global int* output, int steps)
{
    int at = 0;
    for (int step = 0; step < steps; step++)
        at = next[at];
    output[0] = at;
}

// Each group reads `region` elements, beginning at its number times `apart`, `rounds` times. Groups with `apart` 0 share one region.
__kernel void reads(__global const float* input, __global float* output, int region, int apart, int rounds)
{
    float sum = 0.0f;
    const int first = get_group_id(0) * apart;
    for (int round = 0; round < rounds; round++)
        for (int at = get_local_id(0); at < region; at += 4 * get_local_size(0)) {
            const int step = get_local_size(0);
            sum += input[first + at] + input[first + at + step] + input[first + at + 2 * step] + input[first + at + 3 * step];
        }
    output[get_global_id(0)] = sum;
}

__kernel void writes(__global float* output, int elements, int rounds)
{
    for (int round = 0; round < rounds; round++)
        for (int at = get_global_id(0); at < elements; at += get_global_size(0))
            output[at] = round;
}

__kernel void adds(__global int* output, int places, int rounds)
{
    for (int round = 0; round < rounds; round++)
        atomic_inc(&output[(get_global_id(0) + round) % places]);
}

__kernel void nothing(__global int* output, int value)
{
    if (value == 1)
        output[0] = value;
}
