// How main_loop.cl transposes an operand that lies along k, in local memory.

// Transposes `side` rows of BK elements to rows across k: a warp takes 32 rows of a box, each work-item one of them. TMA has
// permuted the four chunks of 16 bytes of a row (swizzle), so that reading a column of chunks meets no bank twice.
INLINE void transpose(const local COMPONENT* from, local COMPONENT* panel, const int side, const int warp, const int lane)
{
#pragma unroll
    for (int first = 0; first < side / 32 * BOXES; first += TRANSPOSERS) {
        const int unit = first + warp, box = unit / (side / 32), row = unit % (side / 32) * 32 + lane;
        if (unit < side / 32 * BOXES) {
            const local COMPONENT* chunks = from + (box * side + row) * BOX_DEPTH;
            local COMPONENT* column = panel + box * BOX_DEPTH * side + row;
            FRAGMENT values[BOX_DEPTH / 4];
#pragma unroll
            for (int chunk = 0; chunk < BOX_DEPTH / 4; chunk++)
                values[chunk] = *(const local FRAGMENT*)(chunks + 4 * (chunk ^ (row >> 1 & 3)));
#pragma unroll
            for (int chunk = 0; chunk < BOX_DEPTH / 4; chunk++) {
                column[(4 * chunk + 0) * side] = values[chunk].x;
                column[(4 * chunk + 1) * side] = values[chunk].y;
                column[(4 * chunk + 2) * side] = values[chunk].z;
                column[(4 * chunk + 3) * side] = values[chunk].w;
            }
        }
    }
}
