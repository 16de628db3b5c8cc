"""OpenCL devices by PyOpenCL."""
