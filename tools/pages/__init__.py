"""Rewrites the generated parts of Markdown pages from the records that they name: `python -m tools.pages PAGE.md ...`."""
