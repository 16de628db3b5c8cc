"""What the words of the command line mean: kernels and their settings, numbers, sizes and sweeps of sizes."""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..bench.sets import STORED
from ..core.custom import custom_kernel
from ..core.kernel import Kernel
from ..core.problem import Gemm
from ..errors import InvalidInput
from ..kernels import find_kernel
from ..kernels.settings import with_settings

GEOMETRY = {"global_size": "--global", "local_size": "--local", "order": "--order"}


def kernel_of(options: argparse.Namespace) -> Kernel:
    """The rung, or the .cl file of the user's own, that the options name, with the settings that they give."""
    return with_settings(*kernel_and_settings(options))


def kernel_and_settings(options: argparse.Namespace) -> tuple[Kernel, dict[str, str]]:
    """The rung or the file that the options name, and the settings that it is to have. A file has its macros already."""
    settings = settings_of(options.define)
    if not is_file(options.kernel):
        return rung_of(options), settings
    if not options.global_size or not options.local_size:
        raise InvalidInput(f"{options.kernel} needs --global and --local, such as --global M,N --local 16,16")
    return own_kernel(options, options.global_size, options.local_size, settings), {}


def is_file(name: str) -> bool:
    """Whether a kernel's name means a file of the user's own."""
    return name.endswith(".cl")


def own_kernel(options: argparse.Namespace, global_size: str, local_size: str, settings: Mapping[str, str]) -> Kernel:
    """The kernel of a user's file. Macros among the compiler's options count as `-D` does, so that every command sees them."""
    operation = "gemm" if options.problem is None else options.problem
    if options.order is not None and operation != "gemm":
        raise InvalidInput(f"--order {options.order}: a {operation} has one memory order, rows; only a gemm has others")
    macros, rest = macros_among(options.build_option)
    kernel = custom_kernel(
        options.kernel, global_size.split(","), local_size.split(","), {**macros, **settings}, operation,
        "rrr" if options.order is None else options.order, rest,
    )  # fmt: skip
    return _with_offset(kernel, options)


def rung_of(options: argparse.Namespace) -> Kernel:
    """The rung that the options name. InvalidInput for options that only a file of one's own can obey."""
    kernel = find_kernel(options.kernel)
    given = [
        f"{word} {getattr(options, name)}" for name, word in GEOMETRY.items() if getattr(options, name) is not None
    ]
    if given:
        raise InvalidInput(
            f"{' '.join(given)}: {kernel.name} is a rung, and computes its geometry and memory orders from its settings "
            f"({kernel.config}), which -D changes; for others write the source to a file of your own: "
            f"tilewright show '{kernel.name}' > mine.cl"
        )
    if options.problem not in (None, kernel.operation):
        raise InvalidInput(f"--problem {options.problem}: the rung {kernel.name} computes a {kernel.operation}")
    macros, rest = macros_among(options.build_option)
    if macros:
        raise InvalidInput(f"--build-option -D{next(iter(macros))}: give the settings of a rung by -D NAME=VALUE")
    return _with_offset(replace(kernel, options=(*kernel.options, *rest)), options)


def refuse_build_options(options: argparse.Namespace) -> None:
    """InvalidInput for options of OpenCL's compilers where CUDA's is asked for, which has none of them."""
    own = [each for each in options.build_option if each.strip().startswith("-cl-")]
    if own and options.backend != "opencl":
        raise InvalidInput(f"--build-option {own[0]}: CUDA's compiler does not have it; --backend opencl obeys it")


def _with_offset(kernel: Kernel, options: argparse.Namespace) -> Kernel:
    if options.offset and kernel.operation == "gemm":
        raise InvalidInput(f"--offset {options.offset}: a gemm leaves out no columns; transposes and copies do")
    return kernel


def macros_among(options: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The macros that compiler options define (-DNAME=VALUE), and the other options."""
    defined = [each for each in options if re.match(r"\s*-D", each)]
    macros = settings_of([each.strip()[2:].strip() for each in defined])
    return macros, tuple(each for each in options if each not in defined)


def settings_of(definitions: Sequence[str]) -> dict[str, str]:
    """ "BK=8" as {"BK": "8"}, and "FAST" as {"FAST": "1"}."""
    found = {}
    for each in definitions:
        name, _, value = each.partition("=")
        if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\n" in value:
            raise InvalidInput(f"{each!r}: write NAME=VALUE, the name of letters, digits and _")
        found[name] = value or "1"
    return found


def parse_size(text: str) -> tuple[int, ...]:
    """ "512" or "512x64x300": whole numbers."""
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError as error:
        raise InvalidInput(f"{text[:40]!r} is no size: write 512, 512x256 or 512x256x128") from error


def size_of(options: argparse.Namespace) -> tuple[int, ...] | None:
    """What `--size` says; None if it is left out."""
    return parse_size(options.size) if options.size is not None else None


def product_of(options: argparse.Namespace) -> Gemm:
    """The product that `tilewright plan` is asked about: its size, layout, types and how often."""
    size = parse_size(options.size)
    if len(size) not in (1, 3):
        raise InvalidInput(f"{options.size}: write N or MxNxK")
    m, n, k = size * 3 if len(size) == 1 else size
    orders = {"N": "row", "T": "column"}
    if not set(options.layout) <= set(orders) or len(options.layout) != 2:
        raise InvalidInput(f"--layout {options.layout}: NN, NT, TN or TT")
    a_order, b_order = (orders[letter] for letter in options.layout)
    stored = STORED.get(options.dtype)
    return Gemm(
        m, n, k, options.dtype, a_order, b_order, out_dtype=stored, batch=options.batch, precision=options.precision
    )


def sizes_of(options: argparse.Namespace) -> list[tuple[int, ...]]:
    """--size, or --sizes MIN:MAX as the powers of two times MIN."""
    if options.size is not None and options.sizes is not None:
        raise InvalidInput("give --size or --sizes, not both")
    if options.size is not None:
        return [parse_size(options.size)]
    if options.sizes is None:
        return []
    ends = options.sizes.split(":")
    if len(ends) != 2 or not all(end.isdecimal() for end in ends) or not 0 < int(ends[0]) <= int(ends[1]):
        raise InvalidInput(f"--sizes {options.sizes}: write MIN:MAX, such as 128:1024")
    low, high = map(int, ends)
    return [(low * 2**power,) for power in range((high // low).bit_length()) if low * 2**power <= high]
