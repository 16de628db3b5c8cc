"""The program that compute-sanitizer watches: it runs cases by CUDA and prints a line about each."""

import sys
from pathlib import Path

from tilewright.runtime.cuda.opening import open_device

from .driven import drive_all, load_cases


def main() -> None:
    path, seconds = sys.argv[1:]
    for line in drive_all(load_cases(Path(path)), open_device(), float(seconds)):
        print(line, flush=True)


main()
