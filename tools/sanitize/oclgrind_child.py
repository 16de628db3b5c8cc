"""The program that Oclgrind runs: it launches cases on Oclgrind's device and prints a line about each between Oclgrind's."""

import sys
from pathlib import Path

from tilewright.runtime.opencl.device import open_device

from .driven import drive_all, load_cases


def main() -> None:
    path, seconds = sys.argv[1:]
    for line in drive_all(load_cases(Path(path)), open_device("0"), float(seconds)):
        print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
