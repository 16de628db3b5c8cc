"""Proves that reproducible products have the bits that they promise: `python -m tools.reproducible --help`."""
