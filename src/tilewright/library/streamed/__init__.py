"""Products and transposes of matrices that are larger than a device, or than the host's memory, tile by tile."""
