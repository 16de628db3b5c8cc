"""Launches of other programs: `watch` and `watching` while they run, `replay` from dumps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..analysis.captured.pages import save_pages
from ..analysis.captured.replay import dumps_in
from ..analysis.captured.watch_report import report
from ..analysis.captured.watched import FORMAT, WatchedLaunch
from ..analysis.captured.watcher import Watcher
from ..analysis.explain import find_model
from ..analysis.marked_lines import plain_text
from ..core.checked import checked_count, checked_names, checked_path, checked_seconds
from ..core.defaults import EXPLAIN_S
from ..core.shown import Shown
from ..core.sizes import FilePath
from ..core.watch_limits import FAIL_ON, LIMITS, Limits
from ..errors import UnknownName
from ..runtime.icd.registration import register_if_alone
from ..runtime.programs import PythonProgram, code, module, run_program, script


class Watched(Shown):
    """What was found in a program's launches so far. `print` it to read the report; `launches` has the rows, the worst first."""

    def __init__(self, watcher: Watcher, title: str) -> None:
        self._watcher = watcher
        self.title = title
        self.exit_status = 0  # of the program, once it ended

    @property
    def launches(self) -> tuple[WatchedLaunch, ...]:
        """A row for each kernel, NDRange and set of build options."""
        return self._watcher.launches()

    def __str__(self) -> str:
        return plain_text(report(self.launches, self.title))

    def one_line(self) -> str:
        rows = self.launches
        return f"{sum(each.launches for each in rows):,} launches, {sum(each.faults for each in rows)} faults"

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each kernel and NDRange: its launches; bytes, conflicts and faults of one launch; the first verdict."""
        return [each.row() for each in self.launches]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: the rows with their whole explanations."""
        return {
            "format": FORMAT,
            "program": self.title,
            "exit_status": self.exit_status,
            "launches": [each.to_dict() for each in self.launches],
        }

    def save_pages(self, folder: FilePath) -> list[Path]:
        """Write a folder of HTML pages: index.html, and one page for each explained launch. Returns their names."""
        return save_pages(self.launches, self.title, Path(folder))

    def failures(self, fail_on: Sequence[str]) -> list[WatchedLaunch]:
        """The rows that have one of these: race, bounds, uninitialised, conflicts, faults, unexplained. UnknownName for
        another word."""
        for each in fail_on:
            if each not in FAIL_ON:
                raise UnknownName("condition", each, FAIL_ON)
        return [row for row in self.launches if any(row.has(each) for each in fail_on)]


@contextmanager
def watching(
    *,
    device_model: str | None = None,
    budget: float = LIMITS.seconds,
    time_limit: float = LIMITS.launch_seconds,
    samples: int = LIMITS.samples,
    title: str = "this program",
) -> Iterator[Watched]:
    """A context in which every kernel that PyOpenCL launches in this process is explained with its real arguments.

    `device_model` names the hardware whose rules count, as in `explain`. `budget` is the time in s that explaining may take
    in all, besides half of the program's own; `time_limit` that for one launch. Of each kernel at most `samples` launches
    with different NDRanges are explained. Buffers are read back before the launch; the launch itself is not changed.

    >>> with watching() as found:
    ...     pass  # your calls of PyOpenCL
    >>> print(found)
    this program: no kernel was launched by PyOpenCL in this process
    """
    from ..runtime.opencl.interception import Interception

    limits = Limits(
        checked_seconds("budget", budget, endless=True),
        checked_seconds("time_limit", time_limit, endless=True),
        checked_count("samples", samples),
    )
    watcher = Watcher(limits, None if device_model is None else find_model(device_model))
    with Interception(watcher.enqueueing):
        yield Watched(watcher, title)


def watch(
    program: FilePath,
    arguments: Sequence[str] = (),
    *,
    kind: str = "script",
    device_model: str | None = None,
    budget: float = LIMITS.seconds,
    time_limit: float = LIMITS.launch_seconds,
    samples: int = LIMITS.samples,
) -> Watched:
    """Run a PyOpenCL program unchanged, and explain what it launches. `print` the result to read the report.

    `program` is a script's file, or by `kind` a "module" as of `python -m`, or "code" as of `python -c`; `arguments` become
    its `sys.argv`. Its output, its exceptions and its exit status, which is `exit_status` of the result, stay its own. The
    other arguments are those of `watching`. InvalidInput if there is no such program.
    """
    arguments = checked_names("arguments", arguments, '["--size", "4"]')
    found = _program(str(program), kind)
    register_if_alone()
    with watching(
        device_model=device_model, budget=budget, time_limit=time_limit, samples=samples, title=found.title
    ) as watched:
        watched.exit_status = run_program(found, arguments)
    return watched


def replay(folder: FilePath, *, device_model: str | None = None, time_limit: float = EXPLAIN_S) -> Watched:
    """Explain the launches of any OpenCL program from its dumps, which Intel's Intercept Layer for OpenCL Applications makes
    with CLI_CaptureReplay=1. `print` the result to read the report.

    `folder` is one dump (Enqueue_NUMBER_KERNEL), or has some below it. `time_limit` is the time in s for one launch;
    `device_model` names the hardware whose rules count, as in `explain`. InvalidInput if there is no dump, or a file is
    missing in one.
    """
    dumps = dumps_in(checked_path("folder", folder))
    limits = Limits(math.inf, checked_seconds("time_limit", time_limit, endless=True), len(dumps))
    watcher = Watcher(limits, None if device_model is None else find_model(device_model))
    for each in dumps:
        watcher.seen(each)
    return Watched(watcher, str(folder))


def _program(name: str, kind: str) -> PythonProgram:
    makers = {"script": script, "module": module, "code": code}
    if not isinstance(kind, str) or kind not in makers:
        raise UnknownName("kind of program", kind, makers)
    return makers[kind](name)
