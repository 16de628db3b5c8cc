"""Products of 8-bit floats by kernels that know nothing of them: widened to halves first, scaled afterwards."""
