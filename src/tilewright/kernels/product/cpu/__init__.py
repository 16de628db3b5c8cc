"""Products on CPU devices: packed panels, register tiles, matrix times vector."""
