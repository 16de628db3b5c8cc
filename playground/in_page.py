"""The Python side of the playground: what worker.js calls in Pyodide. Everything crosses as JSON text."""

import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from pyodide.ffi import can_run_sync, run_sync

from tilewright.analysis.explain.explanation import Explanation
from tilewright.analysis.kernel_page.live import Asked, error_of, explained, pictures, to_page
from tilewright.errors import TilewrightError

FILE = Path("kernel.cl")
TIME_LIMIT_S = 10.0  # of one run; it ends early with what it has counted
Checkpoint = Callable[[], Awaitable[bool]]  # lets messages of the page come in; true if the page has cancelled the run
_last: Explanation | None = None


class Cancelled(Exception):
    """The page has cancelled a grading."""


def run(text: str, checkpoint: Checkpoint, pause_s: float) -> str:
    """Explain the kernel in `text`, a message of the page. It looks at the `checkpoint` every `pause_s` seconds."""
    global _last
    message = json.loads(text)
    FILE.write_text(message["source"], encoding="utf-8")
    fields = {name: message.get(name, "") for name in ("global_size", "local_size", "size", "options", "model")}
    end = time.perf_counter() + TIME_LIMIT_S
    cancelled = asked_at(checkpoint, pause_s)
    _last = None
    try:
        _last = explained(Asked(FILE, **fields), lambda steps, groups: time.perf_counter() > end or cancelled())
    except TilewrightError as reason:
        return json.dumps({"kind": "error", "error": error_of(reason, FILE)})
    page = to_page(_last)
    line = message.get("line") or 0
    return json.dumps({"kind": "result", "page": page, "line": line, "pictures": pictures(_last, line)})


def grade(text: str, checkpoint: Checkpoint, pause_s: float) -> str:
    """Grade the file in `text`, a message of the page, as `tilewright grade` does."""
    from tilewright.learning.exercises.grade import grade_file  # here, because the first answer does not need it

    FILE.write_text(json.loads(text)["source"], encoding="utf-8")
    cancelled = asked_at(checkpoint, pause_s)

    def go_on() -> None:
        if cancelled():
            raise Cancelled

    try:
        found = grade_file(FILE, go_on)
    except Cancelled:
        return json.dumps({"kind": "graded", "cancelled": True})
    except TilewrightError as reason:
        return json.dumps({"kind": "graded", "error": error_of(reason, FILE)["text"]})
    shown = {**found.to_dict(), "tried": found.tried, "sentences": [each.sentence for each in found.goals]}
    return json.dumps({"kind": "graded", "grade": shown})


def asked_at(checkpoint: Checkpoint, pause_s: float) -> Callable[[], bool]:
    """A function that says whether the page has cancelled. It asks at most every `pause_s` seconds, and never where the browser
    cannot suspend Python."""
    looked = time.perf_counter()

    def cancelled() -> bool:
        nonlocal looked
        now = time.perf_counter()
        if now - looked < pause_s or not can_run_sync():
            return False
        looked = now
        return bool(run_sync(checkpoint()))

    return cancelled


def pictures_of(line: int) -> str:
    """The pictures of a line of the kernel that was explained last."""
    return json.dumps(pictures(_last, line) if _last is not None else [])
