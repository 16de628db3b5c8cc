"""Makes what the course has of records and kernels: `python -m tools.course`."""
