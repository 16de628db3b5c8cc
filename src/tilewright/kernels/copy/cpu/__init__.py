"""Copies, transposes and in-place transposes for CPU devices."""
