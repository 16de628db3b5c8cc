"""The measured rates that the course's prose speaks of. They lie in figures.json, which `python -m tools.course figures` makes of
the records in benchmarks/: prose cannot say another number than the record."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from ..core.numbers import figure, scaled_unit
from ..errors import UnknownName

FIGURES = Path(__file__).parent / "figures.json"


class Figure(msgspec.Struct, frozen=True):
    """The rate of a rung or a baseline on one device, by the median, in `unit`: GFLOP/s or GB/s."""

    rate: float
    unit: str
    size: str


@cache
def read_figures() -> Mapping[str, Mapping[str, Figure]]:
    """The figures by device ("h200", "cpu-intel", "cpu-pocl") and rung ("tiles/02") or baseline ("tiles/cuBLAS")."""
    return msgspec.json.decode(FIGURES.read_bytes(), type=dict[str, dict[str, Figure]])


def find_figure(device: str, name: str) -> Figure:
    """UnknownName for a device, or for a rung or baseline of it, that has no figure."""
    figures = read_figures()
    if device not in figures:
        raise UnknownName("device with figures", device, figures)
    if name not in figures[device]:
        raise UnknownName(f"rung with a figure of {device}", name, figures[device])
    return figures[device][name]


def rate_words(device: str, name: str) -> str:
    """ "6.74 TFLOP/s"."""
    found = find_figure(device, name)
    unit, factor = scaled_unit(found.unit, found.rate)
    return f"{figure(found.rate / factor)} {unit}"


def ratio_words(device: str, name: str, other: str) -> str:
    """How many times faster one is than the other: "2.46"."""
    return figure(find_figure(device, name).rate / find_figure(device, other).rate)
