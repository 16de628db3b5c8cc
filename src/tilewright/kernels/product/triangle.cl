// The tile scheduler of a symmetric product, in the place of scheduler.cl: it walks the tiles that touch the lower triangle.
//
// Tiles are numbered as there: down the rows of a swizzle group, then its next column, as far as the group's last row goes.
// Column j of tiles begins at row j * BN / BM of them: the tiles above have no element on or below the diagonal.
#define tile_coordinates tile_of_rectangle
#define tiles_of_matrix tiles_of_rectangle
#define tile_origin tile_origin_in_rectangle
#include "../product/scheduler.cl"
#undef tile_coordinates
#undef tiles_of_matrix
#undef tile_origin

#define TILE_STEP (BM % BN == 0 ? BN : BN % BM == 0 ? BM : BM % 64 == 0 && BN % 64 == 0 ? 64 : 16)  // divides both sides
#define PERIOD (BM / TILE_STEP)  // columns of tiles after which what they lack repeats itself, RISE rows further down
#define RISE (BN / TILE_STEP)

// The tiles above the triangle in the first `columns` columns of tiles.
INLINE int tiles_above(const int columns)
{
    const int periods = columns / PERIOD, rest = columns % PERIOD;
    int above = PERIOD * RISE * (periods * (periods - 1) / 2) + rest * RISE * periods;
    for (int column = 1; column < PERIOD; column++)
        above += column * RISE / PERIOD * (periods + (column < rest));
    return above;
}

INLINE int tiles_of_triangle(const int tiles_m, const int tiles_n)
{
    return tiles_m * tiles_n - tiles_above(tiles_n);
}

// Row and column, in tiles, of tile number `number` of the triangle.
INLINE int2 tile_of_triangle(const int number, const int tiles_m, const int tiles_n)
{
    int first = 0, inside = number;
    for (;;) {
        const int end = min(first + GROUP_M, tiles_m), height = end - first;
        // Columns that all rows of the group have, and those that its last row has.
        const int common = min(tiles_n, ((first + 1) * BM + BN - 1) / BN), most = min(tiles_n, (end * BM + BN - 1) / BN);
        const int tiles = common * height + (most - common) * end - (tiles_above(most) - tiles_above(common));
        if (inside < common * height)
            return MAKE2(int, first + inside % height, inside / height);
        if (inside < tiles || end == tiles_m) {
            inside -= common * height;
            int column = common;
            while (column < most - 1 && inside >= end - column * RISE / PERIOD) {
                inside -= end - column * RISE / PERIOD;
                column++;
            }
            return MAKE2(int, column * RISE / PERIOD + inside, column);
        }
        inside -= tiles;
        first = end;
    }
}

// The same for a matrix of M x N elements.
INLINE int2 tile_coordinates(const int number, const int M, const int N)
{
    return tile_of_triangle(number, (M + BM - 1) / BM, (N + BN - 1) / BN);
}

INLINE int tiles_of_matrix(const int M, const int N)
{
    return tiles_of_triangle((M + BM - 1) / BM, (N + BN - 1) / BN);
}

// Row and column of C where tile number `number` of a batch begins, and its matrix of the batch.
INLINE int4 tile_origin(const int number, const int M, const int N)
{
    const int area = tiles_of_matrix(M, N), matrix = quotient(number, area);
    const int2 place = tile_coordinates(number - matrix * area, M, N);
    return MAKE4(int, place.x * BM, place.y * BN, matrix, 0);
}
