"""The files of tuned tables: there is one JSON file for each device.

Some come with the package, and `tilewright tune` makes more. Who opens a device loads them, and hands them to the planning.
"""

import re
from functools import cache
from math import inf
from pathlib import Path

from ..core.records import load
from ..errors import RecordError
from ..runtime.cache import cache_folder
from .tuned import FORMAT, Table, Tables

FOLDER = Path(__file__).parent / "tables"


def load_table(path: Path) -> Table:
    """Read a table; RecordError says what is wrong with the file and where."""
    table = load(path, Table, "a tuned table", FORMAT)
    for entry in table.entries:
        if not (0 < entry.seconds < inf and 0 < entry.untuned_seconds < inf):
            times = f"{entry.seconds} s and {entry.untuned_seconds} s"
            raise RecordError(f"{path}: {entry.problem} has the times {times}; both must be above 0 and finite")
    return table


def own_folder() -> Path:
    """The folder of the user's tables: `tilewright tune` writes there, and they go before those of the package."""
    return cache_folder() / "tuned"


def file_name(device: str) -> str:
    """The file name of a device's table, such as "nvidia-h200.json"."""
    return "-".join(re.findall(r"[a-z0-9]+", device.lower())) + ".json"


def load_tables() -> Tables:
    """The user's tables, then the package's, and why others are not used. Each file is read once in a process."""
    return _load_from(own_folder())


@cache
def _load_from(own: Path) -> Tables:
    """The tables in the user's folder and in the package's."""
    read = [_table_or_reason(path) for folder in (own, FOLDER) for path in sorted(folder.glob("*.json"))]
    known = tuple(each for each in read if isinstance(each, Table))
    return Tables(known, tuple(each for each in read if isinstance(each, str)))


def _table_or_reason(path: Path) -> Table | str:
    try:
        return load_table(path)
    except RecordError as error:
        return str(error)
