"""Measuring: interleaved rounds, ladders, the library against its baselines."""
