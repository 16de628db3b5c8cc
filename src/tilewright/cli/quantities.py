"""Numbers on the command line: times and counts, with a sentence for those out of range."""

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

from ..core.checked import SECONDS, is_time

Number = TypeVar("Number", int, float)


def seconds(text: str) -> float:
    """A time in seconds: finite and above 0."""
    return _number(text, float, is_time, SECONDS)


def ratio(text: str) -> float:
    """A finite number above 0."""
    return _number(text, float, lambda value: math.isfinite(value) and value > 0, "a ratio, such as 0.95")


def count(text: str) -> int:
    """A whole number of at least 1."""
    return _number(text, int, lambda value: value >= 1, "a whole number of at least 1")


def from_zero(text: str) -> int:
    """A whole number of at least 0."""
    return _number(text, int, lambda value: value >= 0, "a whole number of at least 0")


def numbers(text: str) -> tuple[float, ...]:
    """Finite numbers with commas between them."""
    wanted = "a finite number; numbers have commas between them, such as 2,3"
    return tuple(_number(each, float, math.isfinite, wanted) for each in text.split(","))


def _number(text: str, kind: Callable[[str], Number], right: Callable[[Number], bool], wanted: str) -> Number:
    refusal = argparse.ArgumentTypeError(f"{text[:40]!r} is not {wanted}")
    try:
        value = kind(text)
    except ValueError:
        raise refusal from None
    if not right(value):
        raise refusal
    return value
