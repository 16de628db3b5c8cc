"""The command line: parse, make one call, print. Everything done here can be done from Python with the same call."""

import errno
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from ..errors import InvalidInput, TilewrightError
from .interruption import terminated_as_interrupted
from .parser import make_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status: 0 fine, 1 failed or wrong, 2 unusable arguments, 130 interrupted."""
    prepare_streams()
    try:
        with terminated_as_interrupted():
            options = make_parser().parse_args(arguments)
            status: int = options.command(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        tell("interrupted")
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has seen enough; nothing is left to flush at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TilewrightError, MemoryError, RecursionError, OSError) as error:
        return status_of(error)


def prepare_streams() -> None:
    """What a stream's encoding lacks is printed as "?"; where there is no standard output, nothing is printed."""
    if sys.stdout is None:
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def tell(words: str, before: str = "") -> None:
    """Print on standard error, `before` and what is interrupted in red."""
    from rich.console import Console
    from rich.markup import escape

    Console(stderr=True).print(f"[red]{before or words}[/red]{escape(words) if before else ''}", soft_wrap=True)


def status_of(error: BaseException) -> int:
    """Tell what went wrong in one sentence; the exit status."""
    words = str(error)
    if isinstance(error, MemoryError):
        words = f"out of memory: {words or 'a smaller size needs less'}"
    elif isinstance(error, RecursionError):
        words = "the text is nested too deeply to be read"
    elif isinstance(error, OSError):
        words = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or words
        if error.errno == errno.ENOSPC and not error.filename:  # standard output is full: nothing must be flushed later
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    tell(f" {words}", "error:")
    return 2 if isinstance(error, (InvalidInput, LookupError)) else 1


if __name__ == "__main__":
    sys.exit(main())
