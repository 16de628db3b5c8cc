// One pass over all pairs of nodes: is the way through node `pass` shorter?
__kernel void floyd_warshall_pass(__global uint* pathDistance, __global uint* path, const unsigned int numNodes,
                                  const unsigned int pass)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x == pass || y == pass)
        return;
    uint oldWeight = pathDistance[y * numNodes + x];
    uint candidate = pathDistance[y * numNodes + pass] + pathDistance[pass * numNodes + x];
    if (candidate < oldWeight) {
        pathDistance[y * numNodes + x] = candidate;
        path[y * numNodes + x] = pass;
    }
}
