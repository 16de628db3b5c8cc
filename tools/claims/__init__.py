"""Checks each claim of the four source systems about memory by a count.

python -m tools.claims    rewrites the table of docs/explanation/memory.md
"""
