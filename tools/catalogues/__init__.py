"""Catalogues of translations: what the code says goes into the .po files, which are compiled: `python -m tools.catalogues`."""
