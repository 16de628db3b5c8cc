"""Sizes on the command line: 512, 512x256x128, and sweeps."""

import argparse

from ..core.sizes import parse_size
from ..errors import InvalidInput


def size_of(options: argparse.Namespace) -> tuple[int, ...] | None:
    """The value of `--size`; None without it."""
    return parse_size(options.size) if options.size is not None else None


def sizes_of(options: argparse.Namespace) -> list[tuple[int, ...]]:
    """The sizes of `--size` or `--sizes MIN:MAX`. A sweep doubles from MIN up to MAX."""
    if options.size is not None and options.sizes is not None:
        raise InvalidInput("give --size or --sizes, not both")
    if options.size is not None:
        return [parse_size(options.size)]
    if options.sizes is None:
        return []
    ends = options.sizes.split(":")
    if len(ends) != 2 or not all(end.isdecimal() for end in ends) or not 0 < int(ends[0]) <= int(ends[1]):
        raise InvalidInput(f"--sizes {options.sizes}: write MIN:MAX with 0 < MIN <= MAX, such as 128:1024")
    low, high = map(int, ends)
    return [(low * 2**power,) for power in range((high // low).bit_length()) if low * 2**power <= high]
