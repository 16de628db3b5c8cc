"""Kernels checked against budgets and against a baseline: what CI asks."""
