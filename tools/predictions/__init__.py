"""Predicted times beside measured ones: `python -m tools.predictions build|compare|page`.

`build FOLDER` compiles the kernels and writes what a GPU needs to time and count them: machine code, arguments, and programs of
its own (`measure.py` and `micro.py`), which need CuPy alone. Run these on the GPU, and put into FOLDER:

- `times.json`, by `python -m predictions.measure time FOLDER FOLDER/times.json`;
- `cold.csv`, by `ncu --cache-control all --clock-control none --csv --page raw` with the metrics of `compare.py`, on
  `python -m predictions.measure once FOLDER`;
- `micro.json`, by `python -m predictions.micro FOLDER FOLDER/micro.json`.

`compare FOLDER` predicts each kernel and writes `benchmarks/h200-predictions.json` and
[predictions.md](../../benchmarks/predictions.md); `page` writes the page again.
"""
