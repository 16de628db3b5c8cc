// Places of a pattern in a text, a block of the text in local memory by an asynchronous copy.
__kernel void string_matches(__global const uchar* text, const uint textLength, __global const uchar* pattern,
                             const uint patternLength, __global uint* counts, __local uchar* localPattern)
{
    event_t done = async_work_group_copy(localPattern, pattern, patternLength, 0);
    wait_group_events(1, &done);
    uint found = 0;
    const uint each = (textLength + get_global_size(0) - 1) / get_global_size(0);
    const uint first = get_global_id(0) * each;
    for (uint i = first; i < first + each && i + patternLength <= textLength; i++) {
        uint k = 0;
        while (k < patternLength && text[i + k] == localPattern[k])
            k++;
        found += k == patternLength;
    }
    counts[get_global_id(0)] = found;
}
