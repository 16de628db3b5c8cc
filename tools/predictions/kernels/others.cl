// Bodies, sorting, graphs, options, fractals and neural networks.

__kernel void bodies(__global const float* x, __global const float* y, __global const float* z, __global float* force, int n)
{
    __local float tx[256], ty[256], tz[256];
    int i = get_global_id(0), item = get_local_id(0);
    float px = x[i], py = y[i], pz = z[i], fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int first = 0; first < n; first += 256) {
        tx[item] = x[first + item];
        ty[item] = y[first + item];
        tz[item] = z[first + item];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int j = 0; j < 256; j++) {
            float dx = tx[j] - px, dy = ty[j] - py, dz = tz[j] - pz;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            float weight = inverse * inverse * inverse;
            fx += weight * dx;
            fy += weight * dy;
            fz += weight * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    force[3 * i] = fx;
    force[3 * i + 1] = fy;
    force[3 * i + 2] = fz;
}

__kernel void bodies_plain(__global const float* x, __global const float* y, __global float* potential, int n)
{
    int i = get_global_id(0);
    float px = x[i], py = y[i], sum = 0.0f;
    for (int j = 0; j < n; j++) {
        float dx = x[j] - px, dy = y[j] - py;
        sum += rsqrt(dx * dx + dy * dy + 0.5f);
    }
    potential[i] = sum;
}

__kernel void bitonic_step(__global int* data, int distance, int length)
{
    int i = get_global_id(0);
    int low = (i / distance) * 2 * distance + i % distance, high = low + distance;
    int a = data[low], b = data[high];
    int rising = (low & length) == 0;
    if ((a > b) == rising) {
        data[low] = b;
        data[high] = a;
    }
}

__kernel void bitonic_local(__global int* data)
{
    __local int own[512];
    int item = get_local_id(0), base = get_group_id(0) * 512;
    own[item] = data[base + item];
    own[item + 256] = data[base + item + 256];
    for (int length = 2; length <= 512; length *= 2)
        for (int distance = length / 2; distance > 0; distance /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int low = 2 * item - (item & (distance - 1)), high = low + distance;
            int a = own[low], b = own[high];
            if ((a > b) == ((low & length) == 0)) {
                own[low] = b;
                own[high] = a;
            }
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    data[base + item] = own[item];
    data[base + item + 256] = own[item + 256];
}

__kernel void shortest_paths(__global int* distance, int n, int through)
{
    int x = get_global_id(0), y = get_global_id(1);
    int around = distance[y * n + through] + distance[through * n + x];
    if (around < distance[y * n + x])
        distance[y * n + x] = around;
}

__kernel void fractal(__global int* counts, int width, int height, int most)
{
    int x = get_global_id(0), y = get_global_id(1);
    float cx = -2.0f + 3.0f * x / width, cy = -1.5f + 3.0f * y / height;
    float a = 0.0f, b = 0.0f;
    int count = 0;
    while (a * a + b * b < 4.0f && count < most) {
        float next = a * a - b * b + cx;
        b = 2.0f * a * b + cy;
        a = next;
        count++;
    }
    counts[y * width + x] = count;
}

float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
    float tail = 0.39894228f * exp(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - tail : tail;
}

__kernel void options(__global const float* price, __global const float* strike, __global const float* years,
                      __global float* call, __global float* put, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i], root = sqrt(t);
    float d1 = (log(s / x) + (0.02f + 0.045f) * t) / (0.3f * root), d2 = d1 - 0.3f * root;
    float discounted = x * exp(-0.02f * t);
    call[i] = s * normal(d1) - discounted * normal(d2);
    put[i] = discounted * (1.0f - normal(d2)) - s * (1.0f - normal(d1));
}

__kernel void softmax(__global const float* in, __global float* out, int columns)
{
    __local float part[256];
    int item = get_local_id(0), row = get_group_id(0);
    float most = -1e30f, sum = 0.0f;
    for (int i = item; i < columns; i += 256)
        most = fmax(most, in[row * columns + i]);
    part[item] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        if (item < half_of)
            part[item] = fmax(part[item], part[item + half_of]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < columns; i += 256)
        sum += exp(in[row * columns + i] - most);
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_of = 128; half_of > 0; half_of /= 2) {
        if (item < half_of)
            part[item] += part[item + half_of];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = part[0];
    for (int i = item; i < columns; i += 256)
        out[row * columns + i] = exp(in[row * columns + i] - most) / sum;
}

__kernel void attention(__global const float* q, __global const float* keys, __global const float* values,
                        __global float* out, int length)
{
    __local float query[64], scores[128], part[128];
    int item = get_local_id(0), row = get_group_id(0);
    if (item < 64)
        query[item] = q[row * 64 + item];
    float most = -1e30f, total = 0.0f, sum = 0.0f;
    for (int first = 0; first < length; first += 128) {
        barrier(CLK_LOCAL_MEM_FENCE);
        float score = 0.0f;
        for (int d = 0; d < 64; d++)
            score += query[d] * keys[(first + item) * 64 + d];
        scores[item] = score * 0.125f;
        part[item] = score * 0.125f;
        for (int half_of = 64; half_of > 0; half_of /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            if (item < half_of)
                part[item] = fmax(part[item], part[item + half_of]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float now = fmax(most, part[0]), shrink = exp(most - now);
        most = now;
        total *= shrink;
        sum *= shrink;
        for (int j = 0; j < 128; j++) {
            float weight = exp(scores[j] - now);
            total += weight;
            if (item < 64)
                sum += weight * values[(first + j) * 64 + item];
        }
    }
    if (item < 64)
        out[row * 64 + item] = sum / total;
}

__kernel void normalise_rows(__global const float* in, __global float* out, int columns)
{
    int row = get_global_id(0);
    float sum = 0.0f, squares = 0.0f;
    for (int i = 0; i < columns; i++) {
        float value = in[row * columns + i];
        sum += value;
        squares += value * value;
    }
    float mean = sum / columns, scale = rsqrt(squares / columns - mean * mean + 1e-5f);
    for (int i = 0; i < columns; i++)
        out[row * columns + i] = (in[row * columns + i] - mean) * scale;
}

__kernel void frontier(__global const int* begins, __global const int* edges, __global const int* in_frontier,
                       __global int* levels, int level, int nodes)
{
    int node = get_global_id(0);
    if (node >= nodes || in_frontier[node] == 0)
        return;
    for (int at = begins[node]; at < begins[node + 1]; at++) {
        int neighbour = edges[at];
        if (levels[neighbour] < 0)
            levels[neighbour] = level;
    }
}

__kernel void butterflies(__global float* re, __global float* im, int span)
{
    int i = get_global_id(0);
    int low = (i / span) * 2 * span + i % span, high = low + span;
    float angle = -3.14159265f * (i % span) / span;
    float c = cos(angle), s = sin(angle);
    float xr = re[high] * c - im[high] * s, xi = re[high] * s + im[high] * c;
    re[high] = re[low] - xr;
    im[high] = im[low] - xi;
    re[low] += xr;
    im[low] += xi;
}
