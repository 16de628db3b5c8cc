"""One line on a terminal that says what is going on. It is gone when that has ended."""

from typing import Self

from rich.console import Console
from rich.status import Status

from ..measurement.progress import Phase


class PhaseLine(Status):
    """Shows what `announce` gets. Without a terminal it shows nothing."""

    def __init__(self, console: Console) -> None:
        super().__init__("", console=console)

    def __enter__(self) -> Self:
        super().__enter__()
        return self

    def announce(self, phase: Phase) -> None:
        """Show what is going on."""
        self.update(str(phase))
