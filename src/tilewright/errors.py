"""Every error that tilewright raises. Each says what was wrong, with the values, and what to do.

TilewrightError
|-- UnknownName        a rung, device, dtype ... that does not exist; names similar ones
|-- InvalidInput       an argument that can never work (also a ValueError and a TypeError: NumPy raises both)
|   `-- SourceError    OpenCL C text that cannot be read or run; names file, line and column
|-- Unsupported        a valid request that this kernel or device refuses
|   |-- MissingFeature   what the device lacks: an instruction, double precision
|   `-- UnsupportedType  elements that no kernel has (also a TypeError)
|-- NoDevice           no OpenCL device to run on
|-- BuildFailed        a kernel that did not compile, with the compiler's whole log
|-- LaunchFailed       a call that the driver refused: the error code, what it usually means, and the call
|   |-- OutOfDeviceMemory  an allocation that did not fit
|   `-- DevicePoisoned     an earlier fault made the context unusable
|-- WrongResult        a verification that failed
|-- StorageFailed      a file or array of a product larger than memory that cannot be read or written
|-- ProcessFailed      a child process (probe, baseline) that died, hung or gave no valid answer
`-- RecordError        a record file that cannot be read or written
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

MOST_QUOTED = 60  # characters of a wrong value in a sentence


def quoted(value: object) -> str:
    """A wrong value as it stands in a sentence: on one line, and shortened. Arrays have many lines."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no integers of more than 4,300 digits
        text = f"<{type(value).__name__} of too many digits>"
    return text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 3]}..."


MOST_NAMES = 12  # that an error lists


class TilewrightError(Exception):
    """The root: catch it to catch everything that tilewright raises on purpose."""

    def __reduce__(self) -> Any:
        """Pickled and copied by its message. Python would make it from the message alone; a pool of processes, to which some
        class's `__init__` refuses that, waits for its answer for ever."""
        return _made_again, (type(self), self.args, dict(vars(self)))


def _made_again(kind: type[TilewrightError], args: tuple[Any, ...], facts: dict[str, Any]) -> TilewrightError:
    made = kind.__new__(kind, *args)
    vars(made).update(facts)
    return made


class UnknownName(TilewrightError, LookupError):
    """A name that does not exist; the message holds similar names."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = list(known)
        near = []
        if isinstance(name, str):
            near = get_close_matches(name, names, n=3, cutoff=0.4) or [each for each in names if name in each][:3]
        if near:
            advice = "did you mean " + " or ".join(near) + "?"
        elif names:
            more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
            advice = "known: " + ", ".join(names[:MOST_NAMES]) + more
        else:
            advice = "there are none"
        super().__init__(f"no {kind} is called {repr(name) if isinstance(name, str) else quoted(name)}; {advice}")


class InvalidInput(TilewrightError, ValueError, TypeError):
    """An argument that can never work. NumPy raises ValueError for some such arguments and TypeError for others."""


class SourceError(InvalidInput):
    """OpenCL C text that cannot be read or run; the message starts with `file:line:column`."""

    def __init__(self, file: str, line: int, column: int, message: str) -> None:
        self.file, self.line, self.column, self.reason = file, line, column, message
        super().__init__(f"{file}:{line}:{column}: {message}")


class Unsupported(TilewrightError):
    """A valid request that a kernel or a device refuses; the message is the reason."""


class MissingFeature(Unsupported):
    """What a device lacks, at any size and in any configuration."""


class UnsupportedType(Unsupported, TypeError):
    """An element type that no kernel multiplies or copies, or a pair of types without a product."""


class NoDevice(TilewrightError):
    """No OpenCL device that could be used."""


class BuildFailed(TilewrightError):
    """A kernel did not compile; `log` is the compiler's text."""

    def __init__(self, kernel: str, device: str, log: str) -> None:
        self.log = log
        super().__init__(f"{kernel} did not compile for {device}:\n{log.strip() or '(the driver gave no log)'}")


class LaunchFailed(TilewrightError):
    """The driver refused or lost a call; `code` is the error code of OpenCL or CUDA."""

    def __init__(self, message: str, code: int | None = None) -> None:
        self.code = code
        super().__init__(message)


class OutOfDeviceMemory(LaunchFailed):
    """An allocation that did not fit; the message holds the bytes requested and available."""


class DevicePoisoned(LaunchFailed):
    """A fault in an earlier kernel made the context unusable."""


class WrongResult(TilewrightError):
    """A kernel's result differs from the reference by more than rounding allows."""


class StorageFailed(TilewrightError, OSError):
    """A matrix in a file could not be read or written: the file was cut short, or the disk is full."""


class ProcessFailed(TilewrightError):
    """A child process died, hung or gave no valid answer."""


class RecordError(TilewrightError, ValueError):
    """A record file that cannot be read or written."""
