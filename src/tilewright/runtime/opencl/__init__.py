"""OpenCL devices, by PyOpenCL."""
