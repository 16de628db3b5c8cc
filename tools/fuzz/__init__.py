"""The fuzzer of the library's public calls: cases made of one integer each, judged element by element.

`python -m tools.fuzz --cases 100000 --seed 7 --device 0 --record benchmarks/fuzz-NAME.json`
"""
