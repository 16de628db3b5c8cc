"""Tuned tables: which kernel in which configuration was the fastest for a problem, measured on a device.

One JSON file for each device: those here come with the package, and `tilewright tune` makes more. A device without a
table of its own takes that of one with the same compute capability, else one of the same vendor; what no table has is
left to the cost model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path

from ..core.device import DeviceInfo
from ..core.operands import Layout
from ..core.problem import Problem
from ..core.records import load
from ..errors import RecordError
from ..kernels.product.call import call_of
from ..runtime.cache import cache_folder

FOLDER = Path(__file__).parent / "tables"
FORMAT = 2
NEARNESS = ("this device", "a device of the same compute capability", "a device of the same vendor")


@dataclass(frozen=True)
class Entry:
    """The winner of one problem's race: a kernel's name and its configuration's key. Times are medians in seconds, of the
    winner and of the cost model's choice; its result was right, with an error of at most `worst_ratio` times the bound."""

    problem: str
    kernel: str
    config: dict[str, bool | int | str]
    seconds: float
    untuned_seconds: float
    worst_ratio: float


@dataclass(frozen=True)
class Table:
    """What was measured on one device. Of the problems in `settled` the cost model's choice was as good as any."""

    device: str
    vendor: str
    compute_capability: tuple[int, int] | None
    driver: str
    date: str
    entries: tuple[Entry, ...] = ()
    format: int = FORMAT
    settled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Header:
    """What is read of a file first: its format says how to read the rest."""

    format: int = FORMAT


@dataclass(frozen=True)
class Tuned:
    """An entry that holds for a device, and how near its table's device is: a sentence for the plan."""

    entry: Entry
    note: str


def key_of(problem: Problem) -> str:
    """How tables name a product: sizes, types and the direction in which operands lie; never the epilogue.

    C counts as lying in rows: the others are seen from their transpose, as the kernels see them.
    """
    call = call_of(problem).row_major
    letters = _letter(call.a, call.m, call.k) + _letter(call.b, call.k, call.n)
    types = call.dtype if call.result == call.dtype else f"{call.dtype}>{call.result}"
    return f"{call.batch} of {call.m}x{call.n}x{call.k} {types} {letters} {call.precision}".rstrip()


def _letter(view: Layout, rows: int, columns: int) -> str:
    """N for rows, T for columns, S for neither; a single row or column counts as N."""
    if view.column == 1 or 1 in (rows, columns):
        return "N"
    return "T" if view.row == 1 else "S"


def load_table(path: Path) -> Table:
    """Read a table; RecordError says what is wrong with the file and where."""
    table = load(path, Table, "a tuned table", FORMAT)
    for entry in table.entries:
        if not (0 < entry.seconds < inf and 0 < entry.untuned_seconds < inf):
            times = f"{entry.seconds} s and {entry.untuned_seconds} s"
            raise RecordError(f"{path}: {entry.problem} has the times {times}, which no race gives")
    return table


def own_folder() -> Path:
    """Where the user's own tables lie: `tilewright tune` writes there, and they go before the package's."""
    return cache_folder() / "tuned"


def file_name(device: str) -> str:
    """A table's file name: "nvidia-h200.json"."""
    return "-".join(re.findall(r"[a-z0-9]+", device.lower())) + ".json"


def known_tables() -> tuple[Table, ...]:
    """The user's own tables, then this package's; read once per process. Those that cannot be used are left out."""
    return tuple(each for each in _read_all(own_folder()) if isinstance(each, Table))


def unusable_tables() -> tuple[str, ...]:
    """Why files among the tables are left out, a sentence for each: damaged, of another version, or no tables at all."""
    return tuple(each for each in _read_all(own_folder()) if isinstance(each, str))


@cache
def _read_all(own: Path) -> tuple[Table | str, ...]:
    """Every table in the user's own folder and this package's, or why it cannot be used."""
    return tuple(_table_or_reason(path) for folder in (own, FOLDER) for path in sorted(folder.glob("*.json")))


def _table_or_reason(path: Path) -> Table | str:
    try:
        return load_table(path)
    except RecordError as error:
        return str(error)


def nearness(table: Table, device: DeviceInfo) -> int | None:
    """0 if the table is of this device, 1 of its compute capability, 2 of its vendor; None if it says nothing of it."""
    if table.device == device.name:
        return 0
    if device.compute_capability and table.compute_capability == device.compute_capability:
        return 1
    return 2 if device.vendor and table.vendor == device.vendor else None


def tables_for(device: DeviceInfo, tables: Sequence[Table]) -> list[tuple[Table, str]]:
    """The tables that hold for a device, the nearest first, each with what it is of."""
    found = [(near, table) for table in tables if (near := nearness(table, device)) is not None]
    return [(table, NEARNESS[near]) for near, table in sorted(found, key=lambda pair: pair[0])]


def tuned_for(problem: Problem, device: DeviceInfo, tables: Sequence[Table] | None = None) -> Iterator[Tuned]:
    """What the tables say of a product on a device, the nearest table first; nothing where none has it."""
    if device.kind == "cpu":
        return
    known = tables_for(device, known_tables() if tables is None else tables)
    if not known:
        return
    key = key_of(problem)
    for table, what in known:
        if key in table.settled:
            return
        entry = next((each for each in table.entries if each.problem == key), None)
        if entry is not None:
            gain = entry.untuned_seconds / entry.seconds
            note = f"from the tuned table of {table.device}, {what}, {table.date[:10]}: {gain:.2f}x the cost model's choice"
            yield Tuned(entry, note)
