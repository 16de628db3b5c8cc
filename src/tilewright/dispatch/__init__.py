"""The choice of the library's kernels: candidates of all families, and tables of measured winners."""
