"""The library's kernels under sanitizers, at the shapes where its plans change.

    python -m tools.sanitize [--family NAME] [--shapes N]    under this project's interpreter, without a device
    python -m tools.sanitize --oclgrind                      under Oclgrind, an independent interpreter
    python -m tools.sanitize --cuda [--seconds S]            under NVIDIA's compute-sanitizer, on an NVIDIA GPU

Each prints a table with a row for each kernel, and writes its part of benchmarks/sanitize.json.
"""
