"""OpenCL drivers: found, made visible, ranked."""
