// Largest and mean of windows of a planes-first tensor.
#ifndef POOL
#define POOL 3
#endif
__kernel void pooling_with_borders(__global const float* input, __global float* largest, __global float* mean, int channels,
                                   int height, int width, int out_height, int out_width, int stride, int pad)
{
    for (int index = get_global_id(0); index < channels * out_height * out_width; index += get_global_size(0)) {
        const int pw = index % out_width, ph = (index / out_width) % out_height, c = index / out_width / out_height;
        const int hstart = max(ph * stride - pad, 0), hend = min(ph * stride - pad + POOL, height);
        const int wstart = max(pw * stride - pad, 0), wend = min(pw * stride - pad + POOL, width);
        float maxval = -FLT_MAX, sum = 0;
        __global const float* plane = input + c * height * width;
        for (int h = hstart; h < hend; ++h)
            for (int w = wstart; w < wend; ++w) {
                maxval = max(plane[h * width + w], maxval);
                sum += plane[h * width + w];
            }
        largest[index] = maxval;
        mean[index] = sum / ((hend - hstart) * (wend - wstart));
    }
}
