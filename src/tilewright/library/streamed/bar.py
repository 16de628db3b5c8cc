"""A bar of the tiles that are done, with the time left."""

from types import TracebackType
from typing import Any


class Bar:
    """One line on the terminal, or in a notebook, while a call runs; nothing unless it was asked for."""

    def __init__(self, wanted: bool, words: str, total: int) -> None:
        self._bar: Any = None
        self._task: Any = None
        if not wanted:
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns)
        self._task = self._bar.add_task(words, total=total)

    def __enter__(self) -> "Bar":
        if self._bar is not None:
            self._bar.start()
        return self

    def show(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=done)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
