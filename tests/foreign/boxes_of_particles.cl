// Particles in boxes with a list of neighbours: structures in structures.
#define PER_BOX 16
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))
typedef float fp;
typedef struct { fp x, y, z; } THREE_VECTOR;
typedef struct { fp v, x, y, z; } FOUR_VECTOR;
typedef struct nei_str { int x, y, z; int number; long offset; } nei_str;
typedef struct box_str { int x, y, z; int number; long offset; int nn; nei_str nei[4]; } box_str;
typedef struct par_str { fp alpha; } par_str;

__kernel void boxes_of_particles(par_str d_par_gpu, int boxes, __global box_str* d_box, __global FOUR_VECTOR* d_rv,
                                 __global fp* d_qv, __global FOUR_VECTOR* d_fv)
{
    int bx = get_group_id(0), tx = get_local_id(0);
    __local FOUR_VECTOR rA_shared[PER_BOX];
    __local FOUR_VECTOR rB_shared[PER_BOX];
    __local fp qB_shared[PER_BOX];
    if (bx < boxes) {
        fp a2 = 2 * d_par_gpu.alpha * d_par_gpu.alpha;
        int first_i = d_box[bx].offset;
        rA_shared[tx] = d_rv[first_i + tx];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < (1 + d_box[bx].nn); k++) {
            int pointer = k == 0 ? bx : d_box[bx].nei[k - 1].number;
            int first_j = d_box[pointer].offset;
            rB_shared[tx] = d_rv[first_j + tx];
            qB_shared[tx] = d_qv[first_j + tx];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int j = 0; j < PER_BOX; j++) {
                THREE_VECTOR d;
                fp r2 = rA_shared[tx].v + rB_shared[j].v - DOT(rA_shared[tx], rB_shared[j]);
                fp vij = exp(-a2 * r2);
                fp fs = 2 * vij;
                d.x = rA_shared[tx].x - rB_shared[j].x;
                d.y = rA_shared[tx].y - rB_shared[j].y;
                d.z = rA_shared[tx].z - rB_shared[j].z;
                d_fv[first_i + tx].v += qB_shared[j] * vij;
                d_fv[first_i + tx].x += qB_shared[j] * fs * d.x;
                d_fv[first_i + tx].y += qB_shared[j] * fs * d.y;
                d_fv[first_i + tx].z += qB_shared[j] * fs * d.z;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
}
