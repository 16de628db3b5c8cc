"""Exact products on Hopper GPUs: tiles fetched by the copy engine, multiplied by ordinary multiply-adds."""
