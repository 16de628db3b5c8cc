"""What is done of a product whose result lies in a file: written beside it, so that a killed call goes on where it was.

The first line says which product it is, each other line names a tile that was written, with the check sum of its bytes. A tile
whose bytes are others when the call is made again is computed again: also what a loss of power took from the disk.
"""

import json
import os
from io import FileIO
from pathlib import Path
from stat import S_ISREG
from typing import Any

from ...errors import InvalidInput, StorageFailed

ENDING = ".tilewright-journal"
VERSION = 2
MOST_SHOWN = 100  # letters of a value in a sentence


def journal_path(output: Path) -> Path:
    return output.with_name(output.name + ENDING)


class Journal:
    """The journal of one output, locked as long as it is open: the system unlocks it if the process dies."""

    def __init__(self, output: Path, product: dict[str, Any], in_place: bool = False) -> None:
        self.path = journal_path(output)
        # What JSON makes of it is what is read again.
        self._product = json.loads(json.dumps({"version": VERSION, "in_place": in_place, **product}))
        self._file = _opened(self.path, output)
        try:
            self.sums = self._read(output)  # check sums by the numbers of tiles
        except BaseException:
            self._file.close()
            raise

    def _read(self, output: Path) -> dict[int, int]:
        with self.path.open("rb") as file:
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]  # a line without an end was being written
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{self.path} is no journal: remove it ({error})") from error
        if not lines:
            self._file.truncate(0)
            self._append(self._product)
            return {}
        if not isinstance(lines[0], dict) or not all(map(_is_tile, lines[1:])):
            raise InvalidInput(f"{self.path} is no journal: remove it")
        if lines[0] != self._product:
            raise InvalidInput(
                f"{self.path} is the journal of another product ({_difference(lines[0], self._product)}): make that call again "
                f"to complete it, or remove the journal to begin this one in {output.name}"
            )
        if self._product["in_place"]:
            raise InvalidInput(
                f"{self.path}: a call with c and out in one place was interrupted, so that some of c is lost in {output.name}: "
                "bring back c, and remove the journal"
            )
        if len(whole) < len(text):
            self._file.truncate(len(whole))
        return dict(lines[1:])

    def add(self, tile: int, check: int) -> None:
        """A tile's bytes are written."""
        self._append([tile, check])

    def _append(self, line: Any) -> None:
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        try:
            written = self._file.write(text)
        except OSError as error:
            raise StorageFailed(f"writing {self.path}: {error.strerror}") from error
        if written != len(text):
            raise StorageFailed(f"{self.path}: {written} of {len(text)} bytes of a line were written: make room")

    def close(self, complete: bool) -> None:
        """End; a journal whose product is `complete` is removed."""
        if complete:
            self.path.unlink(missing_ok=True)
        self._file.close()


def _opened(path: Path, output: Path) -> FileIO:
    """The journal's file, locked. Another call may end, and remove it, between opening and locking.

    It is an object, which closes and unlocks itself also where Ctrl-C comes before `close`.
    """
    while True:
        try:
            file = FileIO(path, "a+", opener=lambda name, flags: os.open(name, flags, 0o644))
        except OSError as error:
            raise StorageFailed(f"no journal can be kept beside {output}: {path}: {error.strerror}") from error
        try:
            if not S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidInput(f"{path} is no file, and so no journal: remove it")
            _lock(file.fileno(), output)
            if path.exists() and os.path.samestat(path.stat(), os.fstat(file.fileno())):
                return file
        except BaseException:
            file.close()
            raise
        file.close()


def _is_tile(line: Any) -> bool:
    """Whether a line is the number of a tile, and a check sum."""
    return isinstance(line, list) and len(line) == 2 and all(type(each) is int for each in line)


def _difference(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    names = [name for name in wanted if found.get(name) != wanted[name]]
    return "; ".join(f"{name}: {_unlike(found.get(name), wanted[name])}" for name in names[:3]) or "other words"


def _unlike(found: Any, wanted: Any) -> str:
    """Two values as short texts that begin a little before they differ."""
    one, other = json.dumps(found), json.dumps(wanted)
    alike = next((place for place, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), 0)
    begin = 0 if max(len(one), len(other)) < MOST_SHOWN else max(0, alike - MOST_SHOWN // 2)
    return f"{_part(one, begin)}, not {_part(other, begin)}"


def _part(text: str, begin: int) -> str:
    end = begin + MOST_SHOWN
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if len(text) > end else ''}"


def _lock(descriptor: int, output: Path) -> None:
    """InvalidInput if another call, of this or another process, writes to the same output."""
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)  # the byte there is locked
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InvalidInput(f"another call is writing to {output}: wait until it ends, or pass another out") from error
