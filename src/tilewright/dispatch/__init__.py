"""Which kernel the library runs for a problem: candidates of all families, and tables of measured winners."""
