"""The files that a command is asked to write: looked at before anything is measured, and not lost if they cannot be written."""

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..core.records import Record, save_record, to_json
from ..errors import InvalidInput, RecordError, TilewrightError, Unsupported
from ..report.plot import check_picture, plot
from ..report.table import to_csv

Saved = TypeVar("Saved")
WRITTEN = ("json", "csv", "plot")  # the options that name a file for a record, what keeps all of it first


def check_target(option: str, path: Path, endings: Sequence[str] = ()) -> None:
    """InvalidInput if a file cannot be written there: its folder is missing, it is one itself, or its ending says nothing."""
    if endings and path.suffix.lower() not in endings:
        raise InvalidInput(f"{option} {path}: the name has to end in {' or '.join(endings)}")
    if path.is_dir():
        raise InvalidInput(f"{option} {path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise InvalidInput(f"{option} {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InvalidInput(f"{option} {path}: no right to write there")


def check_outputs(options: argparse.Namespace, names: Sequence[str] = ("",)) -> None:
    """Look at all that --json, --csv and --plot name, for records of these names, before work is done for them."""
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
    """The file for one of several records: the record's name goes before the suffix."""
    return path.with_stem(f"{path.stem}-{name}") if name else path


def write_outputs(options: argparse.Namespace, record: Record, name: str = "") -> list[Path]:
    """Save what --json, --csv and --plot ask for, all that can be; the files written. RecordError says which could not be
    written, and where the record is."""
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
    """Save a record. RecordError if it cannot be written, which says where it is instead."""
    try:
        write(record, path)
    except (OSError, TilewrightError) as error:
        raise RecordError(f"{_complaint(path, error)}; {rescued(record)}") from error


def _complaint(path: Path, error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return f"{path} cannot be written: {reason}"


def rescued(record: object) -> str:
    """Save a record where it was not asked for, and say where: in the folder for temporary files, or else on the screen."""
    try:
        handle, name = tempfile.mkstemp(prefix="tilewright-", suffix=".json")
        os.close(handle)
        save_record(record, Path(name))
        return f"the record is in {name}"
    except OSError as error:
        print(to_json(record), end="")
        return f"nor can the record be kept in a temporary file ({error.strerror}); it was printed"
