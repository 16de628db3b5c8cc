"""What the words of the command line mean: kernels and their settings, numbers, sizes and sweeps of sizes."""

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TypeVar

from .custom import custom_kernel
from .errors import InvalidInput, UnknownName
from .inspection.examine import with_settings
from .kernel import Kernel
from .kernels import LADDERS, find_kernel
from .ladders import make_problem
from .problem import Gemm
from .sets import STORED

Number = TypeVar("Number", int, float)
GEOMETRY = {"global_size": "--global", "local_size": "--local", "order": "--order"}
SAMPLE = 64  # the side of the problem at which settings are tried: whether they make a geometry at all


def kernel_of(options: argparse.Namespace) -> Kernel:
    """The rung, or the .cl file of the user's own, that the options name, with the settings that they give."""
    settings = settings_of(options.define)
    if is_file(options.kernel):
        if not options.global_size or not options.local_size:
            raise InvalidInput(f"{options.kernel} needs --global and --local, such as --global M,N --local 16,16")
        kernel = own_kernel(options, options.global_size, options.local_size, settings)
    else:
        kernel = with_fields(rung_of(options), settings)
    return kernel


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


def with_fields(kernel: Kernel, settings: Mapping[str, str]) -> Kernel:
    """The rung with fields of its configuration changed, named by them. UnknownName for what is no field of it; InvalidInput
    for values that make no geometry."""
    if not settings:
        return kernel
    changed, others = with_settings(kernel, settings)
    if others:
        raise UnknownName(
            f"setting of {kernel.name}", next(iter(others)), [each.name for each in fields(kernel.config)]
        )
    words = " ".join(f"{name}={value}" for name, value in settings.items())
    variant = f"{kernel.variant} {words}".strip()
    check_geometry(changed, words)
    return replace(changed, variant=variant)


def check_geometry(kernel: Kernel, words: str) -> None:
    """InvalidInput if the kernel's configuration, which `words` changed, makes no work-groups of at least one work-item."""
    problem = make_problem(kernel, (SAMPLE,), kernel.usual_dtype)
    try:
        geometries = [step.config.ndrange(step.problem) for step in kernel.steps(kernel, kernel.config, problem)]
        kernel.config.local_bytes(problem)
    except (ArithmeticError, ValueError) as error:
        raise InvalidInput(f"{words}: {kernel.name} has no geometry with that: {error}") from error
    for each in geometries:
        if min(each.local_size) < 1 or min(each.global_size) < 0:
            raise InvalidInput(f"{words}: {kernel.name} has no geometry with that: its work-groups are {each}")


def rung_before(kernel: Kernel) -> Kernel | None:
    """The last rung of the same ladder with another source before this one's; None for a first rung or no rung at all."""
    for ladder in LADDERS.values():
        sources = [each.source for each in ladder.kernels]
        if kernel.source in sources:
            place = sources.index(kernel.source)
            return ladder.kernels[place - 1] if place else None
    return None


def seconds(text: str) -> float:
    """A time that the parser takes: finite, and not negative."""
    return _number(text, float, lambda value: math.isfinite(value) and value >= 0, "a number of seconds, such as 2.5")


def count(text: str) -> int:
    """A number of things that the parser takes: 1 or more."""
    return _number(text, int, lambda value: value >= 1, "a whole number of at least 1")


def from_zero(text: str) -> int:
    """A whole number that the parser takes: 0 or more."""
    return _number(text, int, lambda value: value >= 0, "a whole number of at least 0")


def _number(text: str, kind: Callable[[str], Number], right: Callable[[Number], bool], wanted: str) -> Number:
    refusal = argparse.ArgumentTypeError(f"{text[:40]!r} is not {wanted}")
    try:
        value = kind(text)
    except ValueError:
        raise refusal from None
    if not right(value):
        raise refusal
    return value


def parse_size(text: str) -> tuple[int, ...]:
    """ "512" or "512x64x300": whole numbers."""
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError as error:
        raise InvalidInput(f"{text[:40]!r} is no size: write 512, 512x256 or 512x256x128") from error


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
