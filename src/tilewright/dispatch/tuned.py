"""Tuned tables: the fastest kernel and configuration for a problem, as measured on a device.

A device without its own table uses that of a device that has the same compute capability and as many SMs, whatever its name: an
H100 that of an H200. Instructions and local memory, and how many tiles run at a time, are the same there, and these decide
which kernel is the fastest. With other SMs a product has other waves, so such tables are not used. For problems that are in no
table, the cost model decides. Nothing here reads a file: table_files.py does.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ..core.device import DeviceInfo
from ..core.operands import Layout
from ..core.problem import Problem
from ..kernels.product.call import call_of

FORMAT = 3
NEARNESS = ("this device", "a device of the same compute capability with as many SMs")


@dataclass(frozen=True)
class Entry:
    """The fastest kernel for one problem, by name, and the key of its configuration. Times are medians in seconds: its own,
    and that of the cost model's choice. Its result was right, with errors of at most `worst_ratio` times the bound."""

    problem: str
    kernel: str
    config: dict[str, bool | int | str]
    seconds: float
    untuned_seconds: float
    worst_ratio: float


@dataclass(frozen=True)
class Table:
    """Measurements on one device. For the problems in `settled`, the cost model's choice was as fast as any."""

    device: str
    vendor: str
    compute_capability: tuple[int, int] | None
    driver: str
    date: str
    entries: tuple[Entry, ...] = ()
    format: int = FORMAT
    settled: tuple[str, ...] = ()
    compute_units: int | None = (
        None  # SMs; None in tables of before they were kept, which hold for their own device alone
    )


@dataclass(frozen=True)
class Tables:
    """The tables that a plan may use, those of the user first, and a sentence for each file that is no usable table."""

    known: tuple[Table, ...] = ()
    unusable: tuple[str, ...] = ()


NO_TABLES = Tables()


@dataclass(frozen=True)
class Tuned:
    """An entry that applies to a device, and a note for the plan that names the table's device."""

    entry: Entry
    note: str


def key_of(problem: Problem) -> str:
    """The name of a product in tables: sizes, types and layout (NN, NT ...), without the epilogue.

    C is row-major: a product with a column-major C is named by its transpose, which the kernels compute.
    """
    call = call_of(problem).row_major
    letters = _letter(call.a, call.m, call.k) + _letter(call.b, call.k, call.n)
    types = call.dtype if call.result == call.dtype else f"{call.dtype}>{call.result}"
    half = " symmetric" if call.symmetric else ""
    return f"{call.batch} of {call.m}x{call.n}x{call.k} {types} {letters}{half} {call.precision}".rstrip()


def _letter(view: Layout, rows: int, columns: int) -> str:
    """N for row-major, T for column-major, S for other strides; N for a single row or column."""
    if view.column == 1 or 1 in (rows, columns):
        return "N"
    return "T" if view.row == 1 else "S"


def nearness(table: Table, device: DeviceInfo) -> int | None:
    """0 for a table of this device, 1 of one with its compute capability and as many SMs; None for other tables."""
    if table.device == device.name:
        return 0
    facts = (device.compute_capability, device.compute_units)
    return 1 if device.compute_capability and (table.compute_capability, table.compute_units) == facts else None


def tables_for(device: DeviceInfo, tables: Tables) -> list[tuple[Table, str]]:
    """The tables that apply to a device, the nearest first, each with a clause that says why."""
    found = [(near, table) for table in tables.known if (near := nearness(table, device)) is not None]
    return [(table, NEARNESS[near]) for near, table in sorted(found, key=lambda pair: pair[0])]


def tuned_for(problem: Problem, device: DeviceInfo, tables: Tables) -> Iterator[Tuned]:
    """The entries for a product on a device, the nearest table first; empty if no table has it."""
    if device.kind == "cpu":
        return
    known = tables_for(device, tables)
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
