"""Exact products on Hopper GPUs: tiles loaded by TMA, multiplied by ordinary multiply-adds."""
