"""What the words of the command line mean: kernels, sizes and sweeps of sizes."""

import argparse

from .custom import custom_kernel
from .errors import InvalidInput
from .kernel import Kernel
from .kernels import LADDERS, find_kernel


def kernel_of(options: argparse.Namespace) -> Kernel:
    """The rung, or the .cl file of the user's own, that the options name."""
    if not options.kernel.endswith(".cl"):
        return find_kernel(options.kernel)
    if not options.global_size or not options.local_size:
        raise InvalidInput(f"{options.kernel} needs --global and --local, such as --global M,N --local 16,16")
    defines = dict(part.partition("=")[::2] for part in options.define)
    return custom_kernel(
        options.kernel, options.global_size.split(","), options.local_size.split(","),
        {name: value or "1" for name, value in defines.items()}, options.problem, options.order, options.build_option,
    )  # fmt: skip


def rung_before(kernel: Kernel) -> Kernel | None:
    """The last rung of the same ladder with another source before this one's; None for a first rung or no rung at all."""
    for ladder in LADDERS.values():
        sources = [each.source for each in ladder.kernels]
        if kernel.source in sources:
            place = sources.index(kernel.source)
            return ladder.kernels[place - 1] if place else None
    return None


def parse_size(text: str) -> tuple[int, ...]:
    """ "512" or "512x64x300": positive whole numbers."""
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no size: write 512, 512x256 or 512x256x128") from error


def sizes_of(options: argparse.Namespace) -> list[tuple[int, ...]]:
    """--size, or --sizes MIN:MAX as the powers of two times MIN."""
    if options.size and options.sizes:
        raise InvalidInput("give --size or --sizes, not both")
    if options.size:
        return [parse_size(options.size)]
    if not options.sizes:
        return []
    ends = options.sizes.split(":")
    if len(ends) != 2 or not all(end.isdigit() for end in ends) or not 0 < int(ends[0]) <= int(ends[1]):
        raise InvalidInput(f"--sizes {options.sizes}: write MIN:MAX, such as 128:1024")
    low, high = map(int, ends)
    return [(low * 2**power,) for power in range((high // low).bit_length()) if low * 2**power <= high]
