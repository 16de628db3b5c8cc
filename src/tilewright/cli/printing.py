"""What several commands print."""

from collections.abc import Sequence
from pathlib import Path


def say(text: str) -> None:
    """Print text as it is."""
    print(text)


def tell_written(paths: Sequence[Path]) -> None:
    """Print the names of files that were written."""
    for path in paths:
        say(f"wrote {path}")
