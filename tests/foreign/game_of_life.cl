// One generation on a torus of bytes.
__kernel void game_of_life(__global const char* now, __global char* next, int side)
{
    int ix = get_global_id(0), iy = get_global_id(1);
    if (ix >= side || iy >= side)
        return;
    int up = (iy + side - 1) % side, down = (iy + 1) % side, left = (ix + side - 1) % side, right = (ix + 1) % side;
    char neighbours = now[up * side + left] + now[up * side + ix] + now[up * side + right] + now[iy * side + left] +
                      now[iy * side + right] + now[down * side + left] + now[down * side + ix] + now[down * side + right];
    char alive = now[iy * side + ix];
    switch (neighbours) {
    case 2: next[iy * side + ix] = alive; break;
    case 3: next[iy * side + ix] = 1; break;
    default: next[iy * side + ix] = 0;
    }
}
