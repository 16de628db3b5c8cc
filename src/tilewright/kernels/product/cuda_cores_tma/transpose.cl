// How main_loop.cl turns an operand that lies along k, in local memory.

// Turns `side` rows of BK elements into rows across k: a warp takes 32 rows of a box, each work-item one of them. The copy
// engine has exchanged the four pieces of 16 bytes of a row, so that reading a column of pieces meets no bank twice.
INLINE void transpose(const __local COMPONENT* from, __local COMPONENT* panel, const int side, const int warp, const int lane)
{
#pragma unroll
    for (int first = 0; first < side / 32 * BOXES; first += TRANSPOSERS) {
        const int unit = first + warp, box = unit / (side / 32), row = unit % (side / 32) * 32 + lane;
        if (unit < side / 32 * BOXES) {
            const __local COMPONENT* pieces = from + (box * side + row) * BOX_DEPTH;
            __local COMPONENT* column = panel + box * BOX_DEPTH * side + row;
            FRAGMENT held[BOX_DEPTH / 4];
#pragma unroll
            for (int piece = 0; piece < BOX_DEPTH / 4; piece++)
                held[piece] = *(const __local FRAGMENT*)(pieces + 4 * (piece ^ (row >> 1 & 3)));
#pragma unroll
            for (int piece = 0; piece < BOX_DEPTH / 4; piece++) {
                column[(4 * piece + 0) * side] = held[piece].x;
                column[(4 * piece + 1) * side] = held[piece].y;
                column[(4 * piece + 2) * side] = held[piece].z;
                column[(4 * piece + 3) * side] = held[piece].w;
            }
        }
    }
}
