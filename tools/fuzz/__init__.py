"""A fuzzer of the library's public calls. A case is made from one integer; its result is checked element by element.

`python -m tools.fuzz --cases 100000 --seed 7 --device 0 --record benchmarks/fuzz-NAME.json`
"""
