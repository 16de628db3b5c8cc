"""The memory that a call's arrays lie in: the host's, an OpenCL context's, or a CUDA device's. Each converts operands, binds
buffers, runs calls and returns results."""
