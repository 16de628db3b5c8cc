// Many-way search: the work-item whose part holds the key writes that part.
__kernel void binary_search_parts(__global uint4* outputArray, __const __global uint2* sortedArray,
                                  const unsigned int findMe)
{
    unsigned int tid = get_global_id(0);
    uint2 element = sortedArray[tid];
    if ((element.x > findMe) || (element.y < findMe)) {
        return;
    } else {
        outputArray[0].x = tid;
        outputArray[0].y = element.x;
        outputArray[0].z = element.y;
        outputArray[0].w = 1;
    }
}
