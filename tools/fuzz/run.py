"""The main loop: children run the cases. Their outcomes are counted in a record, from which a later run resumes."""

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic

import msgspec

from .cases import Case, decode
from .check import FAILED
from .child import Begun, Done, Line, Ready, Task
from .record import Failure, Record

ROOT = Path(__file__).parents[2]  # where children find `tools`
CASE_LIMIT_S = 120.0  # a case that takes longer hangs; the first ones of a process compile
OPENING_LIMIT_S = 300.0
BATCH = 500  # cases of one child, after which a new one is started
SAVE_EVERY_S = 5.0


class Child:
    """One child process and what it says."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tools.fuzz.child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=ROOT, start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        self.process.stdin.write(msgspec.json.encode(task).decode() + "\n")
        self.process.stdin.close()
        self._lines: queue.Queue[str | None] = queue.Queue()
        self.errors: list[str] = []
        self._threads = [threading.Thread(target=each, daemon=True) for each in (self._read_lines, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read_lines(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors = [*self.errors[-40:], line]

    def lines(self) -> Iterator[Line]:
        """What the child says. The last case's own failure, where it ends the process or takes too long."""
        begun: Begun | None = None
        limit = OPENING_LIMIT_S
        while True:
            try:
                text = self._lines.get(timeout=limit)
            except queue.Empty:
                self.stop()
                yield from self._lost(begun, f"no answer within {limit:.0f} s")
                return
            if text is None:
                break
            line: Line = msgspec.json.decode(text, type=Line)
            limit = CASE_LIMIT_S
            begun = line if isinstance(line, Begun) else None
            yield line
        status = self.process.wait()
        for thread in self._threads:
            thread.join(timeout=5)
        if status:
            yield from self._lost(begun, _ended(status))

    def _lost(self, begun: Begun | None, what: str) -> Iterator[Line]:
        tail = "".join(self.errors[-12:])
        if begun is None:
            raise RuntimeError(f"a child of the fuzzer failed between its cases: {what}\n{tail}")
        case = decode(begun.case)
        yield Done(case.seed, case.call, case.place, FAILED, f"{what}\n{tail}".strip()[:2000], 0.0, 0)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def _ended(status: int) -> str:
    if status < 0:
        return f"the process was ended by {signal.Signals(-status).name}"
    return f"the process ended with status {status}"


class Loop:
    """Runs the cases of a record's plan, from the first one that it does not hold yet."""

    def __init__(self, record: Record, task: Task, jobs: int, path: Path | None) -> None:
        self.record, self._task, self._jobs, self._path = record, task, jobs, path
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._children: set[Child] = set()
        self._saved = monotonic()
        self._errors: list[BaseException] = []

    def run(self, cases: int, seconds: float | None, batch: int = BATCH) -> Record:
        """Run until that many cases are done, or that much time has passed; Ctrl-C ends it early and keeps all."""
        limit = None if seconds is None else monotonic() + seconds
        first = self.record.next_seed
        shares = [range(begin, min(begin + batch, first + cases)) for begin in range(first, first + cases, batch)]
        waiting = iter(shares)
        threads = [threading.Thread(target=self._work, args=(waiting,), daemon=True) for _ in range(self._jobs)]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                threads[0].join(0.5)
                self._tell()
                if limit is not None and monotonic() > limit:
                    self._stop()
        except KeyboardInterrupt:
            self._stop()
        for thread in threads:
            thread.join()
        if self._errors:
            raise self._errors[0]
        self._save()
        return self.record

    def _work(self, waiting: Iterator[range]) -> None:
        try:
            while not self._stopping.is_set():
                with self._lock:
                    share = next(waiting, None)
                if share is None:
                    return
                self._share(share)
        except BaseException as error:  # told by the thread that waits for this one
            if not self._stopping.is_set():  # children that are stopped end between their cases, too
                self._errors.append(error)
            self._stopping.set()

    def _share(self, share: range) -> None:
        """The cases of some seeds, in as many children as it takes."""
        seed = share.start
        while seed < share.stop and not self._stopping.is_set():
            child = Child(msgspec.structs.replace(self._task, first=seed, count=share.stop - seed))
            with self._lock:
                self._children.add(child)
            begun, most = "", 0
            try:
                for line in child.lines():
                    if self._stopping.is_set():
                        break
                    if isinstance(line, Begun):
                        begun = line.case
                    elif isinstance(line, Done):
                        seed, most = line.seed + 1, max(most, line.programs)
                        self._count(line, begun)
                    else:
                        self._ready(line)
            finally:
                child.stop()
                with self._lock:
                    self._children.discard(child)
                    self.record = replace(self.record, programs=self.record.programs + most)

    def _ready(self, line: Ready) -> None:
        with self._lock:
            self.record = self.record.on_device(line.device, line.driver, line.version)

    def _count(self, line: Done, begun: str) -> None:
        failure = None
        if line.verdict == FAILED:
            failure = Failure(line.seed, line.reason, decode(begun))
        with self._lock:
            self.record = self.record.counted(line.seed, line.call, line.place, line.verdict, line.seconds, failure)
            if monotonic() - self._saved > SAVE_EVERY_S:
                self._save()

    def _save(self) -> None:
        self._saved = monotonic()
        if self._path is not None:
            self.record.save(self._path)

    def _tell(self) -> None:
        if sys.stderr.isatty():
            print(f"\r{self.record.progress}", end="", file=sys.stderr, flush=True)

    def _stop(self) -> None:
        self._stopping.set()
        with self._lock:
            for child in self._children:
                child.process.kill()


def outcome_of(case: Case, task: Task) -> Done:
    """What comes of one given case, in a child of its own."""
    child = Child(msgspec.structs.replace(task, case=case))
    try:
        return next(line for line in child.lines() if isinstance(line, Done))
    finally:
        child.stop()
