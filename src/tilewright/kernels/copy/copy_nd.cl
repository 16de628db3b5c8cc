// A copy between arrays of many dimensions by one launch: each work-item copies one element and computes where it lies.
//
// ELEMENT, RESULT  unsigned types of the element's size, or the types themselves if elements are converted
// LOAD, STORE      one element from a place of the input, and to a place of the output
// DIMENSIONS  number of dimensions: elements along the last one are nearest to each other in the output
// SIDES, READS, WRITES  the lengths of the dimensions, and their strides in the input and in the output, in elements
// GROUP       work-items of a group

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void copy_nd(const ulong elements, const __global ELEMENT* restrict input, const long input_offset,
          __global RESULT* restrict output, const long output_offset)
{
    const ulong sides[DIMENSIONS] = {SIDES};
    const long reads[DIMENSIONS] = {READS}, writes[DIMENSIONS] = {WRITES};
    ulong rest = get_global_id(0);
    if (rest >= elements)
        return;
    long from = input_offset, to = output_offset;
#pragma unroll
    for (int dimension = DIMENSIONS - 1; dimension >= 0; dimension--) {
        const long place = rest % sides[dimension];
        rest /= sides[dimension];
        from += place * reads[dimension];
        to += place * writes[dimension];
    }
    STORE(LOAD(input, from), output, to);
}
