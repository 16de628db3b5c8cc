"""Predicted times beside measured ones: `python -m tools.predictions build|compare|page`.

`build FOLDER` compiles the kernels and writes what a GPU needs to time and count them: machine code, arguments, and a program of
its own (`measure.py`, which needs CuPy alone). Run that on the GPU. `compare FOLDER` predicts each kernel and writes
`benchmarks/h200-predictions.json` and [predictions.md](../../benchmarks/predictions.md); `page` writes the page again.
"""
