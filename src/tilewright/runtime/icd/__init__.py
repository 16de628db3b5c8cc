"""OpenCL drivers: finding them, making them visible, ranking their devices."""
