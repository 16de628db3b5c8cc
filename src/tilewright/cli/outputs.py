"""Output files: checked before anything is measured. A record that cannot be written is saved elsewhere."""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..core.records import Record, save_record, to_json
from ..errors import InvalidInput, RecordError, TilewrightError, Unsupported
from ..reports.plot import check_picture, plot
from ..reports.table import to_csv

Saved = TypeVar("Saved")
WRITTEN = ("json", "csv", "plot")  # the options that name a file; JSON first, because it keeps the whole record


def check_target(option: str, path: Path, endings: Sequence[str] = ()) -> None:
    """InvalidInput if a file cannot be written: no folder or no right to write, a folder itself, or an unknown suffix."""
    if endings and path.suffix.lower() not in endings:
        raise InvalidInput(f"{option} {path}: the name must end in {' or '.join(endings)}")
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInput(f"{option} {path}: you have no right to write there")


def check_outputs(options: argparse.Namespace, names: Sequence[str] = ("",)) -> None:
    """Check the files of --json, --csv and --plot, for records of these names."""
    targets: dict[Path, str] = {}
    for option in WRITTEN:
        path: Path | None = getattr(options, option, None)
        for target in (named(path, name) for name in names) if path is not None else ():
            check_target(f"--{option}", target)
            if target in targets:
                raise InvalidInput(f"--{targets[target]} and --{option} both name {target}")
            targets[target] = option
    if getattr(options, "plot", None) is not None:
        check_picture(options.plot)


def named(path: Path, name: str) -> Path:
    """The file of one of several records: the record's name stands before the suffix."""
    return path.with_stem(f"{path.stem}-{name}") if name else path


def write_outputs(options: argparse.Namespace, record: Record, name: str = "") -> list[Path]:
    """Write the files of --json, --csv and --plot, and return their names.

    RecordError names the files that could not be written, and the file in which the record was saved.
    """
    written: list[Path] = []
    complaints: list[str] = []
    writers: dict[str, Callable[[Record, Path], None]] = {"json": save_record, "csv": _save_csv, "plot": plot}
    for option in WRITTEN:
        if (path := getattr(options, option)) is None:
            continue
        try:
            writers[option](record, named(path, name))
            written.append(named(path, name))
        except (OSError, TilewrightError) as error:
            complaints.append(_complaint(named(path, name), error))
            if not isinstance(error, Unsupported) and not written:
                complaints.append(rescued(record))
    if complaints:
        raise RecordError("; ".join(complaints))
    return written


def _save_csv(record: Record, path: Path) -> None:
    path.write_text(to_csv(record), encoding="utf-8")


def write_or_rescue(path: Path, record: Saved, write: Callable[[Saved, Path], None] = save_record) -> None:
    """Save a record. RecordError if it cannot be written: it names the file in which the record was saved."""
    try:
        write(record, path)
    except (OSError, TilewrightError) as error:
        raise RecordError(f"{_complaint(path, error)}; {rescued(record)}") from error


def _complaint(path: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"{path} cannot be written: {reason}"


def rescued(record: object) -> str:
    """Save a record in a temporary file, or print it if that fails; a sentence that says which."""
    try:
        handle, name = tempfile.mkstemp(prefix="tilewright-", suffix=".json")
        os.close(handle)
        save_record(record, Path(name))
        return f"the record is in {name}"
    except OSError as error:
        print(to_json(record), end="")
        return f"a temporary file cannot be written, either ({error.strerror}); the record was printed"
