"""Counts what decides each claim that the four source systems make about memory.

python -m tools.claims    rewrites the table of docs/explain.md
"""
