"""Output files: checked before anything is measured. A record that cannot be written is saved elsewhere."""

import argparse
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from ..core.files import write_atomically
from ..core.records import Record, save_record, to_json
from ..errors import InvalidInput, RecordError, TilewrightError, Unsupported
from ..reports.picture_files import check_picture
from ..reports.plot import plot
from ..reports.table import to_csv
from .json_output import ENDINGS, STDOUT, print_json
from .printing import tell_written

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
    try:
        if path.exists():
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise InvalidInput(f"{option} {path}: nothing can be written there ({error.strerror})") from error


def check_outputs(options: argparse.Namespace, names: Sequence[str] = ("",)) -> None:
    """Check the files of --json, --csv and --plot, for records of these names."""
    targets: dict[Path, str] = {}
    for option in WRITTEN:
        path: Path | None = getattr(options, option, None)
        for target in (named(path, name) for name in names) if path not in (None, STDOUT) else ():
            check_target(f"--{option}", target)
            if target in targets:
                raise InvalidInput(f"--{targets[target]} and --{option} both name {target}")
            targets[target] = option
    if getattr(options, "plot", None) is not None:
        check_picture(options.plot)


def check_json(options: argparse.Namespace) -> None:
    """Check the file of --json. It may be no file that the command reads, or writes for another option."""
    if options.json in (None, STDOUT):
        return
    check_target("--json", options.json)
    for name, value in vars(options).items():
        for each in value if isinstance(value, list) else [value]:
            named_so = isinstance(each, str | Path) and str(each).lower().endswith(ENDINGS)
            if name != "json" and named_so and os.path.realpath(each) == os.path.realpath(options.json):
                raise InvalidInput(
                    f"--json {options.json} would overwrite a file that is named in this command: name another"
                )


def check_sarif(options: argparse.Namespace) -> None:
    """Check the file of --sarif. Its name must say what it is: a kernel after `--sarif` is not taken for a file to write."""
    if options.sarif is not None:
        check_target("--sarif", options.sarif, () if is_stream(options.sarif) else (".sarif", ".json"))


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
        if path == STDOUT:
            print_json(options, to_json(record), several=bool(name))
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
    write_atomically(path, to_csv(record).encode())


def write_json(options: argparse.Namespace, record: object) -> None:
    """`--json` of a command with one record: write the file, print the record, or nothing without the option.

    RecordError if the file cannot be written: it names the file in which the record was saved.
    """
    if options.json == STDOUT:
        print_json(options, to_json(record))
    elif options.json is not None:
        write_or_rescue(options.json, record)
        tell_written([options.json])


def keep_early(options: argparse.Namespace, record: object, what: str, name: str = "") -> None:
    """Save the record of a command that ends early, in the file of --json or in a temporary one, and say on standard error
    where it lies. `what` says what it holds."""
    if options.json == STDOUT:
        print_json(options, to_json(record), several=bool(name))
        place = "the record was printed"
    elif options.json is not None:
        write_or_rescue(named(options.json, name), record)
        place = f"the record is in {named(options.json, name)}"
    else:
        place = rescued(record)
    print(f"ended early with {what}: {place}", file=sys.stderr)


def keep_so_far(options: argparse.Namespace, record: object, name: str = "") -> None:
    """Write the files of --json and --csv while a sweep still goes on, so that nothing is lost whatever ends it. A file that
    cannot be written now is named on standard error, and tried again at the end."""
    for option in ("json", "csv"):
        path: Path | None = getattr(options, option, None)
        if path in (None, STDOUT) or is_stream(target := named(path, name)):
            continue
        try:
            if isinstance(record, Record) and option == "csv":
                _save_csv(record, target)
            else:
                save_record(record, target)
        except OSError as error:
            print(f"{_complaint(target, error)}; it is tried again at the end", file=sys.stderr)


def is_stream(path: Path) -> bool:
    """Whether what is written to a file is added to what was written before, as to /dev/stdout or a pipe."""
    return path.exists() and not path.is_file()


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
