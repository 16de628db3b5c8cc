// Nine directions of a lattice fluid: collision of each cell, densities in double.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__constant double weights[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
__constant int2 directions[9] = {(int2)(0, 0), (int2)(1, 0), (int2)(0, 1), (int2)(-1, 0), (int2)(0, -1),
                                 (int2)(1, 1), (int2)(-1, 1), (int2)(-1, -1), (int2)(1, -1)};

double equilibrium(double rho, double2 u, double weight, int2 direction)
{
    double2 e = convert_double2(direction);
    double eu = dot(e, u);
    return rho * weight * (1.0 + 3.0 * eu + 4.5 * eu * eu - 1.5 * dot(u, u));
}

__kernel void lattice_boltzmann(__global double* f, __global double2* velocity, double omega, int cells)
{
    int id = get_global_id(0);
    if (id >= cells)
        return;
    double cell[9], rho = 0;
    double2 u = (double2)(0.0, 0.0);
    for (int d = 0; d < 9; d++) {
        cell[d] = f[d * cells + id];
        rho += cell[d];
        u += cell[d] * convert_double2(directions[d]);
    }
    u /= rho;
    for (int d = 0; d < 9; d++)
        f[d * cells + id] = (1.0 - omega) * cell[d] + omega * equilibrium(rho, u, weights[d], directions[d]);
    velocity[id] = u;
}
