"""Regret: how often the library's choice is slower than the best known, over random shapes: `python -m tools.regret`."""
