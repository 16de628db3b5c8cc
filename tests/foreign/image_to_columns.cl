// Patches of an image as columns of a matrix, zero outside.
kernel void image_to_columns(global const float* src1, global float* dst, long batch_offset, long delta_offset, long IW, long IH,
                             long IC, long OW, long OH, long KW, long KH, long pelements, long CHW, int s0, int s1, int p0,
                             int p1, int d0, int d1)
{
    long i = get_global_id(0);
    if (i >= pelements)
        return;
    long ksize = OW * (KH > 1 ? KW : 1);
    long kx = i / ksize;
    long kd = kx * ksize;
    long ky = (i - kd) / OW;
    long ix = i % OW;
    long oh = get_group_id(1);
    long ic = get_group_id(2);
    long iiw = ix * s0 + kx * d0 - p0;
    long iih = oh * s1 + ky * d1 - p1;
    long offset_dst = (oh * OW + ix) * CHW + (ic * (KW * KH) + ky * KW + kx);
    if (iih < 0 || iih >= IH || iiw < 0 || iiw >= IW)
        dst[offset_dst] = 0.0f;
    else
        dst[offset_dst] = src1[ic * delta_offset + iih * IW + iiw];
}
