"""A product of files with 64 MB of memory, that goes on where it was if it is interrupted.

python examples/larger_than_memory.py FOLDER [SIDE]
"""

import sys
from pathlib import Path

import numpy as np

import tilewright


def operand(path: Path, side: int, seed: int) -> np.memmap:
    """A matrix of random numbers in a file, written by rows. One that is there is used again."""
    if path.exists() and path.stat().st_size == 4 * side * side:
        return np.memmap(path, np.float32, "r", shape=(side, side))
    made = np.memmap(path, np.float32, "w+", shape=(side, side))
    random = np.random.default_rng(seed)
    for row in range(side):
        made[row] = random.standard_normal(side, np.float32)
    made.flush()
    return made


def main() -> None:
    folder, side = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4000
    a, b = operand(folder / "a.bin", side, 1), operand(folder / "b.bin", side, 2)
    path = folder / "product.bin"
    out = np.memmap(path, np.float32, "r+" if path.exists() else "w+", shape=(side, side))
    print(tilewright.plan(side, max_host_bytes="64MB"))
    tilewright.matmul(a, b, out, max_host_bytes="64MB", progress=True)
    rows = [0, side // 2, side - 1]
    wanted = a[rows].astype(np.float64) @ b
    print(f"largest error of three rows: {np.abs(out[rows] - wanted).max():.2e}")


if __name__ == "__main__":
    main()
