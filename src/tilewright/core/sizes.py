"""The sizes of a problem as callers write them, and as the package works with them: tuples of whole numbers."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from os import PathLike
from typing import TypeGuard

from ..errors import InvalidInput, quoted

FilePath = str | PathLike[str]
Size = int | str | Sequence[int]  # 512, "512x256x128" or (512, 256, 128)
Sizes = int | str | Sequence[int | str | Sequence[int]]  # one size, or several
Sides = int | str | Sequence[str | int]  # 64, "M,N", ("M", "N/4") or (16, 16)

SIZES = "512, 512x256 or 512x256x128"


def parse_size(text: str, forms: str = SIZES) -> tuple[int, ...]:
    """ "512" or "512x64x300" as whole numbers. InvalidInput names the `forms` that are allowed."""
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError as error:
        raise InvalidInput(f"{text[:40]!r} is not a size: write {forms}") from error


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number, NumPy's too. True and False are none."""
    return isinstance(value, int | Integral) and not isinstance(value, bool)


def as_size(size: Size) -> tuple[int, ...]:
    """A size as a tuple. NumPy's integers are numbers, too. InvalidInput for anything else."""
    if isinstance(size, str):
        return parse_size(size)
    if is_whole(size):
        return (int(size),)
    if isinstance(size, bytes) or not isinstance(size, Sequence) or not all(map(is_whole, size)):
        raise InvalidInput(f"{quoted(size)} is not a size: write {SIZES}, or whole numbers such as (512, 256, 128)")
    return tuple(map(int, size))


def as_sizes(sizes: Sizes) -> list[tuple[int, ...]]:
    """Sizes as a list: 512 is one size, [512, 1024] are two, and [] is none."""
    if isinstance(sizes, Sequence) and not isinstance(sizes, str | bytes):
        return [as_size(each) for each in sizes]
    return [as_size(sizes)]


def sides(geometry: Sides) -> tuple[str, ...]:
    """The expressions of a global or local size, one for each dimension. InvalidInput for anything else."""
    if isinstance(geometry, str):
        return tuple(geometry.split(","))
    if is_whole(geometry):
        return (str(int(geometry)),)
    parts = list(geometry) if isinstance(geometry, Iterable) and not isinstance(geometry, bytes | Mapping) else [None]
    if not all(isinstance(each, str) or is_whole(each) for each in parts):
        raise InvalidInput(f'{quoted(geometry)} is no size in work-items: write 64, (16, 16) or "M,N/4"')
    return tuple(map(str, parts))
