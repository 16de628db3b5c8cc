"""Baselines to measure against, each behind one small adapter of the same shape."""
