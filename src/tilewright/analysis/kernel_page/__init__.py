"""One HTML page about a kernel: the source as a heat map, counts, machine code, the worst requests, and what-if sliders."""
