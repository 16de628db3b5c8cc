"""The ladders, for learning: one folder each, one idea a file. The library does not run them."""
