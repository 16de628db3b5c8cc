"""Regret: how often the library's choice is slower than the best that is known, over random shapes. Run `python -m tools.regret`."""
