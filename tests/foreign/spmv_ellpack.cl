// Sparse matrix with rows of one length, stored by columns.
__kernel void spmv_ellpack(__global const double* val, __global const double* vec, __global const int* cols,
                           __global const int* lengths, const int dim, __global double* out)
{
    int row = get_global_id(0);
    if (row < dim) {
        double result = 0.0;
        int longest = lengths[row];
        for (int i = 0; i < longest; i++) {
            int ind = i * dim + row;
            result += val[ind] * vec[cols[ind]];
        }
        out[row] = result;
    }
}
