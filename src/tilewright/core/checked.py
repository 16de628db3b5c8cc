"""Checks of single arguments of public calls. InvalidInput names the argument, its value, and what is allowed.

NumPy is not imported: listing and printing kernels needs none.
"""

import math
from collections.abc import Mapping, Sequence
from numbers import Number, Real
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import InvalidInput, quoted
from .sizes import FilePath, is_whole

SECONDS = "a number of seconds above 0, such as 2.5"


def is_time(seconds: float) -> bool:
    return math.isfinite(seconds) and seconds > 0


def checked_seconds(name: str, value: Any, endless: bool = False) -> float:
    """A time above 0; with `endless` infinity, too."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            seconds = float(value)
        except OverflowError:  # a whole number that no float holds
            seconds = math.nan
        if is_time(seconds) or (endless and seconds == math.inf):
            return seconds
    more = ", or infinity" if endless else ""
    raise InvalidInput(f"{name}={quoted(value)}: pass {SECONDS}{more}")


def checked_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number of at least `least`."""
    if not is_whole(value) or value < least:
        raise InvalidInput(f"{name}={quoted(value)}: pass a whole number from {least} on")
    return int(value)


def checked_switch(name: str, value: Any) -> bool:
    """An argument that is either on or off. InvalidInput for arrays and other objects, whatever their truth."""
    if value is True or value is False:  # of nearly all calls
        return value
    if isinstance(value, int | None) or (getattr(value, "dtype", None) == "bool" and value.shape == ()):
        return bool(value)
    raise InvalidInput(f"{name}={quoted(value)}: pass True or False")


def checked_names(name: str, value: Any, example: str) -> tuple[str, ...]:
    """One name, or several in a list."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise InvalidInput(f"{name}={quoted(value)}: pass a name, such as {example}, or a list of names")
    return tuple(names)


def checked_path(name: str, value: Any) -> Path:
    """The name of a file or folder."""
    if not isinstance(value, str | PathLike) or "\0" in str(value):
        raise InvalidInput(f"{name}={quoted(value)}: pass the path of a file or folder, as text or as a pathlib.Path")
    return Path(value)


def checked_paths(name: str, value: FilePath | Sequence[FilePath]) -> list[Path]:
    """One path, or several in a list."""
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [checked_path(name, each) for each in value]
    return [checked_path(name, value)]


def checked_mapping(name: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """A dict with names as its keys; an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value):
        raise InvalidInput(f"{name}={quoted(value)}: pass a dict from names to values")
    return value


def checked_lists(name: str, value: Mapping[str, Sequence[Any]] | None) -> Mapping[str, Sequence[Any]]:
    """A dict from names to lists; an empty one for None."""
    lists = checked_mapping(name, value)
    if not all(isinstance(each, Sequence) and not isinstance(each, str | bytes) for each in lists.values()):
        raise InvalidInput(f"{name}={quoted(value)}: pass a dict from names to lists of values")
    return lists


def checked_numbers(name: str, value: Any) -> tuple[Any, ...]:
    """Several numbers, such as (2, 3)."""
    if (
        isinstance(value, bytes)
        or not isinstance(value, Sequence)
        or not all(isinstance(each, Number) for each in value)
    ):
        raise InvalidInput(f"{name}={quoted(value)}: pass a list of numbers, such as (2, 3)")
    return tuple(value)


def check_functions(announce: Any = None, **given: Any) -> None:
    """InvalidInput for what cannot be called. `announce` alone may be left out."""
    if announce is not None:
        given["announce"] = announce
    for name, value in given.items():
        if not callable(value):
            raise InvalidInput(f"{name}={quoted(value)}: pass a function")


def check_object(name: str, value: Any, kind: type | tuple[type, ...], advice: str) -> None:
    """InvalidInput, with advice on where such an object comes from, for one of another kind."""
    if not isinstance(value, kind):
        raise InvalidInput(f"{name}={quoted(value)}: pass {advice}")
