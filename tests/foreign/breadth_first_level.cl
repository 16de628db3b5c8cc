// One level of a breadth-first search; masks of bytes, nodes as structures.
typedef struct { int starting; int no_of_edges; } Node;
__kernel void breadth_first_level(const __global Node* g_graph_nodes, const __global int* g_graph_edges,
                                  __global char* g_graph_mask, __global char* g_updating_mask,
                                  __global char* g_graph_visited, __global int* g_cost, const int no_of_nodes)
{
    int tid = get_global_id(0);
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting; i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_mask[id] = true;
            }
        }
    }
}
