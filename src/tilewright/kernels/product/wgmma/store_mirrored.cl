// How a slab of a symmetric product leaves, 64 x 64 elements of 16 bits: as it is, and once more as its mirror image.
//
// A slab above the diagonal is left out, because the slab that mirrors it lies in another tile of the triangle. On the diagonal the
// elements above are replaced by those below: tensor cores may sum both in another order. The two slots alternate, so that one is
// filled while TMA reads the other.

// The transpose of a warp's part of a slab, from its finished sums to local memory, as `stage_slab` puts the part itself there.
INLINE void stage_mirror(const COMPONENT* values, local uchar* slab, const int item)
{
    const int lane = item % 32, chunk = item / 32 * (WARP_ROWS / 8) + lane / 8 % 2;
#pragma unroll
    for (int j = 0; j < SLAB / 8; j += 2) {
        const COMPONENT* v = values + 4 * j;
        const int row = (j + lane / 16) * 8 + lane % 8;
        const uint to = local_address(slab) + row * LINE + (chunk ^ row % 8) * 16;
        stmatrix_x4_trans(to, PACK(v[0], v[1]), PACK(v[2], v[3]), PACK(v[4], v[5]), PACK(v[6], v[7]));
    }
}

// Where an element of a slab lies in its slot, in elements.
INLINE int place_in_slot(const int row, const int column)
{
    return (row * LINE + (column / 8 ^ row % 8) * 16) / RESULT_BYTES + column % 8;
}

INLINE void store_with_mirror(const COMPONENT* values, const __global ulong* map_c, const int2 place, const int matrix,
                              local uchar* slots, const int slab_group, const int item)
{
    local uchar* own = slots;
    local uchar* mirror = slots + SLAB_ROWS * LINE;
    if (place.x < place.y)
        return;
    await_slot(place.x == place.y, slab_group, item);
    stage_slab(values, own, SLAB, item);
    if (place.x > place.y) {
        store_slot(own, map_c, place.x, place.y, matrix, slab_group, item);
        await_slot(0, slab_group, item);
        stage_mirror(values, mirror, item);
        store_slot(mirror, map_c, place.y, place.x, matrix, slab_group, item);
        return;
    }
    stage_mirror(values, mirror, item);
    sync_slab_warps(slab_group);
    for (int i = item; i < SLAB_ROWS * SLAB; i += 32 * SLAB_WARPS) {
        const int row = i / SLAB, column = i % SLAB, at = place_in_slot(row, column);
        if (row < column)
            ((local ushort*)own)[at] = ((const local ushort*)mirror)[at];
    }
    store_slot(own, map_c, place.x, place.y, matrix, slab_group, item);
    await_slot(1, slab_group, item);  // the next slab waits for all but the last one
}
