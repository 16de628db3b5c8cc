// Fluxes of an unstructured grid: structures by pointer, helper functions, variables side by side.
#define GAMMA 1.4f
#define NDIM 3
typedef struct { float x, y, z; } FLOAT3;
inline void compute_velocity(float density, FLOAT3 momentum, FLOAT3* velocity)
{
    velocity->x = momentum.x / density;
    velocity->y = momentum.y / density;
    velocity->z = momentum.z / density;
}
inline float compute_speed_sqd(FLOAT3 velocity)
{
    return velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z;
}
inline float compute_pressure(float density, float density_energy, float speed_sqd)
{
    return (GAMMA - 1.0f) * (density_energy - 0.5f * density * speed_sqd);
}
inline float compute_speed_of_sound(float density, float pressure) { return sqrt(GAMMA * pressure / density); }

__kernel void euler_flux(int nelr, __global int* neighbours, __global float* normals, __global float* variables,
                         __global float* fluxes)
{
    const int i = get_global_id(0);
    if (i >= nelr)
        return;
    float density_i = variables[i], energy_i = variables[i + 4 * nelr];
    FLOAT3 momentum_i, velocity_i;
    momentum_i.x = variables[i + nelr];
    momentum_i.y = variables[i + 2 * nelr];
    momentum_i.z = variables[i + 3 * nelr];
    compute_velocity(density_i, momentum_i, &velocity_i);
    float pressure_i = compute_pressure(density_i, energy_i, compute_speed_sqd(velocity_i));
    float speed_i = compute_speed_of_sound(density_i, pressure_i) + sqrt(compute_speed_sqd(velocity_i));
    float flux = 0.0f;
    FLOAT3 momentum_flux = {0.0f, 0.0f, 0.0f};
    for (int j = 0; j < 4; j++) {
        int nb = neighbours[i + j * nelr];
        FLOAT3 normal = {normals[i + (j + 0 * 4) * nelr], normals[i + (j + 1 * 4) * nelr], normals[i + (j + 2 * 4) * nelr]};
        float length = sqrt(normal.x * normal.x + normal.y * normal.y + normal.z * normal.z);
        if (nb >= 0) {
            float density_nb = variables[nb];
            float factor = -length * 0.2f * 0.5f * speed_i;
            flux += factor * (density_i - density_nb);
            momentum_flux.x += normal.x * density_nb;
        } else if (nb == -1) {
            momentum_flux.x += normal.x * pressure_i;
            momentum_flux.y += normal.y * pressure_i;
            momentum_flux.z += normal.z * pressure_i;
        }
    }
    fluxes[i] = flux;
    fluxes[i + nelr] = momentum_flux.x;
    fluxes[i + 2 * nelr] = momentum_flux.y;
    fluxes[i + 3 * nelr] = momentum_flux.z;
}
